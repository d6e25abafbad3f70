"""pa.cast_report and the command ``promoarray cast``."""

from __future__ import annotations

import json
from argparse import Namespace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import cli
from promoarray.diagnostics import casts
from promoarray.diagnostics.cast_report import CastReport
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.policies import as_policy

NAN, INF = float("nan"), float("inf")
CLASSES = (
    *("exact", "rounded", "saturated", "overflowed_to_inf", "overflowed_to_nan"),
    *("flushed_to_zero", "wrapped", "truncated", "nan_in"),
)
"""The fields in one of which every value is counted."""


def report(values: Any, target: Any, policy: str = "numpy", **settings: Any) -> CastReport:
    x = pa.namespace(policy).asarray(np.asarray(values, np.float32))
    return pa.cast_report(x, target, **settings)


def counts(found: CastReport) -> dict[str, int]:
    """What is not zero, but size and errors."""
    left_out = (
        "size",
        "policy",
        "source",
        "target",
        "largest_error",
        "mean_error",
        "largest_relative_error",
    )
    return {k: v for k, v in found.to_dict().items() if v and k not in left_out}


@pytest.mark.parametrize(
    ("policy", "settings", "expected"),
    [
        ("numpy", {}, {"exact": 3, "rounded": 2, "overflowed_to_nan": 3}),
        ("torch", {}, {"exact": 3, "rounded": 2, "saturated": 3}),
        ("onnx", {"saturate": True}, {"exact": 3, "rounded": 2, "saturated": 3}),
        ("onnx", {"saturate": False}, {"exact": 3, "rounded": 2, "overflowed_to_nan": 3}),
    ],
)
def test_overflow(policy: str, settings: Any, expected: dict[str, int]) -> None:
    found = report([1.0, 448, -448, 464, 1.1, 465, INF, -INF], "float8_e4m3fn", policy, **settings)
    nans = {"nan_out": expected["overflowed_to_nan"]} if "overflowed_to_nan" in expected else {}
    assert counts(found) == {**expected, **nans}
    assert found.largest_error == pytest.approx(0.5)  # 464, half way from 448 to 480
    assert (found.size, found.target) == (8, "float8_e4m3fn")


def test_infinities_that_stay_are_exact_and_zeros_are_told() -> None:
    found = report([INF, -INF, 1e9, 1e-9, -1e-9, 0.0, -0.0], "float8_e5m2")
    assert counts(found) == {"exact": 4, "overflowed_to_inf": 1, "flushed_to_zero": 2}
    assert counts(report([-0.0, 0.0], "float8_e4m3fnuz")) == {"exact": 2, "lost_minus_zero": 1}


def test_nan_in_and_out() -> None:
    assert counts(report([NAN, 1.0], "float8_e5m2")) == {"exact": 1, "nan_in": 1, "nan_out": 1}
    assert counts(report([NAN, 1.0], "int8")) == {"exact": 1, "nan_in": 1}
    odd = report([NAN], "float8_e4m3fn", "paddle@3.3+nan-to-e4m3fn-is-448")
    assert counts(odd) == {"nan_in": 1}


def test_integers() -> None:
    found = report([1.0, 1.5, -0.5, 300.7, 1e20, -1e20], "int8", "jax")
    assert counts(found) == {"exact": 1, "truncated": 2, "saturated": 3}
    assert found.largest_error == 0.5
    found = report([300.7, 1e20], "int8", "numpy")
    assert counts(found) == {"wrapped": 2}
    x = pa.asarray(np.array([300, -300, 255, 5]))
    assert counts(pa.cast_report(x, pa.uint8)) == {"exact": 2, "wrapped": 2}


def test_long_integers_are_compared_exactly() -> None:
    x = pa.asarray(np.array([2**53 + 1, 2**53, 2**63 - 1, -(2**63)]))
    found = pa.cast_report(x, pa.float64)
    assert counts(found) == {"exact": 2, "rounded": 2}
    assert found.largest_error == 0.5
    y = pa.asarray(np.array([2**64 - 1, 2**63], np.uint64))
    assert counts(pa.cast_report(y, pa.float64)) == {"exact": 1, "rounded": 1}
    assert counts(pa.cast_report(y, pa.int64)) == {"wrapped": 2}


def test_bools_and_complex_numbers() -> None:
    assert counts(report([0.0, 1.0, 3.0, NAN], "bool")) == {"exact": 2, "truncated": 1, "nan_in": 1}
    z = pa.asarray(np.array([1 + 2j, 3, 1e30 + 1j]))
    found = pa.cast_report(z, pa.float16)
    assert counts(found) == {"exact": 2, "overflowed_to_inf": 1, "lost_imaginary": 2}
    assert counts(pa.cast_report(z, pa.complex32)) == {"exact": 5, "overflowed_to_inf": 1}


