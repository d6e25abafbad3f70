"""Libraries that know nothing of promoarray take its arrays: what stays inside the policy.

Each test needs its library, and skips where it is not installed. What a library cannot do with
arrays that are not NumPy's stands in docs/downstream.md, and here, so that a change is noticed.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa

pytestmark = pytest.mark.slow  # importing them is what takes long

NUMBERS = np.arange(12, dtype=np.float32).reshape(3, 4) / 4


def library(name: str) -> Any:
    """A library, or the reason why the test skips; what it warns of on import is its own matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            pytest.skip(f"needs {name.partition('.')[0]}, which is not installed")


@pytest.fixture(params=["numpy", "torch"])
def xp(request: pytest.FixtureRequest) -> Any:
    """promoarray itself, and a namespace bound to a policy."""
    return pa if request.param == "numpy" else pa.namespace(request.param)


def same(x: Any, xp: Any, expected: Any, dtype: pa.DType = pa.float32) -> bool:
    """Whether x is an array of the namespace, with these numbers and this dtype."""
    assert isinstance(x, pa.PArray), f"left the policy: {type(x)}"
    assert x.__array_namespace__() is xp
    assert x.dtype is dtype
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-6)
    return True


def test_numbers_that_a_library_takes_are_told_once_a_line(xp: Any) -> None:
    fft, array = library("scipy.fft"), xp.asarray(NUMBERS[0])
    if os.environ.get("SCIPY_ARRAY_API") == "1":
        pytest.skip("SciPy keeps PArrays")
    for _ in range(2):  # the second goes the short way
        with pytest.warns(
            pa.EscapeWarning, match="scipy computes with NumPy's array of these float32"
        ) as told:
            assert type(fft.fft(array)) is np.ndarray
        assert {each.filename for each in told} == {__file__}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("default")
        for _ in range(3):
            fft.fft(array)
    assert len(heard) == 1
    grid = library("xarray").DataArray(array, dims="r", coords={"r": range(4)})
    with pytest.warns(
        pa.EscapeWarning, match="xarray computes with NumPy's array of these float32"
    ):
        grid.interp(r=[0.5])
    with warnings.catch_warnings():  # as under python -W error
        warnings.simplefilter("error")
        with pytest.raises(pa.EscapeWarning) as caught:
            fft.fft(array)
    ours = [x for x in caught.traceback if Path(x.path).is_relative_to(Path(pa.__file__).parent)]
    assert len(ours) < 2


def test_what_a_library_may_take_or_computes_by_the_array_api_is_not_told(xp: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pa.EscapeWarning)
        assert np.asarray(xp.asarray(NUMBERS)).shape == (3, 4)
        library("pandas").DataFrame(xp.asarray(NUMBERS))
        library("xarray").DataArray(xp.asarray(NUMBERS)).mean()
    with pa.trace() as trace:
        library("scipy.ndimage").gaussian_filter(xp.asarray(NUMBERS), 1)
    assert [each.channel for each in trace.escapes] == ["__array__"]


# -- xarray ---------------------------------------------------------------------------------------


@pytest.fixture
def grid(xp: Any) -> Any:
    """An array of xarray's around one of ours, with labels for its rows."""
    return library("xarray").DataArray(
        xp.asarray(NUMBERS), dims=("r", "c"), coords={"r": [1, 1, 2]}
    )


REDUCTIONS = ("sum", "mean", "max", "min", "prod", "std", "var", "median", "cumsum")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_xarray_stay_in_the_policy(grid: Any, xp: Any, name: str) -> None:
    reduced = getattr(grid, name)("r")
    assert same(reduced.data, xp, getattr(np, name)(NUMBERS, axis=0))


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_that_do_not_look_for_nan_stay_in_the_policy(
    grid: Any, xp: Any, name: str
) -> None:
    reduced = getattr(grid, name)("r", skipna=False)
    assert same(reduced.data, xp, getattr(np, name)(NUMBERS, axis=0))


@pytest.mark.parametrize(("name", "dtype"), [("argmax", pa.int64), ("argmin", pa.int64)])
def test_positions_of_xarray_stay_in_the_policy(
    grid: Any, xp: Any, name: str, dtype: pa.DType
) -> None:
    assert same(getattr(grid, name)("r").data, xp, getattr(np, name)(NUMBERS, axis=0), dtype)


@pytest.mark.parametrize("q", [0.25, [0.25, 0.5]])
def test_quantiles_of_xarray_stay_in_the_policy(grid: Any, xp: Any, q: Any) -> None:
    found = grid.quantile(q, dim="c")
    wide = pa.float64 if xp is pa else pa.float32  # as NumPy and PyTorch have of float64 shares
    assert same(found.data, xp, np.quantile(NUMBERS, q, axis=1), wide)


