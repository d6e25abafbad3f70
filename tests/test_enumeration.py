"""Enumerations made in fewer steps are what the standard library's are."""

from __future__ import annotations

import copy
import enum
import json
import pickle
import re

import pytest

from promoarray import enumeration


class Letter(enumeration.StrEnum):
    """A letter."""

    A = "a"
    B = "b"

    @property
    def big(self) -> str:
        return self.upper()


class Number(enumeration.IntEnum):
    ONE = 1
    TWO = 2


class Thing(enumeration.Enum):
    CHAIR = "to sit on"
    TABLE = "to sit at"


class Standard:
    class Letter(enum.StrEnum):
        """A letter."""

        A = "a"
        B = "b"

        @property
        def big(self) -> str:
            return self.upper()

    class Number(enum.IntEnum):
        ONE = 1
        TWO = 2

    class Thing(enum.Enum):
        CHAIR = "to sit on"
        TABLE = "to sit at"


PAIRS = [(Letter, Standard.Letter), (Number, Standard.Number), (Thing, Standard.Thing)]


@pytest.mark.parametrize("pair", PAIRS)
def test_enumerations_do_what_the_standard_librarys_do(pair):
    for call in (
        lambda cls: [(each.name, each.value, repr(each), str(each), f"{each}") for each in cls],
        lambda cls: (
            [*map(repr, reversed(cls))],
            len(cls),
            bool(cls),
            repr(cls),
            [*cls.__members__],
        ),
        lambda cls: [cls(each.value) is each is cls(each) is cls[each.name] for each in cls],
        lambda cls: [each in cls for each in cls],
        lambda cls: [(isinstance(each, cls), isinstance(each, (str, int))) for each in cls],
        lambda cls: [copy.copy(each) is each is copy.deepcopy(each) for each in cls],
        lambda cls: [[a == b for a in cls] + [a == b.value for a in cls] for b in cls],
        lambda cls: len({*cls, *cls}),
        lambda cls: (cls.__name__, cls.__doc__ and cls.__doc__[:8]),
    ):
        ours, theirs = map(call, pair)
        assert ours == theirs


def test_members_are_the_values_that_their_types_say():
    assert ({"a": 1}[Letter.A], Letter.B.big) == (1, "B")
    assert (Number.TWO + 1, [10, 20, 30][Number.ONE]) == (3, 20)
    assert json.dumps([Letter.A, Number.TWO]) == '["a", 2]'


@pytest.mark.parametrize("cls", [Letter, Number, Thing])
def test_members_are_pickled_as_their_class_and_value(cls):
    for each in cls:
        assert all(pickle.loads(pickle.dumps(each, n)) is each for n in range(6))


@pytest.mark.parametrize("value", ["c", 3, None, []])
def test_no_member_has_another_value(value):
    for cls, theirs in PAIRS:
        with pytest.raises(ValueError, match="is not a valid") as expected:
            theirs(value)
        message = re.escape(str(expected.value).replace("Standard.", ""))
        with pytest.raises(ValueError, match=message):
            cls(value)
        assert value not in [*cls]


def test_members_stay():
    for cls, theirs in PAIRS:
        for change in (lambda cls, name: setattr(cls, name, 1), delattr):
            for each in (cls, theirs):
                name = next(iter(each)).name
                with pytest.raises(AttributeError):
                    change(each, name)
                assert each[name].name == name
