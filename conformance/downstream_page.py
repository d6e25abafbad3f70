"""What the record of downstream libraries looks like as a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import tables

INTRO = """\
# SciPy, scikit-learn and array-api-extra

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

Below is what {count} functions and estimators do under each policy: `python
conformance/downstream.py --write` runs them and makes this page. It was made with SciPy
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
## What is refused

"""

LEAVES = """\
## What leaves the policy

By `__array__` or DLPack, and only arrays; that a metric returns a Python float is its purpose.
`pa.no_escape()` makes each of these an error, and `pa.trace()` notes the line.

"""

LIMITS = """\
## What does not work

- `sklearn.metrics.roc_curve`, and with it `roc_auc_score`, calls `xp.diff(x, 2)`, where the
  array API has `diff(x, n=2)`: a TypeError here as under every namespace that keeps to the
  standard.
- `scipy.interpolate.RBFInterpolator` calls `xp.diag`, which is not in the array API.
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


SUITES = """\
## Their own tests

Run once by hand, with promoarray in place of array-api-strict under the default policy; NumPy 2.4.

| suite | passed | failed |
| --- | --- | --- |
| array-api-extra 693b257 | 1192 | 2 |
| scikit-learn 1.9.1, `-k array_api`, float32 | 780 | 5 |
| SciPy 1.17.1, `-m array_api_backends`: cluster, constants, fft, special | 4889 | 16 |

What fails: in array-api-extra, two tests whose outcome goes by the library's name. In scikit-learn,
two that want a ValueError for classes that are strings, where ours is a TypeError; three of
`RidgeCV` with the dispatch turned off. In SciPy, eleven that are for NumPy alone and go by the
library's name, and five whose set-up adds a list to `devices()`, which the standard made a tuple.
"""


def page(record: Path) -> str:
    """Return the record as Markdown."""
    about, sections = tables.read(record)
    count = len({case for cells in sections.values() for case, _ in cells})
    text = [
        INTRO.format(
            count=count,
            scipy=about["scipy"],
            sklearn=about["scikit-learn"],
            xpx=about["array-api-extra"],
        )
    ]
    for kind, cells in sections.items():
        text += [f"## {kind}\n", _table(cells)]
    text += [REFUSED + _refusals(about), LEAVES + _leaving(about), LIMITS, SUITES]
    return "\n".join(text)


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
