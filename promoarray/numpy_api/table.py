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
``where&``     which elements a reduction takes, or what it begins with (``options``)
``mean!``      refused, unless it is left out or None
``order!C,K``  refused, unless it is one of these
=============  =====================================================================

Functions of a chapter that take the same share a line, and one that begins with a space goes on
with the one before. Ours is a dot where it has the same name, and a star where ``composed``,
``statistical`` or ``expressions`` make it of several; ``x`` is the array itself, and ``xpx``
array-api-extra, which computes by the functions of our namespace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

_TEXT = """
all,any               .          a axis= out> keepdims= where&
max,min               .          a axis= out> keepdims= initial& where&
amax                  max        a axis= out> keepdims= initial& where&
amin                  min        a axis= out> keepdims= initial& where&
ptp                   *          a axis= out> keepdims=
sum,prod              .          a axis= dtype= out> keepdims= initial& where&
mean                  .          a axis= dtype~ out> keepdims= where&
std,var               .          a axis= dtype~ out> ddof=correction? keepdims= where& mean!
                                 correction=?
average               *          a axis= weights= returned!False keepdims=
cumsum,cumprod        *          a axis= dtype= out>
cumulative_sum,cumulative_prod  .  x axis= dtype= out> include_initial=
median,nanmedian      *          a axis= out> overwrite_input!True,False keepdims=
quantile,nanquantile  extras.*   a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
percentile,nanpercentile  *      a q axis= out> overwrite_input!True,False method= keepdims=
                                 weights! interpolation!
histogram             extras.*   a bins= range= density= weights!
interp                extras.*   x xp fp left= right= period!
piecewise             extras.*   x condlist funclist *args **kw
convolve,correlate    extras.*   a v mode=
cov                   extras.*   m y= rowvar= bias= ddof= fweights! aweights! dtype!
corrcoef              *          x y= rowvar= bias! ddof! dtype!
polyval               *          p x
nancumsum,nancumprod  *          a axis= dtype= out>
nansum                *          a axis= dtype= out> keepdims= initial!0 where!True
nanprod               *          a axis= dtype= out> keepdims= initial!1 where!True
nanmax,nanmin         *          a axis= out> keepdims= initial! where!True
nanmean               *          a axis= dtype~ out> keepdims= where!True
nanstd,nanvar         *          a axis= dtype~ out> ddof=correction? keepdims= where!True mean!
                                 correction=?
gradient              extras.*   f *varargs axis= edge_order=
diff                  .          a n= axis= prepend= append=

argmax,argmin         .          a axis= out> keepdims=
nanargmax,nanargmin   *          a axis= out> keepdims=
count_nonzero         .          a axis= keepdims=
nonzero               .          a
flatnonzero,argwhere  *          a
partition,argpartition  *        a kth axis= kind!introselect order!
searchsorted          .          a v side= sorter=
where                 *          condition *choices
sort,argsort          *          a axis= kind!quicksort,mergesort,heapsort,stable order!
                                 stable!True,False descending!False
unique                *          ar return_index= return_inverse= return_counts= axis! equal_nan=
                                 sorted!True,False
bincount              *          x weights= minlength=
unique_all,unique_counts,unique_inverse,unique_values  .  x
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
fliplr,flipud         *          m
rot90                 *          m k= axes=
roll                  .          a shift axis=
repeat                .          a repeats axis=
tile                  .          A reps
broadcast_to          .          array shape subok!True,False
broadcast_arrays      *          *args subok!True,False
atleast_1d,atleast_2d,atleast_3d  *  *arys
concatenate           extras.*   arrays axis= out> dtype= casting!same_kind
stack                 .          arrays axis= out> dtype! casting!same_kind
hstack,vstack         *          tup dtype! casting!same_kind
dstack,column_stack   *          tup
pad                   extras.*   array pad_width mode= constant_values=
                                 reflect_type!even end_values! stat_length!
append                *          arr values axis=
unstack               .          x axis=
split,array_split     *          ary indices_or_sections axis=
hsplit,vsplit,dsplit  *          ary indices_or_sections
meshgrid              .          *xi copy!True sparse!False indexing=
tril,triu             .          m k=
diag                  extras.*   v k=
diagonal              *          a offset= axis1= axis2=
fill_diagonal         *          a val wrap!False

clip                  .          a a_min=min? a_max=max? out> min=? max=? where!True
                                 casting!same_kind order!K dtype! subok!True signature!
round                 x.*        a decimals= out>
around                x.round    a decimals= out>
fix                   trunc      x out>
real,imag             .          val
isreal,iscomplex,isrealobj,iscomplexobj  *  x
sinc                  xpx.*      x
nan_to_num            *          x copy!True nan= posinf! neginf!
isclose,allclose      *          a b rtol= atol= equal_nan=
array_equal           *          a1 a2 equal_nan=

dot,outer             *          a b out>
vdot,inner            *          a b
kron                  xpx.*      a b
einsum                extras.*   *operands out> optimize!True,False,greedy,optimal dtype!
                                 order!K,C,A casting!safe,same_kind
tensordot             .          a b axes=
cross                 linalg.*   a b axisa!-1 axisb!-1 axisc!-1 axis=?
trace                 *          a offset= axis1= axis2= dtype= out>
linalg.cholesky       .          a upper=
linalg.det,eig,eigvals,inv,slogdet  .  a
linalg.eigh,eigvalsh  .          a UPLO!L
linalg.matmul,outer   .          x1 x2
linalg.cross,vecdot   .          x1 x2 axis=
linalg.tensordot      .          x1 x2 axes=
linalg.diagonal       .          x offset=
linalg.trace          .          x offset= dtype=
linalg.matrix_norm    .          x keepdims= ord=
linalg.matrix_power   .          a n
linalg.matrix_rank    .          A tol! hermitian!False rtol=?
linalg.matrix_transpose,svdvals  .  x
linalg.norm           .          x ord= axis= keepdims=
linalg.pinv           .          a rcond=rtol? hermitian!False rtol=?
linalg.qr             *          a mode=
linalg.solve          .          a b
linalg.svd            *          a full_matrices= compute_uv= hermitian!False
linalg.vector_norm    .          x axis= keepdims= ord=

fft.fft,ifft,rfft,irfft,hfft,ihfft  .  a n= axis= norm=? out>
fft.fftn,ifftn,rfftn,irfftn  .   a s= axes= norm=? out>
fft.fft2,ifft2,rfft2,irfft2  *   a s= axes= norm=? out>
fft.fftshift,ifftshift  .        x axes=

zeros_like,ones_like  *          a dtype= order!C,K,A,F subok!True,False shape= device=?
empty_like            *          prototype dtype= order!C,K,A,F subok!True,False shape= device=?
full_like             *          a fill_value dtype= order!C,K,A,F subok!True,False shape= device=?
copy                  x.*        a order!C,K,A,F subok!True,False
astype                .          x dtype copy= device=?
linspace              *          start stop num= endpoint= retstep!False dtype= axis!0 device=?
logspace              extras.*   start stop num= endpoint= base= dtype= axis!0
zeros,ones,empty      .          shape dtype= order!C,F device=?
full                  .          shape fill_value dtype= order!C,F device=?
eye                   *          N M k= dtype= order!C,F device=?
identity              eye        n dtype=
arange                .          start_or_stop stop step dtype= device=?
array                 extras.*   object dtype= copy= order!K,C,A,F subok!True,False ndmin= ndmax!0
asarray               .          a dtype= order!C,K,A,F device=? copy=
asanyarray            asarray    a dtype= order!C,K,A,F device=? copy=

ndim,shape            x.*        a
size                  *          a axis=
result_type           .          *arrays_and_dtypes
can_cast              *          from_ to casting=
shares_memory,may_share_memory  *  a b max_work!
array_repr            *          arr max_line_width! precision! suppress_small!
array_str             *          a max_line_width! precision! suppress_small!
"""


def has_no_effect(value: Any, taken: Iterable[str] = ()) -> bool:
    """Whether a parameter is given the value it has when it is left out, or one of these."""
    if value is None or value is np._NoValue:
        return True
    if isinstance(value, int) and value.bit_length() > 64:
        return False  # before it becomes text
    return isinstance(value, (bool, int, str)) and str(value) in taken


class Parameter(NamedTuple):
    """One of NumPy's parameters, and what becomes of it."""

    name: str
    how: str
    ours: str = ""  # the name it is given on under
    optional: bool = False  # whether None is left out
    taken: frozenset[str] = frozenset()  # values of a refused one that change nothing


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
        names, ours, *words = line.split()
        chapter, dot, alike = names.rpartition(".")
        parameters = tuple(map(_parameter, words))
        for last in alike.split(","):
            name = chapter + dot + last
            own = {".": name, "*": ""}.get(ours, ours.replace("*", last))
            yield Row(name, own, parameters)


@cache
def rows() -> Mapping[str, Row]:
    """Every row by the name of NumPy's function, without ``numpy.``."""
    return {row.name: row for row in _rows()}
