"""``explain("astype", x, dtype)``: it says what the cast does, and nothing else."""

from __future__ import annotations

import json
import math
import pickle
import re

import numpy as np
import pytest
from command import Command

import promoarray as pa
from promoarray.diagnostics.casts import cells
from promoarray.diagnostics.explain.cast import edges
from promoarray.dtypes import CONCRETE, DType
from promoarray.promotion.registry import as_policy, list_policies
from promoarray.promotion.source import Note

TARGETS = (pa.bool, pa.int4, pa.uint8, pa.float8_e4m3fn, pa.float8_e8m0fnu, pa.complex32)


def shown(x: pa.PArray) -> tuple[object, ...]:
    return tuple(cells(np.asarray(x), x.dtype))


@pytest.mark.parametrize("policy", ["numpy", "jax@x32", "onnx@19", "array_api"])
def test_it_shows_what_astype_gives(policy: str) -> None:
    with pa.policy(policy):
        for source in CONCRETE:
            x = pa.PArray._wrap(np.array([0, 1, 1, 0, 1]).astype(source.storage), source)
            for target in TARGETS:
                explained = pa.explain("astype", x, target)
                if explained.refused:
                    with pytest.raises(pa.PromotionError, match=re.escape(explained.answer.reason)):
                        x.astype(target)
                else:
                    made = x.astype(target)
                    assert explained.dtype == made.dtype.name
                    assert explained.answer.values == shown(made)
                    assert explained.given == shown(x)


@pytest.mark.parametrize("source", [pa.int64, pa.float32, pa.float8_e5m2], ids=str)
def test_the_others_are_asked_as_they_would_answer(source: DType) -> None:
    for target in (pa.float8_e4m3fn, pa.int8):
        explained = pa.explain("astype", source, target, policy="torch@2.11")
        named = [name for answer in explained.others for name in answer.policies]
        assert len(named) == len(set(named))
        assert set(named) <= set(list_policies()) - {"torch@2.11"}
        for answer in explained.others:
            again = pa.explain("astype", source, target, policy=answer.policies[-1])
            if source in as_policy(answer.policies[-1]).canonical:
                continue  # which is asked of what it holds instead, at other edges
            assert (again.dtype, again.answer.values) == (answer.dtype, answer.values)


def test_without_an_array_the_edges_are_shown() -> None:
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy="torch")
    assert [cell.value for cell in explained.given] == ["896", "inf", "-inf", "nan", "-0"]
    assert [cell.value for cell in explained.answer.values] == ["448", "448", "-448", "nan", "-0"]
    with_values = pa.explain("astype", pa.asarray([1.0]), "float8_e4m3fn", policy="torch")
    edges = "at the edges: 896 becomes 448, inf becomes 448, -inf becomes -448"
    assert any(step.startswith(edges) for step in with_values.steps)
    assert [cell.value for cell in with_values.given] == ["1"]


@pytest.mark.parametrize("source", CONCRETE, ids=str)
def test_edges_are_values_of_the_source(source: DType) -> None:
    for target in CONCRETE:
        found = edges(source, target)
        assert found.dtype == source.storage
        assert (found.size == 0) is (source is target)
        assert len({cell.bits for cell in cells(found, source)}) == found.size


@pytest.mark.parametrize(
    ("source", "target", "policy", "says"),
    [
        ("float32", "float16", "numpy", "rounded once, from the float32 itself"),
        ("float64", "float16", "torch+rounds-twice", "rounded to float32 first, then again"),
        ("float32", "int8", "jax", "truncated towards zero"),
        ("int64", "int8", "numpy", "the low bits are kept"),
        ("int8", "int64", "numpy", "every value comes through"),
        ("float32", "bool", "numpy", "all but zero is True"),
        ("complex64", "float16", "numpy", "the imaginary part is dropped; rounded once"),
        ("float32", "float8_e8m0fnu", "onnx", "to a power of two, the next one up"),
        ("float32", "float8_e8m0fnu", "torch", "to a power of two, the nearest one"),
        ("string", "float32", "onnx", "the text's exact value is taken"),
        ("float32", "string", "onnx", "the shortest text that reads back"),
        ("float32", "float32", "numpy", "nothing changes"),
        ("int64", "float32", "jax@x32", "JAX without x64 holds int64 as int32"),
    ],
)
def test_the_rule_in_words(source: str, target: str, policy: str, says: str) -> None:
    assert says in "; ".join(pa.explain("astype", source, target, policy=policy).steps)


def test_quirks_are_those_the_cast_would_show() -> None:
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy="paddle@3.3")
    names = [quirk.split(": ")[:2] for quirk in explained.quirks]
    assert ["off", "nan-to-e4m3fn-is-448"] in names
    assert not any("e5m2" in name for _, name in names)
    quirky = "paddle@3.3+nan-to-e4m3fn-is-448"
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy=quirky)
    assert any(quirk.startswith("on: nan-to-e4m3fn-is-448") for quirk in explained.quirks)
    assert any(step.startswith("with the quirk nan-to") for step in explained.steps)
    assert explained.answer.values[3].value == "448"


def test_settings_are_told_where_they_change_anything() -> None:
    x = pa.asarray([500.0, -1.0])
    explained = pa.explain("astype", x, "float8_e4m3fn", policy="onnx", saturate=0)
    assert "saturate=False; it may be True" in explained.steps
    assert not any("round_mode" in step for step in explained.steps)
    assert math.isnan(float(explained.answer.values[0].value))
    scale = pa.explain("astype", x, "float8_e8m0fnu", policy="onnx", round_mode="down")
    assert scale.answer.values[0].value == "256"
    assert "round_mode='down'; it may be 'up' or 'nearest'" in scale.steps
    assert not any("saturate" in s for s in pa.explain("astype", x, "int8", policy="onnx").steps)


