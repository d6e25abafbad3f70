"""``explain``: it says what the dispatcher does, and nothing else."""

from __future__ import annotations

import json
import math
import operator
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray import Policy
from promoarray.diagnostics.explain.report import Explanation
from promoarray.dtypes import Kind
from promoarray.operations import OPERATIONS, STANDS_FOR
from promoarray.policies import Operand
from promoarray.promotion import registry
from promoarray.promotion.answers import MADE_OF_DTYPE
from promoarray.promotion.cast_losses import Lost, gravity, loss
from promoarray.promotion.registry import as_policy, list_policies

CASES = [
    ("add", "int8", 2.5),
    ("add", "int64", "float32"),
    ("add", "int8[]", "int64"),
    ("add", "int8", 1000),
    ("divide", "int32", "int32"),
    ("less", "int8", 1000),
    ("where", "int8", "float16"),
    ("concat", "int8", "uint8", "float16"),
    ("sin", "int32"),
    ("sum", "bool"),
    ("matmul", "float32", "bfloat16"),
]


def array(operand: object) -> object:
    """What explain was asked about, as something to compute with."""
    if not isinstance(operand, str):
        return operand
    dtype = operand.removesuffix("[]")
    return pa.ones((), dtype=dtype) if operand.endswith("[]") else pa.ones((2, 2), dtype=dtype)


def computed(op: str, operands: tuple[object, ...]) -> str | None:
    arrays = [array(x) for x in operands]
    if op == "where":
        arrays.insert(0, pa.asarray([[True, False], [False, True]]))
    try:
        out = getattr(pa, op)(
            arrays if op == "concat" else arrays[0], *arrays[1:] * (op != "concat")
        )
    except (pa.PromotionError, OverflowError):
        return None
    return out.dtype.name


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "name",
    ["numpy", "numpy@1", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx", "array_api"],
)
def test_it_says_what_is_computed(name: str, case: tuple[str, object]) -> None:
    op, *operands = case
    with pa.policy(name):
        explained = pa.explain(op, *(array(x) for x in operands))
        assert explained.dtype == computed(op, tuple(operands))
    assert explained.policy == as_policy(name).name
    assert explained.refused is (explained.dtype is None)
    assert explained.steps
    assert explained.sources


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_other_family_is_asked(case: tuple[str, object]) -> None:
    explained = pa.explain(*case, policy="torch")
    named = {name for answer in explained.others for name in answer.policies}
    families = {name.partition("@")[0] for name in named}
    assert families >= {"numpy", "jax", "tensorflow", "paddle", "aclnn", "onnx", "mindspore"}
    assert named <= set(list_policies())
    assert "torch@2.13" not in named
    for answer in explained.others:
        for name in answer.policies:
            again = pa.explain(*case, policy=name)
            assert (again.dtype, again.answer.weak) == (answer.dtype, answer.weak), name


# -- the parts --------------------------------------------------------------------------------


def test_a_lattice_shows_its_path() -> None:
    explained = pa.explain("+", "int8", "uint8", policy="jax")
    assert explained.expression == "int8 + uint8"
    assert "promote: lattice: i8 -> i16, u8 -> i16" in explained.steps
    assert explained.headline == "int8 + uint8 is int16 under jax@x64"


@pytest.mark.parametrize(
    ("operands", "policy", "says"),
    [
        (("int8", 1), "numpy", "int8 with a Python int stays int8"),
        (("int64", "float32"), "numpy", "int64 with float32 is float64"),
        (("int64", "float32"), "onnx", "int64 with float32: no common dtype"),
    ],
)
def test_a_rule_written_as_a_function_says_its_answer(
    operands: tuple[object, ...], policy: str, says: str
) -> None:
    assert f"promote: {says}" in pa.explain("+", *operands, policy=policy).steps


def test_a_table_shows_its_cell() -> None:
    explained = pa.explain("add", "int64", "float32", policy="paddle")
    assert explained.refused
    assert "promote: table, row i64, column f32: -" in explained.steps
    assert any("Introduction to Data Type Promotion" in source for source in explained.sources)
    assert explained.casts == ()


def test_a_cast_says_what_it_loses() -> None:
    explained = pa.explain("add", "int64", "float32", policy="torch")
    assert [str(cast) for cast in explained.casts] == [
        "x1: int64 to float32: keeps integers up to 2**24, larger ones are rounded"
    ]
    assert explained.lossy
    assert not pa.explain("add", "int16", "float32", policy="torch").lossy


