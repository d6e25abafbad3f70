"""JAX on the CPU: ``jax.numpy`` with 64-bit dtypes (``jax@x64``) and without (``jax@x32``)."""

from __future__ import annotations

import os
import tempfile
from types import SimpleNamespace
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy as np

from programs.frameworks import Framework, getitem
from programs.frameworks.numpy import DTYPES, FFT, LINALG, REGISTERED, STANDARD

WIDE = frozenset({"int64", "uint64", "float64", "complex128"})
"""What becomes 32 bits without x64."""


def framework(edition: str) -> Framework:
    """The installed JAX, ``x64`` or ``x32``."""
    jax.config.update("jax_enable_x64", edition != "x32")
    keep_what_is_compiled()
    names = [name for name in (*DTYPES, *REGISTERED) if edition != "x32" or name not in WIDE]
    return Framework(
        version=f"jax {jax.__version__}",
        policy=f"jax@{edition or 'x64'}",
        functions={
            **{name: getattr(jnp, name) for name in (*STANDARD.split(), "astype")},
            "linalg": SimpleNamespace(**{n: getattr(jnp.linalg, n) for n in LINALG.split()}),
            "fft": SimpleNamespace(**{name: getattr(jnp.fft, name) for name in FFT.split()}),
            "getitem": getitem,
            "setitem": setitem,
        },
        dtypes={name: getattr(jnp, name) for name in (*DTYPES, *REGISTERED)},
        enter=lambda array, dtype: jnp.asarray(array),
        leave=leave,
        missing=lambda error: isinstance(error, NotImplementedError),
        cast_only=frozenset((*DTYPES, *REGISTERED)) - frozenset(names),
        traits=frozenset(),
    )


def keep_what_is_compiled() -> None:
    """Let XLA compile each operation of a shape and dtypes once for all runs on this machine."""
    folder = os.path.join(tempfile.gettempdir(), f"promoarray-jax-{os.getuid()}")
    jax.config.update("jax_compilation_cache_dir", folder)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def leave(x: Any) -> tuple[str, bool, Any]:
    """An array, or a dtype. Of bools the flag says nothing: JAX has no weak bool."""
    if isinstance(x, np.dtype):
        return x.name, False, np.zeros(0)
    if not isinstance(x, jax.Array):
        raise TypeError(f"{type(x).__name__} is no array")
    array, name = np.asarray(x), x.dtype.name
    wide = array if name in DTYPES else array.astype("int8" if "int" in name else "float64")
    return name, x.weak_type and name != "bool", wide


def setitem(x: Any, key: Any, value: Any) -> Any:
    """Arrays never change: what ``x`` is once ``value`` is assigned."""
    return x.at[key].set(value)
