"""Each policy's cast rule against every recorded cast of its framework, with its quirks on.

conformance/golden/casts.npz, casts_more.npz and casts_arm64.npz hold the records; what differs on
purpose stands in conformance/cast_departures.toml under its reason. NaN is compared as a class, but
its sign where ONNX's tables fix it.
"""

from __future__ import annotations

import json
import pickle
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tables

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.cast import convert
from promoarray.dtypes import BY_NAME, DType
from promoarray.kernels import Beyond, CastMode, ScaleRounding, ToInteger
from promoarray.policies import Policy, Refusal, as_policy
from promoarray.policies.onnx.cast import QUIRKS

CONFORMANCE = Path(__file__).resolve().parents[2] / "conformance"
GOLDEN = CONFORMANCE / "golden"

POLICY_OF = {
    "mldtypes": "numpy@2",
    "numpy1": "numpy@1",
    "jax": "jax@x64",
    "torch": "torch@2.13",
    "tensorflow": "tensorflow",
    "paddle331": "paddle@3.3",
    "paddle262": "paddle@2.6",
    "mindspore": "mindspore@2.10",
    "numpy2_arm64": "numpy@2-arm64",
    "numpy2_arm64_rows": "numpy@2-arm64",
    "torch_arm64": "torch@2.13-arm64",
    "torch_arm64_rows": "torch@2.13-arm64",
}
OTHERS = ("more", "arm64")
IMPLEMENTATION = {"ort": "onnxruntime", "onnxref": "onnx.reference"}


class Record(NamedTuple):
    who: str
    policy: Policy
    settings: dict[str, object]
    want: Any


# -- the records ------------------------------------------------------------------------------


@cache
def golden() -> dict[str, Any]:
    with np.load(GOLDEN / "casts.npz") as file:
        found = dict(file)
    for other in OTHERS:
        with np.load(GOLDEN / f"casts_{other}.npz") as more:
            found |= {f"{other}.{name}": more[name] for name in more.files}
    return found


@cache
def index(file: str = "") -> dict[str, Any]:
    return json.loads(str(golden()[f"{file}index"]))


@cache
def inputs(source: DType) -> Any:
    found = golden().get(f"in_{source.name}")
    if found is not None:
        return found
    count = 2 if source is dt.bool else 1 << source.bits
    return np.arange(count).astype(f"u{source.storage.itemsize}")


@cache
def of_framework(who: str) -> Policy:
    """The policy with all quirks, but for that of rows only where rows were asked."""
    policy = as_policy(POLICY_OF[who])
    names = {quirk.name for quirk in policy.cast.quirks}
    return policy.with_quirks(*(names - {"in-no-vector"} if not who.endswith("rows") else names))


@cache
def implementation(who: str, opset: int) -> Policy:
    """The opset's policy with the quirks of one implementation."""
    policy = as_policy(f"onnx@{opset}")
    quirks = [q.name for q in policy.cast.quirks if IMPLEMENTATION[who] in q.source]
    return policy.with_quirks(*quirks)


def records(pair: str) -> Iterator[Record]:
    for mode, entries in index().get(pair, {}).items():
        given: dict[str, object] = {}
        if mode[:2] in ("s0", "s1"):
            given["saturate"] = mode[:2] == "s1"
        if "_" in mode:
            given["round_mode"] = mode.partition("_")[2]
        for entry, names in entries.items():
            for name in names:
                who, _, opset = name.partition("@")
                if who == "spec":
                    policy = as_policy("onnx@23" if mode == "s1@19..23" else "onnx@28")
                elif who in POLICY_OF:
                    policy = of_framework(who)
                else:
                    policy = implementation(who, int(opset))
                knobs = {k: v for k, v in given.items() if k in policy.cast.knobs}
                yield Record(who, policy, knobs, golden()[entry])
    for other in OTHERS:
        for who, entry in index(f"{other}.").get(pair, {}).items():
            own = f"{other}.{entry}"
            key = entry.removeprefix("casts.") if entry.startswith("casts.") else own
            yield Record(who, of_framework(who), {}, golden()[key])


