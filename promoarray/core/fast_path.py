"""The fast path of operations on one or two operands: ``fast_path.cpp`` and what it is made of.

It runs the executables that the dispatcher has kept; all else takes ``dispatch.apply``.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from promoarray.core._fast_path import FastOperator
from promoarray.core.observers import lone_observer, observers_anywhere
from promoarray.promotion.in_force import default_policy, policy_here

fast_path = partial(
    FastOperator,
    observers=observers_anywhere,
    lone_observer=lone_observer,
    policy_here=policy_here,
    default_policy=default_policy,
    ndarray=np.ndarray,
    asarray=np.asarray,
)
"""The fast path of an operation, made of its slow one, its name as keys have it (``Form``) and
whether it is reflected."""
