"""Calls with each kind of value an argument takes: Python's and NumPy's numbers, 0-d arrays, every
dtype where an index, an axis, a count or a condition is taken; assignment by masks and broadcast;
operands of NumPy's, and of classes derived from Python's, beside arrays.

Written as in `calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from programs.calls import chapter
from programs.writer import Writer

REDUCED = """
sum prod : <2,3>{|, axis=AXIS}{|, keepdims=True}, dtype=ANY
sum prod mean max min all any count_nonzero : {<2,3>|<9>|<>}, axis={AXIS|(AXIS, AXIS)|()}
sum prod mean max min all any : {<9>|<17>|<>|<1>}{|, keepdims={True|1|False}}
std var : {<4>|<2,3>|<>|<0>}{|, axis=AXIS}, correction={0|1|2|-1|0.5|True|3|4}
argmax argmin : {<2,3>|<9>|<>}, axis=AXIS{|, keepdims=True}
cumulative_sum cumulative_prod : {<3>|<2,3>|<>}, axis=AXIS{|, dtype=ANY}{|, include_initial=True}
diff : {<4>|<2,3>}, n=INT{|, axis=AXIS}
diff : <3>{|, prepend={<>|<1>|SCALAR|FOREIGN}}{|, append={<>|<2>|SCALAR}}
"""

SEARCHED = """
sort argsort : {<9>|<2,3>|<>}, axis=AXIS{|, descending=True}
searchsorted : <3 rising>, {<>|<2>|FOREIGN}{|, side='right'}
searchsorted : <3 rising>, <2>, sorter=<3 order>
where : {<>|<3>|<3 bool>|FOREIGN}, {<>|<3>|SCALAR|FOREIGN}, {<>|<3>|SCALAR}
isin : {<>|<3>}, {<>|<3>|SCALAR|FOREIGN}
clip : {<>|<3>|<9>}, {<>|<3>|SCALAR|FOREIGN|None}, {<>|<3>|SCALAR|FOREIGN|None}
nonzero unique_values : {<>|<9>}
"""

MOVED = """
take : {<3>|<2,3>}, {<2 index>|< index>|FOREIGN|[0, 1]}, axis=AXIS
take_along_axis : <2,2>, <2,2 index>, axis=AXIS
repeat : <3>, {INT|<3 index>|<1 index>|< index>|FOREIGN|[1, 0, 2]}{|, axis=AXIS}
roll : {<3>|<2,3>}, {INT|(INT, INT)}{|, axis=AXIS}
tile : {<3>|<>}, {(INT,)|(INT, 2)|2}
flip : {<3>|<2,3>|<>}, axis={AXIS|(AXIS, AXIS)}
expand_dims squeeze : {<1,3>|<1>|<>}, axis=AXIS
moveaxis : <2,3>, AXIS, AXIS
unstack : <2,3>, axis=AXIS
concat : [{<>|<3>|FOREIGN}, <3>], axis=AXIS
stack : [{<>|<3>}, {<>|<3>|FOREIGN}], axis=AXIS
broadcast_to : {<>|<1>|<3>}, {(3,)|3|(2, 3)|(INT, 3)}
reshape : {<2,3>|<>}, {(-1,)|6|-1|(INT, -1)|(3, 2)}
tril triu : {<2,3>|<3>}, k=INT
meshgrid broadcast_arrays : {<>|<2>}, {<>|<3>|<1>}
"""

MADE = """
arange : {INT|STEP|FOREIGN|< index>}{|, dtype=ANY}
arange : {0|1|-3|0.5|-0.0|2.5|True|FOREIGN}, {3|10|7.3|-4|1.5|< index>}{|, STEP}{|, dtype=ANY}
linspace : START, {3|-7|0.7|2.5|1e9|300|1+2j}, {5|9|17|INT}{|, endpoint=False}{|, dtype=ANY}
logspace : {0|-1|0.5}, {1|2|2.5}, {3|5}{|, base={2|2.0|10}}{|, dtype=ANY}
eye : {INT|3}{|, {INT|4}}{|, k=INT}{|, dtype=ANY}
full : {(2,)|2|(INT, 2)|()}, {SCALAR|FOREIGN|<>}{|, dtype=ANY}
full_like : {<2>|<>}, {SCALAR|FOREIGN|<>}{|, dtype=ANY}
zeros ones : {(0, INT)|INT|0|[0, 2]}{|, dtype=ANY}
asarray : {FOREIGN|<>|[<>, <>]|[FOREIGN, 1]|<2>}{|, dtype=ANY}
astype : {<9>|<>|<2,3>}, ANY
"""

LINEAR = """
matmul : {<>|<3>|<2,3>|<1>}, {<>|<3>|<3,2>|<1>|<1,2>}
vecdot : {<3>|<2,3>|<1>|<>}, {<3>|<>|<1>|FOREIGN}
tensordot : {<2,3>|<3>|<>}, {<3,2>|<3>|<>}, axes={INT|([-1], [0])|(-1, 0)}
linalg.trace : <2,3>, offset=INT{|, dtype=ANY}
linalg.diagonal : <2,3>, offset=INT
linalg.outer : {<3>|<>|<1>}, {<2>|<>|FOREIGN}
linalg.matrix_power : <2,2 regular>, INT
linalg.vector_norm : {<3>|<2,3>|<>}{|, axis=AXIS}{|, ord={INT|inf|0.5}}
fft.fft fft.rfft fft.ifft : <4>, n=INT{|, axis=AXIS}
"""

_AT = (
    "{<2 index>|< index>|<0 index>|FOREIGN|(<2 index>, INT)|(INT, <2 index>)|[0, 1]|[True, False]"
    "|True|False|(None, <2 index>)|(..., <2 index>)|(slice(INT, None), 0)|(<2 index>, <2 index>)"
    "|(slice(None), <3 bool>)|(<2 bool>, <3 bool>)|(<2 bool>, 0)|< bool>|<2,3 bool>|<2 bool>"
    "|<2 uint8>|<2,3 uint8>|(INT, INT)|(..., None, 0)|slice(None, None, -1)|<2,1 index>}"
)

INDEXED = f"""
getitem : <2,3>, {_AT}
getitem : {{<>|<3>}}, {{<3 bool>|< bool>|INT|FOREIGN|<3 index>|...|None}}
"""

ASSIGNED = f"""
setitem : <2,3>, {_AT}, {{SCALAR|<>|<1>|<3>|<2>|<2,1>|<2,3>|<2,2>|FOREIGN}}
setitem : <3>, {{<3 bool>|<2 index>|INT|...}}, {{SCALAR|<>|<1>|<2>|<3>|FOREIGN}}
setitem : <>, {{...|()|True|< bool>}}, {{SCALAR|<>|<1>|FOREIGN}}
"""

BESIDE = """
add subtract multiply divide floor_divide remainder pow : {<>|<3>|<2,1>}, {FOREIGN|<>|<9>}
maximum minimum hypot : {<>|<3>|<2,1>}, {FOREIGN|<>|<9>}
equal less greater_equal logical_and atan2 copysign : {<>|<3>}, FOREIGN
add multiply divide less equal maximum where atan2 : FOREIGN, {<>|<3>}
"""

CHAPTERS: Mapping[Callable[[Writer], str], int] = {
    chapter(REDUCED): 10,
    chapter(SEARCHED): 8,
    chapter(MOVED): 10,
    chapter(MADE): 12,
    chapter(LINEAR): 6,
    chapter(INDEXED): 6,
    chapter(ASSIGNED): 10,
    chapter(BESIDE): 4,
}
"""The chapters, and how often programs come from them."""