def made(record: Record, codes: Any, source: DType, target: DType) -> Any:
    settings = {**record.policy.cast.settings(), **record.settings}
    out = convert(record.policy, codes.view(source.storage), source, target, settings)
    return out.view(f"u{target.storage.itemsize}")


# -- how they compare -------------------------------------------------------------------------


def nan(codes: Any, dtype: DType) -> Any:
    layout = dtype.format
    if layout is None or layout.nan is None:
        return np.zeros(codes.shape, bool)
    if not layout.negative_zero:
        return codes == layout.nan
    size = codes & codes.dtype.type((1 << layout.exponent + layout.mantissa) - 1)
    return (size > layout.largest) & (size != layout.inf)


def differs(record: Record, got: Any, target: DType) -> tuple[Any, Any]:
    """Which results differ, and which of these in the sign of NaN alone."""
    want, ours = record.want, nan(got, target)
    if record.who != "spec":
        return (got != want) & ~(ours & nan(want, target)), np.zeros(got.shape, bool)
    one_nan = not target.format.negative_zero
    negative = (got >> (target.bits - 1)).astype(bool) | one_nan
    positive = ~(got >> (target.bits - 1)).astype(bool) | one_nan
    agrees = (
        ((want < 0xFFFC) & (got == want))
        | (want == 0xFFFF)  # unspecified
        | ((want == 0xFFFE) & ours)  # any NaN
        | ((want == 0xFFFD) & ours & negative)
        | ((want == 0xFFFC) & ours & positive)
    )
    theirs = (want >= 0xFFFC) | nan(np.minimum(want, 0xFF).astype(got.dtype), target)
    return ~agrees, ~agrees & ours & theirs


@cache
def departures() -> list[dict[str, Any]]:
    return tomllib.loads((CONFORMANCE / "cast_departures.toml").read_text())["departure"]


def allowed(record: Record, pair: str, wrong: Any, sign_only: Any) -> bool:
    for departure in departures():
        if record.who in departure["who"] and any(fnmatch(pair, p) for p in departure["pairs"]):
            if departure.get("sign_of_nan_only"):
                if (wrong == sign_only).all():
                    return True
            elif wrong.sum() == departure["inputs"]:
                return True
    return False


PAIRS = sorted({*index(), *(pair for other in OTHERS for pair in index(f"{other}."))})


@pytest.mark.parametrize("pair", PAIRS)
def test_every_recorded_bit(pair: str) -> None:
    source, target = (BY_NAME[name] for name in pair.split("|"))
    codes, lines = inputs(source), []
    for record in records(pair):
        got = made(record, codes, source, target)
        wrong, sign_only = differs(record, got, target)
        if wrong.any() and not allowed(record, pair, wrong, sign_only):
            which = np.flatnonzero(wrong)
            lines += [
                f"{record.who} {record.policy.name} {record.settings}: {len(which)} differ",
                *(f"  {codes[i]:#x}: {got[i]:#x}, recorded {record.want[i]:#x}" for i in which[:5]),
            ]
    assert not lines, "\n".join(lines)


def test_every_departure_is_still_one() -> None:
    idle = []
    for departure in departures():
        pairs = [p for p in PAIRS if any(fnmatch(p, pattern) for pattern in departure["pairs"])]
        found = False
        for pair in pairs:
            source, target = (BY_NAME[name] for name in pair.split("|"))
            for record in records(pair):
                if record.who in departure["who"]:
                    got = made(record, inputs(source), source, target)
                    found |= bool(differs(record, got, target)[0].any())
        idle += [] if found else [departure["reason"]]
    assert not idle


def test_all_frameworks_are_compared() -> None:
    found = {record.who for pair in PAIRS for record in records(pair)}
    assert found == {*POLICY_OF, *IMPLEMENTATION, "spec"}


# -- quirks -----------------------------------------------------------------------------------

ONE_OF_EACH = sorted({p.partition("@")[0] for p in pa.list_policies()} | {*POLICY_OF.values()})


QUIRKY = [*ONE_OF_EACH, "onnx@23"]


