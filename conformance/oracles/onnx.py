"""Ask ONNX's schemas: `onnx`. No operator promotes, so what it admits by opset is the answer.

``types/Pow``: rows are ``since_version/type parameter``, columns dtypes; the cell is the dtype
where the operator admits it. ``signature/Pow``: rows are versions, columns the operands and
results by name, cells their type parameters: those of one parameter must be of one type.
``attributes/Cast``: the attributes' defaults (``!`` if they have to be given, ``-`` if none).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from _ask import CODES, REFUSED, Oracle, Section, main

OPERATORS = """
    Add Sub Mul Div Mod Pow And Or Xor Not Equal Less LessOrEqual Greater GreaterOrEqual Where
    Max Min BitShift BitwiseAnd BitwiseOr BitwiseXor BitwiseNot Neg Abs Sum Mean MatMul PRelu
    Cast CastLike QuantizeLinear DequantizeLinear BitCast
    Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Exp Log Sqrt Reciprocal
    Sign Floor Ceil Round IsNaN IsInf Clip Concat CumSum CumProd ArgMax ArgMin
    ReduceSum ReduceProd ReduceMean ReduceMax ReduceMin Einsum Gemm Identity Reshape Expand
    Gather TopK Unique NonZero Softmax Erf Det ReduceL2
"""
"""The operators behind promoarray's functions, and a few that models are full of."""

NAMES = {
    "float": "float32",
    "double": "float64",
    "float4e2m1": "float4_e2m1fn",
    "float6e2m3": "float6_e2m3fn",
    "float6e3m2": "float6_e3m2fn",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
}
"""Element types that ONNX spells otherwise than ml_dtypes and NumPy."""


def edition() -> Oracle:
    """Every version of the operators that the installed onnx knows."""
    import onnx

    meta = {
        "framework": "onnx",
        "onnx": onnx.__version__,
        "opset": str(onnx.defs.onnx_opset_version()),
        "how": "onnx.defs.get_all_schemas_with_history; types of tensors, not of sequences",
    }
    history = defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            history[schema.name][schema.since_version] = schema
    sections = {}
    for name in OPERATORS.split():
        versions = {str(since): history[name][since] for since in sorted(history[name])}
        sections |= {
            f"types/{name}": _types(versions),
            f"signature/{name}": _signature(versions),
            f"attributes/{name}": _attributes(onnx, versions),
        }
    return Oracle(meta, str, {name: table for name, table in sections.items() if table.columns})


def _types(versions: dict[str, Any]) -> Section:
    admitted = {
        f"{since}/{constraint.type_param_str}": {*map(_code, constraint.allowed_type_strs)}
        for since, schema in versions.items()
        for constraint in schema.type_constraints
    }
    columns = {
        code: code for code in CODES.values() if any(code in row for row in admitted.values())
    }
    return Section(lambda row, code: code if code in row else REFUSED, admitted, columns)


def _code(tensor: str) -> str:
    """``tensor(float)`` to ``f32``; sequences and optionals as they are."""
    name = tensor.removeprefix("tensor(").removesuffix(")")
    return CODES.get(NAMES.get(name, name), tensor)


def _signature(versions: dict[str, Any]) -> Section:
    rows = {
        since: {value.name: value.type_str for value in (*schema.inputs, *schema.outputs)}
        for since, schema in versions.items()
    }
    return _named(rows)


def _attributes(onnx: Any, versions: dict[str, Any]) -> Section:
    def default(attribute: Any) -> str:
        if attribute.required:
            return "!"
        value = attribute.default_value
        if value.type == onnx.AttributeProto.UNDEFINED:
            return REFUSED
        value = onnx.helper.get_attribute_value(value)
        return (value.decode() if isinstance(value, bytes) else f"{value}").replace(" ", "")

    rows = {
        since: {name: default(attribute) for name, attribute in sorted(schema.attributes.items())}
        for since, schema in versions.items()
    }
    return _named(rows)


def _named(rows: dict[str, dict[str, str]]) -> Section:
    """A table of rows that need not have the same columns."""
    columns = {name: name for row in rows.values() for name in row}
    return Section(
        lambda row, name: row[name], rows, columns, skip=lambda row, name: name not in rows[row]
    )


if __name__ == "__main__":
    main({"onnx": edition})
