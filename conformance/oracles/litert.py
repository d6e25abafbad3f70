"""Ask LiteRT (formerly TensorFlow Lite) on the CPU, one operator at a time: ``litert``.

    python conformance/oracles/litert.py        where ai-edge-litert is installed

Tensors are of plain numbers: none has the scale and the zero point of a quantized one.
``kernels/ADD``: columns are dtypes; the dtype where the operator computes what NumPy does of small
numbers, ``q`` where it runs and computes something else, as it takes its inputs for quantized ones,
``-`` where it does not run. A kernel that ends the process does not run. ``cast/f32``: rows are
values, columns what they are cast to; ``values/ADD``: rows are dtypes, columns operands (``max``
and ``min`` are the ends of the dtype). NaN is written without its sign. No delegate is loaded.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from _ask import REFUSED, Oracle, Section, main, tables
from litert_models import OPERATORS, Operator, run
from onnx_sessions import Bits, dtype_of
from runtime_values import PAIRS, listed, numbers, pair, told

POLICY = "litert@2.3"
TYPES = "b1 u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 c64 c128".split()  # noqa: SIM905
NARROW = "u4 i4 f8_e4m3fn f8_e5m2".split()  # noqa: SIM905
COMPUTED = "ADD SUB MUL DIV FLOOR_DIV FLOOR_MOD POW MAXIMUM MINIMUM LESS EQUAL RIGHT_SHIFT"
REDUCED = "SUM REDUCE_PROD MEAN REDUCE_MAX REDUCE_MIN CUMSUM"
UNARY = "ABS NEG SIGN SQUARE"


def plain(operator: Operator, code: str) -> list[Bits]:
    """Small numbers: a square of them for every operand."""
    import numpy as np

    pairs = ([[3, 1], [2, 5]], [[2, 1], [3, 1]])
    if code == "b1":
        pairs = ([[1, 0], [1, 1]], [[1, 1], [0, 1]])
    return [np.array(each).astype(dtype_of(code)) for each in pairs[: operator.arity]]


def kernel(operator: Operator) -> Section:
    """Where an operator has a kernel of plain numbers."""
    import numpy as np

    def ask(version: str, code: str) -> str:
        arrays = plain(operator, code)
        answer = operator.asked(code, *arrays)
        with np.errstate(all="ignore"):
            expected = np.asarray(operator.numpy(*arrays))
        wide = "c16" if code[0] == "c" else "f8"
        close = answer.shape == expected.shape and np.allclose(
            answer.astype(wide), expected.astype(wide), rtol=2**-6
        )
        return code if close else "q"

    return Section(ask, {"2.3": "2.3"}, {code: code for code in TYPES})


@cache
def cast(code: str, to: str) -> Bits:
    """All values of a type, cast to another."""
    return run("CAST", [(code, numbers(listed(code), code))], to)


def casts(code: str) -> Section:
    """What a type is cast to."""
    rows = {told(v): i for i, v in enumerate(listed(code))}
    targets = [to for to in (*TYPES, *NARROW) if to != code and to[0] != "c"]
    return Section(lambda index, to: told(cast(code, to)[index]), rows, {to: to for to in targets})


def values(name: str) -> Section:
    """What an operator gives for two integers, or for the first of them."""
    import numpy as np

    operator = OPERATORS[name]

    def ask(code: str, said: str) -> str:
        both = pair(said, code)
        if both is None:
            return "."
        if name in REDUCED.split():
            answer = operator.asked(code, numbers(both, code))
            return " ".join(map(told, np.atleast_1d(answer))).replace(" ", ",")
        given = [numbers([each] * 16, code) for each in both]
        return told(operator.asked(code, *given[: operator.arity])[0])

    integers = [code for code in TYPES if code[0] in "iu"]
    return Section(ask, {c: c for c in integers}, {p: p for p in PAIRS.split()})


def litert() -> Oracle:
    """The installed version."""
    from importlib.metadata import version

    said = f"ai-edge-litert {version('ai-edge-litert')}, CPU, no delegate"
    meta = {"framework": "litert", "policy": POLICY, "opset": "2.3", "version": said}
    meta["machine"] = "x86-64"
    asked: dict[str, Section] = {
        **{f"kernels/{name}": kernel(operator) for name, operator in OPERATORS.items()},
        **{f"cast/{code}": casts(code) for code in TYPES[:-2]},
        **{
            f"values/{name}": values(name)
            for name in (COMPUTED + " " + REDUCED + " " + UNARY).split()
        },
    }
    return Oracle(meta, str, asked, lambda error: REFUSED)


if __name__ == "__main__":
    main({"litert": litert}, Path(tables.__file__).parent / "golden" / "runtimes")
