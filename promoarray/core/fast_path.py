"""The short way of the binary operators: which plans it can carry out, and what it is made of.

``_short.cpp`` walks it; here the dispatcher notes what it may walk. All else takes ``apply``.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.numpy.kernels import KERNELS
from promoarray.core._fast_path import Operator
from promoarray.core.observers import observers_anywhere
from promoarray.core.operands import fitted
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.in_force import _default, _override
from promoarray.promotion.plan import Operand, Plan, Rank
from promoarray.promotion.policy import Policy


def cache_executable(name: str, policy: Policy, seen: tuple[Operand, ...], plan: Plan) -> None:
    """Note a binary plan that the short way can carry out.

    That is one that holds whatever the ranks, whose casts are NumPy's own widening ones and whose
    kernel answers in the dtype of the result.
    """
    common = plan.compute
    if common is None or policy.kernel(name, plan) != name:
        return
    if plan.inputs != (common, common) or plan.decomposition or policy.by_value is not None:
        return
    scalars = [o.rank is Rank.SCALAR for o in seen]
    # A scalar by its class: by its dtype it could be taken for an array that is weakly typed.
    key = name, *(_CLASS[o.type] if o.rank is Rank.SCALAR else o.type for o in seen)
    fits = (policy.scalars.rule(name, i, common) for i, scalar in enumerate(scalars) if scalar)
    if key in policy.executables or any(rule != policy.scalars.fit for rule in fits):
        return
    if not all(_widens(policy, o, common) for o in seen) or not _plain(name, plan):
        return
    ranks = [(Rank.SCALAR,) if s else (Rank.ARRAY, Rank.ZERO_D) for s in scalars]
    if policy.ranks and any(
        policy.plan(name, (Operand(seen[0].type, a), Operand(seen[1].type, b))) != plan
        for a, b in product(*ranks)
    ):
        return
    wider = [None if o.rank is Rank.SCALAR else _cast(o.type, common) for o in seen]
    policy.executables[key] = (*wider, common, plan.result)


_CLASS = {weak: scalar for scalar, weak in WEAK.items()}


def _cast(source: DType, target: DType) -> Any:
    """The cast to a wider dtype as a route says it."""
    if source is target:
        return None
    return (target.storage,) if (source, target) in _DOUBLED else target.storage


# NumPy's own casts of floats to wider ones warn of a signalling NaN.
_DOUBLED = {(dt.float32, dt.float64), (dt.complex64, dt.complex128)}


def _widens(policy: Policy, operand: Operand, common: DType) -> bool:
    if operand.rank is Rank.SCALAR or operand.type is common:
        return True
    pair = operand.type, common
    if pair == (dt.float32, dt.complex128):
        return False
    return pair in numpy_backend.WIDENING and not policy.cast.plan(*pair).transforms


def _plain(name: str, plan: Plan) -> bool:
    """Whether a ufunc of the computed dtype answers in the result's."""
    kernel = KERNELS.get(name)  # those of linear algebra stand apart
    if not isinstance(kernel, np.ufunc) or plan.result.weak or plan.compute is None:
        return False
    storage = plan.compute.storage
    try:
        *_, answers = kernel.resolve_dtypes((storage, storage, None))
    except TypeError:
        return False
    return bool(answers == plan.result.storage)


fast_path = partial(
    Operator,
    watchers=observers_anywhere,
    override=_override.get,
    default=_default,
    fitted=fitted,
    ndarray=np.ndarray,
    asarray=np.asarray,
)
"""The short way of an operation, made of its slow one, its name and its kernel."""
