"""Traced kernels: the bits of NumPy's calls, and their warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import fp_warnings
from promoarray.backends.numpy.cast import short_caster
from promoarray.backends.numpy.kernels import KERNELS, asks_shapes, is_elementwise, kernel_of
from promoarray.backends.numpy.traced_kernels import traced
from promoarray.dtypes import BY_STORAGE, Kind
from promoarray.kernels.portable import complexes, variants
from promoarray.promotion.variants import VARIANTS

NAMES = sorted({*filter(is_elementwise, {*KERNELS, *VARIANTS}), *complexes.KERNELS})
LARGE = (1e30, 1.35e154, -1.4e154)
"""Squares of the last two overflow by themselves, not in every sum of them."""
SMALL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 1e-45, -1e-45)
SPECIAL = (*SMALL, *LARGE, np.inf, -np.inf, np.nan)
ROWS = 700
"""More elements than a program takes at a time, and no multiple of that."""


def sample(dtype: dt.DType, count: int, rng: np.random.Generator) -> np.ndarray:
    """Any bits, special values, and numbers as programs have them."""
    storage = dtype.storage
    if dtype is dt.bool:
        return rng.integers(0, 2, count).astype(bool)
    part = np.dtype(f"f{storage.itemsize // 2}") if storage.kind == "c" else storage
    shape = count * storage.itemsize // part.itemsize
    bits = rng.integers(0, 256, (shape, part.itemsize), dtype=np.uint8).view(part).reshape(shape)
    if part.kind in "iu":
        return np.where(rng.integers(0, 2, shape) > 0, bits, rng.integers(0, 9, shape)).astype(part)
    with np.errstate(over="ignore"):
        special = np.array(SPECIAL).astype(part)
    kinds = (
        bits,
        rng.choice(special, shape),
        rng.standard_normal(shape).astype(part),
        rng.integers(-5, 6, shape).astype(part),
    )
    found: np.ndarray = np.choose(rng.integers(0, 4, shape), kinds).astype(part).view(storage)
    return found


Sample = Callable[[dt.DType, int, np.random.Generator], np.ndarray]


def layouts(
    dtype: dt.DType, count: int, rng: np.random.Generator, sample: Sample
) -> Iterator[list[np.ndarray]]:
    """Operands of one shape, and single ones among them."""
    for length in (1, 7, ROWS):
        yield [sample(dtype, length, rng) for _ in range(count)]
    single = [sample(dtype, 1, rng).reshape(()) for _ in range(count)]
    yield single
    for at in range(count if count > 1 else 0):
        yield [x if i == at else sample(dtype, ROWS, rng) for i, x in enumerate(single)]


def moderate(dtype: dt.DType, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers whose products NumPy's steps round once, as one instruction does: none of them comes
    near the ends of float64."""
    storage = dtype.storage
    part = storage if storage.kind != "c" else np.dtype(f"f{storage.itemsize // 2}")
    shape = count * storage.itemsize // part.itemsize
    if part.kind != "f":
        return sample(dtype, count, rng)
    special = rng.choice(np.array(MODERATE), shape)
    mixed = np.where(rng.random(shape) < 0.5, special, rng.standard_normal(shape))
    found: np.ndarray = mixed.astype(part).view(storage)
    return found


MODERATE = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e30, 3.3, -1e-30)


