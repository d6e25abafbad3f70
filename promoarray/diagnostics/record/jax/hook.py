"""The hook: JAX's functions and the operators of its arrays are replaced while somebody records."""

from __future__ import annotations

from collections.abc import Hashable

from promoarray.diagnostics.record import replaced
from promoarray.diagnostics.record.jax.call import Call, settled
from promoarray.diagnostics.record.jax.wrapping import REPLACED
from promoarray.diagnostics.record.recorder import Recorder


class Recording(replaced.Recording):
    """Tells a recorder of every call that this thread makes, in functions traced as well."""

    kind = Call
    replaced = REPLACED

    @staticmethod
    def state(recorder: Recorder) -> Hashable:
        """What calls depend on besides their arguments."""
        return settled(recorder), recorder.home
