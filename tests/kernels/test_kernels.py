"""The casts of each level: all of float32, the definition, threads, memory and wrong arguments.

The loops for each x86-64 level that the machine has are compared with the definition, code by code.
test_casts.py has every pair, mode and layout, by exact arithmetic. Here the space is searched where
it is small.
"""

from __future__ import annotations

import hashlib
import operator
import os
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cast_cases import REAL, RULES, cast_codes, random_codes, same_numbers
from cast_oracle import beyond, codes_of, magnitudes
from sampled import WHOLE, turns

import promoarray as pa
from promoarray import dtypes
from promoarray.dtypes import DType, Format, Kind
from promoarray.kernels import (
    DEFAULT,
    Beyond,
    CastMode,
    ScaleRounding,
    ScaleZero,
    cast,
    cast_header,
    dtype_args,
    levels,
    use_level,
)

FLOATS = [d for d in dtypes.CONCRETE if d.format is not None and d.bits <= 16]
SIGNED = [d for d in FLOATS if d.format.signed]
SCALE = dtypes.float8_e8m0fnu
DIGESTS = Path(__file__).parents[2] / "conformance" / "golden" / "cast_digests.sha256"


F8 = dtype_args(dtypes.float8_e4m3fn)
F16 = dtype_args(dtypes.float16)
F32 = dtype_args(dtypes.float32)
X = np.ones(4, np.float32)
Y = np.zeros(4, np.uint8)


def frozen(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


SATURATE = CastMode(overflow=Beyond.LARGEST, infinity=Beyond.LARGEST, scale_zero=ScaleZero.SMALLEST)


def encoded(values: np.ndarray, dtype: DType, saturate: bool = False) -> np.ndarray:
    codes = np.empty(values.shape, codes_of(dtype))
    source = dtypes.as_dtype(values.dtype)
    cast(values, codes, dtype_args(source), dtype_args(dtype), SATURATE if saturate else DEFAULT)
    return codes


def differences(values, got, want) -> list[str]:
    bad = np.flatnonzero(got != want)
    return [f"{values[i]!r}: {got[i]:#x}, expected {want[i]:#x}" for i in bad[:5]]


# --- every float32 ----------------------------------------------------------------------------


# Of 8 bits one format is enough, since the digests below hold the others to the same.
_DIGESTED = {d for d in FLOATS if d.bits == 8} - {dtypes.float8_e4m3fn}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", turns([d for d in SIGNED if d not in _DIGESTED], 2, 0), ids=str)
def test_every_float32_encodes_to_the_nearest(dtype):
    """All 2^32: codes rise with the value, and change exactly at the exact ties."""
    layout = dtype.format
    values = [*magnitudes(layout), beyond(layout)]
    steps = {}  # the smallest float32 with each code
    for code in range(1, layout.largest + 2):
        tie = np.float32(float((values[code] + values[code - 1]) / 2))  # exact in float32
        steps[int(tie.view(np.uint32)) + code % 2] = code
    if layout.nan is None:
        steps.popitem()  # nothing lies beyond the largest value
    sign = np.uint32(1 << (layout.exponent + layout.mantissa))
    infinity, chunk = 0x7F80_0000, 1 << 18  # what stays in a cache

    found, previous = {}, 0
    for start in range(0, infinity + 1, chunk):
        bits = np.arange(start, min(start + chunk, infinity + 1), dtype=np.uint32)
        codes = encoded(bits.view(np.float32), dtype)
        mirror = encoded((bits | np.uint32(1 << 31)).view(np.float32), dtype)
        expected = codes | sign.astype(codes.dtype)
        if not layout.negative_zero:
            expected = np.where(codes == 0, codes, expected)
        assert np.array_equal(mirror, expected)
        changes = np.flatnonzero(np.diff(codes, prepend=codes.dtype.type(previous)))
        found |= {start + int(i): int(codes[i]) for i in changes}
        previous = codes[-1]
    overflow = layout.nan if layout.inf is None else layout.inf
    want = {at: overflow if code > layout.largest else code for at, code in steps.items()}
    assert found == want


DIGESTED = [
    (dtype, mode)
    for dtype in FLOATS
    if dtype.bits == 8
    for mode in ("default", "saturate")
    if WHOLE or mode == "default" or dtype in (dtypes.float8_e4m3fn, SCALE)
]
"""Saturating is another result beyond the largest value and no other rounding: test_casts.py has
every format by it at every tie and boundary; here are a scale and a format that is none."""


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "mode"), turns(DIGESTED, 5, 0), ids=str)
def test_all_float32_have_the_digest_that_ml_dtypes_gives(dtype, mode):
    """All 2^32 again, now by the codes of an implementation that is not ours."""
    digests = dict(line.rsplit(" ", 1) for line in DIGESTS.read_text().splitlines())
    # The digests are of ml_dtypes, which has one quirk below the second smallest scale.
    cast_mode = (SATURATE if mode == "saturate" else DEFAULT)._replace(
        scale_rounding=ScaleRounding.NEAREST_BUT_LOWEST_UP, scale_zero=ScaleZero.NAN
    )
    digest = hashlib.sha256()
    chunk = 1 << 18  # what stays in a cache
    first, codes = np.arange(chunk, dtype=np.uint32), np.empty(chunk, np.uint8)
    for start in range(0, 1 << 32, chunk):
        cast(
            first | np.uint32(start),
            codes,
            dtype_args(dtypes.float32),
            dtype_args(dtype),
            cast_mode,
        )
        digest.update(codes)
    assert digest.hexdigest() == digests[f"{dtype} {mode}"]


