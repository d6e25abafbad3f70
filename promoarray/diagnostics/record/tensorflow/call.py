"""One call of TensorFlow's: its tensors and variables as abstract arrays."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf
from tensorflow.python.autograph.impl import api as autograph
from tensorflow.python.data.ops import debug_mode
from tensorflow.python.eager import context, record
from tensorflow.python.framework import dtypes, ops
from tensorflow.python.framework.ops import EagerTensor
from tensorflow.python.framework.weak_tensor import WeakTensor

from promoarray import dtypes as dt
from promoarray.diagnostics.calls.common import words
from promoarray.diagnostics.calls.tables import synonyms, text_of
from promoarray.diagnostics.record import call
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import MAKE, MOVE
from promoarray.dtypes import BY_NAME, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_OF_ONE = frozenset({"constant", "convert_to_tensor", "Variable"})
_AUTOGRAPH = autograph.__file__
_NUMPY = (np.ndarray, np.generic)


def home() -> Policy:
    """Return the policy of the mode that TensorFlow is in."""
    mode = ops.get_dtype_conversion_mode() if ops.is_auto_dtype_conversion_enabled() else None
    return as_policy("tensorflow" if mode is None else f"tensorflow@{mode.name.lower()}")


class Call(call.Call):
    """One call of TensorFlow's."""

    tensor = (EagerTensor, tf.Tensor, tf.Variable, WeakTensor)  # what most are first
    words = words("tensorflow")
    dtypes: ClassVar[Mapping[Any, DType]] = {
        found: dtype
        for found, dtype in call.dtypes_in(dtypes, tf.DType).items()
        if dtype is not dt.string
    }
    names_of_dtypes = (tf.DType, type, np.dtype)
    turned = call.COMPARED
    renamed = synonyms(text_of("tensorflow", "parameters"))
    made_eager: ClassVar[bool] = False
    """Whether functions run eagerly by ``eager``, and not because the program has it so."""

    def __init__(self, recorder: Recorder, *given: Any) -> None:
        super().__init__(recorder, *given)
        self._settled = recorder.settle(home())
        self.args = tuple(map(self._held, self.args))
        self.kwargs = {key: self._held(x) for key, x in self.kwargs.items()}
        if self.name in self.words.casts and not self.args and "input" in self.kwargs:
            self.args = (self.kwargs.pop("input"),)

    @staticmethod
    def is_between(code: CodeType) -> bool:
        """Whether code is AutoGraph's, which calls for the code that it generates."""
        return bool(code.co_filename == _AUTOGRAPH)

    @classmethod
    def _held(cls, x: Any) -> Any:
        """The variable of TensorFlow's that one of Keras holds."""
        if hasattr(type(x), "__tf_tensor__") and not isinstance(x, cls.tensor):
            held = getattr(x, "value", None)
            return held if isinstance(held, cls.tensor) else x
        return x

    def dtype_of(self, x: Any) -> DType | None:
        """The dtype of a tensor, a weak one if it is weakly typed; None if it is no number."""
        dtype = self.dtypes.get(x.dtype)
        if dtype is None or not isinstance(x, WeakTensor):
            return dtype
        return call.WEAK_OF.get(dtype.kind, dtype)

    @staticmethod
    def kind_of(x: Any) -> Hashable:
        """What tensors that are alike have in common."""
        if type(x) is EagerTensor:  # as most are; its number is quicker to be had
            return x._datatype_enum()  # type: ignore[no-any-return]
        return x.dtype, isinstance(x, WeakTensor)

    @staticmethod
    def ndim_of(x: Any) -> int:
        """The rank of a tensor; of a traced one whose rank is unknown, 1."""
        if type(x) is EagerTensor:  # which tells it at once
            return int(x._rank())
        rank = x.shape.rank
        return 1 if rank is None else int(rank)

    @staticmethod
    def shape_of(x: Any) -> tuple[int, ...]:
        """The shape of a tensor, 0 where it is unknown."""
        return tuple(n or 0 for n in x.shape) if x.shape.rank is not None else (0,)

    @staticmethod
    def item_of(x: Any) -> Callable[[], Any] | None:
        """What reads the number that a 0-d tensor is; None of one that is traced."""
        return (lambda: x.numpy().item()) if hasattr(x, "numpy") else None

    @staticmethod
    def is_at_hand(x: Any) -> bool:
        """Whether reading a 0-d tensor waits for no device."""
        return "GPU" not in x.device

    @staticmethod
    def buffer_of(x: Any) -> Any:
        """The values of a tensor, of a weak one in the policy's dtype; what is traced has none."""
        if not isinstance(x, WeakTensor):
            return np.asarray(x.numpy())
        values = np.asarray(x.to_tensor().numpy())
        weak = call.WEAK_OF.get(Call.dtypes[x.dtype].kind)
        return values if weak is None else values.astype(home().strong(weak).storage)

    @staticmethod
    def of_array(x: Any) -> Any:
        """A tensor of a NumPy array's values."""
        return tf.constant(x)

    @staticmethod
    def copy(x: Any, dtype: DType | None) -> Any:
        """A copy of a tensor in a dtype, if TensorFlow has it; a variable of a variable."""
        if x.dtype not in Call.dtypes:
            raise TypeError(f"{x.dtype.name} is no number")  # but the handle of an iterator
        if dtype is not None and x.dtype.is_complex and dtype.kind is not Kind.COMPLEX:
            raise TypeError(f"{dtype.name} has no imaginary part")  # of which TensorFlow warns
        made = tf.cast(x, dtype.name) if dtype is not None else tf.identity(x)
        return tf.Variable(made) if isinstance(x, tf.Variable) else made

    @staticmethod
    @contextmanager
    def eager() -> Iterator[None]:
        """Has functions, and those of ``tf.data``, compute at once that are graphs else."""
        functions, data = tf.config.functions_run_eagerly(), debug_mode.DEBUG_MODE
        tf.config.run_functions_eagerly(True)
        debug_mode.toggle_debug_mode(True)
        Call.made_eager = not functions
        try:
            yield
        finally:
            Call.made_eager = False
            tf.config.run_functions_eagerly(functions)
            debug_mode.toggle_debug_mode(data)

    @staticmethod
    @contextmanager
    def undisturbed() -> Iterator[None]:
        """Carries out calls of which the program notices nothing: its random numbers stay."""
        drawn: random.Random | None = getattr(context.context(), "_rng", None)
        state = drawn.getstate() if drawn is not None else None
        try:
            with record.stop_recording():
                yield
        finally:
            if drawn is not None and state is not None:
                drawn.setstate(state)

    def operand(self, x: Any) -> Any:
        """An abstract array or a Python scalar; None if it is neither a tensor nor a number.

        Arrays of NumPy's and lists become tensors of the dtype of the first tensor beside them.
        """
        own: Any = None
        if isinstance(x, _NUMPY):
            own, ndim = BY_NAME.get(x.dtype.name), x.ndim
        elif type(x) in (list, tuple):
            number, ndim = next(call.flat(x), 0), 1
            own = self.home.strong(WEAK[type(number)]) if type(number) in WEAK else None
        else:
            found = super().operand(x)
            dtype = self.dtypes.get(getattr(x, "dtype", None)) if found is None else None
            if dtype is None:
                return found
            return self.recorder.abstract(x, dtype, len(x.shape))  # as a library's parameter is
        beside = self._beside
        dtype = own if beside is None else self.dtype_of(beside)
        return None if dtype is None else self.recorder.abstract(x, dtype, ndim)

    def count(self, kind: str) -> None:
        """Count it among the calls of a kind; kernels that only move or make have no other name
        that a policy could be asked about."""
        if kind not in (MAKE, MOVE) or not self.name.startswith("raw."):
            return super().count(kind)
        self.kind = kind
        return self.recorder.count(kind, self.name)

    @property
    def _beside(self) -> Any:
        given = [*self.args, *self.kwargs.values()]
        if self.words.operations.get(self.name) == "where":  # whose condition is none of them
            condition = self.kwargs.get("condition", given[0] if given else None)
            given = [x for x in given if x is not condition]
        every = call.flat(given)
        return next((x for x in every if isinstance(x, self.tensor)), None)

    @property
    def joined(self) -> Sequence[Any]:
        """The operands of ``concat`` and ``stack``, which may be one tensor's rows."""
        found = super().joined
        return found if not isinstance(found, self.tensor) else (found,)

    def is_evidence(self, operation: str) -> bool:
        """Whether it was made in the mode of this run, by a function that promotes by its rules."""
        return self._settled and not self.name.startswith(("raw.", "experimental."))

    def is_lone(self, result: Result) -> bool:
        """Whether a tensor that it made stands for one Python number."""
        return self.name in _OF_ONE and result.ndim == 0

    @property
    def form(self) -> Form:
        """How the call is written; kernels convert numbers as operators do."""
        return Form.OPERATOR if self.name.startswith(("__", "raw.")) else Form.FUNCTION