def test_what_of_a_complex_number_is_lost_in_a_bool() -> None:
    z = pa.asarray([1 + 1j, 1, complex(NAN, 0), 0])
    report = pa.cast_report(z, "bool")
    assert (report.exact, report.truncated, report.nan_in) == (2, 1, 1)


def test_errors_just_below_a_power_of_two_are_in_the_last_place_there() -> None:
    below = pa.asarray(np.array([2**63 - 1], np.int64))
    assert pa.cast_report(below, "float32").largest_error == 2.0**-39
    assert pa.cast_report(below, "float64").largest_error == 2.0**-10


def test_scale_rounds_as_asked() -> None:
    up, down = (
        report([1.25, 3.0, -1.0], "float8_e8m0fnu", "onnx", round_mode=mode)
        for mode in ("up", "down")
    )
    assert counts(up) == counts(down) == {"rounded": 2, "saturated": 1}
    assert up.largest_error == 0.75
    assert down.largest_error == 0.5


@pytest.mark.parametrize("policy", ["numpy", "torch", "onnx", "tensorflow", "jax"])
def test_every_value_is_counted_once_in_every_pair(policy: str) -> None:
    xp = pa.namespace(policy)
    rng = np.random.default_rng(0)
    for source in CONCRETE:
        bits = rng.integers(0, 256, 64 * source.storage.itemsize, np.uint8)
        if source is pa.bool:
            bits &= 1
        if source.bits < 8:
            bits &= (1 << source.bits) - 1
        x = xp.asarray(bits.view(source.storage))
        for target in CONCRETE:
            if xp.asarray(x)._policy.cast.refuses(source, target) is None:
                found = pa.cast_report(x, target)
                total = sum(getattr(found, name) for name in CLASSES)
                parts = 2 if source.kind is target.kind is Kind.COMPLEX else 1
                assert total == parts * found.size, (source, target, counts(found))


FINITE = st.floats(-400, 400, width=32)


@given(st.lists(FINITE, min_size=1, max_size=20))
def test_errors_are_those_of_fractions(values: list[float]) -> None:
    x = np.array(values, np.float32)
    for target in (pa.float8_e4m3fn, pa.float16, pa.bfloat16, pa.float8_e5m2):
        made = np.asarray(pa.asarray(x).astype(target)).astype(np.float64)
        errors = [
            abs(Fraction(float(a)) - Fraction(float(b))) / _unit(abs(float(a)), target)
            for a, b in zip(x, made, strict=True)
        ]
        found = pa.cast_report(pa.asarray(x), target)
        assert found.largest_error == pytest.approx(float(max(errors)))
        assert found.mean_error == pytest.approx(float(sum(errors) / len(errors)))
        assert found.largest_error <= 0.5


def _unit(size: float, target: DType) -> Fraction:
    layout = target.format
    assert layout is not None
    least = Fraction(2) ** (1 - layout.bias - layout.mantissa)
    exponent = int(np.frexp(size)[1]) - 1 if size else -9999
    return max(least, Fraction(2) ** max(exponent - layout.mantissa, -9999) if size else least)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
def test_errors_of_long_integers_are_those_of_fractions(values: list[int]) -> None:
    x = np.array(values, np.int64)
    for target in (pa.float64, pa.float32, pa.bfloat16):
        assert target.format is not None
        made = np.asarray(pa.asarray(x).astype(target)).astype(np.float64)
        errors = [
            abs(a - Fraction(float(b)))
            / Fraction(2) ** (abs(a).bit_length() - 1 - target.format.mantissa)
            for a, b in zip(values, made, strict=True)
        ]
        found = pa.cast_report(pa.asarray(x), target)
        assert found.largest_error == float(max(errors))
        assert found.exact == errors.count(Fraction(0))


def test_signalling_nans_are_counted_without_a_warning() -> None:
    for code, width in ((0x7F800001, np.uint32), (0x7FF0000000000001, np.uint64)):
        x = pa.asarray(np.array([code], width)).view(f"float{np.dtype(width).itemsize * 8}")
        for target in ("int8", "bool", "float8_e4m3fn", "float16", "float64", "complex64"):
            assert pa.cast_report(x, target).nan_in == 1


def test_an_empty_array() -> None:
    found = report([], "int8")
    assert counts(found) == {}
    assert (found.largest_error, found.mean_error) == (0.0, 0.0)
    assert "0 values" in str(found)