def test_a_scalar_loses_what_its_value_loses() -> None:
    exact = pa.explain("add", "bfloat16", 0.5, policy="torch")
    assert not exact.lossy
    rounded = pa.explain("add", "bfloat16", 0.1, policy="torch")
    assert rounded.casts[0].loss == "0.1 becomes 0.10009765625"
    wrapped = pa.explain("add", "int8", 1000, policy="torch")
    assert wrapped.casts[0].loss == "1000 becomes -24"
    assert not pa.explain("add", "float32", math.nan).lossy


def test_a_scalar_that_does_not_fit_is_an_answer() -> None:
    explained = pa.explain("add", "int8", 1000)
    assert explained.refused
    assert explained.answer.reason.startswith("OverflowError: Python int 1000 does not fit int8")
    assert any(step.startswith("raises OverflowError") for step in explained.steps)
    compared = pa.explain("less", "int8", 1000)
    assert compared.dtype == "bool"
    assert "1000 lies beyond int8: the numbers themselves are compared" in compared.steps


def test_numpy_1_shows_what_a_value_counts_as() -> None:
    explained = pa.explain("add", "int8", 1000, policy="numpy@1")
    assert explained.steps[1] == "by value: x1 as int8, x2 as int16"
    assert explained.dtype == "int16"


def test_narrow_floats_are_computed_wide() -> None:
    explained = pa.explain("add", "bfloat16", "bfloat16", policy="torch")
    assert "computed in float32, rounded once to bfloat16" in explained.steps


def test_a_function_that_differs_from_the_operator_is_told() -> None:
    asked = pa.explain("%", "int32", 1.5, policy="paddle@3.3")
    assert (asked.expression, asked.dtype) == ("int32 % 1.5", "float32")
    assert (asked.function, asked.operator) == ("remainder(int32, 1.5) is int32", "")
    for function in ("remainder", pa.remainder):
        asked = pa.explain(function, "int32", 1.5, policy="paddle@3.3")
        assert (asked.expression, asked.dtype) == ("remainder(int32, 1.5)", "int32")
        assert (asked.function, asked.operator) == ("", "int32 % 1.5 is float32")
    refused = pa.explain("*", "bool", "bool", policy="tensorflow")
    assert refused.dtype == "bool"
    assert refused.function.startswith("multiply(bool, bool) is refused: ")
    assert pa.explain("+", "int8", 1).function == pa.explain("add", "int8", 1).operator == ""
    assert pa.explain("*=", "bool", "bool", policy="tensorflow").function == ""


def test_a_function_that_takes_no_python_scalar_is_told() -> None:
    told = "maximum of PyTorch 2.13 takes no Python scalar: make an array of it first there"
    explained = pa.explain("maximum", "int8", 1, policy="torch")
    assert explained.dtype == "int8"
    assert explained.answer.signature == explained.to_dict()["signature"] == told
    assert ("signature", (told,)) in list(explained.sections())
    assert pa.explain("maximum", "int8", "int8", policy="torch").answer.signature == ""
    other = next(a for a in pa.explain("maximum", "int8", 1).others if "torch@2.13" in a.policies)
    assert other.why == told


def test_a_ufunc_is_asked_as_it_comes_in() -> None:
    assert pa.explain(np.add, "int8", 1).expression == "int8 + 1"
    assert pa.explain(np.maximum, "int8", 1).expression == "maximum(int8, 1)"


def test_weak_results_are_told() -> None:
    explained = pa.explain("add", "uint64", "int8", policy="jax")
    assert explained.answer.weak
    assert explained.answer.what == "float64 (weak)"


def test_another_librarys_array_is_explained_as_the_policy_takes_it() -> None:
    wide, one = np.asarray([1.5, 2.0]), np.float64(1.5)
    explained = pa.explain("+", wide, 1.0, policy="jax@x32")
    assert explained.expression == "float64 + 1.0"
    assert explained.steps[1] == "JAX without x64 holds float64 as float32"
    with pa.policy("jax@x32"):
        assert pa.add(wide, 1.0).dtype.name == explained.dtype == "float32"
    assert {a.dtype for a in explained.others if "numpy@2" in a.policies} == {"float64"}
    by_value = pa.explain("+", pa.asarray([1], dtype=pa.float16), one, policy="numpy@1")
    assert (by_value.expression, by_value.dtype) == ("float16 + float64[]", "float16")
    assert pa.explain("concat", Operand(pa.int8), policy="numpy").dtype == "int8"


