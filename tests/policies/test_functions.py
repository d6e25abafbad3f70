"""What the real frameworks answered for their functions, cell by cell, and what policies say.

`conformance/golden/functions` holds the answers that `conformance/functions.py` asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import functions
import pytest

from promoarray.diagnostics.calls import examined
from promoarray.dtypes import BY_CODE, complex64, float32, int64, uint8
from promoarray.operations import OPERATIONS, STANDS_FOR, Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy
from promoarray.promotion.answers import ON_A_GPU, SCALARS

POLICY_OF = {
    "torch": "torch@2.13",
    "torch_cuda": "torch@2.13-cuda",
    "paddle": "paddle@3.3",
    "tensorflow": "tensorflow",
    "jax_x64": "jax@x64",
    "jax_x32": "jax@x32",
    "numpy2": "numpy@2",
    "numpy1": "numpy@1",
}

DEPARTURES = {
    "clip": "asked with Python numbers as bounds, which promote",
    "eig eigvals": "real where the eigenvalues happen to be",
    "inv cholesky": "refused for the values of the matrix asked",
    "pow": "refused for a negative exponent",
    "sign": "of complex numbers that is torch.sgn here",
    "negative signbit divide": "Paddle refuses bools by value, and float8 by NumPy",
    "irfftn": "asked of one axis; of several NumPy goes through complex64",
    "rfft rfftn ihfft": "NumPy 1 drops imaginary parts with a warning",
}
"""Functions whose answers differ for what was asked and not for a dtype."""
WEAK = {f"!{name}": dtype for dtype, name in SCALARS.items()}
"""Python numbers, which NumPy answers at places."""

DEPARTING = {name for names in DEPARTURES for name in names.split()}

OTHERS = {"bf16", "f8_e4m3fn", "f8_e5m2"}
"""Dtypes of ml_dtypes, with which NumPy has accidents of its own (conformance/departures.toml)."""


def cells(edition: str) -> Iterator[tuple[str, str, str]]:
    """Functions, dtypes and the dtypes of what was answered."""
    answers = as_policy(POLICY_OF[edition]).answers
    assert answers is not None
    for name, row in answers.rows.items():
        for code, cell in row.items():
            if code not in functions.SCALARS:
                yield name, code, cell.text


def decided(policy: Policy, name: str, code: str) -> str:
    """What a policy says, written as in a table."""
    operands = (Operand(BY_CODE[code]),) * (OPERATIONS[name].arity or 2)
    found = policy.carried_out(name, operands, (None,) * len(operands), Form.FUNCTION)
    if isinstance(found, Refusal):
        return "?" if "no kernel" in found.why else "-"
    return found.plan.result.code


@pytest.mark.parametrize("edition", POLICY_OF)
def test_promoarray_has_what_was_answered(edition: str) -> None:
    table = (functions.POLICIES / functions.TABLES[edition]).read_text(encoding="utf-8")
    assert table == functions.table(edition)


@pytest.mark.parametrize("edition", POLICY_OF)
def test_policies_answer_as_frameworks_do(edition: str) -> None:
    policy = as_policy(POLICY_OF[edition])
    known = {*OPERATIONS, *STANDS_FOR} - DEPARTING
    different = []
    for name, code, text in cells(edition):
        on_a_gpu = text == "?" and BY_CODE[code] in ON_A_GPU
        of_numpy = edition[:5] == "numpy" and code in OTHERS
        if name not in known or on_a_gpu or of_numpy:
            continue
        wanted, ours = text.split(";")[0].rstrip("*"), decided(policy, name, code)
        wanted = policy.strong(WEAK[wanted]).code if wanted in WEAK else wanted
        refused = {wanted, ours} <= {"-", "?"}
        if ours.rstrip("*") != wanted and not refused and not _is_weak(wanted, ours):
            different.append(f"{name} of {code}: {text}, ours {ours}")
    assert not different, f"{len(different)} cells differ:\n" + "\n".join(different[:60])


def _is_weak(wanted: str, ours: str) -> bool:
    return ours.endswith("*") and ours[0] == wanted[0]


@pytest.mark.parametrize("policy", ["numpy@2", "tensorflow", "aclnn@8.5", "torch@2.13"])
@pytest.mark.parametrize(
    ("name", "given", "made"),
    [
        ("complex", "f32", "c64"),
        ("polar", "f64", "c128"),
        ("view_as_complex", "f32", "c64"),
        ("view_as_real", "c64", "f32"),
    ],
)
def test_complex_numbers_of_two_parts(policy: str, name: str, given: str, made: str) -> None:
    """Of frameworks that were not asked, too; their plan has the operands that it was asked for."""
    operands = (Operand(BY_CODE[given]),)
    found = as_policy(policy).decide(name, operands, (None,), Form.FUNCTION)
    assert not isinstance(found, Refusal)
    assert found.plan.result is BY_CODE[made]
    assert len(found.plan.inputs) == 1


def hazards(home: str, target: str) -> Iterator[tuple[str, str, str, str]]:
    """Where one framework answers and another refuses, or gives another dtype."""
    there = {(name, code): text for name, code, text in cells(target)}
    for name, code, text in cells(home):
        other = there.get((name, code))
        if other is None or text[0] in "-?" or BY_CODE[code] in ON_A_GPU or name in DEPARTING:
            continue
        if other in ("-", "?") or other.split(";")[0] != text.split(";")[0]:
            yield name, code, text.split(";")[0], other.split(";")[0]


def test_hazards_of_paddle_are_told() -> None:
    """Of operations by the policies' answers, of what moves values by what lacks a kernel."""
    torch, paddle = as_policy("torch@2.13"), as_policy("paddle@3.3")
    untold, told = [], 0
    for name, code, here, there in hazards("torch", "paddle"):
        if name in OPERATIONS or name in STANDS_FOR:
            seen = decided(torch, name, code) != decided(paddle, name, code)
        else:
            seen = there != "?" or bool(examined.refused(name, BY_CODE[code], paddle))
        told += seen
        if not seen:
            untold.append(f"{name} of {code}: {here} in PyTorch, {there} in Paddle")
    assert not untold, "\n".join(untold)
    assert told > 400