def test_arithmetic_of_xarray_follows_the_policy(xp: Any) -> None:
    DataArray = library("xarray").DataArray
    whole = DataArray(xp.asarray([1, 2, 3], dtype=pa.int32), dims="r")
    half = DataArray(xp.asarray([0.5, 0.5, 0.5], dtype=pa.float32), dims="r")
    expected = pa.float64 if xp is pa else pa.float32
    assert same((whole * half + 1).data, xp, [1.5, 2.0, 2.5], expected)
    assert same(np.sin(half).data, xp, np.sin([0.5, 0.5, 0.5]))


def test_xarray_arranges_and_chooses(grid: Any, xp: Any) -> None:
    xr = library("xarray")
    joined = xr.concat([grid.isel(r=0), grid.isel(r=2)], "z").transpose("c", "z")
    assert same(joined.data, xp, NUMBERS[[0, 2]].T)
    assert same(grid.where(grid > 1, 0.0).data, xp, np.where(NUMBERS > 1, NUMBERS, 0))
    assert same(grid.fillna(0).data, xp, NUMBERS)
    assert same(grid.astype("int32").data, xp, NUMBERS.astype(np.int32), pa.int32)
    assert grid.equals(grid)
    assert "PArray" in repr(grid)


def test_xarray_groups_and_multiplies(grid: Any, xp: Any) -> None:
    xr = library("xarray")
    assert same(xr.Dataset({"a": grid}).mean().a.data, xp, NUMBERS.mean())
    assert same(grid.groupby("r").mean().data, xp, [NUMBERS[:2].mean(0), NUMBERS[2]])
    assert same(xr.dot(grid, grid, dim="c").data, xp, (NUMBERS**2).sum(1))


def test_xarray_fills_only_dtypes_of_numpy(grid: Any) -> None:
    with pytest.raises(TypeError, match="must be one of an extension array dtype or numpy dtype"):
        grid.where(grid > 1)


# -- einops, Pint ---------------------------------------------------------------------------------


def test_einops_arranges_by_the_array_api(xp: Any) -> None:
    einops = library("einops.array_api")
    x = xp.asarray(NUMBERS)
    assert same(
        einops.rearrange(x, "r (a b) -> a (b r)", a=2),
        xp,
        NUMBERS.reshape(3, 2, 2).transpose(1, 2, 0).reshape(2, 6),
    )
    assert same(einops.reduce(x, "r c -> c", "mean"), xp, NUMBERS.mean(0))
    assert same(einops.repeat(x, "r c -> r c k", k=2), xp, np.stack([NUMBERS, NUMBERS], -1))


def test_functions_of_numba_say_what_to_write(xp: Any) -> None:
    jitted = library("numba").njit(lambda a: a.sum())
    with pytest.raises(TypeError, match=r"write np\.asarray\(x\)"):
        jitted(xp.asarray(NUMBERS))


def test_quantities_of_pint_keep_the_policy(xp: Any) -> None:
    units = library("pint").UnitRegistry()
    length = units.Quantity(xp.asarray(NUMBERS), "m")
    assert same((length + units.Quantity(xp.asarray(NUMBERS), "cm")).magnitude, xp, NUMBERS * 1.01)
    assert same(length.to("cm").magnitude, xp, NUMBERS * 100)
    assert same(np.sqrt(length * length).magnitude, xp, NUMBERS)
    assert same(np.mean(length).magnitude, xp, NUMBERS.mean())
    assert same(length.sum().magnitude, xp, NUMBERS.sum())
    assert f"{length:~P}".endswith("m")


# -- pandas, Polars, Matplotlib: they take the numbers --------------------------------------------


def test_pandas_makes_columns(xp: Any) -> None:
    pd = library("pandas")
    x = xp.asarray(NUMBERS)
    assert set(pd.DataFrame(x).dtypes) == {np.dtype(np.float32)}
    assert pd.Series(x[0, :]).tolist() == NUMBERS[0].tolist()
    assert pd.DataFrame({"a": x[0, :], "b": x[1, :]}).shape == (4, 2)


def test_a_column_and_an_array_do_not_mix(xp: Any) -> None:
    column, x = library("pandas").Series([1.0, 2.0, 3.0, 4.0]), xp.asarray(NUMBERS)[0, :]
    for mixing in (lambda: column + x, lambda: x + column):
        with pytest.raises(TypeError, match=r"Write pa\.asarray"):
            mixing()
    assert same(xp.asarray(column.to_numpy(np.float32)) + x, xp, NUMBERS[0] + [1, 2, 3, 4])


