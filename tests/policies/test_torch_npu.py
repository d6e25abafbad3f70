"""torch_npu: PyTorch's dtypes, but for casts to float64 and what the device refuses."""

from __future__ import annotations

from itertools import product

import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.diagnostics.calls.common import FILLS, words
from promoarray.dtypes import BY_CODE, WEAK_TYPES, DType
from promoarray.operations import BY_SYMBOL, OPERATIONS, STANDS_FOR, Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy
from promoarray.policies.torch_npu.lists import DeviceLists
from promoarray.promotion.answers import Grade
from promoarray.promotion.type_steps import rows

TORCH, A2 = as_policy("torch"), as_policy("torch_npu")
CHIPS = [as_policy(name) for name in pa.list_policies() if name.startswith("torch_npu")]
MISSING = {
    "A2": "f8_e4m3fn f8_e5m2 f8_e8m0fnu c32",
    "910A": "f8_e4m3fn f8_e5m2 f8_e8m0fnu c32 bf16",
    "950": "f8_e4m3fnuz f8_e5m2fnuz i4 u2",
}
SMALL = rows("u8 i8 i16 i32")


def answer(policy: Policy, name: str, operands: tuple[Operand, ...]) -> DType | None:
    plan = policy.plan(name, operands)
    return None if isinstance(plan, Refusal) else policy.strong(plan.result)


def lists(policy: Policy) -> DeviceLists:
    assert isinstance(policy.answers, DeviceLists)
    return policy.answers


# -- dtypes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", CHIPS, ids=lambda policy: policy.name)
@pytest.mark.parametrize("name", [row.name for row in BY_SYMBOL.values()])
def test_operators_give_what_pytorch_gives_as_far_as_the_chip_has_it(
    policy: Policy, name: str
) -> None:
    every = [Operand(d, rank) for d in policy.dtypes for rank in (Rank.ARRAY, Rank.ZERO_D)]
    every += [Operand(weak, Rank.SCALAR) for weak in WEAK_TYPES]
    different = []
    for pair in product(every, repeat=2):
        wanted, ours = answer(TORCH, name, pair), answer(policy, name, pair)
        if TORCH.result_type(pair) is dt.complex32 not in policy.dtypes:
            wanted = None
        if ours is not wanted:
            different.append(f"{pair[0]}, {pair[1]}: {wanted}, ours {ours}")
    assert not different


def test_functions_of_one_array_give_what_pytorch_gives() -> None:
    different = {
        (name, dtype.code)
        for name, row in OPERATIONS.items()
        if row.arity == 1
        for dtype in A2.dtypes
        if answer(A2, name, (Operand(dtype),)) is not answer(TORCH, name, (Operand(dtype),))
    }
    assert different == {("exp", dtype.code) for dtype in SMALL}


@pytest.mark.parametrize("name", ["exp", "erf", "erfc"])
def test_functions_whose_result_op_plugin_takes_from_the_array_are_refused(name: str) -> None:
    small = SMALL if name == "exp" else SMALL[:3]
    for dtype in (*SMALL, dt.int64, dt.bool, dt.float16):
        plan = A2.plan(name, (Operand(dtype),))
        assert isinstance(plan, Refusal) is (dtype in small), dtype
        assert dtype in small or "op-plugin" not in str(plan)


@pytest.mark.parametrize(("chip", "codes"), MISSING.items())
def test_what_a_chip_has_not(chip: str, codes: str) -> None:
    (policy,) = (p for p in CHIPS if chip in p.title)
    assert not {BY_CODE[code] for code in codes.split()} & {*policy.dtypes}


def test_a_float16_tensor_takes_no_complex_number() -> None:
    x = pa.namespace("torch_npu").asarray([1.0, 2.0], dtype="float16")
    with pytest.raises(pa.PromotionError, match=r"\(Atlas A2\) has no complex32"):
        x * 1j
    with pa.policy("torch_npu@2.13-950"):
        assert (pa.asarray([1.0, 2.0], dtype="float16") * 1j).dtype == "complex32"


