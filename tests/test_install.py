"""What an import brings, and what it must not."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt

CHAPTERS = (
    *("broadcasting", "creation", "data_types", "elementwise", "indexing", "info"),
    *("joining", "linear_algebra", "manipulation", "ranges", "searching", "sets", "sorting"),
    *("grids", "statistical", "utility"),
)
FOREIGN = (
    *("cupy", "torch", "jax", "tensorflow", "paddle", "onnx", "rich", "dask", "array_api_compat"),
    *("mindspore", "pandas", "scipy", "hypothesis", "importlib.metadata", "pathlib"),
)


def run(code: str) -> str:
    """Run a program in a fresh interpreter and answer what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_promoarray_imports_no_framework() -> None:
    loaded = run(
        "import sys, numpy, ml_dtypes; before = set(sys.modules); import promoarray as pa;"
        "pa.asarray([1, 2], dtype=pa.bfloat16) + 1.5;"
        f"print([m for m in {FOREIGN!r} if m in set(sys.modules) - before])"
    )
    assert loaded == "[]"


def test_arrays_are_made_without_array_api_compat() -> None:
    loaded = run(
        "import sys; import promoarray as pa\n"
        "for name in ('numpy', 'torch', 'jax', 'paddle@3.3'):\n"
        "    with pa.policy(name):\n"
        "        pa.arange(3), pa.arange(0.5, 3, dtype='float32'), pa.linspace(0, 1, 5)\n"
        "        pa.tril(pa.eye(3, 4, k=1)), pa.triu(pa.ones((2, 2)))\n"
        "print('array_api_compat' in sys.modules)"
    )
    assert loaded == "False"


@pytest.mark.parametrize("module", ["kernels._cpu", "_context"])
def test_a_source_folder_that_is_not_compiled_says_what_to_do(module: str) -> None:
    said = run(
        f"import sys; sys.modules['promoarray.{module}'] = None\n"
        "try: import promoarray\n"
        "except ImportError as error: print(error)"
    )
    assert "without what is compiled. Write pip install -e ." in said


@pytest.mark.parametrize(
    ("module", "name"),
    [("kernels._cpu", "CastingKernel"), ("core._fast_path", "begin"), ("_context", "Block")],
)
def test_a_compiled_module_that_is_older_than_the_sources_says_so(module: str, name: str) -> None:
    said = run(
        "import importlib.util, sys, types\n"
        f"import promoarray.{module} as compiled\n"
        "old = types.ModuleType(compiled.__name__)\n"
        f"vars(old).update((n, x) for n, x in vars(compiled).items() if n != {name!r})\n"
        "for n in [n for n in sys.modules if n.startswith('promoarray')]: del sys.modules[n]\n"
        f"sys.modules['promoarray.{module}'] = old\n"
        "try: import promoarray\n"
        "except ImportError as error: print(error)"
    )
    assert "is older than the sources in" in said
    assert f"it has no '{name}'. Write pip install -e ." in said


def test_every_name_of_every_chapter_is_reachable_and_public() -> None:
    missing = [
        f"{chapter}.{name}"
        for chapter in CHAPTERS
        for name in importlib.import_module(f"promoarray.functions.{chapter}").__all__
        if not hasattr(pa, name) or name not in pa.__all__
    ]
    assert not missing
    assert [n for n in pa.__all__ if not hasattr(pa, n)] == []
    assert len(set(pa.__all__)) == len(pa.__all__)


def test_dtypes_constants_and_errors_are_public() -> None:
    names = [d.name for d in (*dt.CONCRETE, dt.string)]
    names += ["e", "inf", "nan", "pi", "newaxis", "DType", "PArray", "Policy", "PromotionError"]
    names += ["set_policy", "get_policy", "policy", "list_policies", "namespace", "explain"]
    names += ["trace", "shadow", "UnknownPolicyError"]
    assert [n for n in names if n not in pa.__all__] == []
    assert all(getattr(pa, d.name) is d for d in dt.CONCRETE)


def test_a_star_import_brings_what_is_public() -> None:
    brought = run(
        "from promoarray import *\n"
        "print(asarray([1, 2], dtype=int8) + 1.5, pi > 3, bool, sum(ones(3)).item())"
    )
    assert brought == "PArray([2.5, 3.5], dtype=float64) True bool 3.0"


def test_the_array_api_finds_the_package_by_its_entry_point() -> None:
    points = metadata.entry_points(group="array_api", name="promoarray")
    assert [point.load() for point in points][:1] == [pa]
    assert pa.__version__ == metadata.version("promoarray")


def test_types_are_shipped_and_the_kernels_compiled() -> None:
    from importlib import resources

    assert resources.files("promoarray").joinpath("py.typed").is_file()
    kernels = importlib.import_module("promoarray.kernels._cpu")
    assert kernels.__file__ is not None
    assert kernels.__file__.endswith((".so", ".pyd"))


@pytest.mark.parametrize("name", ["Any", "import_module", "np"])
def test_helpers_are_not_public(name: str) -> None:
    assert name not in pa.__all__


def test_numpy_is_new_enough_to_be_the_reference() -> None:
    assert np.lib.NumpyVersion(np.__version__) >= "2.1.0"
