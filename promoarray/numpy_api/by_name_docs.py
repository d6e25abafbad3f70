"""Docstrings of NumPy's functions by NumPy's names: parameters, results and examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

_PARAMETERS = """
a a1 a2 b x m f ar ar1 ar2 ary arr p : array or numbers, any shape
arys : arrays or numbers, any shape
tup : sequence of arrays, or an array that is one along its first axis; shapes that join
values : array or numbers, a shape that joins
indices_or_sections : int or sequence of int
    The count of parts, or where each part but the first begins.
axis : int or tuple of int, optional
    The axes to go along; default: all, or the one that the first line names.
axis1 axis2 : int
    The two axes.
axes : tuple of int
    The two axes of the plane.
out : PArray, optional, the shape of the result
    Written as the policy writes in place.
keepdims : bool
    Keep the axes with length 1.
dtype : dtype, optional
    The one to compute in.
equal_nan : bool
    Take NaN for equal to NaN.
rtol atol : float
    The tolerances, relative to ``b`` and absolute.
kth : int or sequence of int
    Indices of the elements that are to stand in order.
q : float or sequence of float
    Percents, 0 to 100.
method : str
    As of ``quantile``.
ddof correction : float
    What is subtracted from the count in the divisor.
decimals : int
    Digits after the point.
weights : array, optional, the shape of the first array or of its axes
    Default: 1 each.
minlength : int
    The least number of counts.
y : array, optional, the shape of ``x``
    More variables.
rowvar : bool
    Take rows, not columns, for variables.
val : array or number, any shape
offset : int
    Of the diagonal: above the main one, below it if negative.
nan : float
    In place of NaN.
k : int
    Quarters to turn by.
assume_unique : bool
    True if no element is there twice, which saves time.
return_index : bool
    Ask for the first index of each.
return_inverse : bool
    Ask for the indices that make the array of them.
return_counts : bool
    Ask for the count of each.
"""

DOC = """{summary}

``numpy.{name}`` under the policy of its arrays, or the one in force.

Parameters
----------
{parameters}

Returns
-------
{returns}

Raises
------
PromotionError
    If the policy's framework refuses these dtypes in its function of this name, or in one of the
    operations that it is made of.
TypeError
    If an argument is no array, or a parameter has a value that cannot be honoured.