def test_polars_takes_numpys_arrays(xp: Any) -> None:
    pl = library("polars")
    x = xp.asarray(NUMBERS)
    assert pl.Series("a", np.asarray(x[0, :])).dtype == pl.Float32
    assert pl.DataFrame(np.asarray(x)).shape == (3, 4)
    column = pl.Series("a", NUMBERS[0])
    assert same(xp.asarray(column) + x[0, :], xp, NUMBERS[0] * 2)
    with pytest.raises(TypeError, match=r"PArray \+ Series.*Write pa\.asarray"):
        x[0, :] + column
    with pytest.raises(TypeError, match=r"PArray \* Expr.*Write pl\.Series\(np\.asarray\(x\)\)"):
        x[0, :] * pl.col("a")
    frame = column.to_frame().with_columns(b=pl.col("a") * pl.Series(np.asarray(x[0, :])))
    assert frame["b"].to_list() == (NUMBERS[0] ** 2).tolist()


PLOTS = ("plot", "scatter", "bar", "hist", "imshow", "pcolormesh", "contourf", "boxplot")


@pytest.mark.parametrize("name", PLOTS)
def test_matplotlib_draws(xp: Any, name: str) -> None:
    library("matplotlib").use("agg")
    plt = library("matplotlib.pyplot")
    x = xp.asarray(NUMBERS)
    figure, axes = plt.subplots()
    rows = (x[0, :], x[1, :]) if name in ("plot", "scatter", "bar") else (x,)
    try:
        drawn = getattr(axes, name)(*rows)
        figure.canvas.draw()
    finally:
        plt.close(figure)
    assert drawn is not None
    if name == "plot":
        np.testing.assert_array_equal(drawn[0].get_ydata(), NUMBERS[1])


# -- PyTorch, JAX ---------------------------------------------------------------------------------

SHARED = ("bool", "int8", "int32", "uint16", "float32", "float64", "complex64")
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.parametrize("dtype", [*SHARED, *NARROW])
def test_torch_shares_memory_both_ways(xp: Any, dtype: str) -> None:
    torch = library("torch")
    x = xp.asarray([1, 0, 3], dtype=dtype)
    tensor = torch.from_dlpack(x)
    assert tensor.dtype is getattr(torch, dtype)
    tensor[1] = 1
    assert [bool(number) for number in x] == [True, True, True]
    for again in (xp.from_dlpack(tensor), xp.asarray(tensor)):
        assert same(
            again.astype(pa.complex64), xp, np.asarray(x.astype(pa.complex64)), pa.complex64
        )
        assert again.dtype is x.dtype


def test_torch_and_parrays_do_not_mix(xp: Any) -> None:
    torch = library("torch")
    x = xp.asarray(NUMBERS)
    for mixing in (lambda: x + torch.ones(4), lambda: torch.ones(4) + x):
        with pytest.raises(TypeError, match="unsupported operand"):
            mixing()
    assert torch.equal(torch.asarray(x), torch.from_numpy(NUMBERS))
    with pytest.raises(RuntimeError, match="detach"):
        xp.asarray(torch.ones(3, requires_grad=True))


@pytest.fixture
def jnp() -> Iterator[Any]:
    """JAX's NumPy, with its 64 bits for as long as the test runs."""
    with library("jax").enable_x64(True):
        yield library("jax.numpy")


@pytest.mark.parametrize("dtype", [*SHARED, *NARROW])
def test_jax_takes_and_gives_arrays(xp: Any, jnp: Any, dtype: str) -> None:
    x = xp.asarray([1, 0, 3], dtype=dtype)
    array = jnp.from_dlpack(x)
    assert array.dtype.name == dtype
    for again in (xp.from_dlpack(array), xp.asarray(array)):
        assert same(
            again.astype(pa.complex64), xp, np.asarray(x.astype(pa.complex64)), pa.complex64
        )
        assert again.dtype is x.dtype
    assert jnp.array_equal(jnp.asarray(x), array)


# -- Dask, Cubed ----------------------------------------------------------------------------------


@pytest.fixture
def delayed(xp: Any) -> Iterator[Any]:
    """Dask's array of PArrays, computed in this thread."""
    with library("dask").config.set(scheduler="synchronous"):
        yield library("dask.array").from_array(xp.asarray(NUMBERS), chunks=2)


def test_blocks_of_dask_stay_in_the_policy(delayed: Any, xp: Any) -> None:
    assert same((delayed * 2 + 1.5).compute(), xp, NUMBERS * 2 + 1.5)
    assert same(delayed.sum(axis=0).compute(), xp, NUMBERS.sum(0))
    assert same(delayed.mean().compute(), xp, NUMBERS.mean())
    assert same(delayed.T.compute(), xp, NUMBERS.T)


def test_cubed_computes_with_the_numbers(xp: Any) -> None:
    os.environ.setdefault("CUBED_BACKEND_ARRAY_API_MODULE", "numpy")
    cubed = library("cubed")
    api = library("cubed.array_api")
    held = cubed.from_array(xp.asarray(NUMBERS), chunks=2, spec=cubed.Spec(allowed_mem="100MB"))
    assert held.dtype == np.float32
    np.testing.assert_allclose(np.asarray(api.sum(held * held).compute()), (NUMBERS**2).sum())
