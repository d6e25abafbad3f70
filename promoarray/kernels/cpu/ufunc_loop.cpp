// The inner loop of a ufunc of NumPy's on several threads, none of which has the lock of the
// interpreter: to hand that from one thread to another takes as long as a million elements.
#include <memory>
#include <mutex>
#include <string>

#include "arguments.h"
#include "float_state.h"
#include "met.h"
#include "module.h"
#include "pool.h"
#include "ufunc_loop.h"
#include "unlocked.h"

namespace promoarray {
namespace {

constexpr int most_arrays = 4;

}  // namespace

const UfuncLoop &read_loop(nb::handle capsule) {
    const void *found = PyCapsule_GetPointer(capsule.ptr(), UfuncLoop::name);
    if (found == nullptr) throw nb::python_error();
    const auto *loop = static_cast<const UfuncLoop *>(found);
    if (loop->run == nullptr) refuse("loop was not looked up: ufunc._get_strided_loop does");
    return *loop;
}

nb::tuple run_ufunc_loop(nb::handle capsule, nb::handle operands, nb::handle result, size_t length) {
    const UfuncLoop &loop = read_loop(capsule);
    if (loop.needs_lock) refuse("loop needs the lock of the interpreter");
    const Py_ssize_t count = PyTuple_Check(operands.ptr()) ? PyTuple_Size(operands.ptr()) : 0;
    if (count < 1 || count >= most_arrays)
        throw nb::type_error("operands must be a tuple of 1 to 3 arrays");
    if (length == 0) refuse("a part has no length");
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array out(result, "result", flags | PyBUF_WRITABLE);
    const size_t n = out.count();
    char *data[most_arrays];
    Py_ssize_t strides[most_arrays];
    std::unique_ptr<Array> given[most_arrays];
    for (Py_ssize_t i = 0; i < count; ++i) {
        given[i] = std::make_unique<Array>(PyTuple_GetItem(operands.ptr(), i), "operand", flags);
        check_apart(*given[i], out);
        if (given[i]->count() != n && given[i]->count() != 1)
            refuse("operand has neither 1 element nor all");
        data[i] = given[i]->data();
        strides[i] = given[i]->count() == n ? (Py_ssize_t)given[i]->item() : 0;
    }
    data[count] = out.data();
    strides[count] = (Py_ssize_t)out.item();

    Met met;
    std::mutex meeting;
    {
        const Unlocked unlocked;
        run_parts((n + length - 1) / length, [&](Parts &own) {
            const FloatStateGuard state;
            std::feclearexcept(FE_ALL_EXCEPT);
            Met found;
            for (size_t part; own.next(part);) {
                const size_t begin = part * length;
                const auto left = (Py_ssize_t)(n - begin < length ? n - begin : length);
                char *at[most_arrays];
                for (Py_ssize_t i = 0; i <= count; ++i)
                    at[i] = data[i] + (Py_ssize_t)begin * strides[i];
                const int failed = loop.run(loop.context, at, &left, strides, loop.auxiliary);
                const int raised = loop.raises_nothing ? 0 : raised_flags();
                found.meet(raised | (failed != 0 ? NOT_TOLD : 0), begin, (size_t)left);
            }
            std::feclearexcept(FE_ALL_EXCEPT);  // as NumPy leaves them
            const std::lock_guard<std::mutex> lock(meeting);
            met.meet(found);
        });
    }
    if ((met.raised & NOT_TOLD) != 0) PyErr_Clear();  // NumPy is asked again, and says it
    return as_tuple(met);
}

}  // namespace promoarray
