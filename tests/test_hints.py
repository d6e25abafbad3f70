"""Hints for NumPy's names: what an error says to write computes what NumPy's function does."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import promoarray as pa
from promoarray.other_names import FUNCTIONS

PROSE = {
    "a dtype or a constant, or several": "byte complex float int s_ dtype number",
    "several calls, in words": (
        "apply_over_axes asfortranarray block choose einsum_path ix_ lexsort select setxor1d "
        "trim_zeros unpackbits packbits unravel_index bitwise_count modf put_along_axis "
        "linalg.multi_dot linalg.tensorinv linalg.tensorsolve sort_complex "
        "lib.stride_tricks.sliding_window_view vectorize resize"
    ),
    "files, texts and memory": (
        "savez savez_compressed savetxt loadtxt genfromtxt array2string fromiter frombuffer"
    ),
    "settings, which NumPy keeps": "errstate seterr set_printoptions printoptions",
    "a question about dtypes": (
        "issubdtype floating integer signedinteger unsignedinteger complexfloating inexact "
        "isscalar common_type min_scalar_type"
    ),
}
NOT_RUN = {name for names in PROSE.values() for name in names.split()}

NUMPYS = {  # where the call is not ``np.name`` of the variables of the hint
    "apply_along_axis": "np.apply_along_axis(f, 1, x)",
    "c_": "np.c_[x1, x2]",
    "compress": "np.extract(mask, x)",
    "copyto": "np.copyto(y, x)",
    "delete": "np.delete(x, np.nonzero(~keep)[0], axis=0)",
    "diag_indices": "np.diag_indices(n)",
    "diag_indices_from": "np.diag_indices_from(x)",
    "digitize": "np.digitize(x, bins)",
    "euler_gamma": "np.euler_gamma",
    "extract": "np.extract(mask, x)",
    "geomspace": "np.geomspace(a, b, n)",
    "indices": "np.indices((n, m))",
    "insert": "np.insert(x, i, y, axis=0)",
    "linalg.lstsq": "np.linalg.lstsq(a, b)[0]",
    "linalg.norm": "np.linalg.norm(x)",
    "logaddexp2": "np.logaddexp2(x1, x2)",
    "mgrid": "tuple(np.mgrid[:n, :m])",
    "ogrid": "tuple(np.broadcast_arrays(*np.ogrid[:n, :m]))",
    "place": "np.place(x, mask, value)",
    "polyfit": "np.polyfit(x, y, n)",
    "put": "np.put(x, i, value)",
    "putmask": "np.putmask(x, mask, value)",
    "r_": "np.r_[x1, x2]",
    "rollaxis": "np.rollaxis(x, axis)",
    "ravel_multi_index": "np.ravel_multi_index((i, j), shape)",
    "tri": "np.tri(n)",
    "tril_indices": "np.tril_indices(n, 0, m)",
    "triu_indices": "np.triu_indices(n, 0, m)",
    "vander": "np.vander(x, n)",
}


OF_NDIM = {"c_": 2}
"""How many axes a hint is of at most, where it would be too long for more."""


def numpys(name: str) -> Any:
    found: Any = np
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


HINTED = [name for name in FUNCTIONS if numpys(name) is not None and name not in NOT_RUN]
DTYPES = [name for name in HINTED if isinstance(numpys(name), type)]


def variables() -> Iterator[dict[str, Any]]:
    """What a hint may speak of, as NumPy's arrays: vectors, matrices and 3 axes, two dtypes."""
    for shape in ((4,), (3, 3), (2, 3, 3)):
        for dtype in (np.int64, np.float64):
            x = (np.arange(math.prod(shape)).reshape(shape) * 5 % 7 - 2).astype(dtype)
            y = (np.arange(math.prod(shape)).reshape(shape) % 3 + 1).astype(dtype)
            x[..., 0] = x[..., 0] / 4
            yield {
                "x": x,
                "x1": x,
                "y": y,
                "x2": y,
                "mask": x > 1,
                "keep": np.arange(len(x)) % 2 == 0,
                "n": 3,
                "m": 2,
                "i": 1,
                "j": 1,
                "shape": shape,
                "bins": np.asarray([-1, 1, 3]),
                "a": x if len(shape) > 1 else 0.5,
                "b": y if len(shape) > 1 else 8.0,
                "f": lambda row: row * 2,
                "log2": math.log(2),
                "value": 5,
                "axis": -1,
            }


