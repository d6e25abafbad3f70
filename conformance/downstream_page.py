"""docs/downstream.md: their own test suites, other clients, and what functions do, by policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import suites_record
import suites_report
import tables

HERE = Path(__file__).resolve().parent
RECORD = HERE / "downstream.txt"
PAGE = HERE.parent / "docs" / "downstream.md"

INTRO = """\
# SciPy, scikit-learn, array-api-extra and other clients

These libraries compute by the array API, so they take PArrays as they are and compute under a
policy's rules:

```python
import os

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import numpy as np
import scipy.stats
import sklearn
from sklearn.linear_model import Ridge

import promoarray as pa

sklearn.set_config(array_api_dispatch=True)

scores = pa.asarray([3, 1, 4, 1, 5], dtype=pa.int32)
with pa.policy("jax@x32"):
    scipy.stats.zscore(scores)  # a PArray of float32; float64 under numpy

xp = pa.namespace("torch")  # arrays of a bound namespace stay in it, whatever the policy in force
X = xp.asarray(np.eye(4, dtype=np.float32))
model = Ridge(solver="svd").fit(X, X[:, 0])
model.coef_  # a PArray of float32, bound to torch
```

What their own tests say comes first, then [other clients](#other-clients), then [what functions and
estimators do](#functions-and-estimators) under each policy.
"""

FUNCTIONS = """\
## Functions and estimators

Below is what {count} functions and estimators do under each policy: `python
conformance/downstream.py --write` runs them, last with SciPy
{scipy}, scikit-learn {sklearn} and array-api-extra {xpx}.

- A cell is the code of the result's dtype (`f32` is float32, `b1` bool); `float` is a Python
  float, and `np:` stands before the dtype of a NumPy array, which a function without support
  for the array API returns.
- **^** The function took arrays out of the policy, mostly into compiled code. What it computed
  there obeys NumPy's rules under every policy; [below](#what-leaves-the-policy) is where it
  did.
- **~** The numbers differ from NumPy's by more than float32 rounds: an integer quotient or
  mean, say.
- A number in brackets is a refusal, or an error; [below](#what-is-refused) is the operation,
  the function of the library that called it, and the policy's words.

*float32* and *int32* say what the arrays are; of *mixed* ones the first is int32 and the second
float32. Class labels are int64 throughout. A refusal is what such code meets on that framework,
unless the library has a branch of its own for it.
"""

REFUSED = """\
### What is refused

"""

LEAVES = """\
### What leaves the policy

By `__array__` or DLPack, and only arrays; that a metric returns a Python float is its purpose.
`pa.no_escape()` makes each of these an error, and `pa.trace()` notes the line.

"""

CLIENTS = """\
## Other clients

`tests/test_clients.py` tries each with arrays of promoarray itself and with bound ones.

| client | what it does | what it does not |
| --- | --- | --- |
{rows}
"""

_CLIENTS = {
    "xarray": (
        "Arithmetic, `np.sin(d)`, `groupby`, `concat`, `where` with a value, `astype` and "
        "reductions (`sum mean max min prod std var median quantile cumsum argmax argmin`) stay in "
        "the policy.",
        "`where` without a value and `rolling` promote dtypes of NumPy's alone (array-api-strict's "
        "are refused too). With `skipna=False`, xarray asks the namespace for `std`, `var`, "
        "`median` and `cumsum` by NumPy's names and options. `xr.dot` asks it for `einsum`, which "
        "a bound namespace has in `xp.extras`.",
    ),
    "einops": (
        "`einops.array_api`: `rearrange`, `reduce`, `repeat` stay in the policy.",
        "`einops.rearrange` knows its libraries by name.",
    ),
    "Pint": (
        "Quantities, their arithmetic and conversions, `np.sqrt`, `np.mean` and `q.sum()` stay in "
        "the policy.",
        "",
    ),
    "Dask": (
        "`da.from_array(x)` has PArrays for blocks, `pa.asarray` of Dask's array is a PArray over "
        "it.",
        "Of the former, Dask decides dtypes as NumPy would; of the latter, the policy does, with "
        "the bits of arrays in memory ([distributed.md](distributed.md)).",
    ),
    "pandas, Polars": (
        "`pd.DataFrame(x)` and `pl.DataFrame(np.asarray(x))` take the numbers.",
        "A `Series` and a PArray do not mix in an operator; write `pa.asarray(column)`. Polars "
        "takes NumPy's arrays only.",
    ),
    "Matplotlib": ("It draws: what it takes are the numbers.", ""),
    "PyTorch, JAX": (
        "DLPack both ways, bfloat16 and float8 too; with PyTorch memory is shared.",
        "Tensors and PArrays do not mix in an operator. JAX has no DLPack code for int4.",
    ),
    "Cubed": ("`cubed.from_array(x)` takes the numbers.", "It computes with NumPy."),
}


LIMITS = """\
### What does not work

- `sklearn.metrics.roc_curve`, and with it `roc_auc_score`, calls `xp.diff(x, 2)`, where the
  array API has `diff(x, n=2)`: a TypeError here as under every namespace that keeps to the
  standard.
- `scipy.interpolate.RBFInterpolator` calls `xp.diag`, which is not in the array API: promoarray
  itself has it, a bound namespace in `xp.extras`.
- What has no support for the array API takes the numbers by `__array__` and returns NumPy
  arrays (`scipy.signal.welch`, `scipy.linalg.inv`), or wants methods of NumPy's arrays
  (`sklearn.cluster.KMeans`).
- A policy chosen by `pa.policy` holds in its own context, so not in the threads and processes that
  joblib starts for `n_jobs`. There, arrays of a bound namespace keep their policy.
- array-api-compat tests whether an array is lazy by `xp.any(x)`. ONNX and TensorFlow's
  `reduce_any` take bools only, and ONNX has no `isfinite`, so much of SciPy stops there under
  `onnx` and `tensorflow`, and scikit-learn in its check for finite numbers. For the latter
  there is `sklearn.set_config(assume_finite=True)`.
"""


def page(record: Path = RECORD) -> str:
    """Return what is recorded as Markdown, of the suites too."""
    about, sections = tables.read(record)
    count = len({case for cells in sections.values() for case, _ in cells})
    functions = FUNCTIONS.format(
        count=count,
        scipy=about["scipy"],
        sklearn=about["scikit-learn"],
        xpx=about["array-api-extra"],
    )
    text = [INTRO, suites_report.section(suites_record.read()), _clients(), functions]
    for kind, cells in sections.items():
        text += [f"### {kind}\n", _table(cells)]
    text += [REFUSED + _refusals(about), LEAVES + _leaving(about), LIMITS]
    return "\n".join(text)


def _clients() -> str:
    rows = (f"| {name} | {does} | {does_not} |" for name, (does, does_not) in _CLIENTS.items())
    return CLIENTS.format(rows="\n".join(rows))


def _table(cells: tables.Cells) -> str:
    policies = list(dict.fromkeys(policy for _, policy in cells))
    rows = [
        [f"`{case}`", *(_cell(cells[case, policy]) for policy in policies)]
        for case in dict.fromkeys(case for case, _ in cells)
    ]
    return _markdown(["", *(f"`{policy}`" for policy in policies)], rows)


def _cell(cell: str) -> str:
    return f"({cell[1:]})" if cell.startswith("-") else cell.replace("~", "\\~")


def _refusals(about: Mapping[str, str]) -> str:
    rows = []
    for key, value in about.items():
        if key.startswith("-"):
            refusal, _, why = value.partition(" | ")
            operation, _, place = refusal.partition(" in ")
            rows.append([key[1:], f"`{operation}`", f"`{place}`", why.replace("|", "\\|")])
    return _markdown(["", "operation", "called by", "policies, and their words"], rows)


def _leaving(about: Mapping[str, str]) -> str:
    suffix = " leaves by"
    rows = [
        [f"`{key.removesuffix(suffix)}`", f"`{value}`"]
        for key, value in about.items()
        if key.endswith(suffix)
    ]
    return _markdown(["", "taken by"], rows)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    rule = ["---"] * len(header)
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows)) + "\n"