@pytest.mark.parametrize("name", [n for n in QUIRKY if as_policy(n).cast.quirks])
def test_every_quirk_changes_something_and_is_off_by_default(name: str) -> None:
    policy = as_policy(name)
    if name in ("onnxruntime", "openvino"):  # runtimes of ONNX are an opset with their quirks
        assert policy.cast.on == tuple(quirk.name for quirk in policy.cast.quirks)
        policy = policy.derive(name, cast=replace(policy.cast, on=()))
    assert policy.cast.on == ()
    defaults = policy.cast.settings()
    settings = [defaults, {**defaults, "saturate": False}] if "saturate" in defaults else [{}]
    for quirk in policy.cast.quirks:
        if quirk.name == "infinity-to-fnuz-saturates" and name != "onnx@23":
            continue  # from opset 24 on it is the rule
        if quirk.name in policy.quantization.quirks:
            continue  # which changes no cast: tests/extras/test_quantization.py
        odd, found = policy.with_quirks(quirk.name), False
        for pair in PAIRS:
            source, target = (BY_NAME[name] for name in pair.split("|"))
            x = inputs(source).view(source.storage)
            for given in settings:
                same = odd.cast.plan(source, target, given) == policy.cast.plan(
                    source, target, given
                )
                if not found and not same:
                    plain, strange = (convert(p, x, source, target, given) for p in (policy, odd))
                    found = plain.tobytes() != strange.tobytes()
        assert found, quirk.name


def test_a_policy_with_quirks_goes_by_its_name() -> None:
    policy = as_policy("paddle@3.3").with_quirks("nan-to-e4m3fn-is-448")
    assert policy.name == "paddle@3.3+nan-to-e4m3fn-is-448"
    assert as_policy(policy.name) is policy
    assert pickle.loads(pickle.dumps(policy)) is policy
    both = policy.with_quirks("rounds-twice")
    assert both.name == "paddle@3.3+rounds-twice+nan-to-e4m3fn-is-448"
    assert both is as_policy("paddle@3.3+nan-to-e4m3fn-is-448+rounds-twice")
    assert policy.with_quirks() is policy
    x = pa.namespace(policy.name).asarray([float("nan")], dtype=pa.float32)
    assert x.astype(pa.float8_e4m3fn).tolist() == [448.0]
    assert pickle.loads(pickle.dumps(x)).astype(pa.float8_e4m3fn).tolist() == [448.0]


def test_an_unknown_quirk_lists_the_near_ones() -> None:
    said = r"'paddle@3.3'.*unknown quirk.*Did you mean: nan-to-e4m3fn-is-448\?"
    with pytest.raises(pa.UnknownPolicyError, match=said):
        pa.set_policy("paddle@3.3+nan-to-e4m3")
    with pytest.raises(ValueError, match=r"unknown quirk .* has no quirks"):
        as_policy("aclnn").with_quirks("rounds-twice")
    with pytest.raises(pa.UnknownPolicyError, match="unknown policy 'padle'"):
        as_policy("padle+rounds-twice")


def test_quirks_leave_promotion_alone() -> None:
    with pa.policy("torch+rounds-twice"):
        assert pa.result_type(pa.int8, pa.float16) is pa.float16


# -- ONNX: types, attributes, tables ------------------------------------------------------------


@pytest.mark.parametrize("opset", range(1, 29))
def test_types_of_every_opset_are_those_of_the_schemas(opset: int) -> None:
    _, sections = tables.read(GOLDEN / "onnx.txt")
    schemas = sections["types/Cast"]
    versions = {int(row.partition("/")[0]) for row, _ in schemas}
    version = max(v for v in versions if v <= opset)
    taken = [
        {code for (row, code), cell in schemas.items() if row == f"{version}/{t}" and cell != "-"}
        for t in ("T1", "T2")
    ]
    cast = as_policy(f"onnx@{opset}").cast
    wrong = [
        f"{a.name} to {b.name}"
        for a in (*dt.CONCRETE, dt.string)
        for b in (*dt.CONCRETE, dt.string)
        if (cast.refuses(a, b) is None) != (a.code in taken[0] and b.code in taken[1])
    ]
    assert not wrong


