"""Pickles of before a class had some of its fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def loads_former_pickles(cls: type[T]) -> type[T]:
    """Let a frozen dataclass with slots load pickles without its last fields, which become their
    defaults.

    It stands above ``dataclass``, which before Python 3.11.4 puts its own way in the place of a
    ``__setstate__`` of the class.
    """
    cls.__setstate__ = _set_state  # type: ignore[attr-defined]
    return cls


def _set_state(self: Any, state: Sequence[object]) -> None:
    known = fields(self)
    defaults = (field.default for field in known[len(state) :])
    for field, value in zip(known, (*state, *defaults), strict=True):
        object.__setattr__(self, field.name, value)