# --- the loops of each level ------------------------------------------------------------------


@cache
def sources(dtype: DType) -> np.ndarray:
    """Every code of 16 bits and fewer; of wider types each power of two and what is beside it."""
    if dtype.bits <= 16:
        wide = np.arange(1 << max(dtype.bits, 8))  # bits above a narrow code are ignored
        return np.resize(wide, max(wide.size, 600)).astype(codes_of(dtype))
    powers = 1 << np.arange(dtype.bits - 1, dtype=np.uint64)
    if dtype.kind is Kind.FLOAT:
        layout = dtype.format
        fractions = np.append(np.uint64(0), powers[: layout.mantissa])
        near = np.arange(layout.bias - 160, layout.bias + 140)
        fields = np.unique([0, 1, 2 * layout.bias, 2 * layout.bias + 1, *near[near >= 0]])
        fields = fields[fields < 1 << layout.exponent].astype(np.uint64)
        powers = (fields[:, None] << layout.mantissa | fractions).ravel()
    sign = np.uint64(1 << (dtype.bits - 1))
    around = np.concatenate([powers - np.uint64(1), powers, powers + np.uint64(1)])
    around = np.concatenate([around, around | sign]).astype(codes_of(dtype))
    return np.concatenate([around, random_codes(dtype, 1500)])


@pytest.mark.parametrize("mode", RULES.values(), ids=RULES)
def test_every_level_gives_what_the_definition_gives(level, mode):
    wrong = []
    # The rules take turns with the pairs; test_casts.py has every pair by every rule.
    turn = [*RULES.values()].index(mode)
    for source, target in turns(product(REAL, REAL), 2, turn):
        codes = sources(source)
        got = cast_codes(codes, source, target, mode)
        want = cast_codes(codes, source, target, mode, tuned=False)
        wrong += [f"{source} to {target}: {line}" for line in differences(codes, got, want)]
    assert not wrong, wrong[:20]


def test_every_level_writes_as_many_elements_as_there_are(level):
    wrong = []
    for source, target in product(REAL, REAL):
        codes = random_codes(source, 1100)
        want = cast_codes(codes, source, target, tuned=False)
        for n in (1, 7, 31, 33, 63, 511, 513, 1061):
            out = np.full(1100, 85, codes_of(target))
            cast(codes[:n], out[:n], dtype_args(source), dtype_args(target), DEFAULT)
            if not np.array_equal(out[:n], want[:n]) or np.any(out[n:] != 85):
                wrong.append(f"{n} of {source} to {target}")
    assert not wrong