@pytest.mark.parametrize(
    ("function", "number", "torch", "paddle", "jax"),
    [
        ("full", 1, "int64", "float32", "int32"),
        ("full", True, "bool", "bool", "bool"),
        ("arange", 1, "int64", "int64", "int32"),
        ("arange", 2.5, "float32", "float32", "float32"),
        ("linspace", 1, "float32", "float32", "float32"),
        ("zeros", 0.0, "float32", "float32", "float32"),
    ],
)
def test_makers_have_the_dtype_that_the_framework_gives(
    function: str, number: float, torch: str, paddle: str, jax: str
) -> None:
    policies = map(as_policy, ("torch@2.13", "paddle@3.3", "jax@x32"))
    made = [examined.made_dtype(function, number, policy).name for policy in policies]
    assert made == [torch, paddle, jax]


def test_a_missing_kernel_is_named_and_computed_all_the_same() -> None:
    paddle, bools = as_policy("paddle@3.3"), (Operand(BY_CODE["b1"]),)
    refusal = paddle.carried_out("cumsum", bools, (None,))
    assert isinstance(refusal, Refusal)
    assert refusal.why.startswith("Paddle 3.3 has no kernel for bool in cumsum on the CPU (paddle")
    assert not isinstance(paddle.plan("max", bools), Refusal)
    assert isinstance(paddle.carried_out("max", bools, (None,)), Refusal)


def test_clip_in_place_keeps_the_dtype_in_paddle() -> None:
    operands = Operand(BY_CODE["i64"]), Operand(BY_CODE["f*"]), Operand(BY_CODE["f*"])
    plan = as_policy("paddle@3.3").plan("clip", operands, Form.INPLACE)
    assert not isinstance(plan, Refusal)
    assert plan.result.name == "int64"
    assert isinstance(as_policy("torch").plan("clip", operands, Form.INPLACE), Refusal)


