"""Named tuples made without compiling are what the standard library's are."""

from __future__ import annotations

import copy
import inspect
import pickle
import typing

import pytest

from promoarray.named_tuple import NamedTuple


class Pair(NamedTuple):
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
