// One cast of contiguous, aligned elements in native byte order, by the loop that is best for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "versions.h"

namespace promoarray {

using std::size_t;

// Bytes of elements at a time where something lies between source and target. Four times as many fit
// a first-level cache.
constexpr size_t gathered_bytes = 8 << 10;
// The same of gathered elements and of parts of complex numbers: so few that the machine reads the
// next ones while it still writes.
constexpr size_t few = 256;

// A complex number counts as its two parts.
class Caster {
   public:
    Caster(Type source, Type target, CastMode mode, size_t n, bool tuned,
           const Adjustment *adjustment = nullptr)
        : from_pairs_(source.kind == Kind::complex), to_pairs_(target.kind == Kind::complex),
          to_bool_(from_pairs_ && target.kind == Kind::boolean) {
        if (from_pairs_) source.kind = Kind::real;
        if (to_pairs_) target.kind = Kind::real;
        from_size_ = size_of(source);
        to_size_ = size_of(target);
        copies_ = adjustment == nullptr && from_size_ > 1 && same_type(source, target);
        loop_ = adjustment == nullptr
                    ? loops_.choose(source, target, mode, n, tuned, work_)
                    : loops_.choose_adjusted(source, target, mode, n, tuned, *adjustment, work_);
    }

    // Bytes of a real element or of a part.
    size_t from_size() const { return from_size_; }
    size_t to_size() const { return to_size_; }
    // What `run` counts: parts where both are read, else elements.
    bool reads_both() const { return from_pairs_ && (to_pairs_ || to_bool_); }
    // What that is of n elements.
    size_t counted(size_t n) const { return reads_both() ? 2 * n : n; }
    // How many bytes n of those write.
    size_t written(size_t n) const {
        return to_bool_ ? n / 2 : n * to_size_ * (to_pairs_ && !from_pairs_ ? 2 : 1);
    }

    // False where no loop does what the adjustment wants.
    bool exists() const { return loop_ != nullptr; }
    const Loops &loops() const { return loops_; }
    // Whether elements, or parts, stay as they are.
    bool copies() const { return copies_; }

    void run(const char *src, char *dst, size_t n) {
        if (written(n) == n * to_size_) {
            loop_(src, dst, n, work_);
            return;
        }
        if (copies_ && !to_bool_) {
            loops_.with_zero_parts(src, dst, n, to_size_);
            return;
        }
        for (size_t at = 0; at < n; at += few) {  // an even number, so that no pair is cut
            const size_t count = n - at < few ? n - at : few;
            loop_(src + at * from_size_, parts_, count, work_);
            char *out = dst + written(at);
            auto *bytes = reinterpret_cast<std::uint8_t *>(out);
            if (to_bool_) loops_.either_part(parts_, bytes, count / 2);
            else loops_.with_zero_parts(parts_, out, count, to_size_);
        }
    }

   private:
    const Loops &loops_ = version();
    const bool from_pairs_, to_pairs_, to_bool_;
    size_t from_size_, to_size_;
    bool copies_;
    Loop loop_;
    Work work_;
    alignas(64) unsigned char parts_[few * 8];
};

}  // namespace promoarray
