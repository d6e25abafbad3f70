"""What SciPy, scikit-learn and array-api-extra are asked, and with which data.

A case is a function of arrays. Its parameters say which it takes: ``x y X Y image`` are of the
dtypes in question, ``labels predicted binary`` are classes in int64. The same function is given
NumPy arrays for comparison, so all of it is written for both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import array_api_extra as xpx
import numpy as np
import scipy.cluster.vq
import scipy.constants
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats
from scipy.spatial.transform import Rotation
from sklearn import metrics, preprocessing
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import pairwise
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

Case = Callable[..., Any]

SCIPY: dict[str, Case] = {
    "fft.fft": lambda x: scipy.fft.fft(x),
    "fft.irfft": lambda x: scipy.fft.irfft(x),
    "fft.fftn": lambda image: scipy.fft.fftn(image),
    "fft.dct": lambda x: scipy.fft.dct(x),
    "special.expit": lambda x: scipy.special.expit(x),
    "special.gammaln": lambda x: scipy.special.gammaln(x),
    "special.xlogy": lambda x, y: scipy.special.xlogy(x, y),
    "special.logsumexp": lambda x: scipy.special.logsumexp(x),
    "special.softmax": lambda x: scipy.special.softmax(x),
    "stats.zscore": lambda x: scipy.stats.zscore(x),
    "stats.zmap": lambda x, y: scipy.stats.zmap(x, y),
    "stats.gmean": lambda x: scipy.stats.gmean(x),
    "stats.skew": lambda x: scipy.stats.skew(x),
    "stats.variation": lambda x: scipy.stats.variation(x),
    "stats.describe.mean": lambda x: scipy.stats.describe(x).mean,
    "stats.pearsonr": lambda x, y: scipy.stats.pearsonr(x, y).statistic,
    "stats.ttest_ind": lambda x, y: scipy.stats.ttest_ind(x, y).pvalue,
    "stats.rankdata": lambda x: scipy.stats.rankdata(x),
    "stats.quantile": lambda x: scipy.stats.quantile(x, 0.3),
    "cluster.vq.whiten": lambda X: scipy.cluster.vq.whiten(X),
    "cluster.vq.vq": lambda X: scipy.cluster.vq.vq(X, X[::8, :])[1],
    "signal.detrend": lambda x: scipy.signal.detrend(x),
    "signal.fftconvolve": lambda x, y: scipy.signal.fftconvolve(x, y),
    "signal.hilbert": lambda x: scipy.signal.hilbert(x),
    "signal.lfilter": lambda x, y: scipy.signal.lfilter(x[:2] / 20, y[:3] / 20, x / 20),
    "signal.welch": lambda x: scipy.signal.welch(x)[1],
    "ndimage.gaussian_filter": lambda image: scipy.ndimage.gaussian_filter(image, 1.0),
    "ndimage.sobel": lambda image: scipy.ndimage.sobel(image),
    "ndimage.label": lambda image: scipy.ndimage.label(image > 10)[0],
    "integrate.trapezoid": lambda x, y: scipy.integrate.trapezoid(y, x),
    "integrate.simpson": lambda y: scipy.integrate.simpson(y),
    "integrate.cumulative_simpson": lambda y: scipy.integrate.cumulative_simpson(y),
    "integrate.tanhsinh": lambda x: scipy.integrate.tanhsinh(lambda t: t * t, x * 0, x).integral,
    "interpolate.CubicSpline": lambda X, x: scipy.interpolate.CubicSpline(_steps(x), x)(X),
    "spatial.transform.Rotation": lambda X: Rotation.from_rotvec(X[:, :3]).as_matrix(),
    "constants.convert_temperature": lambda x: scipy.constants.convert_temperature(x, "C", "K"),
    "linalg.inv": lambda X: scipy.linalg.inv(X[:4, :] + X[8:12, :] * 2),
}

SKLEARN: dict[str, Case] = {
    "PCA": lambda X: PCA(2).fit_transform(X),
    "PCA.inverse_transform": lambda X: _there_and_back(PCA(2), X),
    "Ridge": lambda X, y: Ridge(solver="svd").fit(X, y).predict(X),
    "RidgeClassifier": lambda X, labels: RidgeClassifier().fit(X, labels).predict(X),
    "LogisticRegression": lambda X, labels: LogisticRegression().fit(X, labels).predict(X),
    "LinearDiscriminantAnalysis": lambda X, labels: (
        LinearDiscriminantAnalysis().fit(X, labels).predict_proba(X)
    ),
    "GaussianNB": lambda X, labels: GaussianNB().fit(X, labels).predict_proba(X),
    "GaussianMixture": lambda X: (
        GaussianMixture(1, init_params="random", random_state=0).fit(X).means_
    ),
    "Nystroem": lambda X: Nystroem("linear", n_components=3, random_state=0).fit_transform(X),
    "StandardScaler": lambda X: preprocessing.StandardScaler().fit_transform(X),
    "MinMaxScaler": lambda X: preprocessing.MinMaxScaler().fit_transform(X),
    "MaxAbsScaler": lambda X: preprocessing.MaxAbsScaler().fit_transform(X),
    "Normalizer": lambda X: preprocessing.Normalizer().fit_transform(X),
    "Binarizer": lambda X: preprocessing.Binarizer(threshold=3).fit_transform(X),
    "PolynomialFeatures": lambda X: preprocessing.PolynomialFeatures(2).fit_transform(X),
    "KernelCenterer": lambda X: preprocessing.KernelCenterer().fit_transform(X @ X.T),
    "LabelEncoder": lambda labels: preprocessing.LabelEncoder().fit_transform(labels),
    "train_test_split": lambda X, labels: train_test_split(X, labels, random_state=0)[0],
    "cross_val_predict": lambda X, y: cross_val_predict(Ridge(solver="svd"), X, y),
    "GridSearchCV": lambda X, y: (
        GridSearchCV(Ridge(solver="svd"), {"alpha": [0.1, 10.0]}, error_score="raise")
        .fit(X, y)
        .predict(X)
    ),
    "make_pipeline": lambda X, y: (
        make_pipeline(preprocessing.StandardScaler(), PCA(2), Ridge(solver="svd"))
        .fit(X, y)
        .predict(X)
    ),
    "accuracy_score": lambda labels, predicted: metrics.accuracy_score(labels, predicted),
    "f1_score": lambda labels, predicted: metrics.f1_score(labels, predicted, average="macro"),
    "confusion_matrix": lambda labels, predicted: metrics.confusion_matrix(labels, predicted),
    "log_loss": lambda binary, x: metrics.log_loss(binary, x / 20),
    "r2_score": lambda x, y: metrics.r2_score(x, y),
    "mean_squared_error": lambda x, y: metrics.mean_squared_error(x, y),
    "mean_absolute_percentage_error": lambda x, y: metrics.mean_absolute_percentage_error(x, y),
    "max_error": lambda x, y: metrics.max_error(x, y),
    "average_precision_score": lambda binary, x: metrics.average_precision_score(binary, x),
    "euclidean_distances": lambda X, Y: pairwise.euclidean_distances(X, Y),
    "cosine_similarity": lambda X, Y: pairwise.cosine_similarity(X, Y),
    "rbf_kernel": lambda X, Y: pairwise.rbf_kernel(X, Y),
    "polynomial_kernel": lambda X, Y: pairwise.polynomial_kernel(X, Y),
}

EXTRA: dict[str, Case] = {
    "atleast_nd": lambda x: xpx.atleast_nd(x, ndim=3),
    "cov": lambda X: xpx.cov(X),
    "create_diagonal": lambda x: xpx.create_diagonal(x),
    "expand_dims": lambda x: xpx.expand_dims(x, axis=(0, 2)),
    "isclose": lambda x, y: xpx.isclose(x, y),
    "kron": lambda X, Y: xpx.kron(X[:2, :], Y[:2, :]),
    "nan_to_num": lambda x: xpx.nan_to_num(x),
    "nunique": lambda x: xpx.nunique(x),
    "one_hot": lambda labels: xpx.one_hot(labels, 3),
    "pad": lambda x: xpx.pad(x, 2),
    "partition": lambda x: xpx.partition(x, 3)[3],
    "setdiff1d": lambda x, y: xpx.setdiff1d(x, y),
    "sinc": lambda x: xpx.sinc(x / 20),
    "union1d": lambda x, y: xpx.union1d(x, y),
    "at.set": lambda x: xpx.at(x)[2].set(5, copy=True),
    "at.add": lambda x: xpx.at(x)[x > 3].add(1.5, copy=True),
    "at.multiply": lambda x, y: xpx.at(x)[2:4].multiply(y[2:4], copy=True),
    "apply_where": lambda x, y: xpx.apply_where(x > 3, (x, y), lambda a, b: a * b, fill_value=0),
}

CASES = {
    **{f"scipy.{name}": case for name, case in SCIPY.items()},
    **{f"sklearn.{name}": case for name, case in SKLEARN.items()},
    **{f"xpx.{name}": case for name, case in EXTRA.items()},
}


def _steps(x: Any) -> Any:
    """0, 1, 2 ... as many as ``x`` has elements, and of its dtype."""
    xp = x.__array_namespace__()
    return xp.astype(xp.arange(x.shape[0]), x.dtype)


def _there_and_back(estimator: Any, X: Any) -> Any:
    return estimator.inverse_transform(estimator.fit_transform(X))


KINDS = {
    "float32": ("float32",),
    "int32": ("int32",),
    "mixed": ("int32", "float32"),
}
"""Dtypes of a case's arrays, in turn. *mixed* is asked of cases with two or more."""