class Unwrapped(np.ndarray):
    """An array whose results of no dimensions are arrays: NumPy's loops multiply the parts of a
    complex scalar without fma, and those of an array with it."""

    def __array_wrap__(self, made: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return made.view(Unwrapped)


def bits(x: np.ndarray) -> bytes:
    """Those of each number. Which of two NaN NumPy's loops add up to hangs on where they lie."""
    if x.dtype.kind not in "fc":
        return x.tobytes()
    part = x.reshape(-1).view(f"f{x.itemsize // (2 if x.dtype.kind == 'c' else 1)}")
    return np.where(np.isnan(part), part.dtype.type(np.nan), part).tobytes()


def kernel_and_program(
    name: str, dtype: dt.DType, count: int
) -> tuple[Any, kernels.CastingKernel] | None:
    """What NumPy calls, and the same as traced, where it can be."""
    kernel = kernel_of(name, dtype)
    assert kernel is not None
    try:
        ones = [np.ones(1, dtype.storage)] * count
        made = np.asarray(kernel(*ones)).dtype
    except (TypeError, ValueError, OverflowError):
        return None
    programs = traced(kernel, (dtype.storage,) * count, made, by_way=asks_shapes(name))
    if programs is None:
        return None
    row, result = kernels.dtype_args(dtype), kernels.dtype_args(BY_STORAGE[made])
    casting = kernels.CastingKernel(
        None,
        (*[row] * (3 * count), result, result),
        (kernels.DEFAULT,) * (2 * count + 1),
        (dtype.storage,) * count,
        made,
        fp_warnings.report,
        programs,
    )
    return kernel, casting


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_a_program_has_the_bits_of_the_calls(name: str) -> None:
    rng = np.random.default_rng(5)
    for dtype in sorted(dt.NATIVE, key=str):
        for count in (1, 2):
            found = (
                kernel_and_program(name, dtype, count) if dtype.kind is not Kind.STRING else None
            )
            if found is None:
                continue
            kernel, program = found
            fuses = "'fma'" in str(program.programs)
            for operands in layouts(dtype, count, rng, moderate if fuses else sample):
                with np.errstate(all="ignore"):
                    try:
                        wanted = np.asarray(kernel(*(x.view(Unwrapped) for x in operands)))
                    except (ValueError, ZeroDivisionError) as error:
                        with pytest.raises(type(error)):
                            program(*operands)
                        continue
                    made = program(*operands)
                assert made is not None
                assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
                assert bits(made) == bits(wanted), (dtype, count, operands[0].shape)


def test_what_is_slow_by_calls_is_a_program() -> None:
    """Of these each call of NumPy's takes as long as an addition."""
    for name, dtype, count in (
        ("polar_pow", dt.complex128, 2),
        ("standard_expm1", dt.complex64, 1),
        ("wrapped_logaddexp", dt.complex64, 2),
        ("mse_loss", dt.complex64, 2),
        ("poisson_nll_loss", dt.bool, 2),
        ("atan2", dt.float32, 2),
        ("pow", dt.float64, 2),
        ("log_pow", dt.complex64, 2),
        ("shortcut_log_pow", dt.complex128, 2),
    ):
        assert kernel_and_program(name, dtype, count) is not None, name


def test_what_looks_at_elements_is_none() -> None:
    for name in ("multiplied_pow", "plain_pow", "checked_floor_divide"):
        assert kernel_and_program(name, dt.float32, 2) is None, name


@pytest.mark.parametrize("length", [1, ROWS, 40_000])
def test_exceptions_are_told_as_numpy_tells_them(length: int) -> None:
    found = kernel_and_program("divide", dt.float32, 2)
    assert found is not None
    one, zero = np.ones(length, np.float32), np.zeros(length, np.float32)
    with np.errstate(all="ignore"):
        assert found[1](one, zero)[-1] == np.inf
    with np.errstate(divide="raise"):
        with pytest.raises(FloatingPointError, match=r"^divide by zero encountered in divide$"):
            found[1](one, zero)
        assert found[1](one, one)[-1] == 1
    with pytest.warns(RuntimeWarning, match=r"^divide by zero encountered in divide$") as told:
        found[1](one, zero)
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.parametrize("how", ["print", "call", "log"])
def test_the_other_ways_of_errstate(how: str, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[Any] = []

    class Log:
        def write(self, text: str) -> None:
            heard.append(text)

    def call(*given: Any) -> None:
        heard.append(given)

    def told(run: Any) -> Any:
        heard.clear()
        state: Any = {"over": how, "call": Log() if how == "log" else call}
        with np.errstate(**state):
            run()
        return [*heard], "".join(capfd.readouterr())

    found = kernel_and_program("multiply", dt.float32, 2)
    assert found is not None
    large = np.full(3, 3e38, np.float32)
    assert told(lambda: found[1](large, large)) == told(lambda: np.multiply(large, large))


def test_each_step_tells_by_its_own_name() -> None:
    found = kernel_and_program("poisson_nll_loss", dt.float32, 2)
    assert found is not None
    x, y = np.array([1e3], "f4"), np.array([3e38], "f4")
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning) as mine:
        found[1](x, y)
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning) as numpys:
        found[0](x, y)
    assert [str(w.message) for w in mine] == [str(w.message) for w in numpys]


def test_what_is_quiet_tells_nothing() -> None:
    found = kernel_and_program("polar_pow", dt.complex64, 2)
    assert found is not None
    with np.errstate(all="raise"):
        assert found[1](np.zeros(1, "c8"), np.ones(1, "c8")) == 0


@pytest.fixture(params=kernels.levels(), ids="level {}".format)
def level(request: pytest.FixtureRequest) -> Iterator[int]:
    before = kernels.use_level(request.param)
    yield request.param
    kernels.use_level(before)


@pytest.mark.parametrize("dtype", [dt.complex64, dt.complex128], ids=str)
@pytest.mark.parametrize("name", ["log_pow", "shortcut_log_pow"])
def test_powers_by_logarithms_are_those_of_the_portable_kernel(
    level: int, name: str, dtype: dt.DType
) -> None:
    portable, rng = variants.of(np)[name], np.random.default_rng(8)
    found = kernel_and_program(name, dtype, 2)
    assert found is not None
    kernel, program = found
    x = sample(dtype, 5 * ROWS, rng)
    exponents = [sample(dtype, 5 * ROWS, rng)] if name == "log_pow" else []
    exponents += [np.asarray(y, dtype.storage) for y in (0, -0.0, 1, 2, 0.5, -3, np.inf, np.nan)]
    for y in exponents:
        with np.errstate(all="ignore"):
            wanted = portable(x, y)
            assert bits(kernel(x, y)) == bits(wanted)
            assert bits(program(x, y)) == bits(wanted)
            if y.ndim:
                assert bits(kernel(x[::2], y[::2])) == bits(wanted[::2].copy())
                assert bits(kernel(x[0], y)) == bits(portable(x[:1], y))
                assert bits(program(x[0], y)) == bits(portable(x[:1], y))