Notes
-----
The dtype is that of the framework's own function of this name where the policy's tables have it
(``promoarray/policies/*/functions*.txt``, recorded answers), else that of the operations that it
is made of.

Examples
--------
{examples}
"""

_FUNCTIONS = """
= PArray | A view, or a copy, with at least that many axes; several of them for several arrays.
atleast_1d: An array with one axis or more: a number becomes an array of one element.
>>> atleast_1d(3)
PArray([3], dtype=int64)
atleast_2d: An array with two axes or more: a vector becomes a row.
>>> atleast_2d([1, 2]).shape
(1, 2)
atleast_3d: An array with three axes or more; those that are missing have length 1.
>>> atleast_3d([1, 2]).shape
(1, 2, 1)
= PArray | The shape of the joined arrays.
append: An array with others behind it, flattened first if no axis is given.
>>> append([1, 2], [3])
PArray([1, 2, 3], dtype=int64)
column_stack: Vectors as the columns of a matrix, and matrices beside each other.
>>> column_stack([[1, 2], [3, 4]])
PArray([[1, 3],
        [2, 4]], dtype=int64)
dstack: Arrays joined along a third axis.
>>> dstack([[1, 2], [3, 4]]).shape
(1, 2, 2)
hstack: Arrays joined along their second axis, vectors along their only one.
>>> hstack([asarray([1], dtype=int8), [2.5]])
PArray([1. , 2.5], dtype=float64)
vstack: Arrays joined along their first axis, vectors as rows.
>>> vstack([[1, 2], [3, 4]])
PArray([[1, 2],
        [3, 4]], dtype=int64)
= list of PArray | Views of the array, each with its shape but for the axis that is cut.
array_split: Parts of an array along an axis, the first longer by one where it does not divide.
>>> array_split([1, 2, 3], 2)
[PArray([1, 2], dtype=int64), PArray([3], dtype=int64)]
split: Equal parts of an array along an axis, or what lies between given indices.
>>> split([1, 2, 3, 4], [1])
[PArray([1], dtype=int64), PArray([2, 3, 4], dtype=int64)]
hsplit: Parts of an array along its second axis, of a vector along its only one.
>>> [part.shape for part in hsplit([[1, 2], [3, 4]], 2)]
[(2, 1), (2, 1)]
vsplit: Parts of an array along its first axis.
>>> [part.shape for part in vsplit([[1, 2], [3, 4]], 2)]
[(1, 2), (1, 2)]
dsplit: Parts of an array along its third axis.
>>> [part.shape for part in dsplit(ones((1, 2, 4)), 2)]
[(1, 2, 2), (1, 2, 2)]
= PArray | The same elements in another shape or order: a view where that is possible.
diagonal: Elements of the diagonals of the matrices in two axes.
>>> diagonal([[1, 2], [3, 4]])
PArray([1, 4], dtype=int64)
fliplr: An array with its second axis reversed.
>>> fliplr([[1, 2], [3, 4]])
PArray([[2, 1],
        [4, 3]], dtype=int64)
flipud: An array with its first axis reversed.
>>> flipud([[1, 2], [3, 4]])
PArray([[3, 4],
        [1, 2]], dtype=int64)
ravel: The elements of an array in one axis.
>>> ravel([[1, 2], [3, 4]])
PArray([1, 2, 3, 4], dtype=int64)
rot90: An array turned by quarters in the plane of two axes.
>>> rot90([[1, 2], [3, 4]])
PArray([[2, 4],
        [1, 3]], dtype=int64)
swapaxes: An array with two axes exchanged.
>>> swapaxes(ones((1, 2, 3)), 0, 2).shape
(3, 2, 1)
= PArray | A new array of the shape of ``a`` or ``x``.
around: Numbers rounded to some decimals, halves to even.
>>> around([0.5, 1.25], 1)
PArray([0.5, 1.2], dtype=float64)
copy: A copy of an array.
>>> copy([1, 2])
PArray([1, 2], dtype=int64)
nan_to_num: Numbers with another for NaN, and the largest of their dtype for the infinities.
>>> nan_to_num([1.0, nan])
PArray([1., 0.], dtype=float64)
sinc: ``sin(pi x) / (pi x)``, and 1 where ``x`` is 0.
>>> sinc([0.0, 0.5])
PArray([1.                , 0.6366197723675814], dtype=float64)
= PArray | The shape of ``a``, which is flattened first if no axis is given.
cumprod: Products of the elements up to each one.
>>> cumprod([1, 2, 3])
PArray([1, 2, 6], dtype=int64)
cumsum: Sums of the elements up to each one.
>>> cumsum([1, 2, 3])
PArray([1, 3, 6], dtype=int64)
>>> with policy("jax"):
...     cumsum(asarray([1, 2], dtype=int8)).dtype
promoarray.int8
nancumprod: Products of the elements up to each one, with 1 for NaN.
>>> nancumprod([2.0, nan, 3.0])
PArray([2., 2., 6.], dtype=float64)
nancumsum: Sums of the elements up to each one, with 0 for NaN.
>>> nancumsum([2.0, nan, 3.0])
PArray([2., 2., 5.], dtype=float64)
partition: An array whose element at an index is that of the sorted array, smaller ones before it.
>>> partition([3, 1, 2], 0)
PArray([1, 2, 3], dtype=int64)
argpartition: Indices that order an array as ``partition`` does.
>>> argpartition([3, 1, 2], 0)
PArray([1, 2, 0], dtype=int64)
= PArray | The shape of ``a`` without the axes.
average: Mean of an array, with a weight for each element if there are some.
>>> average([1, 2, 4], weights=[2, 1, 1])
PArray(2., dtype=float64)
median: Middle element; of an even count the mean of the middle two, in PyTorch the lower of them.
>>> median([[3, 1], [2, 9]], axis=0)
PArray([2.5, 5. ], dtype=float64)
>>> with policy("torch"):
...     median([1, 2])
PArray(1, dtype=int64)
nanmedian: Median of the elements that are not NaN.
>>> nanmedian([1.0, nan, 4.0])
PArray(2.5, dtype=float64)
percentile: Numbers below which some percent of the elements lie.
>>> percentile([1, 2, 3, 4], 50)
PArray(2.5, dtype=float64)
nanpercentile: Percentiles of the elements that are not NaN.
>>> nanpercentile([1.0, nan, 4.0], 50)
PArray(2.5, dtype=float64)
ptp: Difference between the largest and the smallest element.
>>> ptp([3, 9, 4])
PArray(6, dtype=int64)
nanmax: Largest element that is not NaN.
>>> nanmax([1.0, nan])
PArray(1., dtype=float64)
nanmin: Smallest element that is not NaN.
>>> nanmin([1.0, nan])
PArray(1., dtype=float64)
nanmean: Mean of the elements that are not NaN.
>>> nanmean([1.0, nan, 4.0])
PArray(2.5, dtype=float64)
nanprod: Product of the elements that are not NaN.
>>> nanprod([2.0, nan, 4.0])
PArray(8., dtype=float64)
nanstd: Standard deviation of the elements that are not NaN.
>>> nanstd([1.0, nan, 3.0])
PArray(1., dtype=float64)
nansum: Sum of the elements that are not NaN.
>>> nansum([1.0, nan, 4.0])
PArray(5., dtype=float64)
nanvar: Variance of the elements that are not NaN.
>>> nanvar([1.0, nan, 3.0])
PArray(1., dtype=float64)
nanargmax: Index of the largest element that is not NaN.
>>> nanargmax([1.0, nan, 4.0])
PArray(2, dtype=int64)
nanargmin: Index of the smallest element that is not NaN.
>>> nanargmin([nan, 1.0])
PArray(1, dtype=int64)
= PArray | A vector, or a matrix with a row for each element found.
argwhere: Indices of the elements that are not zero, a row each.
>>> argwhere([0, 5, 7])
PArray([[1],
        [2]], dtype=int64)
flatnonzero: Indices of the elements that are not zero, in the flattened array.
>>> flatnonzero([[0, 5], [7, 0]])
PArray([1, 2], dtype=int64)
bincount: Counts of the numbers from 0 on in a vector of integers.
>>> bincount([0, 2, 2])
PArray([1, 0, 2], dtype=int64)
setdiff1d: Distinct elements of one array that are not in another, sorted.
>>> setdiff1d([3, 1, 2], [2])
PArray([1, 3], dtype=int64)
union1d: Distinct elements of two arrays, sorted.
>>> union1d([3, 1], [2, 1])
PArray([1, 2, 3], dtype=int64)
unique: Distinct elements, sorted; if asked for, a tuple of them with indices and counts.
>>> unique([3, 1, 3], return_counts=True)
(PArray([1, 3], dtype=int64), PArray([1, 2], dtype=int64))
= PArray | The shape of the product.
dot: Product of vectors and matrices; of a number with an array elementwise.
>>> dot([1, 2], [3, 4])
PArray(11, dtype=int64)
inner: Products summed along the last axes of two arrays.
>>> inner([1, 2], [3, 4])
PArray(11, dtype=int64)
kron: Kronecker product: each element of one array times the whole other.
>>> kron([1, 2], [1, 1])
PArray([1, 1, 2, 2], dtype=int64)
outer: Each element of one vector times each of another.
>>> outer([1, 2], [3, 4])
PArray([[3, 4],
        [6, 8]], dtype=int64)
vdot: Products of two flattened arrays summed, the first conjugated.
>>> vdot([1j, 2], [1j, 3])
PArray(7.+0.j, dtype=complex128)
corrcoef: Correlation coefficients of variables, which are the rows.
>>> corrcoef([[1, 2, 3], [3, 2, 1]])
PArray([[ 1., -1.],
        [-1.,  1.]], dtype=float64)
polyval: Values of a polynomial, its coefficients from the highest power on.
>>> polyval([1, 0, 2], [3, 4])
PArray([11, 18], dtype=int64)
= PArray of bool | The shape of the operands, broadcast.
isclose: Elements that differ by no more than a tolerance: ``|a - b| <= atol + rtol * |b|``.
>>> isclose([1.0, 2.0], [1.0, 2.1])
PArray([ True, False], dtype=bool)
iscomplex: Elements with an imaginary part.
>>> iscomplex([1 + 0j, 1j])
PArray([False,  True], dtype=bool)
isreal: Elements without an imaginary part.
>>> isreal([1 + 0j, 1j])
PArray([ True, False], dtype=bool)
= bool
allclose: True if all elements differ by no more than a tolerance.
>>> allclose([1.0, 2.0], [1.0, 2.0 + 1e-9])
True
array_equal: True if two arrays have one shape and equal elements.
>>> array_equal([1, 2], [1, 2])
True
iscomplexobj: True of an array with a complex dtype.
>>> iscomplexobj([1j])
True
isrealobj: True of an array without a complex dtype.
>>> isrealobj([1j])
False
= None
fill_diagonal: Write into the main diagonal, as ``x[i, i] = value`` does.
>>> x = zeros((2, 2))
>>> fill_diagonal(x, 7)
>>> x
PArray([[7., 0.],
        [0., 7.]], dtype=float64)
= int or tuple of int
ndim: Number of axes.
>>> ndim([[1, 2]])
2
shape: Lengths of the axes.
>>> shape([[1, 2]])
(1, 2)
size: Number of elements, or the length of an axis.
>>> size([[1, 2]])
2
"""
"""Under what they return: each with its first line and an example."""


class Entry(NamedTuple):
    """What is said of one function."""

    summary: str
    returns: str
    examples: str


@cache
def entries() -> Mapping[str, Entry]:
    """What is said of each function, by its name."""
    found, returns = {}, ""
    for block in re.split(r"\n(?== |\w+: )", _FUNCTIONS.strip()):
        head, _, examples = block.partition("\n")
        if head.startswith("= "):
            returns = head[2:]
        else:
            name, _, summary = head.partition(": ")
            found[name] = Entry(summary, returns, examples)
    return found


@cache
def parameters() -> Mapping[str, str]:
    """The entry of each parameter, from its type on."""
    found = {}
    for block in re.split(r"\n(?=\w)", _PARAMETERS.strip()):
        names, _, said = block.partition(" : ")
        found.update(dict.fromkeys(names.split(), said))
    return found
