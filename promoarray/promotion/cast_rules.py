"""The cast rule of a policy: what becomes of a value that the target cannot hold.

A ``CastRule`` is data. Its general mode is one of the kernels' (``kernels.CastMode``); cases
say what is otherwise for some targets, sources or settings; knobs are the arguments a cast takes;
quirks are the bugs of shipped frameworks by name, off until ``policy.with_quirks(...)``.

Every cast rounds once, to nearest, ties to even, from the source's own value. What no mode
can say is a transform: a function over the codes after the kernel has run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

from promoarray.dtypes import BY_CODE, DType, Kind
from promoarray.errors import UnknownPolicyError, quoted, suggestion
from promoarray.kernels.cast_mode import DEFAULT, CastMode, relevant
from promoarray.promotion.plan import Refusal
from promoarray.promotion.source import Note, Source

GROUPS = {
    "float4": "f4_e2m1fn",
    "float6": "f6_e2m3fn f6_e3m2fn",
    "float8": "f8_e3m4 f8_e4m3 f8_e4m3b11fnuz f8_e4m3fn f8_e4m3fnuz f8_e5m2 f8_e5m2fnuz",
    "fnuz": "f8_e4m3b11fnuz f8_e4m3fnuz f8_e5m2fnuz",
    "scale": "f8_e8m0fnu",
    "wide": "bf16 f16 f32 f64 c32 c64 c128",
    "int2": "i2 u2",
    "int4": "i4 u4",
    "ints": "i8 u8 i16 u16 i32 u32 i64 u64",
}


@cache
def dtypes(words: str) -> frozenset[DType]:
    """Read dtypes by code or by the name of a group; ``*`` is every one there is."""
    if words == "*":
        return frozenset(BY_CODE.values())
    codes = " ".join(GROUPS.get(word, word) for word in words.split())
    return frozenset(BY_CODE[code] for code in codes.split())


FLOAT_DTYPES = dtypes("float4 float6 float8 scale wide")
"""Every float and complex dtype."""

INTEGER_DTYPES = dtypes("int2 int4 ints")

Codes = Any
CodeTransform = Callable[[Codes, DType, DType, Codes], Codes]
"""From the source's codes, both dtypes and the codes the kernel gave, to the codes to give."""


class Case(NamedTuple):
    """What is otherwise for some casts."""

    # ``to``, ``of``: the targets and the sources it is about.
    to: frozenset[DType]
    of: frozenset[DType]
    when: Mapping[str, object]  # the settings of knobs it holds under
    changes: Mapping[str, Any]  # fields of the mode
    transform: CodeTransform | None = None  # what no mode can say

    def holds(self, source: DType, target: DType, settings: Mapping[str, object]) -> bool:
        """Whether a cast is one of them."""
        return (
            target in self.to
            and source in self.of
            and all(settings.get(key) == value for key, value in self.when.items())
        )


def case(
    to: str = "*",
    of: str = "*",
    *,
    transform: CodeTransform | None = None,
    saturate: bool | None = None,
    round_mode: str | None = None,
    **changes: Any,
) -> Case:
    """Write a case: targets and sources by code or group, settings, fields of the mode."""
    given = {"saturate": saturate, "round_mode": round_mode}
    when = {key: value for key, value in given.items() if value is not None}
    return Case(dtypes(to), dtypes(of), when, changes, transform)


class Knob(NamedTuple):
    """An argument that a policy's casts take."""

    default: Any
    choices: tuple[Any, ...]

    def setting(self, name: str, given: object) -> Any:
        """Check what was given.

        Raises ValueError if it is not one of the choices.
        """
        if given is None:
            return self.default
        for choice in self.choices:
            if type(given) in (bool, int, str) and given == choice:
                return choice
        shown = " or ".join(map(repr, self.choices))
        raise ValueError(f"{name} is {shown}, not {quoted(given)}")


SATURATE = Knob(default=True, choices=(True, False))
ROUND_MODE = Knob(default="up", choices=("up", "down", "nearest"))


class Quirk(NamedTuple):
    """A bug of a shipped framework, to be had by name."""

    name: str  # of words and hyphens
    sentence: str  # what it changes
    source: str  # which package does so, in which version
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence} ({self.source})"


class Given(NamedTuple):
    """The dtype that ``astype`` gives in place of one that is asked for, and why."""

    dtype: DType
    why: str


class CastPlan(NamedTuple):
    """How one cast is done: in a mode of the kernels, then by transforms over the codes."""

    mode: CastMode
    transforms: tuple[CodeTransform, ...] = ()


def all_pairs(source: DType, target: DType) -> str | None:
    """Admit every pair."""
    return None


NO_KNOBS = {"saturate": "onnx@19 and later have it", "round_mode": "onnx@24 and later have it"}


