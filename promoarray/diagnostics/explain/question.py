"""``explain``: reads the question; ``case`` and ``cast`` answer it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy.kernels import OF_UFUNC  # users ask about NumPy's ufuncs
from promoarray.core.array_base import storage_dtype
from promoarray.core.operands import as_operand, operand_of, policy_of
from promoarray.diagnostics.explain.case import explain_operation
from promoarray.diagnostics.explain.cast import explain_cast
from promoarray.diagnostics.explain.functions import explain_function, was_asked
from promoarray.diagnostics.explain.numpys import NumPyArray, NumPyScalar
from promoarray.diagnostics.explain.report import Explanation
from promoarray.dtypes import WEAK, as_dtype
from promoarray.errors import quoted
from promoarray.operations import BY_SYMBOL, OPERATIONS, STANDS_FOR, Form, Operation, operation
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy


def explain(
    op: str | Callable[..., Any],
    *operands: Any,
    policy: str | Policy | None = None,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> Explanation:
    """Say why an operation has the dtype it has, and what every other policy would answer.

    Parameters
    ----------
    op : str or function
        A function or its name, an operator, or an operator in place: ``pa.add``, ``"add"``, ``"+"``
        or ``"+="``. Some frameworks' functions answer otherwise than their operators; then both are
        told. Of ``"astype"`` the operands are an array and a dtype.
    *operands : array, Python scalar or dtype_like
        Those that take part in promotion; ``where`` may have its condition before them, and
        ``concat`` its arrays in a list. The values of Python scalars matter. A dtype stands for an
        array of it, ``"int64[]"`` for a 0-d one.
    policy : str or Policy, optional
        In place of the one the arrays are bound to, or the one in force.
    saturate, round_mode
        As for ``astype``, and only for it. Other policies ignore those they do not have.

    Returns
    -------
    Explanation
        Which prints; a refusal is explained like any other answer, never raised. Of ``astype`` it
        shows what every policy makes of the array's first values, or of those at the target's
        edges.

    Raises
    ------
    ValueError
        If there is no such operation.
    TypeError
        If an operand is not an array, scalar or dtype, or there are too many or too few.
    UnknownPolicyError
        If there is no such policy.

    Examples
    --------
    >>> import promoarray as pa
    >>> pa.explain("/", "int8", "int8", policy="jax").dtype
    'float32'
    >>> cast = pa.explain("astype", pa.asarray([500.0]), "float8_e4m3fn", policy="torch")
    >>> str(cast.answer.values[0])
    '0x7e 448'
    """
    return question(op, operands, policy, saturate=saturate, round_mode=round_mode)()


def question(
    op: str | Callable[..., Any],
    operands: tuple[Any, ...],
    policy: str | Policy | None = None,
    *,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> Callable[[], Explanation]:
    """Read a question, and return what answers it; see ``explain`` for the errors."""
    policy = getattr(op, "policy", None) if policy is None else policy  # of a bound namespace
    name = op if isinstance(op, str) else _name(op)
    asked = None if policy is None else as_policy(policy)
    if name == "astype":
        return _cast(operands, asked, saturate=saturate, round_mode=round_mode)
    if saturate is not None or round_mode is not None:
        raise TypeError(f"saturate and round_mode are about casts, not {name}; leave them out")
    form = Form.INPLACE if name.endswith("=") and name[:-1] in BY_SYMBOL else Form.FUNCTION
    if name not in (*OPERATIONS, *STANDS_FOR, *BY_SYMBOL) and was_asked(name):
        entered = tuple(map(_entered, operands))
        if len(entered) != 1:
            raise TypeError(f"{name} is explained for one array, not {len(entered)}")
        policy = asked or _asked(entered)
        x = entered[0]
        operand = x if isinstance(x, Operand) else operand_of(x, policy)
        return partial(explain_function, name, operand, policy)
    if name in BY_SYMBOL or (op in OF_UFUNC and OPERATIONS[name].symbol):
        form = Form.OPERATOR  # as which NumPy's ufuncs come in
    row = operation(name[:-1] if form is Form.INPLACE else name)
    entered = _operands(row, operands)
    if form is Form.INPLACE and type(entered[0]) in WEAK:
        raise TypeError(f"x {name} y takes an array x, not {quoted(entered[0])}")
    policy = asked or _asked(entered)
    return partial(explain_operation, row.name, form, entered, policy)


def _name(function: Any) -> str:
    """The name of one of promoarray's functions, bound or not, or of a NumPy ufunc."""
    if callable(function) and function in OF_UFUNC:
        return OF_UFUNC[function]
    inner = inspect.unwrap(function) if callable(function) else None
    name = getattr(inner, "__name__", "")
    ours = str(getattr(inner, "__module__", "")).partition(".")[0] == "promoarray"
    if not ours or name not in {*OPERATIONS, "astype"}:
        raise TypeError(f"explain takes an operation's name or function, not {quoted(function)}")
    return name


def _operands(row: Operation, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands that promote, as the dispatcher takes them."""
    if row.arity == 0 and len(operands) == 1 and type(operands[0]) in (list, tuple):
        operands = tuple(operands[0])
    entered = tuple(_stands_for(x) for x in operands)
    if row.name == "where" and len(entered) == 3:
        condition, *others = entered
        found: Any = condition.type if isinstance(condition, Operand) else ""
        if not found:
            number = type(condition) in WEAK
            found = f"a Python {type(condition).__name__}" if number else storage_dtype(condition)
        if found is not dt.bool:
            raise TypeError(f"where needs a bool condition, not {found}; write condition != 0")
        entered = tuple(others)
    if row.arity not in (0, len(entered)) or not entered:
        wanted = f"{row.arity} operand{'s' * (row.arity != 1)}" if row.arity else "operands"
        raise TypeError(f"{row.name} takes {wanted}, not {len(entered)}")
    return entered


def _cast(
    operands: tuple[Any, ...], asked: Policy | None, **settings: Any
) -> Callable[[], Explanation]:
    if len(operands) != 2:
        raise TypeError(f"astype takes an array and a dtype, not {len(operands)} operands")
    x, dtype = _entered(operands[0]), operands[1]
    target = dtype.type if isinstance(dtype, Operand) else as_dtype(dtype)
    if type(x) in WEAK:
        raise TypeError(
            f"astype takes an array, not {quoted(x)}; write pa.asarray(...) around it first"
        )
    return partial(explain_cast, x, target, asked or _asked((x,)), **settings)


def _entered(x: Any) -> Any:
    """An array or scalar as the dispatcher takes it, or the Operand a dtype stands for."""
    entered = x if isinstance(x, Operand) else as_operand(x)
    if entered is not NotImplemented:
        return entered
    if isinstance(x, str) and x.endswith("[]"):
        return Operand(as_dtype(x.removesuffix("[]")), Rank.ZERO_D)
    return Operand(as_dtype(x))


def _stands_for(x: Any) -> Any:
    """An operand as the dispatcher takes it; of another library's array, the Operand it is."""
    entered = _entered(x)
    if entered is x or isinstance(entered, Operand) or type(entered) in WEAK:
        return entered
    dtype = storage_dtype(entered)
    stands = Operand(dtype) if entered.ndim else Operand(dtype, Rank.ZERO_D, entered.item())
    if isinstance(x, np.generic):
        return NumPyScalar(*stands)
    return NumPyArray(*stands) if isinstance(x, np.ndarray) else stands


def _asked(entered: tuple[Any, ...]) -> Policy:
    return policy_of(*(x for x in entered if not isinstance(x, Operand)))
