"""Records made without compiling are what the standard library's are."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing

import pytest

from promoarray import records


class Pair(records.NamedTuple):
    """Two."""

    first: int
    second: str = "b"

    @property
    def both(self) -> str:
        return f"{self.first}{self.second}"


class Standard(typing.NamedTuple):
    """Two."""

    first: int
    second: str = "b"


@records.dataclass(frozen=True, order=True, slots=True)
class Place:
    file: str
    line: int = 0


@records.dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    name: str
    cells: dict[str, int] = records.field(default_factory=dict)
    kept: list[int] = records.field(default_factory=list, init=False, repr=False)


def test_named_tuples_do_what_the_standard_librarys_do():
    for call in (
        lambda cls: tuple(cls(1)),
        lambda cls: tuple(cls(second="c", first=2)),
        lambda cls: cls._make([1, "x"])._asdict(),
        lambda cls: tuple(cls(1)._replace(second="z")),
        lambda cls: (cls._fields, cls._field_defaults, cls.__match_args__, *cls.__annotations__),
        lambda cls: (cls.__bases__, type(cls), cls.__doc__, cls.first.__doc__),
        lambda cls: repr(cls(1)).removeprefix(cls.__name__),
        lambda cls: hasattr(cls(1), "__dict__"),
        lambda cls: cls(1) == (1, "b"),
    ):
        assert call(Pair) == call(Standard)
    assert Pair(1).both == "1b"
    assert typing.get_type_hints(Pair) == typing.get_type_hints(Standard)
    assert pickle.loads(pickle.dumps(Pair(3))) == Pair(3)
    assert type(copy.deepcopy(Pair(3))) is Pair
    assert list(inspect.signature(Pair).parameters) == ["first", "second"]


@pytest.mark.parametrize(
    "call",
    [
        lambda cls: cls(),
        lambda cls: cls(1, 2, 3),
        lambda cls: cls(1, third=2),
        lambda cls: cls._make([1]),
        lambda cls: cls(1)._replace(third=3),
        lambda cls: setattr(cls(1), "first", 2),
    ],
)
def test_named_tuples_refuse_what_the_standard_librarys_refuse(call):
    said = []
    for cls in (Pair, Standard):
        with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
            call(cls)
        said.append((caught.type, str(caught.value).replace(cls.__name__, "")))
    assert said[0] == said[1]


def test_dataclasses_compare_hash_and_show_themselves_by_fields():
    a, b = Place("a"), Place("a", line=1)
    assert a == Place("a", 0) != b
    assert a < b <= b
    assert hash(a) == hash(Place("a"))
    assert repr(b) == "Place(file='a', line=1)"
    assert a != ("a", 0)
    assert not hasattr(a, "__dict__")
    match b:
        case Place(file, line):
            assert (file, line) == ("a", 1)


def test_dataclasses_are_frozen_and_copied_and_pickled():
    place = Place("a", 3)
    for change in (lambda: setattr(place, "line", 4), lambda: delattr(place, "line")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="line"):
            change()
    assert pickle.loads(pickle.dumps(place)) == copy.deepcopy(place) == place
    assert records.replace(place, line=9) == dataclasses.replace(place, line=9) == Place("a", 9)


def test_dataclasses_by_keyword_have_fields_of_their_own():
    row, other = Row(name="x"), Row(name="x")
    assert row != other
    assert row.cells is not other.cells
    assert row.kept is not other.kept
    assert repr(row) == "Row(name='x', cells={})"
    row.kept.append(1)
    assert records.replace(row, name="y").kept == []


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Row("x"), "takes 1 positional argument"),
        (lambda: Row(), "missing .* 'name'"),
        (lambda: Row(name="x", kept=[]), "unexpected keyword argument 'kept'"),
        (lambda: Place("a", 1, 2), "takes 3 positional arguments but 4"),
        (lambda: Place("a", file="b"), "multiple values for argument 'file'"),
    ],
)
def test_dataclasses_say_which_argument_is_wrong(call, said):
    with pytest.raises(TypeError, match=said):
        call()


def test_what_asks_for_dataclasses_finds_them():
    assert dataclasses.is_dataclass(Row)
    assert [(f.name, f.type, f.init, f.repr) for f in dataclasses.fields(Row)] == [
        ("name", "str", True, True),
        ("cells", "dict[str, int]", True, True),
        ("kept", "list[int]", False, False),
    ]
    assert dataclasses.asdict(Place("a")) == {"file": "a", "line": 0}
    assert str(inspect.signature(Place)) == "(file: 'str', line: 'int' = 0) -> None"
    assert [p.kind.name for p in inspect.signature(Row).parameters.values()] == ["KEYWORD_ONLY"] * 2
