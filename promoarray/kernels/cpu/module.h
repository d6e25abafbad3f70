// The functions that Python calls. Nothing in them promotes or knows a policy; what is wrong with
// the arguments is an exception before the first element is written.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace promoarray {

void cast_array(nanobind::handle source, nanobind::handle target, nanobind::handle source_row,
                nanobind::handle target_row, nanobind::handle mode_tuple, bool tuned,
                nanobind::handle adjustment);

// Copy an array of any layout to one in rows.
void copy_array(nanobind::handle source, nanobind::handle target);

nanobind::tuple combine(const char *name, nanobind::handle operands, nanobind::handle result,
                        nanobind::handle rows, nanobind::handle modes);
nanobind::object loop_of(const char *name, nanobind::handle row);

// How many threads compute at once, as promoarray/threads.py decides where nobody has said so.
int threads_to_use();

// Run the inner loop of a ufunc of NumPy's on parts of so many elements, on threads of the pool too;
// which floating-point exceptions that met.
nanobind::tuple run_ufunc_loop(nanobind::handle capsule, nanobind::handle operands,
                               nanobind::handle result, std::size_t length);

// Call function(part) with each number below `parts`, on threads of the pool too.
void share(nanobind::handle function, std::size_t parts);

int fold(const char *name, nanobind::handle source, nanobind::handle result,
         nanobind::handle shape, nanobind::handle rows, nanobind::handle modes,
         nanobind::handle center, bool initial, Py_ssize_t runs);

// Write rows of integers to a result, in order.
void sort_integers(nanobind::handle source, nanobind::handle result, bool with_sign);

// Write the indices that sort rows of integers without a sign; equal ones stay in order.
void order_integers(nanobind::handle keys, nanobind::handle result);

// Write where values belong among sorted ones.
void search(nanobind::handle sorted, nanobind::handle values, nanobind::handle result,
            nanobind::handle row, bool after);

// Write the products of two stacks of integer matrices to a third.
void multiply(nanobind::handle left, nanobind::handle right, nanobind::handle result,
              nanobind::handle row);

// Write what a table has for the codes of an array; return the exceptions that codes near them have.
int look_up(nanobind::handle source, nanobind::handle result, nanobind::handle table,
            nanobind::handle raised, int heeded);

// Write 1 to the entry of each code that an array has.
void mark_codes(nanobind::handle source, nanobind::handle met);

// The class of callables that run another in the default floating-point state.
nanobind::object state_guard_type();

// The class of operations on short operands between their casts.
nanobind::object casting_kernel_type();

// The class of casts of Python's numbers to 0-d arrays.
nanobind::object scalar_caster_type();

// The class of what reads lists of Python's numbers.
nanobind::object number_reader_type();

// The class of reductions of short arrays to a number.
nanobind::object folding_kernel_type();

// The class of sorts of few elements.
nanobind::object ordering_kernel_type();

}  // namespace promoarray