def test_a_policy_without_64_bits_holds_less() -> None:
    explained = pa.explain("add", "int64", "float32", policy="jax@x32")
    assert explained.steps[1] == "JAX without x64 holds int64 as int32"
    assert explained.dtype == "float32"


def test_notes_are_those_that_concern_the_case() -> None:
    bf16 = pa.explain("add", "bfloat16", "float16", policy="aclnn")
    assert any("bfloat16 with float16" in note for note in bf16.notes)
    ints = pa.explain("add", "int8", "int16", policy="aclnn")
    assert not any("bfloat16" in note for note in ints.notes)


def test_a_changed_cell_is_told() -> None:
    mine = as_policy("numpy").derive("mine", {("int64", "bfloat16"): "float32"})
    explained = pa.explain("+", "int64", "bfloat16", policy=mine)
    assert explained.dtype == "float32"
    assert explained.expression == "int64 + bfloat16"


def test_a_registered_policy_is_among_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    mine = registry.register(Policy.from_table("mine", "   i8 f32\ni8 i8 f32\nf32 f32 f32"))
    answer = next(a for a in pa.explain("add", "int8", "float32").others if "mine" in a.policies)
    assert answer.dtype == "float32"
    assert "mine" not in {
        n for a in pa.explain("add", "int8", "int8", policy=mine).others for n in a.policies
    }


# -- operands ---------------------------------------------------------------------------------


def test_operands_are_arrays_scalars_and_dtypes() -> None:
    a = pa.asarray([1, 2], dtype=pa.int8)
    for operand in (a, np.ones(2, np.int8), pa.int8, "int8", np.int8, np.dtype("int8")):
        assert pa.explain("+", operand, 1).expression == "int8 + 1"
    assert pa.explain("+", np.float32(1), a).expression == "float32[] + int8"
    assert pa.explain("add", "int64[]", a, policy="torch").dtype == "int8"


def test_bound_arrays_are_asked_of_their_policy() -> None:
    a = pa.namespace("torch").asarray([1, 2], dtype="int8")
    assert pa.explain("add", a, 2.5).policy == "torch@2.13"
    assert pa.explain("add", a, 2.5, policy="numpy").policy == "numpy@2"


def test_functions_stand_for_their_names() -> None:
    a = pa.asarray([1, 2], dtype=pa.int8)
    assert pa.explain(pa.add, a, 1.5) == pa.explain("add", a, 1.5)
    assert pa.explain(pa.concat, [a, "float16"]) == pa.explain("concat", a, "float16")
    assert pa.explain(np.add, a, 1.5).operation == "add"
    assert pa.explain(pa.astype, a, "float16").operation == "astype"
    for wrong in (len, np.dot, pa.asarray, lambda x: x, None):
        with pytest.raises(TypeError, match="an operation's name or function"):
            pa.explain(wrong, a)


def test_a_bound_namespace_asks_its_own_policy() -> None:
    xp = pa.namespace("torch")
    assert xp.explain("add", "int8", 1.5).policy == "torch@2.13"
    assert pa.explain(xp.add, "int8", 1.5).policy == "torch@2.13"
    assert pa.explain(xp.astype, "float32", "float8_e4m3fn").policy == "torch@2.13"
    assert pa.explain(xp.add, "int8", 1.5, policy="jax").policy == "jax@x64"
    assert xp.explain("add", "int8", 1.5, policy="jax").policy == "jax@x64"


def test_where_may_have_its_condition() -> None:
    condition = pa.asarray([True, False])
    a = pa.asarray([1, 2], dtype=pa.int8)
    plain = pa.explain("where", a, 1.5)
    for given in (condition, "bool", pa.bool, np.array([True, False])):
        assert pa.explain("where", given, a, 1.5) == plain
    with pytest.raises(TypeError, match="where needs a bool condition, not int8"):
        pa.explain("where", a, a, 1.5)
    with pytest.raises(TypeError, match="where takes 2 operands, not 1"):
        pa.explain("where", a)


