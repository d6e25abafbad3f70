"""NumPy's functions of our arrays: the same functions of ours, under the policy of the arrays.

``np.mean(x)`` is ``pa.mean(x)``, in the namespace that ``x`` is bound to. ``table`` says for each
function of NumPy's what ours is and which of its parameters can be honoured; ``composed``,
``statistical`` and ``expressions`` have those that are several of ours; ``options`` writes to
``out=`` and reduces ``where=``; ``refusals`` says what to write for the others, which would compute
by NumPy's rules without a word. ``ufuncs`` and ``at`` do the same for ``np.add.reduce``.

An array comes here by NumPy's protocols, ``__array_function__`` and ``__array_ufunc__``.
"""