def test_a_refusal_names_the_opset_that_admits_the_pair() -> None:
    x = pa.namespace("onnx@20").asarray([1.0], dtype=pa.float32)
    with pytest.raises(pa.PromotionError, match=r"float32 to int4.*from opset 21 on"):
        x.astype(pa.int4)
    with pytest.raises(pa.PromotionError, match=r"from opset 28 on"):
        x.astype(pa.float6_e2m3fn)
    with pytest.raises(pa.PromotionError, match=r"complex64, in any opset"):
        x.astype(pa.complex64)
    y = pa.namespace("onnx@18").asarray([1.0], dtype=pa.bfloat16)
    with pytest.raises(pa.PromotionError, match=r"no float8_e8m0fnu; .* from opset 24 on"):
        y.astype(pa.float8_e8m0fnu)


@pytest.mark.parametrize("opset", range(1, 29))
def test_attributes_by_opset(opset: int) -> None:
    x = pa.namespace(f"onnx@{opset}").asarray([1.0], dtype=pa.float32)
    for name, value, since in (("saturate", 0, 19), ("round_mode", "down", 24)):
        if opset >= since:
            x.astype(pa.float16, **{name: value})  # where it changes nothing, as in ONNX
        else:
            with pytest.raises(TypeError, match=rf"'onnx@{opset}'.* no {name} .*onnx@{since}"):
                x.astype(pa.float16, **{name: value})


@pytest.mark.parametrize("name", sorted(set(POLICY_OF.values()) | {"aclnn", "array_api", "paddle"}))
def test_policies_without_a_knob_say_so(name: str) -> None:
    x = pa.namespace(name).asarray([1.0], dtype=pa.float32)
    with pytest.raises(TypeError, match=f"{as_policy(name).name!r}.*no saturate"):
        pa.astype(x, pa.float16, saturate=True)
    with pytest.raises(TypeError, match="no round_mode"):
        x.astype(pa.float16, round_mode="up")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"saturate": 2}, "saturate is True or False, not 2"),
        ({"saturate": "yes"}, "saturate is True or False, not 'yes'"),
        ({"saturate": 1.0}, "not 1.0"),
        ({"round_mode": "even"}, "round_mode is 'up' or 'down' or 'nearest', not 'even'"),
        ({"round_mode": 1}, "not 1"),
    ],
)
def test_wrong_settings(arguments: dict[str, Any], message: str) -> None:
    x = pa.namespace("onnx").asarray([1.0], dtype=pa.float32)
    with pytest.raises(ValueError, match=message):
        x.astype(pa.float8_e5m2, **arguments)


INF, NAN = float("inf"), float("nan")


def codes(policy: str, values: list[float], target: DType, **settings: Any) -> list[int]:
    x = pa.namespace(policy).asarray(values, dtype=pa.float32)
    return np.asarray(x.astype(target, **settings)).view(np.uint8).tolist()


# Cast, "E4M3FN | E4M3FNUZ | E5M2 | E5M2FNUZ" of opset 24 and later; FNUZ Inf apart.
VALUES = [0.0, -0.0, NAN, INF, -INF, 1e9, -1e9]
TABLE = {
    True: {
        pa.float8_e4m3fn: [0x00, 0x80, 0x7F, 0x7E, 0xFE, 0x7E, 0xFE],
        pa.float8_e4m3fnuz: [0x00, 0x00, 0x80, 0x7F, 0xFF, 0x7F, 0xFF],
        pa.float8_e5m2: [0x00, 0x80, 0x7E, 0x7B, 0xFB, 0x7B, 0xFB],
        pa.float8_e5m2fnuz: [0x00, 0x00, 0x80, 0x7F, 0xFF, 0x7F, 0xFF],
    },
    False: {
        pa.float8_e4m3fn: [0x00, 0x80, 0x7F, 0x7F, 0xFF, 0x7F, 0xFF],
        pa.float8_e4m3fnuz: [0x00, 0x00, 0x80, 0x80, 0x80, 0x80, 0x80],
        pa.float8_e5m2: [0x00, 0x80, 0x7E, 0x7C, 0xFC, 0x7C, 0xFC],
        pa.float8_e5m2fnuz: [0x00, 0x00, 0x80, 0x80, 0x80, 0x80, 0x80],
    },
}