def test_a_setting_the_policy_has_not_is_a_refusal_that_says_so() -> None:
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy="numpy", saturate=False)
    assert explained.refused
    assert "its casts have no saturate (onnx@19 and later have it)" in explained.answer.reason
    others = {name: a for a in explained.others for name in a.policies}
    no_float8 = "onnx", "litert", "tensorrt", "coreml"  # the first opsets, and runtimes
    assert not any(a.dtype is None for n, a in others.items() if not n.startswith(no_float8))
    assert others["onnx@25"].values[0].value == "nan"


def test_a_refused_pair_names_the_opset_that_admits_it() -> None:
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy="onnx@18")
    assert explained.refused
    assert "from opset 19 on" in explained.answer.reason
    assert "refused: Cast of opset 18" in explained.steps[0]


def test_strings() -> None:
    x = pa.asarray(["1e5", "INF"])
    explained = pa.explain("astype", x, "float16", policy="onnx")
    assert [cell.value for cell in explained.given] == ["'1e5'", "'INF'"]
    assert [cell.value for cell in explained.answer.values] == ["inf", "inf"]
    wrong = pa.explain("astype", pa.asarray(["1,5"]), "float16", policy="onnx")
    assert "'1,5' at [0] is not a number" in wrong.answer.reason


def test_layouts_and_sizes() -> None:
    x = pa.asarray(np.arange(24, dtype=np.int64).reshape(2, 3, 4))
    explained = pa.explain("astype", pa.permute_dims(x, (2, 1, 0)), "int8")
    assert [cell.value for cell in explained.given] == ["0", "12", "4", "16", "8", "20"]
    assert [c.value for c in pa.explain("astype", pa.asarray(2.5), "int8").answer.values] == ["2"]
    assert pa.explain("astype", pa.zeros((0, 3)), "int8").given  # the edges


def test_every_policy_names_its_sources() -> None:
    for name in list_policies():
        assert as_policy(name).cast.sources, name
        assert pa.explain("astype", "float32", "int8", policy=name).sources


@pytest.mark.parametrize(
    ("operands", "says"),
    [
        (("float32",), "astype takes an array and a dtype, not 1"),
        (("float32", "int8", 1), "astype takes an array and a dtype, not 3"),
        ((500.0, "int8"), "write pa.asarray"),
        (("float32", "int99"), "not a dtype"),
    ],
)
def test_wrong_questions(operands: tuple[object, ...], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        pa.explain("astype", *operands)


def test_settings_are_of_casts_only() -> None:
    with pytest.raises(TypeError, match="about casts, not add"):
        pa.explain("add", "int8", 1, saturate=True)


# -- what it looks like -------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["float32", "complex128", "string", "bool"])
def test_no_line_is_wider_than_a_pipe_and_nothing_is_cut(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    for target in ("float8_e8m0fnu", "float8_e4m3fn", "int8", "float32"):
        text = str(pa.explain("astype", source, target))
        assert max(map(len, text.splitlines())) <= 100
        body = text.partition("\nvalues")[2]
        assert "…" not in body.replace("onnx@1 … onnx@", "")


def test_it_is_data_and_html() -> None:
    explained = pa.explain("astype", pa.asarray([500.0, 1.0]), "float8_e4m3fn", policy="torch")
    data = json.loads(json.dumps(explained.to_dict()))
    assert data["given"][0] == {"bits": "0x407f400000000000", "value": "500"}
    assert data["values"][0] == {"bits": "0x7e", "value": "448"}
    other = next(o for o in data["others"] if o["policy"] == "numpy@2")
    assert other["values"][0]["value"] == "nan"
    page = explained._repr_html_()
    assert "0x7e 448" in page
    assert "<table" in page


def test_on_the_command_line(command: Command) -> None:
    assert "0x7e 448" in command("explain astype f32 f8_e4m3fn --policy torch", status=0).out
    assert (
        "from opset 19 on" in command("explain astype f32 f8_e4m3fn --policy onnx@1", status=1).out
    )
    assert "an array and a dtype" in command("explain astype f32", status=2).err


@pytest.mark.parametrize("policy", list_policies())
def test_a_note_about_floats_is_not_shown_for_integers(policy: str) -> None:
    explained = pa.explain("astype", "int8", "int16", policy=policy)
    assert not [note for note in explained.notes if "float" in note]


def test_a_note_is_shown_for_the_casts_it_is_about() -> None:
    def notes(source: str, target: str) -> str:
        return " ".join(pa.explain("astype", source, target, policy="torch").notes)

    assert "float8_e4m3fn saturates" in notes("float32", "float8_e4m3fn")
    assert "float8_e4m3fn saturates" in notes("float8_e4m3fn", "int8")
    assert "float8_e4m3fn saturates" not in notes("float32", "float8_e5m2")
    assert "undefined in C" in notes("float32", "int8")
    assert "undefined in C" not in notes("int8", "float32")  # no float is cast


def test_a_plain_note_is_about_every_case_and_a_note_is_its_text() -> None:
    note = Note("int8 only", [pa.int8])
    policy = as_policy("numpy").derive("noted", notes=("anything", note))
    assert pa.explain("add", "int16", "int16", policy=policy).notes == ("anything",)
    assert pa.explain("add", "int8", "int8", policy=policy).notes == ("anything", "int8 only")
    copied = pickle.loads(pickle.dumps(note))
    assert (copied, copied.dtypes) == (note, note.dtypes)