@pytest.mark.parametrize(
    ("name", "dtypes"),
    [("mean", "i64"), ("subtract", "b1 b1"), ("matmul", "f16 f32"), ("subtract", "b1 i8")],
)
def test_what_pytorch_refuses_is_refused_and_what_op_plugin_does_is_told(
    name: str, dtypes: str
) -> None:
    plan = A2.plan(name, tuple(map(Operand, rows(dtypes))))
    assert isinstance(plan, Refusal)
    assert "op-plugin does not check" in plan.reason


# -- casts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", range(2))
def test_casts_to_float64_are_float32_and_what_is_made_is_float64(again: int) -> None:
    xp = pa.namespace("torch_npu")
    x, wide = xp.asarray([1.5, 2.5], dtype="float32"), xp.asarray([1.5], dtype="float64")
    cast = x.astype("float64"), xp.astype(x, xp.float64), xp.asarray([1, 2]).astype(xp.float64)
    assert {each.dtype for each in cast} == {xp.float32}
    made = xp.asarray(x, dtype="float64"), xp.sum(x, dtype="float64"), x.mean(dtype="float64")
    assert {each.dtype for each in made} == {xp.float64}
    assert wide.dtype == wide.astype("float64").dtype == xp.float64
    assert wide.astype("float64", copy=False) is wide


def test_explain_tells_the_dtype_that_a_cast_gives_and_why() -> None:
    explained = pa.explain("astype", "int32", "float64", policy="torch_npu")
    assert explained.headline == "astype(int32, float64) is float32 under torch_npu@2.13"
    assert any("x.double()" in step for step in explained.steps)
    theirs = {name: a.dtype for a in explained.others for name in a.policies}
    assert theirs["torch@2.13"] == "float64"


def test_no_edit_is_a_cast_that_gives_another_dtype() -> None:
    with pa.policy("torch_npu"), pytest.raises(pa.PromotionError) as caught:
        pa.exp(pa.asarray([1], dtype=pa.int32))
    assert "float64)" not in str(caught.value).partition("Elsewhere")[0]
    assert "Write pa.astype(x, pa." in str(caught.value)


# -- the default dtype ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "torch", "npu"),
    [
        ("divide", (2,), "bf16", "f32"),
        ("sqrt", (), "bf16", "f32"),
        ("multiply", (1.5,), "bf16", "bf16"),
        ("add", (1j,), "c64", "c64"),
        ("add", (1,), "i32", "i32"),
    ],
)
def test_floats_of_integers_are_float32_whatever_the_default_dtype(
    name: str, given: tuple[complex, ...], torch: str, npu: str
) -> None:
    weak = {int: dt.weak_int, float: dt.weak_float, complex: dt.weak_complex}
    operands = Operand(dt.int32), *(Operand(weak[type(x)], Rank.SCALAR) for x in given)
    for policy, code in ((TORCH, torch), (A2, npu)):
        made = policy.decide(name, operands, (None, *given), options={"default": "bf16"})
        assert not isinstance(made, Refusal)
        assert policy.strong(made.plan.result).code == code


# -- lists ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "code", "grade"),
    [
        ("add", "u64", Grade.REFUSED),  # Ascend/pytorch 158
        ("repeat_interleave", "f64", Grade.REFUSED),  # huggingface/diffusers 10428
        ("index", "c64", Grade.REFUSED),  # vllm-project/vllm-omni 4911
        ("expm1", "f64", Grade.REFUSED),  # sgl-project/sglang 29011
        ("matmul", "f64", Grade.REFUSED),
        ("matmul", "f32", Grade.VERIFIED),
        ("matmul", "bf16", Grade.VERIFIED),  # by 2.7.1
        ("concat", "c128", Grade.REFUSED),
        ("gather", "c128", Grade.DOUBTFUL),
        ("add", "c64", Grade.DOUBTFUL),  # the page lists it, torch_npu does not
        ("divide", "c64", Grade.DOUBTFUL),  # torch_npu lists it, the page does not
        ("index", "f32", Grade.LISTED),
        ("remainder", "i8", Grade.REFUSED),
        ("remainder", "i16", Grade.DOUBTFUL),
        ("sin", "f32", Grade.UNKNOWN),
        ("sin", "f64", Grade.DOUBTFUL),
    ],
)
def test_grades(name: str, code: str, grade: Grade) -> None:
    support = lists(A2).support(name, BY_CODE[code])
    assert support is not None
    assert support.grade is grade, support.why


