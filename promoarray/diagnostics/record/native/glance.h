// A glance at numbers: whether it is certain that an operation lost none of them. Most do not, and nobody
// else has to look at their values then.
#pragma once

#include "hook.h"

namespace promoarray {

// How results follow from operands, by the numbers that checked.py has. FINITE and WHOLE are told from results
// alone, and WHOLE of no integers; CHOOSE and MAKE from what is given; a function SAME as its
// operand computes in that dtype.
enum class Glance { NONE, FINITE, SAME, SUM, CAST, CHOOSE, MAKE, WHOLE, ABS, DIFF, NEGATIVE, SQUARE,
                    ADD, SUBTRACT, MULTIPLY, DIVIDE, FLOOR_DIVIDE, REMAINDER, POW, MATMUL, SHIFT };

// Whether an operation lost nothing; false if that is not certain. `updates`: whether the first operand is
// what it adds to again and again. The operands are as they were before; no second of an operation of one.
bool lost_nothing(const FastHook *self, Glance how, PyObject *first, PyObject *second, PyObject *result, bool updates);

// Whether the session looks at operations that make such an array.
bool is_looked_at(const FastHook *self, PyObject *made);

// Whether an array that a value is stored in holds it as it is.
bool is_held_as_it_is(const FastHook *self, PyObject *target, PyObject *value);

}  // namespace promoarray