@pytest.mark.parametrize("opset", [19, 21, 23, 24, 25, 28])
def test_float8_tables(opset: int) -> None:
    for saturate, rows in TABLE.items():
        for target, row in rows.items():
            expected = list(row)
            if saturate and opset < 24 and not target.format.negative_zero:
                expected[3:5] = [0x80, 0x80]  # Inf is NaN there
            assert codes(f"onnx@{opset}", VALUES, target, saturate=saturate) == expected
        for target, row in TABLE[True].items():
            default = list(row)
            if opset < 24 and not target.format.negative_zero:
                default[3:5] = [0x80, 0x80]
            assert codes(f"onnx@{opset}", VALUES, target) == default


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # 0     NaN  Inf  2^127*1.5 2^-130 -1   3    1.5
        ({}, [0x00, 0xFF, 0xFE, 0xFE, 0x00, 0x00, 0x81, 0x80]),
        ({"round_mode": "down"}, [0x00, 0xFF, 0xFE, 0xFE, 0x00, 0x00, 0x80, 0x7F]),
        ({"round_mode": "nearest"}, [0x00, 0xFF, 0xFE, 0xFE, 0x00, 0x00, 0x81, 0x80]),
        (
            {"saturate": False, "round_mode": "nearest"},
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x81, 0x80],
        ),
        (
            {"saturate": 0, "round_mode": "down"},
            [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x80, 0x7F],
        ),
    ],
)
def test_scale_table(settings: dict[str, Any], expected: list[int]) -> None:
    values = [0.0, NAN, INF, 1.5 * 2.0**127, 2.0**-130, -1.0, 3.0, 1.5]
    assert codes("onnx", values, pa.float8_e8m0fnu, **settings) == expected


def test_float4_and_float6_as_the_technical_notes_say() -> None:
    values = [0.0, -0.0, 7.0, -7.0, INF, -INF, NAN, -NAN]
    sixes = [0x0, 0x8, 0x7, 0xF, 0x7, 0xF, 0x7, 0x7]
    assert codes("onnx", values, pa.float4_e2m1fn) == sixes
    assert codes("onnx", values, pa.float4_e2m1fn, saturate=False) == sixes
    assert codes("onnx@28", [25.0, -0.0, INF, NAN], pa.float6_e2m3fn) == [0x1F, 0x20, 0x1F, 0x20]
    assert codes("onnx@28", [25.0, -0.0, INF, NAN], pa.float6_e3m2fn) == [0x1E, 0x20, 0x1F, 0x20]


def test_integers_wrap_and_bools_are_nonzero() -> None:
    xp = pa.namespace("onnx")
    assert xp.asarray([200, -1], dtype=pa.int16).astype(pa.int8).tolist() == [-56, -1]
    assert xp.asarray([200, 36], dtype=pa.int16).astype(pa.uint4).tolist() == [8, 4]
    assert xp.asarray([36, 0], dtype=pa.int16).astype(pa.bool).tolist() == [True, False]
    floats = xp.asarray([0.0, -0.0, NAN, 0.3], dtype=pa.float32)
    assert floats.astype(pa.bool).tolist() == [False, False, True, True]


# -- what documents and packages say of the others ----------------------------------------------


def test_aclnns_documented_casts() -> None:
    xp = pa.namespace("aclnn")
    x = xp.asarray([NAN, 300.7, 1e20, -1e20, 1.9], dtype=pa.float32)
    assert x.astype(pa.int8).tolist() == [0, 44, -1, 0, 1]
    assert x.astype(pa.int32).tolist() == [0, 300, 2**31 - 1, -(2**31), 1]
    assert x.astype(pa.int64).tolist()[2:4] == [2**63 - 1, -(2**63)]
    assert x.astype(pa.uint8).tolist() == [0, 44, 255, 0, 1]
    assert xp.asarray([70000.0, 65520.0], dtype=pa.float32).astype(pa.float16).tolist() == [INF] * 2
    assert xp.asarray([300], dtype=pa.int32).astype(pa.int8).tolist() == [44]
    assert xp.asarray([1 + 2j], dtype=pa.complex64).astype(pa.float32).tolist() == [1.0]
    assert any("910B" in note for note in as_policy("aclnn").cast.notes)


