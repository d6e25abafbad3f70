"""The namespace is complete: every name of the array API standard, with its signature.

``array_api_2025_12.txt`` lists the standard's functions and methods. A function may take more than
the standard asks for, if only by keyword and with a default.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa
from promoarray.dtypes import STANDARD

LISTED = Path(__file__).parent / "array_api_2025_12.txt"
EXTENSIONS = ("linalg", "fft")
POLICIES = (None, "numpy", "jax", "torch", "paddle", "onnx", "array_api")

OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)


@cache
def chapters() -> dict[str, list[str]]:
    """The signatures of each chapter, as text."""
    found: dict[str, list[str]] = {}
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            rows = found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            rows.append(line)
    return found


def main() -> list[str]:
    """The signatures of the main namespace."""
    apart = {*EXTENSIONS, "info", "array"}
    return [row for chapter, rows in chapters().items() if chapter not in apart for row in rows]


def named(row: str) -> str:
    return row.partition("(")[0]


def signature(row: str) -> inspect.Signature:
    """The signature that a line of the list spells."""
    scope: dict[str, Any] = {}
    exec(f"def {row}: ...", scope)
    return inspect.signature(scope[named(row)])


def differences(function: Any, row: str) -> list[str]:
    """What a caller who knows the standard would stumble over."""
    ours = dict(inspect.signature(function).parameters)
    ours.pop("self", None)
    wrong = []
    for name, theirs in signature(row).parameters.items():
        if name == "self":
            continue
        mine = ours.pop(name, None)
        if mine is None:
            wrong.append(f"{row}: no {name}")
        elif (mine.kind, mine.default) != (theirs.kind, theirs.default):
            wrong.append(f"{row}: {mine.kind.name} {mine} for {theirs.kind.name} {theirs}")
    for name, mine in ours.items():
        if mine.kind is not mine.KEYWORD_ONLY or mine.default is mine.empty:
            wrong.append(f"{row}: {name} is not the standard's")
    return wrong


def space(policy: str | None) -> Any:
    return pa if policy is None else pa.namespace(policy)


def test_the_list_is_the_whole_standard() -> None:
    counts = {name: len(rows) for name, rows in chapters().items()}
    assert len(main()) == len(set(map(named, main()))) == 136
    assert (counts["linalg"], counts["fft"], counts["info"], counts["array"]) == (25, 14, 5, 34)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_function_is_there_with_its_signature(policy: str | None) -> None:
    xp, wrong = space(policy), []
    for row in main():
        function = getattr(xp, named(row), None)
        wrong += [f"no {row}"] if function is None else differences(function, row)
    for extension in EXTENSIONS:
        for row in chapters()[extension]:
            function = getattr(getattr(xp, extension), named(row), None)
            wrong += [f"no {extension}.{row}"] if function is None else differences(function, row)
    for row in chapters()["info"]:
        wrong += differences(getattr(xp.__array_namespace_info__(), named(row)), row)
    assert wrong == []


@pytest.mark.parametrize("policy", POLICIES)
def test_every_method_is_there_with_its_signature(policy: str | None) -> None:
    array = space(policy).PArray
    wrong = []
    for row in chapters()["array"]:
        # Of methods only the keywords are called by name.
        asked = row if "*" in row else row.replace(", /", "").replace(")", ", /)")
        found = inspect.signature(getattr(array, named(row)))
        positional = [p.kind.value <= 1 for p in found.parameters.values()]
        expected = [p.kind.value <= 1 for p in signature(asked).parameters.values()]
        if "*" in row:
            wrong += differences(getattr(array, named(row)), row)
        elif positional != expected:
            wrong.append(f"{row}: {found}")
    for name in OPERATORS:
        for method in (f"__r{name}__", f"__i{name}__"):
            if [p.kind.name for p in inspect.signature(getattr(array, method)).parameters.values()][
                1:
            ] != ["POSITIONAL_ONLY"]:
                wrong.append(method)
    assert wrong == []


def test_attributes_constants_and_dtypes_are_there() -> None:
    x = pa.zeros((2, 3))
    assert (x.shape, x.ndim, x.size, x.device, x.dtype) == ((2, 3), 2, 6, "cpu", pa.float64)
    assert x.T.shape == x.mT.shape == (3, 2)
    constants = (pa.e, pa.inf, pa.nan, pa.pi)
    assert [type(c) for c in constants] == [float] * 4
    assert pa.newaxis is None
    assert len(STANDARD) == 13
    assert all(getattr(pa, d.name) is d for d in STANDARD)
    assert pa.__array_api_version__ == "2025.12"


def test_every_name_is_public_and_listed() -> None:
    names = {*map(named, main()), *EXTENSIONS, "e", "inf", "nan", "newaxis", "pi"}
    names |= {d.name for d in STANDARD} | {"__array_api_version__", "__array_namespace_info__"}
    assert names <= set(pa.__all__)
    assert names <= set(dir(pa))
    assert names <= set(dir(pa.namespace("torch")))
    for extension in EXTENSIONS:
        chapter = getattr(pa, extension)
        assert {named(row) for row in chapters()[extension]} <= set(chapter.__all__)


def test_dtype_objects_are_what_tools_expect_of_them() -> None:
    assert len({d: d.name for d in STANDARD}) == 13
    assert all(STANDARD)  # a false bool would fall to `dtype or default`
    for other in (None, "int9", 1, object(), float("nan"), [], pa.zeros(2).shape):
        assert [d for d in STANDARD if d == other] == []
        assert all(d != other for d in STANDARD)
    assert [a is b for a in STANDARD for b in STANDARD] == [
        a == b for a in STANDARD for b in STANDARD
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_namespace_tells_about_itself(policy: str | None) -> None:
    xp = space(policy)
    info = xp.__array_namespace_info__()
    defaults = info.default_dtypes()
    assert list(defaults) == ["real floating", "complex floating", "integral", "indexing"]
    assert defaults["real floating"] is xp.asarray([1.5]).dtype
    assert defaults["complex floating"] is xp.asarray([1j]).dtype
    assert defaults["integral"] is xp.asarray([1]).dtype
    assert defaults["indexing"] is xp.argmax(xp.asarray([1.5])).dtype
    found = info.dtypes()
    assert set(found) <= {d.name for d in STANDARD}
    assert all(getattr(xp, name) is dtype for name, dtype in found.items())
    assert info.default_dtypes(device="cpu") == defaults
    assert info.dtypes(device="cpu") == found
    integers = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
    assert set(info.dtypes(kind="integral")) == integers & set(found)
    assert info.dtypes(kind=("signed integer", "unsigned integer")) == info.dtypes(kind="integral")
    assert set(info.dtypes(kind=("bool", "complex floating"))) <= {
        "bool",
        "complex64",
        "complex128",
    }
    assert info.dtypes(kind=()) == {}
    with pytest.raises(TypeError, match="not a kind of dtype"):
        info.dtypes(kind="number")
    there = ["cpu"] + ["dask"] * (
        "dask.array" in sys.modules
    )  # which another test may have imported
    assert info.devices() == (*there,)
    assert isinstance(info.devices(), tuple)
    assert info.devices() + [None] == [*there, None]  # noqa: RUF005  # SciPy's tests say it so
    assert info.devices() + ("x",) == (*there, "x")  # noqa: RUF005
    assert info.default_device() in info.devices()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    with pytest.raises(ValueError, match="unknown device 'tpu'"):
        info.default_dtypes(device="tpu")


def test_dtypes_are_those_of_the_policy() -> None:
    def lacking(policy: str) -> set[str]:
        found = pa.namespace(policy).__array_namespace_info__().dtypes()
        return {d.name for d in STANDARD} - set(found)

    assert lacking("numpy") == lacking("jax") == lacking("torch") == lacking("array_api") == set()
    assert lacking("jax@x32") == {"int64", "uint64", "float64", "complex128"}
    with pa.policy("jax@x32"):
        assert pa.__array_namespace_info__().default_dtypes()["integral"] is pa.int32


def test_as_many_axes_as_are_told() -> None:
    most = pa.__array_namespace_info__().capabilities()["max dimensions"]
    assert pa.zeros((1,) * most).ndim == most
    with pytest.raises(ValueError, match="64"):
        pa.zeros((1,) * (most + 1))


def functions() -> list[tuple[str, Any]]:
    """Every public function of the chapters."""
    found = [(name, getattr(pa, name)) for name in pa.__all__]
    for extension in EXTENSIONS:
        chapter = getattr(pa, extension)
        found += [(f"{extension}.{name}", getattr(chapter, name)) for name in chapter.__all__]
    return [(name, f) for name, f in found if inspect.isroutine(f)]


def test_every_public_function_documents_parameters_and_returns() -> None:
    wrong = []
    for name, function in functions():
        text = inspect.getdoc(function) or ""
        parameters = inspect.signature(function).parameters
        if parameters and "Parameters\n----------" not in text:
            wrong.append(f"{name}: no Parameters")
        answers = inspect.signature(function).return_annotation != "None"
        if answers and "Returns\n-------" not in text and "Yields\n------" not in text:
            wrong.append(f"{name}: no Returns")
        if "Parameters\n----------" in text:
            section = text.split("Parameters\n----------")[1].split("\n-------")[0]
            wrong += [
                f"{name}: {p} is not described"
                for p in parameters
                if p not in section.replace(",", " ").replace("*", " ").split()
            ]
    assert wrong == []