@dataclass(frozen=True, eq=False, kw_only=True)
class CastRule:
    """How a policy casts."""

    mode: CastMode = DEFAULT  # the general mode of the kernels
    cases: tuple[Case, ...] = ()  # what is otherwise; of two about one cast, the later holds
    # The arguments that casts take besides the dtype.
    knobs: Mapping[str, Knob] = field(default_factory=dict)
    # From (source, target) to why ``astype`` refuses the pair, or None. Casts that an operation
    # makes inside itself are not asked.
    refuses: Callable[[DType, DType], str | None] = all_pairs
    # What ``astype`` gives in place of a dtype, of arrays that have another.
    gives: Mapping[DType, Given] = field(default_factory=dict)
    quirks: tuple[Quirk, ...] = ()  # those there are
    on: tuple[str, ...] = ()  # those that are on, in the order of ``quirks``
    sources: tuple[Source, ...] = ()
    # What was chosen where the sources say nothing or contradict themselves; a ``Note`` says which
    # casts it is about.
    notes: tuple[str, ...] = ()
    plans: dict[Any, CastPlan] = field(default_factory=dict, init=False, repr=False)
    effects: dict[Any, CastPlan] = field(default_factory=dict, init=False, repr=False)

    def decide(
        self,
        source: DType,
        target: DType,
        *,
        saturate: bool | int | None = None,
        round_mode: str | None = None,
    ) -> CastMode | Refusal:
        """Decide what an explicit cast does with what the target cannot hold: with ``saturate``
        what lies beyond it becomes its largest value; ``round_mode``, up, down or nearest, is of
        casts to float8_e8m0fnu.

        Raises TypeError if the policy's casts have no such argument; ValueError if they have, but
        no such choice.
        """
        settings = self.settings(saturate=saturate, round_mode=round_mode)
        why = self.refuses(source, target)
        return Refusal(why) if why else self.plan(source, target, settings).mode

    def target(self, source: DType, asked: DType) -> DType:
        """Return the dtype that ``astype`` gives where one is asked for."""
        given = self.gives.get(asked) if source is not asked else None
        return asked if given is None else given.dtype

    def makes(self, source: DType, target: DType) -> bool:
        """Whether ``astype`` makes a dtype of another: it refuses neither, nor gives a third."""
        return self.refuses(source, target) is None and self.target(source, target) is target

    def plan(
        self, source: DType, target: DType, settings: Mapping[str, object] | None = None
    ) -> CastPlan:
        """Return how a cast is done, admitted or not; decided once. ``settings`` is what the method
        of that name returned, else the defaults."""
        key = (source, target, *settings.values()) if settings else (source, target)
        found = self.plans.get(key)
        return found or self.plans.setdefault(key, self._plan(source, target, settings))

    def effect(self, source: DType, target: DType) -> CastPlan:
        """Return the plan of a cast without what cannot matter to it; decided once.

        Casts whose effects are equal make the same of every number.
        """
        found = self.effects.get((source, target))
        if found is None:
            plan = self.plan(source, target)
            found = plan._replace(mode=relevant(source, target, plan.mode))
            self.effects[source, target] = found
        return found

    def _plan(
        self, source: DType, target: DType, settings: Mapping[str, object] | None
    ) -> CastPlan:
        if settings is None:
            settings = self.settings()
        quirks = (case for quirk in self.quirks if quirk.name in self.on for case in quirk.cases)
        cases = [c for c in (*self.cases, *quirks) if c.holds(source, target, settings)]
        changes = {name: value for c in cases for name, value in c.changes.items()}
        return CastPlan(
            self.mode._replace(**changes), tuple(c.transform for c in cases if c.transform)
        )

    def settings(
        self, *, saturate: bool | int | None = None, round_mode: str | None = None
    ) -> dict[str, object]:
        """Return every knob's setting, given or by default; see ``decide`` for the errors."""
        given = {"saturate": saturate, "round_mode": round_mode}
        for name, value in given.items():
            if value is not None and name not in self.knobs:
                raise TypeError(f"its casts have no {name} ({NO_KNOBS[name]}); leave it out")
        return {name: knob.setting(name, given[name]) for name, knob in self.knobs.items()}

    def borrowed(self, source: DType, target: DType) -> str:
        """Return the note that a cast is ml_dtypes', as no source defines it; "" if one does.

        All that shows what casts make of values shows this with them.
        """
        notes = (n for n in self.notes if isinstance(n, Note) and n.borrowed)
        about = (str(note) for note in notes if note.about_cast(source, target))
        return next(about, "") if source is not target else ""

    def with_quirks(self, *names: str) -> CastRule:
        """Return the rule with these quirks on, besides those that are; an UnknownPolicyError lists
        the near names."""
        known = [quirk.name for quirk in self.quirks]
        for name in names:
            if name not in known:
                said = suggestion(name, known) if known else "This policy has no quirks"
                raise UnknownPolicyError(f"unknown quirk {quoted(name)}. {said}")
        on = tuple(name for name in known if name in (*self.on, *names))
        return replace(self, on=on)


CAST = CastRule(notes=("Casts are NumPy's and ml_dtypes'.",))
"""The rule of policies that say nothing of casts."""


def no_complex_to_real(source: DType, target: DType) -> str | None:
    """Refuse to drop imaginary parts."""
    if source.kind is Kind.COMPLEX and target.kind not in (Kind.COMPLEX, Kind.BOOL):
        return "complex numbers are not cast to real ones: take pa.real(x) first"
    return None
