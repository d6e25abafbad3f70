// The cast of an array of any layout.
#include "arguments.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"
#include "walk.h"

namespace promoarray {

void cast_array(nb::handle source, nb::handle target, nb::handle source_row, nb::handle target_row,
                nb::handle mode_tuple, bool tuned, nb::handle adjustment) {
    const Type from = read_type(source_row, "source_row"), to = read_type(target_row, "target_row");
    const CastMode mode = read_mode(mode_tuple);
    const Array src(source, "src", PyBUF_STRIDES);
    const Array dst(target, "dst", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    check_item(src, from);
    check_item(dst, to);
    check_pair(src, dst);
    if (!dst.aligned(size_of(to))) refuse("dst is not aligned to its elements");
    if (src.empty()) return;

    Axes axes;
    size_t n = 1;
    for (int i = 0; i < src.ndim(); ++i) {
        axes.append((size_t)src.shape(i), src.stride(i));
        n *= (size_t)src.shape(i);
    }
    const Adjustment adjusted = read_adjustment(adjustment, from, to);
    Caster cast(from, to, mode, n, tuned, adjustment.is_none() ? nullptr : &adjusted);
    if (!cast.exists()) refuse("no loop adjusts a cast of these types so");
    if (cast.reads_both()) axes.append(2, (Py_ssize_t)cast.from_size());

    if (n < 4096) {  // handing the lock over takes longer
        const DefaultFloatState state;
        walk(cast, src.data(), dst.data(), axes, src.native());
        return;
    }
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (!goes_in_parts) {
        const DefaultFloatState state;
        walk(cast, src.data(), dst.data(), axes, src.native());
        return;
    }
    const size_t rows = axes.shape[0], length = (cast.reads_both() ? 2 * n : n) / rows;
    in_ranges(rows, length, [&] {
        return [&, own = cast](size_t begin, size_t end) mutable {
            const DefaultFloatState state;
            Axes range = axes;
            range.shape[0] = end - begin;
            walk(own, src.data() + (Py_ssize_t)begin * axes.stride[0],
                 dst.data() + cast.written(begin * length), range, src.native());
        };
    });
}

}  // namespace promoarray
