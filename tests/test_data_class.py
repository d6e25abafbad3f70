"""Frozen dataclasses made without compiling are what the standard library's are."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import pprint
import typing

import pytest

from promoarray import data_class


def _records(module, slots):
    """A class of each sort, by one of the two decorators."""

    @module.dataclass(frozen=True, slots=slots, order=True)
    class Place:
        """Where."""

        file: str
        line: int = 1

        def __str__(self) -> str:
            return f"{self.file}:{self.line}"

    @module.dataclass(frozen=True, eq=False, kw_only=True, slots=slots)
    class Rule:
        """What holds."""

        name: str
        rows: dict[str, int] = module.field(default_factory=dict)
        plans: dict[str, int] = module.field(default_factory=dict, init=False, repr=False)
        last: str = "z"

    return Place, Rule


STANDARD = {slots: _records(dataclasses, slots) for slots in (True, False)}
OURS = {slots: _records(data_class, slots) for slots in (True, False)}


@data_class.dataclass(frozen=True, slots=True)
class Slotted:
    """For pickles, which look for it here."""

    first: int
    second: str = "b"


@data_class.dataclass(frozen=True)
class Plain:
    """The same, with attributes in a dict."""

    first: int
    second: str = "b"


def _fields(cls):
    known = ("name", "type", "init", "repr", "kw_only")
    return [[getattr(each, name) for name in known] for each in dataclasses.fields(cls)]


SHOWN = [
    lambda place, rule: [repr(place("a")), str(place("a", 2)), repr(rule(name="a"))],
    lambda place, rule: [place("a") == place("a"), place("a") == place("b"), place("a") == "a"],
    lambda place, rule: [place("a") != place("a"), rule(name="a") == rule(name="a")],
    lambda place, rule: [place("a") < place("b"), place("b", 2) >= place("b", 3)],
    lambda place, rule: [place("a") <= place("a"), place("b", 2) > place("b", 3)],
    lambda place, rule: hash(place("a")) == hash(place("a")),
    lambda place, rule: hash(place("a")) == hash(("a", 1)),
    lambda place, rule: rule.__hash__ is object.__hash__,
    lambda place, rule: rule(name="a").rows is rule(name="a").rows,
    lambda place, rule: [rule(name="a").plans, rule(name="a", last="b").last],
    lambda place, rule: str(inspect.signature(place)),
    lambda place, rule: str(inspect.signature(rule)),
    lambda place, rule: [place.__match_args__, rule.__match_args__, place.__doc__],
    lambda place, rule: [_fields(place), _fields(rule), dataclasses.is_dataclass(place)],
    lambda place, rule: repr(dataclasses.replace(place("a"), line=5)),
    lambda place, rule: repr(copy.replace(place("a"), line=5)) if hasattr(copy, "replace") else "",
    lambda place, rule: [dataclasses.asdict(place("a")), dataclasses.astuple(rule(name="a"))],
    lambda place, rule: pprint.pformat(place("a")),
    lambda place, rule: [hasattr(place("a"), "__dict__"), hasattr(place, "__slots__")],
    lambda place, rule: [place.__qualname__, place.__module__, place.__init__.__qualname__],
    lambda place, rule: typing.get_type_hints(place),
    lambda place, rule: copy.copy(place("a", 3)) == copy.deepcopy(place("a", 3)),
    lambda place, rule: place("a").__reduce_ex__(2)[2],
    lambda place, rule: hasattr(place, "line") and hasattr(rule, "last"),
    lambda place, rule: hasattr(rule, "rows") and not hasattr(rule(name="a"), "__slots__"),
]


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("shown", SHOWN)
def test_records_do_what_the_standard_librarys_do(shown, slots):
    assert shown(*OURS[slots]) == shown(*STANDARD[slots])


REFUSED = [
    lambda place, rule: place(),
    lambda place, rule: place("a", 1, 2),
    lambda place, rule: place("a", lines=2),
    lambda place, rule: rule("a"),
    lambda place, rule: rule(),
    lambda place, rule: rule(name="a", plans={}),
    lambda place, rule: setattr(place("a"), "line", 2),
    lambda place, rule: delattr(place("a"), "line"),
    lambda place, rule: place("a") < "b",
    lambda place, rule: dataclasses.replace(rule(name="a"), plans={}),
    lambda place, rule: dataclasses.replace(place("a"), lines=2),
]


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("refused", REFUSED)
def test_records_refuse_what_the_standard_librarys_refuse(refused, slots):
    said = []
    for records in (OURS, STANDARD):
        with pytest.raises((TypeError, ValueError, AttributeError)) as caught:
            refused(*records[slots])
        said.append((caught.type, str(caught.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize("cls", [Slotted, Plain])
def test_records_come_back_from_pickles_and_subclasses_of_them_may_have_more(cls):
    assert pickle.loads(pickle.dumps(cls(3))) == cls(3)
    assert data_class.replace(cls(3), second="c") == cls(3, "c")

    class More(cls):
        pass

    with pytest.raises(dataclasses.FrozenInstanceError):
        cls(1).third = 3
    more = More(1)
    more.third = 3
    assert more.third == 3
    del more.third
    with pytest.raises(dataclasses.FrozenInstanceError):
        more.first = 2
    assert repr(more).endswith("More(first=1, second='b')")
