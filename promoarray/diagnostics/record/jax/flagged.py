"""A function of JAX's, evaluated with a flag: whether any of its operations may lose numbers."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, partial, reduce
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax._src import source_info_util
from jax.extend.core import ClosedJaxpr, Literal

from promoarray.diagnostics.calls.common import plain
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    DIGITS,
    LEAST,
    NAN,
    OVERFLOW,
    RANGE,
    UNDERFLOW,
    WRAP,
)
from promoarray.diagnostics.record.checked import is_nothing
from promoarray.diagnostics.record.jax import flags
from promoarray.diagnostics.record.jax.call import Call
from promoarray.diagnostics.record.jax.flags import (
    CALLS,
    EXACT,
    FINITE,
    INTEGERS,
    LOOPS,
    MOVES,
    SCALES,
    SHOW,
    SMALL,
    Arrays,
)


class Unflagged(Exception):
    """A function has a part of which no flag tells what it loses."""


ENTERS, _HAS_INF, _LASTS, _SHOWS, _NOTHING = 1, 2, 4, 8, 16
"""What is known of a value: it comes from an argument, through products and moves alone; it is an
Inf or NaN of the source. And what becomes of it: it comes out, so; Inf and NaN of it show in what
is made of it; it is added to a number of the source beside which a small one is nothing."""


_BITS = {UNDERFLOW: 0, ABSORBED: 1, DIGITS: 2}
"""The bit of each kind that a function may lose in call after call; of others, by operation."""

_NONE = np.uint32(0)


def any_of(some: Arrays) -> Any:
    """Return the bits that any of several flags has."""
    return reduce(operator.or_, some, jnp.array(_NONE))


class Looks:
    """Evaluates a jaxpr, and has a flag of every operation that may lose something."""

    def __init__(self, kinds: Collection[str]) -> None:
        self.kinds = frozenset(kinds)
        self.flags: list[Any] = []
        self.count = 0  # of flags, in all parts
        self.has_loops = False

    def evaluate(
        self, closed: Any, given: Arrays, known: Sequence[int], becomes: Sequence[int] = ()
    ) -> tuple[list[Any], list[int]]:
        """Return the results of a jaxpr, and what is known of them.

        ``known`` is that of the arguments; ``becomes`` what becomes of the results.
        """
        jaxpr = closed.jaxpr
        values = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*closed.consts, *given), strict=True))
        tags = dict(zip(jaxpr.invars, known, strict=True))
        last, shown, nothing = _lasting(jaxpr, becomes), _shown(jaxpr, becomes), _nothing(jaxpr)

        def value(x: Any) -> Any:
            return x.val if isinstance(x, Literal) else values[x]

        def tag(x: Any) -> int:
            if isinstance(x, Literal):
                return _HAS_INF if _is_inf(x) else 0
            return tags.get(x, 0)

        for eqn in jaxpr.eqns:
            ins, before = [*map(value, eqn.invars)], [*map(tag, eqn.invars)]
            given_shown = [not isinstance(x, Literal) and x in shown for x in eqn.invars]
            becomes = [
                _LASTS * (x in last) | _SHOWS * (x in shown) | _NOTHING * (x in nothing)
                for x in eqn.outvars
            ]
            made, after = self._carry_out(eqn, ins, before, given_shown, becomes)
            values.update(zip(eqn.outvars, made, strict=True))
            tags.update(zip(eqn.outvars, after, strict=True))
        return [*map(value, jaxpr.outvars)], [*map(tag, jaxpr.outvars)]

    def _carry_out(
        self,
        eqn: Any,
        given: list[Any],
        known: list[int],
        shown: list[bool],
        becomes: list[int],
    ) -> tuple[Arrays, Sequence[int]]:
        name, params = eqn.primitive.name, eqn.params
        made: Arrays | None = None
        on = reduce(operator.or_, known, 0)
        self.has_loops |= name in LOOPS
        if _is_left(eqn):
            made = _bound(eqn, given)
        elif name == "scan":
            made = self._scan(given, **params)
        elif name == "while":
            made = self._while(given, **params)
        elif name == "cond":
            made = self._cond(given, **params)
        elif name == "custom_linear_solve":
            made = self._solve(given, **params)
        elif name in CALLS:
            inner = params.get("jaxpr", params.get("call_jaxpr"))
            closed = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
            return self.evaluate(closed, given, known, becomes)
        if made is not None:
            return made, [ENTERS] * len(made)
        made = _bound(eqn, given)
        arrays = [
            jnp.asarray(x, v.aval.dtype) if isinstance(v, Literal) else x
            for x, v in zip(given, eqn.invars, strict=True)
        ]
        self._look(eqn, arrays, made, known, shown, becomes)
        kept = on if name in MOVES else on & ENTERS if name in SCALES else 0
        return made, [kept] * len(made)

    # -- parts --------------------------------------------------------------------------------

    def _apart(self, closed: Any, given: Arrays) -> tuple[list[Any], Any]:
        """The results of a part, and its own flag."""
        before, self.flags = self.flags, []
        made, _ = self.evaluate(closed, given, [ENTERS] * len(given))
        flag, self.flags = any_of(self.flags), before
        return made, flag

    def _scan(
        self, given: Arrays, jaxpr: Any, num_consts: int, num_carry: int, **params: Any
    ) -> Arrays:
        middle = num_consts + num_carry
        consts, init, xs = given[:num_consts], given[num_consts:middle], given[middle:]

        def body(carry: Any, x: Any) -> Any:
            made, flag = self._apart(jaxpr, [*consts, *carry[1:], *x])
            return (carry[0] | flag, *made[:num_carry]), made[num_carry:]

        how = {key: params[key] for key in ("length", "reverse", "unroll")}
        (flag, *carry), ys = lax.scan(body, (jnp.array(_NONE), *init), xs, **how)
        self.flags.append(flag)
        return [*carry, *ys]

    def _while(
        self, given: Arrays, cond_jaxpr: Any, cond_nconsts: int, body_jaxpr: Any, body_nconsts: int
    ) -> Arrays:
        middle = cond_nconsts + body_nconsts
        of_cond, of_body = given[:cond_nconsts], given[cond_nconsts:middle]

        def asked(carry: Arrays) -> tuple[Any, Any]:
            (goes_on,), flag = self._apart(cond_jaxpr, [*of_cond, *carry])
            return goes_on, flag

        def body(state: Any) -> Any:
            made, flag = self._apart(body_jaxpr, [*of_body, *state[2:]])
            goes_on, more = asked(made)
            return (goes_on, state[1] | flag | more, *made)

        begins = (*asked(given[middle:]), *given[middle:])
        _, flag, *made = lax.while_loop(lambda state: state[0], body, begins)
        self.flags.append(flag)
        return made

    def _cond(self, given: Arrays, branches: Any, **_: Any) -> Arrays:
        ways = [lambda *x, b=b: self._apart(b, x) for b in branches]
        made, flag = lax.switch(given[0], ways, *given[1:])
        self.flags.append(flag)
        return list(made)

    def _solve(self, given: Arrays, const_lengths: Any, jaxprs: Any) -> Arrays:
        begin = const_lengths.matvec + const_lengths.vecmat
        consts = given[begin : begin + const_lengths.solve]
        made, flag = self._apart(jaxprs.solve, [*consts, *given[sum(const_lengths) :]])
        self.flags.append(flag)
        return made

    # -- operations -------------------------------------------------------------------------------

    def _add(self, kinds: Collection[str], look: Callable[[], Any]) -> None:
        if not self.kinds.isdisjoint(kinds):
            bit = next((_BITS[x] for x in kinds if x in _BITS), 3 + self.count % 29)
            self.flags.append(jnp.any(look()).astype(_NONE.dtype) << bit)
            self.count += 1

    def _look(
        self,
        eqn: Any,
        given: Arrays,
        made: Arrays,
        known: list[int],
        shown: list[bool],
        becomes: list[int],
    ) -> None:
        name = eqn.primitive.name
        if name == "convert_element_type":
            return self._cast(given[0], made[0])
        if any(next(_jaxprs(x), None) is not None for x in eqn.params.values()) and name not in {
            *INTEGERS,
            *MOVES,
        }:
            raise Unflagged(name)
        for x in made:
            if jnp.issubdtype(x.dtype, jnp.integer):
                if (rule := INTEGERS.get(name)) is not None:
                    self._add({WRAP}, partial(rule, eqn.params, given, x))
                elif not self.kinds.isdisjoint({WRAP}) and name not in MOVES | EXACT:
                    raise Unflagged(name)
            elif jnp.issubdtype(x.dtype, jnp.inexact):
                chosen = name == "select_n" and any(tag & _HAS_INF for tag in known)
                if chosen or not (name in MOVES | FINITE or becomes[0] & _SHOWS):
                    own = [y for y, is_shown in zip(given, shown, strict=True) if not is_shown]
                    self._add({OVERFLOW, NAN}, partial(flags.new, x, () if chosen else own))
                if jnp.issubdtype(x.dtype, jnp.floating):
                    self._floats(name, given, x, known, becomes[0])
        return None

    def _floats(self, name: str, given: Arrays, made: Any, known: list[int], becomes: int) -> None:
        if name in SMALL and not becomes & _NOTHING:
            self._add({UNDERFLOW}, lambda: flags.is_small(made) & flags.all_nonzero(given))
        if name in ("add", "sub") and becomes & _LASTS and len(given) == 2:
            for n in (0, 1)[: 1 if name == "sub" else 2]:
                if known[n] & ENTERS and given[n].shape == made.shape:
                    self._add({ABSORBED}, partial(flags.stands_still, given[n], given[1 - n], made))

    def _cast(self, x: Any, made: Any) -> None:
        source, target = x.dtype, made.dtype
        if target == source or not _is_number(source):
            return
        if {np.dtype(source).kind, np.dtype(target).kind} & {"c"}:
            raise Unflagged("a cast of complex numbers")
        if jnp.issubdtype(target, jnp.integer):
            low, high = jnp.iinfo(target).min, jnp.iinfo(target).max
            self._add({RANGE}, lambda: flags.beyond(x, low, high))
        elif not _is_number(target):
            if jnp.issubdtype(source, jnp.floating):
                self._add({RANGE}, lambda: flags.not_finite(x))
        elif jnp.issubdtype(source, jnp.integer):
            most = min(2 ** (jnp.finfo(target).nmant + 1), int(jnp.finfo(target).max))
            self._add({DIGITS, RANGE}, lambda: flags.beyond(x, -most, most))
        elif jnp.promote_types(source, target) != target:
            about = jnp.finfo(target)
            whole = 2.0 ** (about.nmant + 1)
            self._add({RANGE}, lambda: flags.not_finite(made) | flags.above(x, about.max))
            self._add({UNDERFLOW}, lambda: flags.is_small(made) & flags.nonzero(x))
            self._add({DIGITS}, lambda: flags.above(x, whole) | flags.is_offset(x))


def _is_number(dtype: Any) -> bool:
    return bool(jnp.issubdtype(dtype, jnp.number))


def _bound(eqn: Any, given: Arrays) -> list[Any]:
    """The results of an operation, as it is."""
    bind = eqn.primitive.get_bind_params(eqn.params)
    functions, params = bind if isinstance(bind, tuple) else ((), bind)  # of JAX before 0.10
    with source_info_util.user_context(eqn.source_info.traceback), eqn.ctx.manager:
        made = eqn.primitive.bind(*functions, *given, **params)
    return list(made) if eqn.primitive.multiple_results else [made]


def _jaxprs(x: Any) -> Iterator[Any]:
    """The jaxprs in a parameter of a primitive."""
    if hasattr(x, "eqns"):
        yield x
    elif isinstance(x, tuple):
        for each in x:
            yield from _jaxprs(each)


def hold_arrays(jaxpr: Any) -> bool:
    """Whether some function within a jaxpr has arrays of its own, which its text does not show."""
    within = (x for eqn in jaxpr.eqns for each in eqn.params.values() for x in _jaxprs(each))
    return any(getattr(x, "consts", ()) or hold_arrays(x) for x in within)


def _variables(eqn: Any) -> set[Any]:
    return {x for x in eqn.invars if not isinstance(x, Literal)}


def _results(jaxpr: Any, becomes: Sequence[int], what: int) -> set[Any]:
    both = zip(jaxpr.outvars, becomes, strict=False)
    return {x for x, each in both if each & what and not isinstance(x, Literal)}


def _lasting(jaxpr: Any, becomes: Sequence[int]) -> set[Any]:
    """The variables that come out of a jaxpr through products and moves alone."""
    last = _results(jaxpr, becomes or [_LASTS] * len(jaxpr.outvars), _LASTS)
    for eqn in reversed(jaxpr.eqns):
        if last & set(eqn.outvars) and eqn.primitive.name in MOVES | SCALES | CALLS | LOOPS:
            last |= _variables(eqn)
    return last


def _shown(jaxpr: Any, becomes: Sequence[int]) -> set[Any]:
    """The variables whose Inf and NaN show in what is made of them, where they are looked for.

    Those that may be a mask's are not among them.
    """
    masks: set[Any] = set()
    for eqn in jaxpr.eqns:
        has_inf = any(isinstance(x, Literal) and _is_inf(x) for x in eqn.invars)
        if (has_inf or masks & _variables(eqn)) and eqn.primitive.name in MOVES | SHOW | CALLS:
            masks |= set(eqn.outvars)
    shown = _results(jaxpr, becomes, _SHOWS)
    for eqn in reversed(jaxpr.eqns):
        name = eqn.primitive.name
        if name in SHOW and (name not in MOVES | FINITE or eqn.outvars[0] in shown):
            given = _variables(eqn)
            if not masks & given and not _is_left(eqn):
                shown |= given
    return shown - {*jaxpr.invars, *jaxpr.constvars}  # which nobody has looked at


def _nothing(jaxpr: Any) -> set[Any]:
    """The variables that are only added to numbers of the source beside which a small one is
    nothing, as in ``1 - decay**step``."""
    adds: set[Any] = set()
    others = {x for x in jaxpr.outvars if not isinstance(x, Literal)}
    for eqn in jaxpr.eqns:
        numbers = [x.val for x in eqn.invars if isinstance(x, Literal)]
        is_sum = eqn.primitive.name in ("add", "sub") and numbers
        if is_sum and bool(np.all(np.abs(np.asarray(numbers, float)) >= LEAST)):
            adds |= _variables(eqn)
        else:
            others |= _variables(eqn)
    return adds - others


def _is_inf(x: Any) -> bool:
    return not np.all(np.isfinite(np.asarray(x.val, complex)))


_JAX = os.path.join(os.path.dirname(jax.__file__), "")


def _is_left(eqn: Any) -> bool:
    """Whether it is part of a function of JAX's of which the checks look at no value."""
    found = None
    for frame in eqn.source_info.traceback.frames if eqn.source_info.traceback else ():
        if not frame.file_name.startswith(_JAX):
            break
        found = frame.file_name, frame.function_name
    if found is None:
        return False
    return found[0].endswith(_RANDOM) or _loses_nothing(found[1])


_RANDOM = os.path.join("_src", "random.py"), os.path.join("_src", "prng.py")


@cache
def _loses_nothing(name: str) -> bool:
    return is_nothing(plain(name, Call.words.operations), Call.words)
