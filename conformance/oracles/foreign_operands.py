"""Ask frameworks about operands of NumPy's and of other classes (``conformance/foreign.py``).

python conformance/oracles/foreign_operands.py numpy2|numpy1|torch|paddle331|jax_x64|tf_legacy ...

in the environment of the framework; writes ``golden/foreign/<edition>.txt``.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib import util
from pathlib import Path
from typing import Any

import _ask
import foreign
import numpy as np

MASK = [True, False]


def oracle(meta: dict[str, str], side: foreign.Side, refusal: Callable[[Exception], str]) -> Any:
    """All sections of a framework."""
    asked = foreign.questions(side)
    sections = {
        name: _ask.Section(table.ask, dict(zip(table.rows, table.rows, strict=True)),
                           dict(zip(table.columns, table.columns, strict=True)))
        for name, table in asked.items()
    }  # fmt: skip
    return _ask.Oracle(meta | {"numpy": np.__version__}, side.code, sections, refusal)


def beside(name: str) -> Any:
    """The script that asks a framework about its own arrays."""
    spec = util.spec_from_file_location(f"oracle_{name}", Path(__file__).parent / f"{name}.py")
    assert spec
    assert spec.loader
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_numpy(answer: Any) -> str:
    """The code of an array of NumPy's, or of one of its scalars."""
    name = answer.dtype.name
    return _ask.CODES.get(name, name)


def assign(x: Any, key: Any, value: Any) -> Any:
    """Write to an array and return it."""
    x[key] = value
    return x


def refused(error: Exception) -> str:
    """Every error is a refusal."""
    return _ask.REFUSED


def numpy() -> Any:
    """NumPy as installed: only numbers of other classes are foreign, but its scalars are asked."""
    functions = {
        "add": np.add,
        "maximum": np.maximum,
        "where": lambda x, y: np.where(MASK, x, y),
    }
    side = foreign.Side(
        array=lambda code, values: np.array(values).astype(foreign.storage(code)),
        codes=[c for c in foreign.ROWS if c != "bf16" or foreign.ml_dtypes],
        code=of_numpy,
        values=lambda x: np.asarray(x).ravel().tolist(),
        functions=functions,
        assign=assign,
    )
    return oracle({"framework": "numpy"}, side, refused)


def torch() -> Any:
    """PyTorch on the CPU."""
    import torch as framework

    known = beside("torch")
    names = foreign.NAMES

    def code(answer: Any) -> str:
        if isinstance(answer, np.ndarray | np.generic):
            return f"np:{of_numpy(answer)}"
        return known.code(answer)

    side = foreign.Side(
        array=lambda code, values: framework.tensor(values).to(getattr(framework, names[code])),
        codes=foreign.ROWS,
        code=code,
        values=lambda x: x.reshape(-1).tolist(),
        functions={
            "add": framework.add,
            "maximum": framework.maximum,
            "where": lambda x, y: framework.where(framework.tensor(MASK), x, y),
        },
        assign=assign,
    )
    return oracle({"torch": framework.__version__}, side, lambda e: known.refusal(e)[:1])


def paddle() -> Any:
    """The installed wheel of Paddle, on the CPU."""
    os.environ.setdefault("GLOG_minloglevel", "4")
    warnings.simplefilter("ignore")
    import paddle as framework

    framework.set_device("cpu")
    known, names = beside("paddle"), foreign.NAMES

    def code(answer: Any) -> str:
        if isinstance(answer, np.ndarray | np.generic):
            return f"np:{of_numpy(answer)}"
        if not isinstance(answer, framework.Tensor):
            raise TypeError
        return _ask.CODES[str(answer.dtype).removeprefix("paddle.")]

    def values(x: Any) -> list[Any]:
        x = x.astype("float32") if code(x) == "bf16" else x
        return x.numpy().ravel().tolist()

    side = foreign.Side(
        array=lambda code, values: framework.to_tensor(values).astype(names[code]),
        codes=foreign.ROWS,
        code=code,
        values=values,
        functions={
            "add": framework.add,
            "maximum": framework.maximum,
            "where": lambda x, y: framework.where(framework.to_tensor(MASK), x, y),
        },
        assign=assign,
    )
    meta = {"paddle": framework.__version__}
    return oracle(meta, side, lambda error: known.refusal(error)[:1])