def test_a_level_that_the_machine_lacks_is_refused():
    with pytest.raises(ValueError, match=r"level 2 is none of those that this machine has: 1"):
        use_level(2)
    assert use_level(levels()[-1]) in levels()


@pytest.mark.parametrize(("wanted", "level"), [("", levels()[-1]), ("1", 1)])
def test_the_environment_chooses_the_level(wanted, level):
    assert of_environment(wanted).stdout == f"{level}\n"


@pytest.mark.parametrize("wanted", ["9", "x"])
def test_the_environment_cannot_choose_what_the_machine_lacks(wanted):
    message = f"ImportError: PROMOARRAY_CPU_LEVEL is {wanted!r}; this machine has 1"
    run = of_environment(wanted)
    assert run.returncode != 0
    assert message in run.stderr


def of_environment(wanted: str) -> subprocess.CompletedProcess[str]:
    code = "from promoarray.kernels import use_level; print(use_level(1))"
    env = os.environ | {"PROMOARRAY_CPU_LEVEL": wanted}
    command = [sys.executable, "-P", "-c", code]  # what is installed, not what lies here
    return subprocess.run(command, env=env, capture_output=True, text=True)


# --- what a cast takes ------------------------------------------------------------------------


def test_other_threads_run_while_a_long_cast_runs():
    """The lock of the interpreter is free: another thread counts on until the cast is done."""
    codes = np.zeros(1 << 23, np.uint8)
    values = np.empty(codes.size, np.float64)
    started, done, ticks = threading.Event(), threading.Event(), 0

    def run() -> None:
        started.set()
        for _ in range(3):  # by the definition, which takes a while: half a second in all
            cast(codes, values, F8, dtype_args(dtypes.float64), DEFAULT, False)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # whoever has the lock keeps it, unless it is given away
    thread = threading.Thread(target=run)
    try:
        thread.start()
        started.wait()
        while not done.wait(0.001):
            ticks += 1
    finally:
        sys.setswitchinterval(interval)
        thread.join()
    assert ticks > 3  # once between two casts is what a cast that keeps the lock would leave


def peak(work: Callable[[], object]) -> int:
    """The most memory in use at once that NumPy took during a call, in bytes."""
    work()
    tracemalloc.start()
    try:
        result = work()
        return tracemalloc.get_traced_memory()[1] + 0 * id(result)
    finally:
        tracemalloc.stop()


LONG = 1 << 21
MIB = 1 << 20


