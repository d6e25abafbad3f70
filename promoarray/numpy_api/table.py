"""The table of NumPy's functions: their names, ours, and their parameters.

The parameters are NumPy's, in its order. What follows the name of one says what becomes of it:

=============  =====================================================================
``a``          given on by its place
``*arys``      all that are left, given on by their places
``**kw``       all that are left, given on by their names
``axis=``      given on by the same name
``ddof=n``     given on under another name, ``n``
``norm=?``     left out if it is None; ``rcond=rtol?`` is both
``dtype~``     what the first is cast to before, and the result after
``out>``       what the result is written into
``where&``     which elements a reduction takes, or what it begins with (``masked``)
``mean!``      refused, unless it is left out or None
``order!C,K``  refused, unless it is one of these
=============  =====================================================================

A line that begins with a space goes on with the one before. Ours is a dot where it has the same
name, and a star where ``composed``, ``statistical`` or ``numeric`` make it of several; ``x`` is the
array itself, and ``xpx`` array-api-extra, which computes by the functions of our namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

_TEXT = """
all                   .          a axis= out> keepdims= where&
any                   .          a axis= out> keepdims= where&
max                   .          a axis= out> keepdims= initial& where&
min                   .          a axis= out> keepdims= initial& where&
amax                  max        a axis= out> keepdims= initial& where&
amin                  min        a axis= out> keepdims= initial& where&
ptp                   *          a axis= out> keepdims=
sum                   .          a axis= dtype= out> keepdims= initial& where&
prod                  .          a axis= dtype= out> keepdims= initial& where&
mean                  .          a axis= dtype~ out> keepdims= where&
std                   .          a axis= dtype~ out> ddof=correction? keepdims= where& mean!
                                 correction=?
var                   .          a axis= dtype~ out> ddof=correction? keepdims= where& mean!
                                 correction=?
average               *          a axis= weights= returned!False keepdims=
cumsum                *          a axis= dtype= out>
cumprod               *          a axis= dtype= out>
cumulative_sum        .          x axis= dtype= out> include_initial=
cumulative_prod       .          x axis= dtype= out> include_initial=
median                *          a axis= out> overwrite_input!True,False keepdims=
quantile              extras.*   a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
percentile            *          a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
nanquantile           extras.*   a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
nanpercentile         *          a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
histogram             extras.*   a bins= range= density= weights!
interp                extras.*   x xp fp left= right= period!
piecewise             extras.*   x condlist funclist *args **kw
convolve              extras.*   a v mode=
correlate             extras.*   a v mode=
cov                   extras.*   m y= rowvar= bias= ddof= fweights! aweights! dtype!
corrcoef              *          x y= rowvar= bias! ddof! dtype!
polyval               *          p x
nanmedian             *          a axis= out> overwrite_input!True,False keepdims=
nancumsum             *          a axis= dtype= out>
nancumprod            *          a axis= dtype= out>
nansum                *          a axis= dtype= out> keepdims= initial!0 where!True
nanprod               *          a axis= dtype= out> keepdims= initial!1 where!True
nanmax                *          a axis= out> keepdims= initial! where!True
nanmin                *          a axis= out> keepdims= initial! where!True
nanmean               *          a axis= dtype~ out> keepdims= where!True
nanstd                *          a axis= dtype~ out> ddof=correction? keepdims= where!True mean!
                                 correction=?
nanvar                *          a axis= dtype~ out> ddof=correction? keepdims= where!True mean!
                                 correction=?
gradient              extras.*   f *varargs axis= edge_order=
diff                  .          a n= axis= prepend= append=

argmax                .          a axis= out> keepdims=
argmin                .          a axis= out> keepdims=
nanargmax             *          a axis= out> keepdims=
nanargmin             *          a axis= out> keepdims=
count_nonzero         .          a axis= keepdims=
nonzero               .          a
flatnonzero           *          a
argwhere              *          a
partition             *          a kth axis= kind!introselect order!
argpartition          *          a kth axis= kind!introselect order!
searchsorted          .          a v side= sorter=
where                 *          condition *choices
sort                  *          a axis= kind!quicksort,mergesort,heapsort,stable order!
                                 stable!True,False descending!False
argsort               *          a axis= kind!quicksort,mergesort,heapsort,stable order!
                                 stable!True,False descending!False
unique                *          ar return_index= return_inverse= return_counts= axis! equal_nan=
                                 sorted!True,False