def jax(mode: str) -> Any:
    """``jax.numpy`` in one mode; ``x.at[key].set(y)`` stands for assignment."""
    os.environ |= {"JAX_PLATFORMS": "cpu"}
    import jax as framework

    framework.config.update("jax_enable_x64", mode != "x32")
    jnp = framework.numpy
    modes = {"strict": "strict"}
    framework.config.update("jax_numpy_dtype_promotion", modes.get(mode, "standard"))
    kinds = {"i*": jnp.integer, "f*": jnp.floating, "c*": jnp.complexfloating}
    wide = {"i64", "f64", "c128", "u64"} if mode == "x32" else set()

    def trace(run: Callable[[Any], Any], x: Any) -> Any:
        left: list[Any] = []

        def traced(x: Any) -> Any:
            answer = run(x)
            if isinstance(answer, framework.core.Tracer):
                return answer
            left.append(answer)  # no array of JAX's
            return x

        made = framework.eval_shape(traced, x)
        return left[0] if left else made

    def code(answer: Any) -> str:
        if isinstance(answer, np.ndarray | np.generic):
            return f"np:{of_numpy(answer)}"
        if answer.weak_type:
            for weak, kind in kinds.items():
                if jnp.issubdtype(answer.dtype, kind):
                    return weak
        return of_numpy(answer)

    @cache
    def array(code: str, shape: str) -> Any:
        values = {"[1, 2]": [1, 2], "1": 1}[shape]
        return jnp.asarray(np.array(values).astype(foreign.storage(code)))

    side = foreign.Side(
        array=lambda code, values: array(code, str(values)),
        codes=[code for code in foreign.ROWS if code not in wide],
        code=code,
        values=lambda x: np.asarray(x).ravel().tolist(),
        functions={
            "add": jnp.add,
            "maximum": jnp.maximum,
            "where": lambda x, y: jnp.where(jnp.asarray(MASK), x, y),
        },
        assign=lambda x, key, value: x.at[key].set(value),
        trace=trace,
    )
    meta = {"jax": framework.__version__, "mode": mode}
    return oracle(meta, side, refused)


def tensorflow(mode: str) -> Any:
    """TensorFlow as it comes, or with one of its promotion modes."""
    known = beside("tensorflow")
    framework, names = known.tf, foreign.NAMES
    framework.get_logger().setLevel("ERROR")
    functions = {
        "add": framework.add,
        "maximum": framework.maximum,
        "where": lambda x, y: framework.where(framework.constant(MASK), x, y),
    }
    if mode != "legacy":  # of these tnp.where alone follows it
        functions = {"where": lambda x, y: known.tnp.where(framework.constant(MASK), x, y)}
        known.tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)

    def code(answer: Any) -> str:
        if isinstance(answer, np.ndarray | np.generic):
            return f"np:{of_numpy(answer)}"
        return known.code(answer)

    side = foreign.Side(
        array=lambda code, values: framework.constant(
            np.array(values).astype(foreign.storage(code)), dtype=names[code]
        ),
        codes=foreign.ROWS,
        code=code,
        values=lambda x: np.asarray(x).ravel().tolist(),
        functions=functions,
        assign=None,
    )
    meta = {"tensorflow": framework.__version__, "mode": mode}
    return oracle(meta, side, known.refusal)


if __name__ == "__main__":
    _ask.main(
        {
            "numpy2": numpy,
            "numpy1": numpy,
            "torch": torch,
            "paddle331": paddle,
            **{f"jax_{mode}": partial(jax, mode) for mode in ("x64", "x32", "strict")},
            **{f"tf_{mode}": partial(tensorflow, mode) for mode in ("legacy", "all", "safe")},
        },
        folder=Path(foreign.__file__).parent / "golden" / "foreign",
    )