@pytest.mark.parametrize("edition", ["torch", "paddle"])
def test_functions_that_take_no_number_say_so(edition: str) -> None:
    policy = as_policy(POLICY_OF[edition])
    number = (Operand(BY_CODE["f*"], Rank.SCALAR),)
    told = {
        name: policy.signature_refusal(name, number) is not None
        for name, row in functions.golden(edition).items()
        if OPERATIONS.get(name, OPERATIONS["add"]).arity == 1 and "float" in row
    }
    assert told == {name: functions.golden(edition)[name]["float"] in "-?" for name in told}
    assert told["log"]
    assert told["sum"]


INPLACE = [name.removesuffix("_") for name in functions.golden("torch") if name[-1] == "_"]
OF_ARRAYS = [name for name in INPLACE if OPERATIONS.get(name) and OPERATIONS[name].arity == 1]
BOUNDS = {"clip_": "i*", "clip_half_": "f*"}


@pytest.mark.parametrize("edition", ["torch", "paddle"])
def test_functions_in_place_answer_as_frameworks_do(edition: str) -> None:
    policy, different = as_policy(POLICY_OF[edition]), []
    asked: dict[str, tuple[str, tuple[Operand, ...]]] = {f"{n}_": (n, ()) for n in OF_ARRAYS}
    asked |= {n: ("clip", (Operand(BY_CODE[b], Rank.SCALAR),) * 2) for n, b in BOUNDS.items()}
    for name, (operation, bounds) in asked.items():
        for code, answer in functions.golden(edition)[name].items():
            if code in functions.SCALARS or (answer == "?" and BY_CODE[code] in ON_A_GPU):
                continue
            given = (Operand(BY_CODE[code]), *bounds)
            plan = policy.plan(operation, given, Form.INPLACE)
            if not isinstance(plan, Refusal):
                plan = policy.kernel_refusal(operation, given, plan, Form.INPLACE) or plan
            ours = "-" if isinstance(plan, Refusal) else plan.result.code
            if ours != answer.partition(":")[0].replace("?", "-"):
                different.append(f"{name} of {code}: {answer}, ours {ours}")
    assert len(asked) > 15
    assert not different, "\n".join(different)


# --- Values ---------------------------------------------------------------------------------------

FAMILIES = {
    "torch": "torch",
    "paddle": "paddle",
    "jax": "jax_x64",
    "tensorflow": "tensorflow",
    "numpy": "numpy2",
    "numpy@1": "numpy1",
}


def values(text: str) -> tuple[str, list[complex]]:
    """The dtype and numbers of an answer."""
    code, _, numbers = text.partition(":")
    return code.rstrip("*"), [complex(n) for n in numbers.split(",") if n]


def alike(a: complex, b: complex) -> bool:
    both_nan = a != a and b != b
    return a == b or both_nan or abs(a - b) <= 2e-3 * max(1, abs(a), abs(b))


def differ(here: str, there: str) -> bool:
    """Whether two answers of one dtype have other numbers, or other results."""
    if here[0] in "-?.!" or there[0] in "-?.!" or "c" in here or "c" in there:
        return False
    mine, theirs = here.split(";"), there.split(";")
    if len(mine) != len(theirs):
        return True
    for (a, xs), (b, ys) in zip(map(values, mine), map(values, theirs), strict=True):
        if a == b and (len(xs) != len(ys) or not all(map(alike, xs, ys))):
            return True
    return False


SPELT_OTHERWISE = {
    "unique_all": "asked with what each framework calls all of it",
    "histogram": "Paddle has counts alone",
    "interpolate_bilinear": "stands as interpolate",
    "empty empty_like new_empty": "whatever was in memory",
    "svd eig": "vectors of either sign, in any order",
    "linear": "shapes of weights, which stop a program where they are wrong",
}
NOT_DEFINED = {name for names in SPELT_OTHERWISE for name in names.split()}