@pytest.mark.parametrize("op", ["+=", "/=", "//=", "**=", "&=", "@="])
@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "paddle", "onnx", "array_api"])
@pytest.mark.parametrize("other", ["float64", "int64", "float32", "int8", 2, 2.5])
def test_in_place_it_says_what_is_computed(name: str, op: str, other: object) -> None:
    with pa.policy(name):
        for dtype in ("int8", "float32"):
            x, y = pa.ones((2, 2), dtype=dtype), array(other)
            explained = pa.explain(op, x, y)
            scope: dict[str, object] = {"x": x, "y": y}
            if op == "@=" and not isinstance(other, str):
                continue
            try:
                exec(f"x {op} y", scope)
                found = scope["x"].dtype.name  # type: ignore[attr-defined]
            except (pa.PromotionError, OverflowError):
                found = None
            assert explained.dtype == found, explained.expression


def test_in_place_the_result_is_cast_to_the_target() -> None:
    explained = pa.explain("+=", "float32", "float64", policy="torch")
    assert explained.expression == "float32 += float64"
    assert explained.casts[-1].operand == "result"
    assert explained.casts[-1].loss.startswith("keeps 24 of 53")
    assert "in place: the result, float64, is written into the float32 of the first operand" in (
        explained.steps
    )
    rebound = pa.explain("+=", "float32", "float64", policy="jax")
    assert rebound.dtype == "float64"
    assert "in place: the name is bound to the result, a new array" in rebound.steps
    with pytest.raises(TypeError, match="takes an array x, not 1"):
        pa.explain("+=", 1, "int8")
    assert pa.explain("<=", "int8", 1).operation == "less_equal"


@pytest.mark.parametrize(
    ("operands", "error", "says"),
    [
        (("ad", "int8", 1), ValueError, r"unknown operation 'ad'\. Did you mean: add"),
        (("add", "int8"), TypeError, "add takes 2 operands, not 1"),
        (("sin", "int8", 1), TypeError, "sin takes 1 operand, not 2"),
        (("concat",), TypeError, "concat takes operands, not 0"),
        (("add", "int8", "i99"), TypeError, "'i99' is not a dtype"),
        (("add", "int8", [1]), TypeError, "is not a dtype"),
        (("add", "int8", None), TypeError, "None is not a dtype"),
    ],
)
def test_a_wrong_question_is_an_error(
    operands: tuple[object, ...], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        pa.explain(*operands)


def test_an_unknown_policy_is_an_error() -> None:
    with pytest.raises(pa.UnknownPolicyError, match="Did you mean: torch"):
        pa.explain("add", "int8", 1, policy="torhc")


# -- what it looks like -----------------------------------------------------------------------


@pytest.fixture
def explained() -> Explanation:
    return pa.explain("+", "int8", 2.5, policy="paddle")


def test_it_prints_plain_text_without_a_terminal(
    explained: Explanation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = str(explained)
    assert text == repr(explained)
    assert "\x1b" not in text
    assert text.startswith("int8 + 2.5 is float32 under paddle")
    assert "casts" in text
    assert "other policies" in text


def test_it_is_data(explained: Explanation) -> None:
    data = json.loads(json.dumps(explained.to_dict()))
    assert data["dtype"] == "float32"
    assert data["casts"][0] == {"operand": "x1", "from": "int8", "to": "float32", "loss": ""}
    assert {o["policy"] for o in data["others"]} >= {"numpy@2", "jax@x64"}


def test_it_is_self_contained_html() -> None:
    page = pa.explain("<", "int8", 1, policy="paddle")._repr_html_()
    assert "int8 &lt; 1" in page
    assert "<table" in page
    assert "http" not in page


def test_no_word_of_a_policy_reaches_the_terminal_or_a_page_as_it_is() -> None:
    words = "mine\x1b[2J<b>", "say \x1b[31m<i>", {("int64", "bfloat16"): "float32"}
    mine = as_policy("numpy").derive(words[0], words[2], notes=(words[1],))
    with pa.policy(mine):
        reports = (
            pa.explain("+", "int64", "bfloat16"),
            pa.explain("astype", "float32", "int8"),
            pa.table(dtypes=["int8", "f*"]),
            pa.table(mine, "torch", dtypes=["int8"]),
            pa.cast_report(pa.asarray([1.5]), "int8"),
        )
    for report in reports:
        assert r"mine\x1b[2J<b>" in str(report)
        assert r"mine\x1b[2J&lt;b&gt;" in report.to_html()
        for shown in (str(report), report.to_html(), report._repr_html_()):
            assert "\x1b" not in shown
        assert "<i>" not in report.to_html()


# -- losses -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("int8", "int16", ""),
        ("int8", "uint8", "keeps 0 to 127 only"),
        ("int64", "int8", "keeps -128 to 127 only"),
        ("int64", "uint64", "keeps 0 to 2**63 - 1 only"),
        ("int16", "float32", ""),
        ("int32", "float32", "keeps integers up to 2**24, larger ones are rounded"),
        ("uint64", "float64", "keeps integers up to 2**53, larger ones are rounded"),
        (
            "int32",
            "float16",
            "keeps integers up to 2048, larger ones are rounded, magnitudes above 65504 overflow",
        ),
        ("int32", "complex64", "keeps integers up to 2**24, larger ones are rounded"),
        ("bool", "float16", ""),
        ("bool", "float8_e8m0fnu", "there is no zero"),
        ("float32", "bool", "keeps only whether a value is zero"),
        ("float32", "int8", "drops fractions, and keeps -128 to 127 only"),
        ("float16", "float32", ""),
        ("float16", "bfloat16", "keeps 8 of 11 significant bits"),
        ("complex64", "float64", "drops the imaginary part"),
        ("complex64", "complex128", ""),
        ("float64", "complex128", ""),
        ("int8", "string", ""),
    ],
)
def test_losses_in_words(source: str, target: str, says: str) -> None:
    assert loss(getattr(pa, source), getattr(pa, target)) == says


