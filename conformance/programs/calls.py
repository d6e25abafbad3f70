"""Calls with the options of the standard's functions, one a line, and what makes programs of them.

``<2,3>`` is an array of that shape, ``<2 index>`` one of a kind (`_KINDS`, or a dtype's name),
``{a|b|}`` one of these, DTYPE a dtype to compute in, ANY one to cast to, and SCALAR a Python
scalar; START and STEP are those of ranges, INT is a small integer and AXIS an axis in one of the
kinds that callers have them in, and FOREIGN an operand that is not the framework's own
(``foreign.operand``). A line begins with the functions that it is about; what a framework does not
have is not asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from programs.program import words
from programs.writer import Writer

REDUCED = """
sum prod mean std var max min all any : <2,3 plain>, axis={(0, 1)|-1|None}{|, keepdims=True}
sum prod : <2,3 plain>{|, axis=1}, dtype=DTYPE
sum prod mean max min all any : <0,3>, axis={0|1}
count_nonzero : <2,3>, axis={(0, 1)|1|None}{|, keepdims=True}
argmax argmin : <2,3>, axis={0|1|-1}{|, keepdims=True}
cumulative_sum cumulative_prod : <3 plain>{|, include_initial=True}{|, dtype=DTYPE}
cumulative_sum cumulative_prod : <2,3 plain>, axis={0|1|-1}{|, include_initial=True}
diff : <4 plain>{|, n=0|, n=2}{|, prepend=<1 plain>|, append=<2 plain>}
diff : <2,3 plain>, axis={0|1}
"""

SEARCHED = """
sort argsort : <2,3>, axis={0|1|-2}{|, descending=True}{|, stable=True}
sort argsort : <4>{|, descending=True}
searchsorted : <3 rising>, {<2,2>|<>|SCALAR}, side={'left'|'right'}
searchsorted : array("DTYPE", [1, 0, 1], (3,)), <2>, sorter=array("int64", [1, 0, 2], (3,))
unique_all unique_counts unique_inverse unique_values : {<4>|<2,2>|<>}
isin : <2,2>, <3>, invert={True|False}
nonzero : {<2,2>|<2,3 bool>}
where : {<2,1 bool>|<3>}, {<3>|SCALAR}, {<1>|<>}
clip : <3>{, SCALAR|, min=SCALAR|, None, SCALAR|, max=SCALAR|, <>, <3>|, min=<3>}
clip : <2,3>, <3>, <2,1>
"""

MOVED = """
take : <2,3>, <2 index>, axis={0|1|-1}
take : <3>, {<2,2 index>|<0 index>}, axis=0
take_along_axis : <2,2>, <2,2 index>{|, axis=0|, axis=-1}
flip : <2,3>{|, axis=1|, axis=(0, 1)|, axis=-1}
roll : <2,3>, {1|-1|5}{|, axis=1}
roll : <2,3>, (1, 2), axis=(0, 1)
expand_dims : <2,3>, axis={1|-1|2}
squeeze : <2,1,3>, axis={1|-2|(1,)|0}
permute_dims : <2,1,3>, {(2, 0, 1)|(0, 2, 1)}
moveaxis : <2,1,3>, {0, -1|(0, 1), (1, 2)|-1, 0}
repeat : <3>, {2|0|<3 index>}{|, axis=0}
repeat : <2,3>, 2{|, axis=1}
tile : <2,3>, {(2,)|(2, 1)|(1, 2, 1)}
tril triu : {<3,3>|<2,2,3>}, k={1|-1|3}
concat : [<2,1>, <2,3>], axis={1|-1}
concat : {[<2>, <2,2>], axis=None|[<0>, <3>]|[<1>, <1>, <1>, <1>]}
stack : [<2>, <2>], axis={-1|1}
unstack : <2,3>, axis={1|-1}
broadcast_to : {<>|<3>|<2,1>}, (2, 3)
reshape : <2,3>, {(3, 2)|(1, -1)|(2, 3, 1)}
matrix_transpose : <2,2,3>
meshgrid : <2>, <3>{|, <1>}, indexing={'xy'|'ij'}
broadcast_arrays : <2,1>, <3>, <>
"""

MADE = """
zeros_like ones_like : <2>{|, dtype=DTYPE}
empty : (0, 2){|, dtype=DTYPE}
empty_like : <0>{|, dtype=DTYPE}
eye : {2|3}{|, 2|, 4}{|, k=1|, k=-1}{|, dtype=DTYPE}
linspace : {0|-1|0.5}, {5|1|2.5|300}, {4|1}, endpoint={False|True}{|, dtype=DTYPE}
linspace : {0|1j|True|-1.5}, {2.0|3|1+1j}, 3{|, dtype=DTYPE}
asarray : <3>{|, dtype=DTYPE}{|, copy=True}
asarray : [[SCALAR, SCALAR], [SCALAR, SCALAR]]{|, dtype=DTYPE}
astype : <3>, DTYPE, copy={True|False}
full_like : {<2>|<>}, SCALAR{|, dtype=DTYPE}
fft.fftfreq fft.rfftfreq : {4|5}{|, d=0.5|, d=2}{|, dtype=DTYPE}
isdtype : DTYPE, {'bool'|'integral'|'real floating'|'numeric'|'signed integer'|DTYPE}
isdtype : DTYPE, {'unsigned integer'|'complex floating'|('integral', 'bool')|(DTYPE, 'bool')}
can_cast : {DTYPE|<2>}, DTYPE
result_type : DTYPE, {DTYPE|SCALAR}
result_type : {<>|<2>}, DTYPE, {SCALAR|DTYPE}
result_type : <2>, <>, <>
promote_types : DTYPE, DTYPE
"""

LINEAR = """
matmul : {<2,2,2 plain>|<2,1,2,2 plain>}, <2,2 plain>
vecdot linalg.vecdot : <2,3 plain>, <2,3 plain>, axis={-1|-2}
tensordot linalg.tensordot : <2,2 plain>, <2,2 plain>{|, axes=0|, axes=1|, axes=([0], [1])}
linalg.matmul : <2,2 plain>, <2,2 plain>
linalg.matrix_transpose : <2,3>
linalg.trace : <2,3 plain>{|, offset=1|, offset=-1}{|, dtype=DTYPE}
linalg.diagonal : <2,2,3>{|, offset=1|, offset=-1}
linalg.outer : <2 plain>, {<3 plain>|SCALAR}
linalg.cross : <2,3 plain>, {<2,3 plain>|<3 plain>}
linalg.vector_norm : <2,3 plain>, axis={0|-1|(0, 1)|None}{|, keepdims=True}{|, ord=1|, ord=3}
linalg.vector_norm : <3 plain>{|, ord=1|, ord=inf|, ord=-inf|, ord=0|, ord=0.5}
linalg.matrix_norm : {<2,2 plain>|<2,2,3 plain>}{|, keepdims=True}{|, ord=1|, ord=inf|, ord=-1}
linalg.matrix_norm : <2,2 regular>, ord={2|-2|'nuc'|'fro'}
linalg.matrix_rank linalg.pinv : <2,2 regular>{|, rtol=0.5}
linalg.cholesky : <2,2 regular>, upper={True|False}
linalg.eigh linalg.eig linalg.eigvals linalg.qr linalg.svd : <2,2 regular>
linalg.svd : <2,3 plain>, full_matrices={True|False}
linalg.solve : <2,2 regular>, {<2 plain>|<2,3 plain>}
linalg.matrix_power : <2,2 regular>, {-1|5}
linalg.det linalg.inv linalg.slogdet linalg.eigvalsh linalg.svdvals : <1,2,2 regular>
"""

TRANSFORMED = """
fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft : <4 plain>{|, n=3|, n=6}{|, norm='ortho'}
fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft : <2,3 plain>, axis=0{|, norm='forward'}
fft.fftn fft.ifftn fft.rfftn fft.irfftn : <2,3 plain>{|, axes=(0, 1)}{|, norm='ortho'}
fft.fftn fft.ifftn fft.rfftn fft.irfftn : <2,3 plain>, s={(2, 2)|(3, 4)}, axes=(0, 1)
fft.fftshift fft.ifftshift : <2,3>{|, axes=0|, axes=(0, 1)}
"""

INDEXED = """
getitem : <2,3>, {(0, 1)|(slice(None), 1)|(..., 0)|(None, 0)|(-1, slice(0, 2))}
getitem : {<2,3>, <2,3 bool>|<3>, <3 bool>|<2,3>, <2 bool>}
getitem : {<3>, <2,2 index>|<2,3>, (<2 index>, <2 index>)|<2,3>, (slice(None), <2 index>)}
getitem : <>, {...|()|None}
"""

ASSIGNED = """
setitem : {<3>, <3 bool>|<2,3>, <2,3 bool>|<2,3>, <2 bool>}, {SCALAR|<>|<1>}
setitem : <3>, <2 index>, {SCALAR|<2>|<>}
setitem : <2,3>, {...|1|slice(None)|(slice(None), slice(0, 3))}, {<3>|<1>|SCALAR}
setitem : <2,3>, {(slice(None), 1)|(..., -1)|(0, slice(1, None))}, {<2>|<>|SCALAR}
"""

_KINDS = {"index": words("int64 int64 int64 int32"), "": (), "plain": ()}
"""The dtypes that arrays of a kind have; those of ``_FIXED`` have any, and fixed values, those of
``index`` any now and then."""

_FIXED = {"rising": "0 1 1", "regular": "3 1 1 2", "order": "1 0 2"}

_CHOICE = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"<([\d,]*) ?(\w*)>|\b(DTYPE|ANY|SCALAR|INT|AXIS|START|STEP|FOREIGN)\b")


def chapter(text: str) -> Callable[[Writer], str]:
    """A chapter of programs that make one of these calls.

    Parameters
    ----------
    text : str
        Lines ``functions : arguments``.
    """
    calls: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        functions, _, arguments = line.partition(" : ")
        for name in functions.split():
            calls.setdefault(name, []).append(arguments)

    def written(w: Writer) -> str:
        """One of the calls."""
        name = w.known(tuple(calls))
        return w.line(f"{name}({_arguments(w, w.one(calls[name]))})")

    return written


def _arguments(w: Writer, template: str) -> str:
    while _CHOICE.search(template):
        template = _CHOICE.sub(lambda found: str(w.one(found[1].split("|"))), template)
    return _WORD.sub(lambda found: _written(w, found), template)


def _written(w: Writer, found: re.Match[str]) -> str:
    if found[3]:
        return _WORDS[found[3]](w)
    kind, shape = found[2], tuple(int(length) for length in found[1].split(",") if length)
    count = 1
    for length in shape:
        count *= length
    fixed = _FIXED.get(kind) or (" ".join("10" * count)[: 2 * count - 1] if kind == "index" else "")
    if fixed:
        dtype = w.one(w.dtypes if w.chance(0.15) else _KINDS.get(kind) or w.dtypes)
        return w.line(f'array("{dtype}", [{", ".join(fixed.split())}], {shape})', shape)
    dtypes = _KINDS.get(kind, (kind,))
    return w.array(shape, dtypes, plain=True if kind == "plain" and w.chance(0.7) else None)


_WORDS: Mapping[str, Callable[[Writer], str]] = {
    "SCALAR": Writer.scalar,
    "DTYPE": lambda w: str(w.one(w.dtypes)),
    "ANY": lambda w: str(w.one(w.castable)),
    "FOREIGN": Writer.foreign,
    "START": lambda w: str(w.one((*words("0 1 -3 0.1 -0.0 1e8 1e300 inf 1j"), w.foreign()))),
    "STEP": lambda w: str(w.one(words("1 2 0.1 0.3 -1 True 0.25"))),
    "INT": lambda w: w.integer(("0", "1", "2", "-1", "3")),
    "AXIS": lambda w: w.integer(("0", "0", "1", "-1", "-1", "None", "2", "-3")),
}


CHAPTERS: Mapping[Callable[[Writer], str], int] = {
    chapter(REDUCED): 8,
    chapter(SEARCHED): 8,
    chapter(MOVED): 8,
    chapter(MADE): 10,
    chapter(LINEAR): 10,
    chapter(TRANSFORMED): 4,
    chapter(INDEXED): 4,
    chapter(ASSIGNED): 6,
}
"""The chapters, and how often programs come from them."""