@pytest.mark.parametrize("home", FAMILIES)
@pytest.mark.parametrize("target", FAMILIES)
def test_values_that_differ_are_told(home: str, target: str) -> None:
    here, there = functions.golden(FAMILIES[home]), functions.golden(FAMILIES[target])
    policies = (as_policy(POLICY_OF[FAMILIES[each]]) for each in (home, target))
    mine, other = policies
    untold = [
        f"{name} of {code}: {here[name][code]} in {home}, {there[name][code]} in {target}"
        for name in here.keys() & there.keys() - NOT_DEFINED
        for code in here[name].keys() & there[name].keys()
        if differ(here[name][code], there[name][code])
        and not examined.defined_otherwise(name, mine, other)
    ]
    assert not untold, "\n".join(sorted(untold))


def test_what_is_told_to_differ_does() -> None:
    for name, definition in examined._definitions().items():
        asked = "interpolate_bilinear" if name == "interpolate" else name
        rows = {f: functions.golden(FAMILIES[f]).get(asked, {}) for f in definition.by}
        said = {f: " ".join(f"{c}={a}" for c, a in row.items()) for f, row in rows.items() if row}
        for one, another in ((a, b) for a in said for b in said if a < b):
            if definition.by[one] != definition.by[another]:
                assert said[one] != said[another], (name, one, another)


def test_what_the_call_says_is_no_default() -> None:
    torch, jax, paddle = map(as_policy, ("torch", "jax@x32", "paddle@3.3"))
    said = examined.defined_otherwise("std", torch, jax)
    assert said == "std: divided by n - 1 in PyTorch 2.13, divided by n in JAX without x64"
    assert not examined.defined_otherwise("std", torch, jax, given=["correction"])
    assert not examined.defined_otherwise("std", torch, paddle)
    assert not examined.defined_otherwise("sum", torch, paddle)


def test_a_definition_that_names_a_dtype_is_about_arrays_of_it() -> None:
    torch, paddle, jax = map(as_policy, ("torch", "paddle@3.3", "jax@x64"))
    said = examined.defined_otherwise("interpolate", torch, paddle, dtypes=[uint8])
    assert said.startswith("interpolate of uint8")
    assert not examined.defined_otherwise("interpolate", torch, paddle, dtypes=[float32])
    said = examined.defined_otherwise("pow", torch, jax, dtypes=[int64])
    assert said.startswith("pow of integers to a negative power: 0 in PyTorch")
    assert not examined.defined_otherwise("pow", torch, jax, dtypes=[float32])
    assert not examined.defined_otherwise("all", torch, jax, dtypes=[float32])
    assert examined.defined_otherwise("all", torch, jax, dtypes=[complex64])


@pytest.mark.parametrize(
    ("name", "policy", "answered"),
    [
        ("softmax", "paddle@3.3", True),
        ("addcdiv_", "paddle@3.3", True),
        ("fill_", "paddle@3.3", True),
        ("masked_fill_", "jax@x32", False),
        ("zero_", "paddle@3.3", True),
        ("normal_", "paddle@3.3", True),
        ("randn(dtype)", "paddle@3.3", True),
        ("random.normal(dtype)", "torch@2.13", True),
        ("sparse_", "paddle@3.3", False),
        ("nn.softmax", "torch@2.13", True),
        ("one_hot", "paddle@3.3", True),
        ("one_hot", "tensorflow", True),
        ("interpolate", "tensorflow", False),
        ("__add__", "tensorflow", True),
        ("cumsum", "mindspore@2.10", True),
        ("reshape", "onnx", True),
        ("linear", "jax@x32", True),
        ("median", "paddle@2.6", False),
        ("quantize_per_tensor", "torch@2.13", True),
        ("quantize_per_tensor_dynamic", "torch@2.13", False),
    ],
)
def test_what_was_examined(name: str, policy: str, answered: bool) -> None:
    assert examined.examined(name, as_policy(policy)) is answered