def test_it_prints_and_goes_into_notebooks_and_json() -> None:
    found = report([500.0, 1.1], "float8_e4m3fn", "torch")
    lines = str(found).splitlines()
    assert lines[0].strip() == "float32 to float8_e4m3fn under torch@2.13: 2 values"
    assert "1 (50.00%)" in lines[1]
    assert "\x1b" not in str(found)
    assert repr(found) == str(found)
    assert "<table" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["saturated"] == 1


def test_wrong_questions() -> None:
    x = pa.asarray([1.0])
    with pytest.raises(TypeError, match="cast_report takes an array"):
        pa.cast_report([1.0], pa.int8)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="strings"):
        pa.cast_report(x, str)
    with pytest.raises(TypeError, match="no saturate"):
        pa.cast_report(x, pa.int8, saturate=True)
    with pytest.raises(pa.PromotionError, match="opset 19 on"):
        pa.cast_report(pa.namespace("onnx@18").asarray([1.0]), pa.float8_e5m2)


# -- the command ---------------------------------------------------------------------------------


def answer(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> Any:
    assert cli.main(["cast", *words, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_cast_shows_bits_and_values(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cast", "--from", "float32", "--to", "float8_e4m3fn", "500", "-inf", "-1e-9"]
    assert cli.main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "float32 to float8_e4m3fn"
    assert lines[1].split() == ["500", "-inf", "-9.99999972e-10"]
    assert lines[2].split() == ["float32", "0x43fa0000", "0xff800000", "0xb089705f"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:-2]}
    assert rows["torch@2.13"] == ["0x7e", "448", "0xfe", "-448", "0x80", "-0"]
    assert rows["numpy@2"] == ["0x7f", "nan", "0xff", "nan", "0x80", "-0"]
    assert len(rows) == 8  # one of every framework
    assert [line.partition(":")[0] for line in lines[-2:]] == ["mindspore@2.10", "aclnn@8.0"]
    assert all("ml_dtypes'" in line for line in lines[-2:])


def test_cast_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", "f32", "--to", "f8_e8m0fnu", "--policy", "onnx,onnx@18,torch"]
    found = answer(capsys, *words, "--round-mode", "down", "3", "bits:ffc00000")
    first, second = found["values"]
    assert first["given"] == {"bits": "0x40400000", "value": "3"}
    assert first["policies"]["onnx@25"] == {"bits": "0x80", "value": "2"}
    assert first["policies"]["torch@2.13"]["value"] == "4"
    assert second["policies"]["onnx@25"] == {"bits": "0xff", "value": "nan"}
    assert "opset 24" in found["refused"]["onnx@18"]


def test_cast_takes_settings_and_quirks(capsys: pytest.CaptureFixture[str]) -> None:
    quirky = "paddle@3.3+nan-to-e4m3fn-is-448"
    words = ["--from", "f32", "--to", "f8_e4m3fn", "--policy", f"onnx,{quirky}", "--saturate", "0"]
    values = answer(capsys, *words, "500", "nan")["values"]
    assert values[0]["policies"]["onnx@25"]["value"] == "nan"
    assert values[1]["policies"][quirky] == {"bits": "0x7e", "value": "448"}


def test_cast_of_integers_and_complex_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", "int64", "--to", "int8", "--policy", "numpy", "300", "-9223372036854775808"]
    found = [v["policies"]["numpy@2"]["value"] for v in answer(capsys, *words)["values"]]
    assert found == ["44", "0"]
    words = ["--from", "c64", "--to", "c32", "--policy", "torch", "1+2j"]
    assert answer(capsys, *words)["values"][0]["policies"]["torch@2.13"] == {
        "bits": "0x3c00_4000",
        "value": "(1+2j)",
    }


def test_cast_of_strings(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", "str", "--to", "f8_e4m3fn", "--policy", "onnx,numpy"]
    found = answer(capsys, *words, "0.3", "-INF")
    assert found["values"][0]["given"] == {"bits": "", "value": "'0.3'"}
    made = [value["policies"]["onnx@25"]["value"] for value in found["values"]]
    assert made == ["0.3125", "-448"]
    assert found["refused"]["numpy@2"].startswith("it casts no strings")
    wrong = answer(capsys, *words, "1,5", code=1)
    assert "'1,5' at [0]" in wrong["refused"]["onnx@25"]
    back = answer(capsys, "--from", "f16", "--to", "str", "--policy", "onnx", "0.1")
    assert back["values"][0]["policies"]["onnx@25"] == {"bits": "", "value": "'0.1'"}


def test_texts_are_not_taken_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", "str", "--to", "f32", "--policy", "onnx", "[red]1[/red]"]
    assert cli.main(["cast", *words]) == 1
    assert "'[red]1[/red]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", "f32", "--to", "f99", "1"], "f99"),
        (["--from", "f32", "--to", "f8", "1"], "f8_e4m3fn"),
        (["--from", "f32", "--to", "i*", "1"], "the type of a Python scalar"),
        (["--from", "f32", "--to", "int8", "one"], "'one' is not a number"),
        (["--from", "int8", "--to", "f32", "300"], "int8, which holds -128 to 127"),
        (["--from", "int8", "--to", "f32", "1.5"], "int8, which holds"),
        (["--from", "f32", "--to", "f16", "1j"], "'1j' is not a value of float32"),
        (
            ["--from", "f16", "--to", "f32", "bits:12345"],
            "is not a code of float16: write bits:0 to bits:ffff",
        ),
        (["--from", "f16", "--to", "f32", "bits:xy"], "not a hexadecimal number"),
        (
            ["--from", "bool", "--to", "f32", "bits:2"],
            "is not a code of bool: write bits:0 to bits:1",
        ),
        (["--from", "f8_e4m3fn", "--to", "f32", "500"], "out of the range of float8_e4m3fn"),
        (["--from", "c64", "--to", "f32", "bits:1"], "real dtypes only"),
        (["--from", "f32", "--to", "f16", "--policy", "numpy", "--saturate", "1", "1"], "onnx@19"),
        (["--from", "f32", "--to", "f16", "--policy", "torch", "--round-mode", "up", "1"], "24"),
        (["--from", "f32", "--to", "f16", "--policy", "numpi", "1"], "Did you mean"),
        (["--from", "f32", "--to", "f16", "--policy", "numpy+twice", "1"], "rounds-twice"),
    ],
)
def test_wrong_commands(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    assert cli.main(["cast", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_cast_that_every_policy_refuses_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", "f32", "--to", "f8_e5m2", "--policy", "onnx@18", "1"]
    assert cli.main(["cast", *words]) == 1
    assert "from opset 19 on" in capsys.readouterr().out


def test_list_shows_quirks(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    assert "nan-to-e4m3fn-is-448" in out
    assert "with_quirks" in out
    assert cli.main(["list", "--json"]) == 0
    rows = {row["policy"]: row for row in json.loads(capsys.readouterr().out)}
    quirks = {quirk["name"]: quirk for quirk in rows["paddle@3.3"]["quirks"]}
    assert quirks["nan-to-e4m3fn-is-448"]["source"] == "paddlepaddle 3.3.1, CPU"
    assert rows["aclnn@8.0"]["quirks"] == []
    assert any("910B" in note for note in rows["aclnn@8.0"]["casts"])


@pytest.mark.parametrize("policy", ["aclnn@8.0", "aclnn@8.5"])
def test_casts_that_no_source_defines_are_marked_wherever_they_are_shown(policy: str) -> None:
    marked = "No source defines casts from and to floats of 8 bits and fewer"
    x = pa.asarray([1.0, 500.0], dtype=pa.float32)
    with pa.policy(policy):
        report = pa.cast_report(x, "float8_e4m3fn")
        assert marked in report.note
        assert marked in str(report)
        assert marked in report.html()
        assert pa.cast_report(x, "float16").note == ""
        assert marked in str(pa.explain("astype", x, "float8_e4m3fn"))
        with pytest.raises(pa.PromotionError, match=marked):
            pa.astype(x, "float8_e4m3fn") + x
    others = pa.explain("astype", x, "float8_e4m3fn", policy="torch")
    assert marked in str(others)
    assert marked in others.html()
    values = casts.read(["500"], pa.float32)
    arguments = Namespace(saturate=None, round_mode=None)
    policies = [as_policy(policy), as_policy("torch")]
    table = casts.run(arguments, policies, values, pa.float32, pa.float8_e4m3fn)
    assert list(table.to_dict()["notes"]) == [policy]
    assert marked in str(table)
    assert marked in table.html()


def test_the_page_of_casts_marks_those_that_no_source_defines() -> None:
    page = Path(__file__).parents[2] / "docs" / "casts.md"
    section = page.read_text(encoding="utf-8").partition("## aclnn@8.0")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| float8")]
    assert rows
    assert all("(ml_dtypes')" in row for row in rows)


def test_help_names_the_policies_that_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cast", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert casts.DEFAULT.replace(",", ", ").replace(", onnx", " and onnx") in said