@pytest.mark.parametrize("name", ["paddle", "paddle@3.3", "paddle@2.6"])
def test_paddles_measured_casts(name: str) -> None:
    xp = pa.namespace(name)
    x = xp.asarray([NAN, INF, -INF, 1e20, -1e20, 300.7, -1.9, 128, 2.0**31], dtype=pa.float32)
    assert x.astype(pa.int8).tolist() == [0, 0, 0, 0, 0, 44, -1, -128, 0]
    assert x.astype(pa.int32).tolist()[:5] == [-(2**31)] * 5
    assert x.astype(pa.bool).tolist() == [True] * 9
    assert xp.asarray([300], dtype=pa.int64).astype(pa.int8).tolist() == [44]
    assert xp.asarray([65520.0], dtype=pa.float32).astype(pa.float16).tolist() == [INF]


def test_paddles_quirks() -> None:
    values = [465.0, 480.0, NAN]
    assert codes("paddle@3.3", values, pa.float8_e4m3fn) == [0x7E, 0x7E, 0x7F]
    odd = "paddle@3.3+nan-to-e4m3fn-is-448+e4m3fn-464-to-480-is-nan"
    assert codes(odd, values, pa.float8_e4m3fn) == [0x7F, 0x7E, 0x7E]


def complex_cast(policy: str, values: list[complex], target: DType, source: DType) -> list[Any]:
    x = pa.namespace(policy).asarray(values, dtype=source)
    return x.astype(target).tolist()


def test_tensorflows_casts_of_complex_numbers() -> None:
    """What tf.cast of TensorFlow 2.21 answered for arrays longer than its vectors."""
    for source in (dt.complex64, dt.complex128):
        assert complex_cast("tensorflow", [1j, complex(0, NAN), 2], pa.bool, source) == [0, 0, 1]
        low = complex_cast("tensorflow", [1e30, -1e30], pa.int8, source)
        assert low == ([0, 0] if source is dt.complex64 else [-128, -128])
    assert complex_cast("tensorflow", [1e30, 6e9], pa.uint32, dt.complex64) == [1 << 31] * 2
    assert complex_cast("tensorflow", [-3.85, -188], pa.uint8, dt.complex128) == [0, 0]
    assert complex_cast("tensorflow", [-1e24, 1e24], pa.uint32, dt.complex128) == [0, 0]
    assert complex_cast("tensorflow", [1e21], pa.uint64, dt.complex128) == [1 << 63]
    flushes = "tensorflow+flushes-subnormals"
    assert complex_cast(flushes, [1e-40 + 1j, 1e-40j], pa.bool, dt.complex64) == [False, False]


def test_mindspores_casts_of_complex_numbers() -> None:
    for source in (dt.complex64, dt.complex128):
        assert complex_cast("mindspore", [1j, 1e-40j, 2], pa.bool, source) == [0, 0, 1]
        assert complex_cast("mindspore", [-1e30, NAN], pa.uint32, source) == [0, 0]


@pytest.mark.parametrize("family", ["jax", "tensorflow"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 2)])
def test_subnormals_of_complex_numbers_are_flushed_part_by_part(
    family: str, shape: tuple[int, ...]
) -> None:
    xp = pa.namespace(f"{family}+flushes-subnormals")
    for source, target in ((dt.complex64, dt.complex128), (dt.complex128, dt.complex64)):
        z = np.full(shape, -1e-40 + 1j, source.storage)
        made = np.asarray(xp.asarray(z).astype(target))
        assert made.shape == shape
        assert (made == 1j).all()
        assert np.signbit(made.real).all()
    real = xp.asarray(np.full(shape, 1e-40, np.float32))
    assert (np.asarray(real.astype(pa.complex128)) == 0).all()
    assert (
        np.asarray(xp.asarray(np.full(shape, 1e-40j, np.complex64)).astype("float64")) == 0
    ).all()


def test_torch_rounds_complex32_twice_too() -> None:
    almost = [65519.99999999999, 2.980232238769532e-08]
    for source in (dt.float64, dt.complex128):
        once = complex_cast("torch", almost, pa.complex32, source)  # type: ignore[arg-type]
        twice = complex_cast("torch+rounds-twice", almost, pa.complex32, source)  # type: ignore[arg-type]
        assert [z.real for z in once] == [65504.0, 2.0**-24]
        assert [z.real for z in twice] == [INF, 0.0]