def test_every_list_is_of_something_that_policies_are_asked_about_and_has_its_source() -> None:
    known = {*OPERATIONS, *STANDS_FOR, *FILLS, "fmod", "index", "index_put"}
    known |= words("torch").moves | words("torch").makes | words("torch").expansions.keys()
    known |= {"arange", "full", "angle", "fill_", "astype", "getitem", "setitem"}
    assert {*lists(A2).lists} <= known
    for row in lists(A2).lists.values():
        assert (row.takes is None) == (row.operator == "")
        assert row.takes is None or "github.com" in row.source or "hiascend.com" in row.source


def test_the_device_names_what_it_takes() -> None:
    for row in lists(A2).lists.values():
        for dtype in A2.dtypes if row.takes is not None else ():
            support = row.support(dtype)
            assert support is not None
            if support.grade is Grade.REFUSED:
                refused, taken = support.why.split("support list")
                assert f"DT_{dtype.name.upper()}" in refused.replace("DOUBLE", "FLOAT64")
                assert taken.partition("]")[0].count("DT_") == len(row.takes or ())


def test_operands_go_to_the_device_uncast_but_where_the_common_dtype_counts() -> None:
    def refused(name: str, *codes: str) -> bool:
        operands = tuple(map(Operand, rows(" ".join(codes))))
        found = A2.carried_out(name, operands, (None,) * len(operands), Form.OPERATOR)
        return isinstance(found, Refusal)

    assert refused("add", "u16", "f32")  # float32 in PyTorch, but aclnnAdd is given the uint16
    assert refused("remainder", "i8", "i8")
    assert not refused("remainder", "i8", "i32")


def test_the_950_has_no_list_and_refuses_nothing_by_one() -> None:
    chip = as_policy("torch_npu@2.13-950")
    grades = {lists(chip).support(name, d) for name in lists(A2).lists for d in chip.dtypes}
    assert {s.grade for s in grades if s} == {Grade.DOUBTFUL, Grade.UNKNOWN}


@pytest.mark.parametrize(
    ("chip", "name", "says"),
    [("2.13-910a", "matmul", "computed in float16"), ("2.13", "conv2d", "HF32 by default")],
)
def test_what_is_computed_with_fewer_digits_is_doubtful(chip: str, name: str, says: str) -> None:
    found = lists(as_policy(f"torch_npu@{chip}")).support(name, dt.float32)
    assert found is not None
    assert found.grade is Grade.DOUBTFUL
    assert says in found.why


@pytest.mark.parametrize(
    ("operands", "says"),
    [
        (("@", "float64", "float64"), ", which has no kernel for it"),
        (("+", "complex64", "complex64"), " (doubtful)"),
        (("+", "float32", "float32"), ""),
        (("gather", "complex64"), " (doubtful)"),
        (("index", "complex64"), ", which has no kernel for it"),
        (("repeat_interleave", "float64"), ", which has no kernel for it"),
    ],
)
def test_explain_promises_no_more_than_the_lists(operands: tuple[str, ...], says: str) -> None:
    explained = pa.explain(*operands, policy="torch_npu")
    assert explained.headline.endswith(f"under torch_npu@2.13{says}")
    assert explained.to_dict()["kernel"] == explained.answer.kernel != ""


def test_notes_say_that_nothing_was_run() -> None:
    for policy in CHIPS:
        assert "Nothing of this was run on a device" in policy.notes[0]