_CLASSES = frozenset({"labels", "predicted", "binary"})


@cache
def data() -> dict[str, Any]:
    """The arrays, of whole numbers, so that every dtype holds the same."""
    rng = np.random.default_rng(0)
    count = 24
    labels = np.repeat([0, 1, 2], count // 3)
    blobs = rng.normal(size=(count, 4)) * 2 + labels[:, None] * 6 + 3
    return {
        "x": rng.integers(1, 20, count),
        "y": rng.integers(1, 20, count),
        "X": np.round(blobs).clip(0),
        "Y": np.round(rng.normal(size=(count, 4)) * 3 + 10),
        "image": rng.integers(0, 50, (12, 12)),
        "labels": labels,
        "predicted": np.where(rng.random(count) < 0.2, (labels + 1) % 3, labels),
        "binary": (labels > 0).astype(np.int64),
    }


def questions() -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield each case's name, the kind of its arrays, and the arrays."""
    for kind, dtypes in KINDS.items():
        for name, case in CASES.items():
            names = list(inspect.signature(case).parameters)
            varying = [n for n in names if n not in _CLASSES]
            if len(varying) < (2 if kind == "mixed" else 1) and (varying or kind != "float32"):
                continue
            of = {n: dtypes[i % len(dtypes)] for i, n in enumerate(varying)}
            yield name, kind, tuple(data()[n].astype(of.get(n, "int64")) for n in names)