def test_torch_2_11_and_2_13_part_in_one_cast() -> None:
    old, new = as_policy("torch@2.11").cast, as_policy("torch@2.13").cast
    parted = {
        (a, b)
        for a in dt.CONCRETE
        for b in dt.CONCRETE
        if old.plan(a, b) != new.plan(a, b) and a is not b
    }
    assert {b for _, b in parted} == {dt.float8_e4m3fn}
    assert codes("torch@2.11", [500.0, INF], pa.float8_e4m3fn) == [0x7F, 0x7F]
    assert codes("torch@2.13", [500.0, INF], pa.float8_e4m3fn) == [0x7E, 0x7E]


def test_array_api_refuses_to_drop_imaginary_parts() -> None:
    x = pa.namespace("array_api").asarray([1 + 2j], dtype=pa.complex64)
    with pytest.raises(pa.PromotionError, match=r"pa\.real"):
        x.astype(pa.float32)
    assert x.astype(pa.bool).tolist() == [True]


def test_decide_returns_the_kernels_rule() -> None:
    cast = as_policy("onnx").cast
    rule = cast.decide(pa.float32, pa.float8_e8m0fnu, saturate=False, round_mode="nearest")
    assert rule == CastMode(
        to_integer=ToInteger.X86, scale_rounding=ScaleRounding.NEAREST, scale_strict=True
    )
    assert isinstance(cast.decide(pa.complex64, pa.float32), Refusal)
    twice = as_policy("numpy+rounds-twice").cast.decide(pa.float64, pa.bfloat16)
    assert isinstance(twice, CastMode)
    assert twice.via_float32
    assert twice.overflow is Beyond.INF
    assert {quirk.name for quirk in QUIRKS} == {q.name for q in cast.quirks}


# -- implicit casts -----------------------------------------------------------------------------


def test_results_assignments_and_scalars_are_cast_by_the_policys_rule() -> None:
    for policy, large in (("torch", 448.0), ("torch@2.11", NAN), ("numpy", NAN)):
        with pa.policy(policy):
            x = pa.asarray([400.0], dtype=pa.float8_e4m3fn)
            np.testing.assert_equal((x + x).tolist(), [large])
            np.testing.assert_equal((x + 1e9).tolist(), [large])
            y = pa.asarray([1.0], dtype=pa.float8_e4m3fn)
            y[0] = 1e9
            np.testing.assert_equal(y.tolist(), [large])
            y[:] = pa.asarray([1e9], dtype=pa.float32)
            np.testing.assert_equal(y.tolist(), [large])
            z = x + 0
            z += x
            np.testing.assert_equal(z.tolist(), [large])
            np.testing.assert_equal(pa.asarray([1e9], dtype=pa.float8_e4m3fn).tolist(), [large])


def test_a_quirk_of_a_widening_cast_holds_on_the_fast_path_too() -> None:
    with pa.policy("jax+flushes-subnormals"):
        x = pa.asarray(np.array([1e-40], np.float32))
        y = pa.asarray(np.array([0.0]))
        assert [(x + y).tolist() for _ in range(3)] == [[0.0]] * 3
    with pa.policy("jax"):
        x = pa.asarray(np.array([1e-40], np.float32))
        assert (x + pa.asarray(np.array([0.0]))).tolist() != [0.0]


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (3, 1, 2)])
def test_steps_take_any_layout(shape: tuple[int, ...]) -> None:
    with pa.policy("paddle@3.3+nan-to-e4m3fn-is-448"):
        for order in ("C", "F"):
            x = np.full(shape, NAN, np.float32, order=order)
            out = pa.asarray(x).astype(pa.float8_e4m3fn)
            assert out.shape == shape
            assert (np.asarray(out).view(np.uint8) == 0x7E).all()
        z = pa.asarray(np.full(4, complex(NAN, 1), np.complex64)[::2])
        assert z.astype(pa.float8_e4m3fn).tolist() == [448.0, 448.0]