NARROW = [d for d in pa.policies.as_policy("numpy").dtypes if d.bits <= 16 and d.kind.category < 3]


@pytest.mark.parametrize("source", NARROW, ids=str)
def test_a_cast_loses_values_exactly_if_it_says_so(source: pa.DType) -> None:
    values = _every_value(source)
    with np.errstate(all="ignore"):
        for target in pa.policies.as_policy("numpy").dtypes:
            if {source.kind, target.kind} <= {Kind.INT, Kind.UINT}:
                continue  # these wrap, there and back
            there = pa.astype(values, target)
            back = pa.astype(there, source)
            same = np.array_equal(_bits(back), _bits(values))
            lost = loss(source, target) not in ("", "there is no NaN")  # NaNs are left out here
            assert same is not lost, f"{source} to {target}: {loss(source, target) or 'no loss'}"


@pytest.mark.parametrize("source", NARROW, ids=str)
def test_the_bits_that_a_cast_loses_are_counted(source: pa.DType) -> None:
    values = _every_value(source)
    wide = np.asarray(pa.astype(values, pa.float64))
    finite = np.unique(wide[np.isfinite(wide)])  # one zero
    exact = pa.astype(pa.asarray(finite), source)
    for target in NARROW:
        level, bits = gravity(source, target)
        assert (level is Lost.NOTHING) is (loss(source, target) == "")
        with np.errstate(all="ignore"):
            back = np.asarray(pa.astype(pa.astype(exact, target), pa.float64))
        kept = int(np.count_nonzero(back == finite))
        # The last binade counts as whole, and integers as if -128 were none.
        assert abs(math.log2(len(finite) / kept) - bits) < 0.5, f"{source} to {target}: {bits}"
        assert (kept == len(finite)) is (level <= Lost.SPECIALS), f"{source} to {target}: {level}"


def _every_value(dtype: pa.DType) -> pa.PArray:
    storage = np.uint8 if dtype.storage.itemsize == 1 else np.uint16
    count = 2 if dtype is pa.bool else 1 << dtype.bits
    codes = np.arange(count).astype(storage)
    if dtype.name in ("int2", "int4", "uint2", "uint4"):
        low = -count // 2 if dtype.name.startswith("i") else 0
        return pa.asarray(np.arange(low, low + count).astype(dtype.storage))
    raw = codes.view(dtype.storage)
    if dtype.kind.category < 2:
        return pa.asarray(raw)
    with np.errstate(all="ignore"):
        return pa.asarray(raw[~np.isnan(raw.astype(np.float64))])


def _bits(x: pa.PArray) -> np.ndarray:
    buffer = np.asarray(x)
    return buffer.view(np.uint8 if buffer.itemsize == 1 else np.uint16)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex128"])
