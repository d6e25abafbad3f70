"""Public namespaces of the recorded frameworks: their functions, arrays and dtypes."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from arguments import Given, leaves, mapped

from promoarray.diagnostics.calls.tables import names

ANY = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128"
OWN = names("""
    _share apply_ backward compile cond cpu cuda device_put_replicated device_put_sharded
    disable_signal_handler disable_static dump dumps enable_static export flops fork fromfile
    fromregex get_parameter gradients_set hpu hub index_put_impl info ipu is_pinned jit load
    manual_seed map2_ map_ memmap module_load mtia pin_memory print_environment_info
    record_stream register_hook register_post_accumulate_grad_hook rename_ requires_grad_
    resize_ resize_as_ resize_as_sparse_ retain_grad save savetxt savez savez_compressed seed
    set_ set_bit_generator set_cuda_rng_state set_default_device set_default_dtype
    set_default_tensor_type set_deterministic_debug_mode set_device set_float32_matmul_precision
    set_flush_denormal set_grad_enabled set_num_interop_threads set_num_threads set_printoptions
    set_rng_state set_state set_string_function setbufsize seterr seterrcall setstate
    share_data_ share_memory_ show_config show_runtime summary test to_tensor tofile
    unsafe_chunk unsafe_split_with_sizes use_deterministic_algorithms vmap wait while_loop xpu
""")
"""Functions that change the process, or a tensor's memory, and are not asked."""


class Asked(NamedTuple):
    """A framework whose functions are called.

    Attributes
    ----------
    modules : dict of str to object
        Modules, and classes of arrays, whose functions they are.
    array : callable
        Makes an array of NumPy's, and of a dtype by name.
    tensor : type
    name_of : callable
        The name of an array's dtype.
    dtypes : list of str
    examples : callable
        Samples of arguments by a function's name, if the framework has any.
    carry_out : callable
        Carries out a call.
    special : mapping
        What names among the arguments stand for.
    spelt : callable
        What has the parameters of a function.
    """

    modules: dict[str, Any]
    array: Callable[[Any, str], Any]
    tensor: Any
    name_of: Callable[[Any], str]
    dtypes: list[str]
    examples: Callable[[], Mapping[str, list[Given]]] = dict
    carry_out: Callable[..., Any] = lambda call, *given: call(*given)
    special: Mapping[str, Callable[[], Any]] = {}
    spelt: Callable[[Any], Any] = lambda function: function

    def functions(self) -> Iterator[tuple[str, str, Callable[..., Any]]]:
        """Every public function: its module, its name, and what calls it."""
        for module, owner in self.modules.items():
            for name in sorted(set(getattr(owner, "__all__", None) or dir(owner))):
                function = getattr(owner, name, None)
                if not name[0].islower() or name in OWN or not callable(function):
                    continue
                if isinstance(function, (type, types.ModuleType)):
                    continue
                method = isinstance(owner, type)
                yield module, name, _unbound(name, function) if method else function

    def argument(self, x: Any, dtype: str) -> Any:
        """An argument as the framework takes it."""
        if isinstance(x, np.ndarray):
            return self.array(x, dtype or x.dtype.name)
        return self.special[x]() if isinstance(x, str) and x in self.special else x

    def dtypes_of(self, made: Any) -> list[str]:
        """The dtypes of the arrays in what a function made."""
        found: list[str] = []

        def look(x: Any) -> None:
            if isinstance(x, self.tensor) and (name := self.name_of(x)):  # a key of JAX's has none
                found.append(name)

        mapped(look, tuple(made) if hasattr(made, "_fields") else made)
        return found

    def samples(self, name: str) -> list[Given]:
        """Samples of arguments that the framework itself has for a function."""
        return list(self.examples().get(name, ()))


def _unbound(name: str, method: Any) -> Callable[..., Any]:
    """A function that calls a method of what it is given first."""

    def called(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs)

    called.method = method  # type: ignore[attr-defined]
    with suppress(TypeError, ValueError):
        called.__signature__ = inspect.signature(method)  # type: ignore[attr-defined]
    return called


def torch() -> Asked:
    """PyTorch."""
    module = import_module("torch")
    classes = {"torch": module, "torch.nn.functional": module.nn.functional}
    classes |= {f"torch.{n}": getattr(module, n) for n in ("linalg", "fft", "special")}
    classes["torch.Tensor"] = module.Tensor
    return Asked(
        classes,
        lambda x, dtype: (
            module.from_numpy(np.ascontiguousarray(x)).clone().to(getattr(module, dtype))
        ),
        module.Tensor,
        lambda x: str(x.dtype).removeprefix("torch."),
        [*ANY.split(), "uint16", "uint32", "uint64"],
        _op_db,
        spelt=lambda f: _overrides().get(getattr(f, "method", f), f),
    )