unique_all            .          x
unique_counts         .          x
unique_inverse        .          x
unique_values         .          x
isin                  .          element test_elements assume_unique!True,False invert=
                                 kind!sort,table
setdiff1d             xpx.*      ar1 ar2 assume_unique=
union1d               xpx.*      ar1 ar2
take                  *          a indices axis= out> mode!raise
take_along_axis       .          arr indices axis=

reshape               .          a shape= order!C newshape=shape? copy=
ravel                 *          a order!C
transpose             *          a axes=
matrix_transpose      .          x
moveaxis              .          a source destination
swapaxes              x.*        a axis1 axis2
expand_dims           .          a axis
squeeze               *          a axis=
flip                  .          m axis=
fliplr                *          m
flipud                *          m
rot90                 *          m k= axes=
roll                  .          a shift axis=
repeat                .          a repeats axis=
tile                  .          A reps
broadcast_to          .          array shape subok!True,False
broadcast_arrays      *          *args subok!True,False
atleast_1d            *          *arys
atleast_2d            *          *arys
atleast_3d            *          *arys
concatenate           extras.*   arrays axis= out> dtype= casting!same_kind
stack                 .          arrays axis= out> dtype! casting!same_kind
hstack                *          tup dtype! casting!same_kind
vstack                *          tup dtype! casting!same_kind
dstack                *          tup
column_stack          *          tup
pad                   extras.*   array pad_width mode= constant_values=
                                 reflect_type!even end_values! stat_length!
append                *          arr values axis=
unstack               .          x axis=
split                 *          ary indices_or_sections axis=
array_split           *          ary indices_or_sections axis=
hsplit                *          ary indices_or_sections
vsplit                *          ary indices_or_sections
dsplit                *          ary indices_or_sections
meshgrid              .          *xi copy!True sparse!False indexing=
tril                  .          m k=
triu                  .          m k=
diag                  extras.*   v k=
diagonal              *          a offset= axis1= axis2=

clip                  .          a a_min=min? a_max=max? out> min=? max=? where!True
                                 casting!same_kind order!K dtype! subok!True signature!
round                 x.*        a decimals= out>
around                x.round    a decimals= out>
fix                   trunc      x out>
real                  .          val
imag                  .          val
isreal                *          x
iscomplex             *          x
isrealobj             *          x
iscomplexobj          *          x
sinc                  xpx.*      x
isclose               *          a b rtol= atol= equal_nan=
allclose              *          a b rtol= atol= equal_nan=
array_equal           *          a1 a2 equal_nan=

dot                   *          a b out>
vdot                  *          a b
inner                 *          a b
outer                 *          a b out>
kron                  xpx.*      a b
einsum                extras.*   *operands out> optimize!True,False,greedy,optimal dtype!
                                 order!K,C,A casting!safe,same_kind
tensordot             .          a b axes=
cross                 linalg.*   a b axisa!-1 axisb!-1 axisc!-1 axis=?
trace                 *          a offset= axis1= axis2= dtype= out>
linalg.cholesky       .          a upper=
linalg.cross          .          x1 x2 axis=
linalg.det            .          a
linalg.diagonal       .          x offset=
linalg.eig            .          a
linalg.eigh           .          a UPLO!L
linalg.eigvals        .          a
linalg.eigvalsh       .          a UPLO!L
linalg.inv            .          a
linalg.matmul         .          x1 x2
linalg.matrix_norm    .          x keepdims= ord=
linalg.matrix_power   .          a n
linalg.matrix_rank    .          A tol! hermitian!False rtol=?
linalg.matrix_transpose  .       x
linalg.norm           *          x ord= axis= keepdims=
linalg.outer          .          x1 x2
linalg.pinv           .          a rcond=rtol? hermitian!False rtol=?
linalg.qr             *          a mode=
linalg.slogdet        .          a
linalg.solve          .          a b
linalg.svd            *          a full_matrices= compute_uv= hermitian!False
linalg.svdvals        .          x
linalg.tensordot      .          x1 x2 axes=
linalg.trace          .          x offset= dtype=
linalg.vecdot         .          x1 x2 axis=
linalg.vector_norm    .          x axis= keepdims= ord=