@pytest.mark.parametrize("order", ["C", "F", "every other"])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (dtypes.float32, dtypes.float8_e4m3fn),
        (dtypes.float8_e5m2, dtypes.float32),
        (dtypes.float16, dtypes.int8),
        (dtypes.int64, dtypes.bfloat16),
        (dtypes.float64, dtypes.complex64),
        (dtypes.complex64, dtypes.float16),
        (dtypes.int8, dtypes.int64),
    ],
    ids=str,
)
def test_a_cast_takes_its_result_and_less_than_a_mebibyte(source, target, order):
    x = np.zeros((2, LONG // 2), source.storage, order="F" if order == "F" else "C")
    x = np.zeros(2 * LONG, source.storage)[::2] if order == "every other" else x
    a = pa.PArray._wrap(x, source)
    assert peak(lambda: pa.astype(a, target)) <= x.size * target.storage.itemsize + MIB


OPERATIONS = {
    "bfloat16 + bfloat16": (pa.add, "bfloat16", "bfloat16"),
    "float16 * float16": (pa.multiply, "float16", "float16"),
    "bfloat16 + float16": (pa.add, "bfloat16", "float16"),
    "int8 + float32": (pa.add, "int8", "float32"),
    "int16 - int64": (pa.subtract, "int16", "int64"),
    "float32 / float64": (pa.divide, "float32", "float64"),
    "float8 * float8": (pa.multiply, "float8_e4m3fn", "float8_e4m3fn"),
    "bfloat16 < float32": (pa.less, "bfloat16", "float32"),
    "hypot of bfloat16": (pa.hypot, "bfloat16", "bfloat16"),
    "sqrt of bfloat16": (pa.sqrt, "bfloat16"),
    "tanh of float16": (pa.tanh, "float16"),
    "isnan of bfloat16": (pa.isnan, "bfloat16"),
    "clip of float16": (lambda x: pa.clip(x, -1, 2), "float16"),
    "clip of bfloat16 by arrays": (lambda x, y: pa.clip(x, y, 2), "bfloat16", "bfloat16"),
    "where of bfloat16, float32": (
        lambda x, y: pa.where(x[:1, :1] == 1, x, y),
        "bfloat16",
        "float32",
    ),
    "bfloat16 + a row": (lambda x, y: x + y[0], "bfloat16", "bfloat16"),
    "atan2 of bfloat16, a column": (lambda x, y: pa.atan2(x, y[:, :1]), "bfloat16", "bfloat16"),
    "float16 < its other end": (lambda x, y: x < y[:, ::-1], "float16", "float16"),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("operation", sorted(OPERATIONS.keys() - {"where of bfloat16, float32"}))
def test_an_operation_takes_its_result_and_less_than_a_mebibyte(operation, order):
    function, *names = OPERATIONS[operation]
    with pa.policy("jax"):
        function(*(pa.ones((2, 2), dtype=name) for name in names))  # what is found is kept
        operands = [
            pa.PArray._wrap(
                np.ones((2, LONG // 2), (d := dtypes.as_dtype(name)).storage, order=order), d
            )
            for name in names
        ]
        used = peak(lambda: function(*operands))
        result = function(*operands)
    assert used <= result.size * result.dtype.storage.itemsize + MIB


# --- long operations ----------------------------------------------------------------------------


IN_PLACE = {
    "bfloat16 += bfloat16": (operator.iadd, "bfloat16", "bfloat16"),
    "float32 *= bfloat16": (operator.imul, "float32", "bfloat16"),
    "float32 -= float32": (operator.isub, "float32", "float32"),
    "int64 += int64": (operator.iadd, "int64", "int64"),
    "float16 /= float16": (operator.itruediv, "float16", "float16"),
    "uint8 &= uint8": (operator.iand, "uint8", "uint8"),
}


def written(function, x: np.ndarray, y: np.ndarray, dtype: DType, other: DType) -> np.ndarray:
    """What a target holds after ``x op= y``; the arrays are its memory."""
    target = pa.PArray._wrap(x, dtype)
    kept = target
    target = function(target, pa.PArray._wrap(y, other))
    assert target is kept
    assert target._buffer is x
    return x


@pytest.mark.parametrize("way", ["C", "F", "backwards", "row"])
@pytest.mark.parametrize("operation", IN_PLACE)
def test_long_operations_in_place_go_into_the_target(operation, way):
    function, *names = IN_PLACE[operation]
    dtype, other = map(dtypes.as_dtype, names)
    shape, rng = (500, 400), np.random.default_rng(5)
    plain, y = (
        (rng.random(shape) * 100 + 1).astype(d.storage, order="F" if way == "F" else "C")
        for d in (dtype, other)
    )
    y = y[:1] if way == "row" else y[::-1] if way == "backwards" else y
    plain = plain[::-1] if way == "backwards" else plain
    binary = getattr(operator, function.__name__[1:].replace("and", "and_"))
    with pa.policy("torch"), warnings.catch_warnings():
        warnings.simplefilter("default")  # an error of theirs would have the result made first
        want = binary(pa.PArray._wrap(plain, dtype), pa.PArray._wrap(y, other))
        want = pa.astype(want, dtype)._buffer
        x, again = plain.copy(order="K"), plain.copy(order="K")
        written(function, x, y, dtype, other)
        used = peak(lambda: written(function, again, y, dtype, other))
    assert same_numbers(x, want, dtype)
    assert used < x.nbytes // 2


@pytest.mark.parametrize("names", [("bfloat16", "bfloat16"), ("float32", "float32")])
@pytest.mark.parametrize("as_error", ["errstate", "filter"])
def test_an_error_leaves_the_target_as_it_was(names, as_error):
    dtype, other = map(dtypes.as_dtype, names)
    before = np.ones(100_000, dtype.storage)
    before[-1] = 3e38
    target = pa.PArray._wrap(before.copy(), dtype)
    factor = pa.PArray._wrap(np.full(100_000, 1e30, other.storage), other)
    ignored = "raise" if as_error == "errstate" else "warn"
    with warnings.catch_warnings(), np.errstate(over=ignored):
        warnings.simplefilter("error" if as_error == "filter" else "default")
        error = FloatingPointError if as_error == "errstate" else RuntimeWarning
        with pytest.raises(error, match="overflow encountered in multiply"):
            target *= factor
        assert np.array_equal(target._buffer, before)
        warnings.simplefilter("default")
        with np.errstate(over="warn"), pytest.warns(RuntimeWarning, match="overflow encountered"):
            target *= factor
    assert np.isinf(target._buffer[-1])


# --- arguments --------------------------------------------------------------------------------

FIELDS = ("kind", "bits", *Format._fields)


def changed(dtype_args: tuple, **fields: int) -> tuple:
    values = dict(zip(FIELDS, dtype_args, strict=True)) | fields
    return tuple(values.values())


@pytest.mark.parametrize(
    ("src", "dst", "error", "match"),
    [
        (X[:3], Y, ValueError, r"src has shape \(3\) and dst has \(4\)"),
        (X.reshape(2, 2), Y, ValueError, r"src has shape \(2, 2\) and dst has \(4\)"),
        (X[0], Y, ValueError, r"src has shape \(\) and dst has \(4\)"),
        (X.astype(np.float64), Y, ValueError, "src has elements of 8 bytes, and its row says 4"),
        (X, Y.astype(np.uint32), ValueError, "dst has elements of 4 bytes, and its row says 1"),
        (X, np.zeros(8, np.uint8)[::2], (ValueError, BufferError), "not C-contiguous"),
        (X, frozen(Y), ValueError, "read-only"),
        (X, X.view(np.uint8)[4:8], ValueError, "overlap"),
        (X[::-1], X.view(np.uint8)[:4], ValueError, "overlap"),
        ([1.0] * 4, Y, TypeError, "bytes-like object is required"),
        (X, None, TypeError, "incompatible function arguments"),
        (X, np.array([None] * 4), TypeError, "dst must be an array of plain numbers"),
        (np.array(["a"] * 4, np.dtypes.StringDType()), Y, TypeError, "src must be an array of"),
        (memoryview(np.array([None] * 4)), Y, TypeError, "src must be an array of plain numbers"),
        ("1234", Y, TypeError, "bytes-like object is required"),
    ],
)
def test_wrong_arrays_are_refused_before_anything_is_written(src, dst, error, match):
    before = None if dst is None else dst.copy()
    with pytest.raises(error, match=match):
        cast(src, dst, F32, F8, DEFAULT)
    assert dst is None or np.array_equal(dst, before)
    assert np.all(X == 1)


def test_the_target_is_aligned_and_native():
    wide = np.frombuffer(bytearray(17), np.uint8)
    with pytest.raises(ValueError, match="dst is not aligned"):
        cast(Y, wide[1:].view(np.float32), F8, F32, DEFAULT)
    with pytest.raises(ValueError, match="dst must be in native byte order"):
        cast(Y, X.astype(X.dtype.newbyteorder()), F8, F32, DEFAULT)


@pytest.mark.parametrize(
    ("layout", "error", "match"),
    [
        (F16, ValueError, "dst has elements of 1 bytes, and its row says 2"),
        (changed(F8, kind=5), ValueError, "item 0 of target_row is 5, not from 0 to 4"),
        (changed(F8, kind=-1), ValueError, "item 0 of target_row"),
        (changed(F8, bits=9), ValueError, "9 bits, which no element has"),
        (changed(F8, kind=4, bits=8, mantissa=2), ValueError, "does not fit its bits"),
        (changed(F8, mantissa=4), ValueError, "does not fit its bits"),
        (changed(F8, exponent=0, mantissa=7), ValueError, "does not fit its bits"),
        (changed(F8, exponent=12), ValueError, "item 2 of target_row is 12"),
        (changed(F8, bias=5000), ValueError, "item 4 of target_row is 5000"),
        (changed(F8, largest=0x80), ValueError, "special code beyond its bits"),
        (changed(F8, largest=0), ValueError, "special code beyond its bits"),
        (changed(F8, inf=0x80), ValueError, "special code beyond its bits"),
        (changed(F8, nan=0x100), ValueError, "special code beyond its bits"),
        (changed(F8, nan=0x7E), ValueError, "special code among its numbers"),
        (changed(F8, inf=0x10), ValueError, "special code among its numbers"),
        (changed(F8, nan=-2), ValueError, "item 7 of target_row is -2"),
        (changed(F8, signed=False), ValueError, "no sign and is not that of e8m0"),
        (changed(dtype_args(SCALE), mantissa=1, exponent=7), ValueError, "not that of e8m0"),
        (changed(F8, nan=1 << 80), OverflowError, "too"),
        (F8[:3], TypeError, "target_row must be a tuple of 10 integers"),
        ([*F8], TypeError, "target_row must be a tuple of 10 integers"),
        (changed(F8, nan=None), TypeError, "integer"),
        (None, TypeError, "incompatible function arguments"),
    ],
)
def test_wrong_rows_are_refused(layout, error, match):
    codes = Y.copy()
    with pytest.raises(error, match=match):
        cast(X, codes, F32, layout, DEFAULT)
    assert np.array_equal(codes, Y)


@pytest.mark.parametrize("at", range(len(DEFAULT)))
def test_wrong_rules_are_refused(at):
    for value in (-1, 9, 99):
        wrong = (*DEFAULT[:at], value, *DEFAULT[at + 1 :])
        with pytest.raises(ValueError, match=f"item {at} of mode is {value}"):
            cast(X, Y.copy(), F32, F8, wrong)
    with pytest.raises(TypeError, match="mode must be a tuple of 10 integers"):
        cast(X, Y.copy(), F32, F8, DEFAULT[:at])


@pytest.mark.parametrize("fields", [{"bias": 200}, {"bias": 1}, {"largest": 5}, {"nan": 0x80}])
def test_a_format_nobody_has_is_cast_by_the_definition(fields):
    """Any row that passes the checks is safe, if only at the pace of the definition."""
    layout = changed(F8, **fields)
    codes, again = np.zeros(600, np.uint8), np.zeros(600, np.uint8)
    values = np.linspace(-2, 2, 600, dtype=np.float32)
    cast(values, codes, F32, layout, DEFAULT)
    cast(values, again, F32, layout, DEFAULT, False)
    assert np.array_equal(codes, again)
    cast(codes, values, layout, F32, DEFAULT)


def test_an_unknown_dtype_has_no_row():
    with pytest.raises(TypeError, match="no cast kernel for string"):
        dtype_args(dtypes.string)
    with pytest.raises(TypeError, match="no cast kernel for weak_int"):
        dtype_args(dtypes.weak_int)


def test_read_only_sources_and_other_buffers_are_taken():
    codes = bytearray(4)
    cast(frozen(X), codes, F32, F8, DEFAULT)
    assert bytes(codes) == b"\x38" * 4
    values = np.zeros(4, np.float32)
    cast(bytes(codes), values, F8, F32, DEFAULT)
    assert values.tolist() == [1.0] * 4
    cast(memoryview(codes), values, F8, F32, DEFAULT)
    assert values.tolist() == [1.0] * 4


def test_the_header_is_installed_and_needs_no_other():
    text = cast_header()
    assert "put_float_together" in text
    assert "#include" not in text