def test_an_operation_warns_where_its_program_met_something() -> None:
    x, y = pa.asarray([1e30], dtype=pa.float32), pa.asarray([2], dtype=pa.int64)
    with pa.policy("torch"), pytest.warns(RuntimeWarning, match="overflow") as told:
        assert pa.isinf(x**y)
    assert told[0].filename == __file__


@pytest.mark.parametrize("delta", [1.0, 0.5, 2, 1e-40])
@pytest.mark.parametrize("dtype", ["complex64", "int32", "uint8", "int64"])
def test_huber_by_programs_is_huber_in_steps(dtype: str, delta: float) -> None:
    rng = np.random.default_rng(2)
    x, y = (sample(getattr(dt, dtype), ROWS, rng) for _ in range(2))
    with np.errstate(all="ignore"):
        error = np.abs(x - y)
        wanted = np.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta))
        for rows in (slice(0, 1), slice(None)):
            given = pa.asarray(x[rows]), pa.asarray(y[rows])
            loss = pa.extras.huber_loss(*given, delta=delta, reduction="none")
            cast = pa.asarray(wanted[rows]).astype(loss.dtype)
            assert loss._buffer.tobytes() == cast._buffer.tobytes()


REAL_EXPONENTS = (-3, -2, -1, -0.5, 0, 0.5, 1, 2, 2.5, 3, 4, float("nan"), float("inf"))
EXPONENTS = (*REAL_EXPONENTS, 1j, 0.5 + 1j)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float32", "float64"])
def test_powers_by_one_exponent_are_those_of_steps(dtype: str) -> None:
    """What short kernels make of single exponents is what PyTorch's way makes of rows of them."""
    x = sample(getattr(dt, dtype), ROWS, np.random.default_rng(4))
    kernel: Any = kernel_of("multiplied_pow", getattr(dt, dtype))
    with pa.policy("torch"), np.errstate(all="ignore"):
        for exponent in EXPONENTS if x.dtype.kind == "c" else REAL_EXPONENTS:
            wanted = kernel(x, np.asarray(exponent, x.dtype))
            for rows in (slice(0, 1), slice(None)):
                found = (pa.asarray(x[rows]) ** exponent)._buffer
                assert bits(found) == bits(wanted[rows]), exponent
            assert bits((pa.asarray(x[0]) ** exponent)._buffer) == bits(
                kernel(x[0], np.asarray(exponent, x.dtype))
            )


@pytest.mark.parametrize("exponents", ["int64", "float64", "bool"])
def test_real_powers_by_one_exponent_are_those_of_steps(exponents: str) -> None:
    x = sample(dt.float64, ROWS, np.random.default_rng(4))
    kernel: Any = kernel_of("plain_pow", dt.float64)
    values = [0, 1, 2, 3, -1, 0.5, -0.5, 2.5] if exponents == "float64" else [0, 1, 2, 3]
    with pa.policy("torch@2.11"), np.errstate(all="ignore"):
        for value in values:
            y = np.asarray([value]).astype(exponents)
            power = pa.asarray(x) ** pa.asarray(y.repeat(ROWS))
            wanted = kernel(x, y.repeat(ROWS).astype("f8"))
            assert bits(power._buffer) == bits(wanted), value
            assert bits((pa.asarray(x[:1]) ** pa.asarray(y))._buffer) == bits(wanted[:1]), value


def test_casts_of_complex_numbers_alone_are_those_of_long_ones() -> None:
    rng = np.random.default_rng(6)
    kinds = [d for d in dt.CONCRETE if d.kind is not Kind.STRING]
    for source in (dt.complex32, dt.complex64, dt.complex128):
        whole = sample(dt.complex64, ROWS, rng)
        values = pa.asarray(whole).astype(source)._buffer
        for target in kinds:
            if target is source:
                continue
            short = short_caster(source, target)
            assert short is not None
            rows = kernels.dtype_args(source), kernels.dtype_args(target), kernels.DEFAULT
            out = np.empty(values.shape, target.storage)
            kernels.cast(values, out, *rows)
            for at in range(0, ROWS, 200):
                made = short(values[at : at + 200])
                assert made is not None
                assert made.tobytes() == out[at : at + 200].tobytes(), (source, target)


def test_logic_of_real_parts_alone() -> None:
    x = pa.asarray([1j, 1 + 0j, 0j, -0.0 + 2j, complex("nan")], dtype=pa.complex128)
    y = pa.asarray([0, 0, 0, 1, 0], dtype=pa.int2)
    with pa.policy("tensorflow@all"):
        assert pa.logical_or(x, y)._buffer.tolist() == [False, True, False, True, True]
    with pa.policy("numpy"):
        assert pa.logical_or(x, y)._buffer.tolist() == [True, True, False, True, True]