@cache
def _overrides() -> dict[Any, Any]:
    """Functions in Python with the parameters of PyTorch's."""
    return dict(import_module("torch.overrides").get_testing_overrides())


@cache
def _op_db() -> dict[str, list[Given]]:
    """PyTorch's samples by the names of functions."""
    module = import_module("torch")
    try:
        db = import_module("torch.testing._internal.common_methods_invocations").op_db
    except ImportError as error:
        raise SystemExit(f"PyTorch's samples need {error.name}: pip install {error.name}") from None
    found: dict[str, list[Given]] = {}
    for op in db:
        wide = module.float32 if op.supports_dtype(module.float32, "cpu") else module.int64
        try:
            samples = list(islice(op.sample_inputs("cpu", wide), 12))
        except Exception:  # of one that needs what is not there
            continue
        for sample in samples:
            try:
                given = [
                    mapped(_as_numpy, x) for x in ((sample.input, *sample.args), sample.kwargs)
                ]
            except TypeError:  # of one that is sparse
                continue
            if any(x.size == 0 for x in leaves(given) if isinstance(x, np.ndarray)):
                continue  # for which there need be no kernel
            if wide is module.int64:
                given = [mapped(_as_operand, x) for x in given]
            if op.name == "einsum":
                given[0] = given[0][1], *given[0][0]
            for name in (op.name, *(alias.name for alias in op.aliases)):
                short = name.rpartition(".")[2]
                found.setdefault(short, []).append(Given(given[0], given[1]))
                found.setdefault(f"{short}_", []).append(Given(given[0], given[1]))
    return found


def _as_numpy(x: Any) -> Any:
    torch = import_module("torch")
    if not isinstance(x, torch.Tensor):
        return x
    return np.ascontiguousarray(x.detach().numpy())


def _as_operand(x: Any) -> Any:
    """Of a function of integers alone its arrays are its operands."""
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == np.int64 else x


def paddle() -> Asked:
    """Paddle."""
    module = import_module("paddle")
    module.set_device("cpu")
    return Asked(
        {
            "paddle": module,
            "paddle.nn.functional": module.nn.functional,
            "paddle.linalg": module.linalg,
            "paddle.fft": module.fft,
            "paddle.Tensor": module.Tensor,
        },
        lambda x, dtype: module.to_tensor(x).astype(getattr(module, dtype)),
        module.Tensor,
        lambda x: str(x.dtype).removeprefix("paddle."),
        ANY.split(),
    )


def jax() -> Asked:
    """JAX with 64-bit dtypes; what can be traced is not computed."""
    module = import_module("jax")
    module.config.update("jax_enable_x64", True)
    scipy = ("linalg", "special", "stats", "signal", "fft", "ndimage", "cluster.vq", "integrate")
    every = {
        f"jax.{n}": import_module(f"jax.{n}")
        for n in (
            *(
                "numpy",
                "numpy.linalg",
                "numpy.fft",
                "lax",
                "lax.linalg",
                "nn",
                "nn.initializers",
                "random",
                "image",
                "ops",
            ),
            *(f"scipy.{name}" for name in scipy),
        )
    }
    every["jax.Array"] = type(module.numpy.ones(1))
    return Asked(
        every,
        lambda x, dtype: module.numpy.asarray(x).astype(dtype),
        module.Array,
        lambda x: x.dtype.name + "*" * x.weak_type if hasattr(x.dtype, "kind") else "",
        [*ANY.split(), "uint16", "uint32", "uint64"],
        carry_out=_traced,
        special={"key": lambda: module.random.key(0)},
    )


def _traced(call: Callable[..., Any], *given: Any) -> Any:
    """What a call makes while it is traced, whose dtypes are those of what it would compute."""
    made: list[Any] = []
    try:
        import_module("jax").eval_shape(lambda: made.append(call(*given)))
    except Exception:  # of one that looks at values
        return call(*given)
    return made[0]


def numpy() -> Asked:
    """NumPy."""
    return Asked(
        {
            "numpy": np,
            "numpy.linalg": np.linalg,
            "numpy.fft": np.fft,
            "numpy.random": np.random,
            "numpy.random.Generator": np.random.Generator,
            "numpy.ndarray": np.ndarray,
        },
        lambda x, dtype: np.array(x).astype(dtype),
        (np.ndarray, np.generic),
        lambda x: x.dtype.name,
        [n for n in ANY.split() if n != "bfloat16"] + ["uint16", "uint32", "uint64"],
        special={"self": np.random.default_rng},
    )


FRAMEWORKS = {"torch": torch, "paddle": paddle, "jax": jax, "numpy": numpy}