fft.fft               .          a n= axis= norm=? out>
fft.ifft              .          a n= axis= norm=? out>
fft.rfft              .          a n= axis= norm=? out>
fft.irfft             .          a n= axis= norm=? out>
fft.hfft              .          a n= axis= norm=? out>
fft.ihfft             .          a n= axis= norm=? out>
fft.fftn              .          a s= axes= norm=? out>
fft.ifftn             .          a s= axes= norm=? out>
fft.rfftn             .          a s= axes= norm=? out>
fft.irfftn            .          a s= axes= norm=? out>
fft.fft2              *          a s= axes= norm=? out>
fft.ifft2             *          a s= axes= norm=? out>
fft.rfft2             *          a s= axes= norm=? out>
fft.irfft2            *          a s= axes= norm=? out>
fft.fftshift          .          x axes=
fft.ifftshift         .          x axes=

zeros_like            *          a dtype= order!C,K,A,F subok!True,False shape= device=?
ones_like             *          a dtype= order!C,K,A,F subok!True,False shape= device=?
empty_like            *          prototype dtype= order!C,K,A,F subok!True,False shape= device=?
full_like             *          a fill_value dtype= order!C,K,A,F subok!True,False shape= device=?
copy                  x.*        a order!C,K,A,F subok!True,False
astype                .          x dtype copy= device=?
linspace              *          start stop num= endpoint= retstep!False dtype= axis!0 device=?
logspace              extras.*   start stop num= endpoint= base= dtype= axis!0
zeros                 .          shape dtype= order!C,F device=?
ones                  .          shape dtype= order!C,F device=?
empty                 .          shape dtype= order!C,F device=?
full                  .          shape fill_value dtype= order!C,F device=?
eye                   *          N M k= dtype= order!C,F device=?
identity              eye        n dtype=
arange                .          start_or_stop stop step dtype= device=?
array                 extras.*   object dtype= copy= order!K,C,A,F subok!True,False ndmin= ndmax!0
asarray               .          a dtype= order!C,K,A,F device=? copy=
asanyarray            asarray    a dtype= order!C,K,A,F device=? copy=

ndim                  x.*        a
shape                 x.*        a
size                  *          a axis=
result_type           .          *arrays_and_dtypes
can_cast              *          from_ to casting=
shares_memory         *          a b max_work!
may_share_memory      *          a b max_work!
array_repr            *          arr max_line_width! precision! suppress_small!
array_str             *          a max_line_width! precision! suppress_small!
"""


def has_no_effect(value: Any, taken: Iterable[str] = ()) -> bool:
    """Whether a parameter is given the value it has when it is left out, or one of these."""
    if value is None or value is np._NoValue:
        return True
    return isinstance(value, (bool, int, str)) and str(value) in taken


class Parameter(NamedTuple):
    """One of NumPy's parameters, and what becomes of it.

    Attributes
    ----------
    name : str
    how : {"place", "rest", "names", "name", "cast", "out", "masked", "refused"}
    ours : str
        The name it is given on under.
    optional : bool
        Whether None is left out.
    taken : frozenset of str
        Values of a refused one that change nothing.
    """

    name: str
    how: str
    ours: str = ""
    optional: bool = False
    taken: frozenset[str] = frozenset()


class Row(NamedTuple):
    """One function: its name, ours ("" if it is several of them), and its parameters."""

    name: str
    ours: str
    parameters: tuple[Parameter, ...]


def _parameter(text: str) -> Parameter:
    if text.startswith("**"):
        return Parameter(text[2:], "names")
    if text.startswith("*"):
        return Parameter(text[1:], "rest")
    if text.endswith("~"):
        return Parameter(text[:-1], "cast")
    if text.endswith((">", "&")):
        return Parameter(text[:-1], "out" if text.endswith(">") else "masked")
    name, refused, taken = text.partition("!")
    if refused:
        return Parameter(name, "refused", taken=frozenset(taken.split(",")))
    name, named, ours = text.partition("=")
    if not named:
        return Parameter(name, "place")
    return Parameter(name, "name", ours.removesuffix("?") or name, ours.endswith("?"))


def _rows() -> Iterator[Row]:
    for line in filter(None, _TEXT.replace("\n ", " ").splitlines()):
        name, ours, *parameters = line.split()
        last = name.rpartition(".")[2]
        own = {".": name, "*": ""}.get(ours, ours.replace("*", last))
        yield Row(name, own, tuple(map(_parameter, parameters)))


@cache
def rows() -> Mapping[str, Row]:
    """Every row by the name of NumPy's function, without ``numpy.``."""
    return {row.name: row for row in _rows()}
