// The cast of an array of any layout.
#include "chosen_cast.h"
#include "cursor.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace promoarray {
namespace {

constexpr size_t SHORT_ROW = 256;   // elements, of which several rows are better gathered first
constexpr size_t KEEPS_LOCK = 4096;  // elements up to which handing the lock over takes longer

void swap_bytes(char *at, size_t n, size_t size) {
    for (size_t i = 0; i < n; ++i, at += size) std::reverse(at, at + size);
}

// Elements from `begin` to `end`, to where the first of all goes.
void cast_range(const ChosenCast &cast, Cursor &source, bool native, char *target, size_t item,
                size_t to_item, size_t begin, size_t end) {
    const DefaultFloatState state;
    const bool direct = native && source.lies_in_rows() && source.row() >= std::min(SHORT_ROW, end);
    Scratch<gathered_bytes> swapped;
    source.begin_at(begin);
    for (size_t at = begin, now; at < end; at += now) {
        now = std::min(end - at, direct ? source.left_in_row() : gathered_bytes / item);
        const char *from = source.read(now);
        if (!native) {
            std::memcpy(swapped, from, now * item);
            swap_bytes(swapped, now * item / cast.part_size, cast.part_size);
            from = swapped;
        }
        cast.run(from, target + at * to_item, now);
    }
}

}  // namespace

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

    const Adjustment adjusted = read_adjustment(adjustment, from, to);
    const Cast cast = tuned && adjustment.is_none()
                          ? cast_between(from, to, mode)
                          : std::make_shared<const ChosenCast>(from, to, mode, adjusted, tuned);
    int order[PyBUF_MAX_NDIM];
    for (int i = 0; i < src.ndim(); ++i) order[i] = i;
    Cursor cursor(src, dst, order, item_of(from));
    const size_t n = dst.count(), item = item_of(from), to_item = item_of(to);
    const auto run = [&](Cursor &own, size_t begin, size_t end) {
        cast_range(*cast, own, src.native(), dst.data(), item, to_item, begin, end);
    };
    if (n < KEEPS_LOCK) return run(cursor, 0, n);
    const bool in_threads = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (!in_threads) return run(cursor, 0, n);
    const size_t together = cursor.together();
    in_ranges((n + together - 1) / together, together, [&] {
        return [&, own = cursor](size_t begin, size_t end) mutable {
            run(own, begin * together, std::min(n, end * together));
        };
    });
}

}  // namespace promoarray
