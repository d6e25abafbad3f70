"""Random programs, run by a real framework and by promoarray, and what they answer.

A program is a few lines of Python in the array API's words::

    a = array("int8", [1, -128], (2,))
    b = a + 300
    c = sum(b, axis=0)

A framework runs it with functions of its own under these names (`frameworks`), in a process of its
own environment (`worker`, driven by `live`); promoarray runs it under the policy (`ours`).
`generate` makes programs, `answers` writes results as text, `compare` tells where they differ,
`shrink` looks for the smallest program that still does, `recorded` keeps answers for the tests.
`python conformance/differential.py` is the command.
"""