def calls(name: str, text: str) -> Iterator[tuple[str, str]]:
    """NumPy's call and what is to write for it, as texts."""
    if re.fullmatch(r"pa[.\w]+", text):  # a function by another name
        every = ["x", "x1, x2", "0.5 * x + 0.25", "x1, n"]
        every = {"identity": ["n"], "fix": ["x"], "linalg.norm": ["x"]}.get(name, every)
        places = getattr(numpys(name), "nin", None)  # after which a ufunc takes ``out``
        for arguments in every:
            if places in (None, arguments.count(",") + 1):
                yield f"np.{name}({arguments})", f"{text}({arguments})"
        return
    said, _, given = text.partition(" with ")
    said = said.removesuffix(" with a mask or indices").rstrip(",")
    names = ("x1, x2" if "x2" in text else "x, y" if re.search(r"\by\b", text) else "x",)
    names = ("y, x",) if name == "trapezoid" else names
    yield NUMPYS.get(name, f"np.{name}({names[0]})"), (f"{given}; " if "=" in given else "") + said


def done(code: str, given: dict[str, Any]) -> Any:
    """The value of the last expression, or the array that a statement wrote into."""
    *before, last = code.split("; ")
    for line in before:
        exec(line, given)
    written = re.match(
        r"(?:pa.reshape\()?(\w+)[,\[].*\] = |np.(?:place|put|putmask|copyto)\((\w)", last
    )
    if written:
        exec(last, given)
        return given[written[1] or written[2]]
    return eval(last, given)


def wrong(name: str, text: str) -> tuple[int, list[str]]:
    """How often NumPy answers, and where the hint gives something else."""
    count, found = 0, []
    for given in variables():
        if given["x"].ndim > OF_NDIM.get(name, 3):
            continue
        for theirs, ours in calls(name, text):
            mine = {
                k: pa.asarray(v, copy=True) if isinstance(v, np.ndarray) else v
                for k, v in given.items()
            }
            copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in given.items()}
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    wanted = done(theirs, {"np": np, "math": math, **copies})
                except (TypeError, ValueError, IndexError, np.linalg.LinAlgError):
                    continue  # NumPy takes no such arguments
                count += 1
                try:
                    made = done(ours, {"pa": pa, "math": math, **mine})
                    same(made, wanted)
                except Exception as error:
                    found.append(f"{theirs} | {ours}: {type(error).__name__} {error}"[:300])
    return count, found


def same(made: Any, wanted: Any) -> None:
    if isinstance(wanted, tuple):
        for one, other in zip(made, wanted, strict=True):
            same(one, other)
        return
    one, other = np.asarray(made), np.asarray(wanted)
    assert (one.shape, one.dtype) == (other.shape, other.dtype), (
        one.dtype,
        other.dtype,
        one.shape,
        other.shape,
    )
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_what_hints_say_to_write_computes_what_numpys_function_does() -> None:
    lacking, found = [], []
    for name in HINTED:
        if name in DTYPES:
            continue
        count, more = wrong(name, FUNCTIONS[name])
        lacking += [] if count else [name]
        found += more
    assert found == []
    assert lacking == []


def test_dtypes_of_other_names_are_numpys() -> None:
    for name in DTYPES:
        ours = done(FUNCTIONS[name], {"pa": pa})
        assert np.dtype(ours.name) == np.dtype(numpys(name)), name


def test_what_is_not_run_has_a_hint_in_words() -> None:
    assert {name for name in NOT_RUN if name not in FUNCTIONS} == set()
