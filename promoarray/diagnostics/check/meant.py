"""Losses that a program means: hashes, masks, random generators, and what is below thresholds."""

from __future__ import annotations

from promoarray.diagnostics.model.flow import COMPARISONS, Flow, RecordedOperation, Source
from promoarray.diagnostics.model.lost import (
    ABSORBED,
    LEAST,
    RANGE,
    UNDERFLOW,
    WRAP,
    LostPlace,
)
from promoarray.diagnostics.record.flow import DEPTH
from promoarray.diagnostics.record.idioms import LOW_BITS, idiom
from promoarray.diagnostics.record.updates import is_much
from promoarray.dtypes import BY_NAME

AGAIN = 3
"""Passes in which most updates have to be absorbed before a line counts, if not most of all are."""

SHARE = 0.1
"""Of results that vanish: so many of those examined have to."""


def meant(each: LostPlace, share: float = SHARE, flow: Flow | None = None) -> str:
    """Return why a loss is none that has to be told; "" if it has to be."""
    flow = flow or Flow()
    if each.kind == ABSORBED and (why := _is_nothing(each, flow)):
        return why
    results = each.of * each.total / max(each.passes, 1)  # in all passes
    if each.kind == UNDERFLOW and each.count < share * results:
        return f"underflow of less than {share:.0%}"
    if each.kind == UNDERFLOW and _is_nothing_beside(each, flow):
        return "underflow of what is added to a number"
    if each.kind in (WRAP, RANGE) and _low_bits_alone(each, flow):
        return LOW_BITS
    if each.kind == WRAP and _is_tested(each, flow):
        return "integers that wrap, which the program looks for"
    return idiom(each)


def _is_nothing(each: LostPlace, flow: Flow) -> str:
    """Why updates that change nothing are none that were lost; "" if they are.

    Were they added up first, they would not change the last digit either; or not the last third of
    the digits, which rounding may: at a line that changes something in most of its passes, and
    where updates come of what they are added to, as those of weights, and vanish as it converges.
    An array that no pass changes would be in more passes.
    """
    is_array = each.arrays > 0 or each.loss.of > 1
    unknown = max(each.arrays, DEPTH)  # passes, the first ones
    never = is_array and each.total - each.passes <= unknown
    if each.weight <= 1 and not never:
        return "absorbed updates that together are less than a digit"
    if each.vanishes and not never and _feeds_back(each, flow):
        return "absorbed updates that vanish as what is updated converges"
    is_most = 2 * each.passes >= each.total
    if is_most and (never or not (each.arrays or _feeds_back(each, flow))):
        return ""
    if each.passes < AGAIN:
        return f"absorbed in less than {AGAIN} passes"
    if not is_much(each.weight, BY_NAME[each.dtype]):
        return "absorbed updates that together are a few digits"
    return ""


# -- what feeds it, and what it feeds -------------------------------------------------------------


def _feeds_back(each: LostPlace, flow: Flow) -> bool:
    """Whether an update is computed of what it is added to."""
    behind, met = [*each.sources[1:2]], set[Source]()
    while behind and len(met) < _MOST_BEHIND:
        source = behind.pop()
        if source is None or source in met:
            continue
        met.add(source)
        maker = flow.makers.get(source[0])
        if maker is not None:
            if maker.place.site == each.site:
                return True
            behind += [x for given in maker.sources for x in given]
    return False


_MOST_BEHIND = 1 << 8

_KEEP_LOW_BITS = frozenset({"add", "subtract", "multiply", "negative", "bitwise_left_shift"})
_TAKE_BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"})
_SHIFTS = frozenset({"bitwise_right_shift"})


def _low_bits_alone(each: LostPlace, flow: Flow) -> bool:
    """Whether only bits of a result are taken, as of hashes and random numbers.

    What is shifted to the right by half of the bits or more is of those that were mixed; a modulus
    that is no power of two takes the bits of a number that is computed of itself, pass by pass. A
    cast to a narrower integer takes the low bits of what was made bit by bit.
    """
    if each.kind == RANGE:
        before = [flow.makers.get(x[0]) for x in each.sources[:1] if x is not None]
        return any(x is not None and x.name in _TAKE_BITS | _SHIFTS for x in before)
    readers: dict[int, list[RecordedOperation]] = {}
    for reader in flow.operations:
        for x in {x[0] for given in reader.sources for x in given}:
            readers.setdefault(x, []).append(reader)
    own = [x for x in flow.operations if x.place.site == each.site]
    ahead, met, takes, moduli = [x.makes for x in own], set[int](), False, False
    own_results = {x[0] for x in flow.finals.values()}
    while ahead:
        made = ahead.pop()
        if made in met:
            continue
        met.add(made)
        for reader in readers.get(made, ()):
            if reader.name in _KEEP_LOW_BITS:
                ahead.append(reader.makes)
            elif reader.name in _TAKE_BITS:
                takes = True
            elif reader.name in _SHIFTS | {"remainder"}:
                takes |= _takes_bits(reader)
                moduli |= reader.name == "remainder"
            else:
                return False
    turns = any(x[0] in met for op in own for given in op.sources for x in given)
    return not met & own_results and (takes or (moduli and turns))


def _is_nothing_beside(each: LostPlace, flow: Flow) -> bool:
    """Whether a result is only added to a number of the source, as in ``1 - decay**step``."""
    own = {x.makes for x in flow.operations if x.place.site == each.site}
    readers = [x for x in flow.operations if any(s[0] in own for some in x.sources for s in some)]
    return bool(readers) and all(
        reader.name in ("add", "subtract")
        and any(
            isinstance(x.value, (int, float)) and abs(x.value) >= LEAST for x in reader.operands
        )
        for reader in readers
    )


def _is_tested(each: LostPlace, flow: Flow) -> bool:
    """Whether a result is compared with what it is made of, as in ``s = a + b; s < a``."""
    for own in flow.operations:
        if own.place.site != each.site:
            continue
        given = {x for sources in own.sources for x in sources}
        for reader in flow.operations:
            if reader.name in COMPARISONS and len(reader.sources) == 2:
                one, other = reader.sources
                made = (own.makes, 0)
                if (made in one and other & given) or (made in other and one & given):
                    return True
    return False


def _takes_bits(reader: RecordedOperation) -> bool:
    """Whether a modulus or a shift by a known number takes the low, or the high half of bits."""
    by = reader.operands[1].value if len(reader.operands) > 1 else None
    if not isinstance(by, int):
        return False
    bits = max((x.bits for x in reader.dtypes()), default=0)
    return by.bit_count() == 1 if reader.name == "remainder" else 2 * by >= bits > 0