@pytest.mark.parametrize("policy", ["numpy", "jax", "torch", "aclnn", "paddle"])
@pytest.mark.parametrize("value", [10**400, -(10**5000)], ids=["no float holds", "not printed"])
def test_an_int_beyond_every_float_is_explained_as_it_is_computed(
    value: int, policy: str, dtype: str
) -> None:
    with pa.policy(policy):
        x = pa.ones(2, dtype=dtype)
        for op in (operator.add, operator.eq):
            explained = pa.explain(op.__name__.replace("eq", "equal"), x, value)
            assert f"int of {value.bit_length()} bits" in str(explained.expression)
            if explained.dtype is None:
                with pytest.raises(OverflowError) as raised:
                    op(x, value)
                assert str(raised.value) in explained.answer.reason
            else:
                assert op(x, value).dtype.name == explained.dtype
        assert str(explained)


@pytest.mark.parametrize(
    ("policy", "op", "y", "expected"),
    [
        ("numpy", "*", np.float64(0.5), "float64"),
        ("torch", "*", np.float64(0.5), "float32"),
        ("torch", "+", np.int64(3), "int8"),
        ("torch", "+", np.ones(2), "float64"),
        ("torch", "<", np.ones(2), None),
        ("paddle", "*", np.float32(0.5), "int8"),
        ("paddle", "*", np.uint8(1), None),
        ("tensorflow", "*", np.ones(2), "int8"),
    ],
)
def test_numpys_operands_are_what_each_policy_makes_of_them(
    policy: str, op: str, y: Any, expected: str | None
) -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    assert pa.explain(op, x, y, policy=policy).answer.dtype == expected
    with pa.policy(policy):
        try:
            found = {"*": operator.mul, "+": operator.add, "<": operator.lt}[op](x, y).dtype.name
        except pa.PromotionError:
            found = None
    assert found == expected


# -- what was not asked ----------------------------------------------------------------------------


def _functions() -> list[str]:
    """Functions that no rule is about, as some framework was asked about them."""
    known = (as_policy(name).answers for name in ("torch", "paddle@3.3", "numpy", "jax"))
    rows = {name.removesuffix(MADE_OF_DTYPE) for each in known if each for name in each.rows}
    return sorted({*rows, *STANDS_FOR} - {*OPERATIONS})


@pytest.mark.parametrize("policy", ["numpy", "torch", "paddle@3.3", "paddle", "onnx", "mindspore"])
def test_of_what_was_not_asked_nothing_is_said(policy: str) -> None:
    answers = as_policy(policy).answers
    names = turns(_functions(), 12, len(policy))
    for name, dtype in product(names, (pa.int8, pa.float32, pa.float8_e5m2, pa.string)):
        explained = pa.explain(name, dtype, policy=policy)
        rows = {} if answers is None else answers.rows
        cells = {**rows.get(name, {}), **rows.get(name + MADE_OF_DTYPE, {})}
        lacking = name in STANDS_FOR and dtype not in as_policy(policy).dtypes
        known = dtype.code in cells or lacking
        assert explained.answer.asked == known, explained
        assert explained.refused or known == (explained.dtype is not None), explained
        assert not (explained.refused and "not asked" in str(explained)), explained


def test_what_is_not_known_is_no_refusal() -> None:
    explained = pa.explain("flip", "string")
    assert not explained.refused
    assert explained.dtype is None
    assert explained.headline == "flip(string) is not known under numpy@2"
    assert explained.to_dict()["reason"] == "its framework was not asked"
    like = pa.explain("cumsum", "float32", policy="onnx")
    assert "cumulative_sum, which is most like it, gives float32" in str(like)
    assert "not known" in str(pa.explain("fmod", "int8", "int8", policy="mindspore"))


def test_policies_that_say_the_same_have_one_row() -> None:
    explained = pa.explain("add", "int32", "bfloat16")
    groups = [a.policies for a in explained.others]
    assert any({"jax@x64", "torch@2.13", "mlx@0.32"} <= {*names} for names in groups)
    assert any({"onnx@25", "onnxruntime@1.32"} <= {*names} for names in groups)
    said = [(a.what, a.why) for a in explained.others]
    assert len(said) == len({*said})


@pytest.mark.parametrize(
    ("policy", "asked", "said"),
    [
        ("mlx", ("floor_divide", "complex64", "complex64"), "those of divide"),
        ("tinygrad", ("negative", "bool"), "those of logical_not"),
        ("openvino", ("bitwise_left_shift", "uint8", "uint8"), "8 bits saturate"),
    ],
)
def test_a_kernel_that_the_operands_decide_is_told(policy, asked, said) -> None:
    assert said in str(pa.explain(*asked, policy=policy))
