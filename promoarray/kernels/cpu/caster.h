// One cast of contiguous, aligned elements in native byte order, by the loop that is best for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "float_state.h"
#include "versions.h"

namespace promoarray {

using std::size_t;

// Bytes of elements at a time where something lies between source and target. Four times as many fit
// a first-level cache.
constexpr size_t gathered_bytes = 8 << 10;
// The same of gathered elements and of parts of complex numbers: so few that the machine reads the
// next ones while it still writes.
constexpr size_t few = 256;
// Elements that are worth a table of all codes of 16 bits, or of all pairs of codes of 8.
constexpr size_t worth_a_table = 1 << 18;

constexpr Type bfloat16 = {Kind::real, 16, {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, true, true}};

// What level 1 makes in more steps than it takes to look it up, having no registers that read or write
// float16, and none that shift each lane by itself: of numbers of 16 bits, by their own codes; of wider
// ones floats of 8 bits and fewer, by those of bfloat16. (A scale has no sign, and needs few steps.)
inline bool is_worth_a_table(Type source, Type target) {
    const auto is_half = [](Type t) { return t.kind == Kind::real && t.format.exponent == 5; };
    const bool to_few = target.kind == Kind::real && target.bits <= 8;
    if (source.bits > 16) return to_few && target.format.has_sign;
    const bool by_bits = target.kind == Kind::boolean || target.bits > 16;
    return source.bits == 16 && !by_bits && (to_few || is_half(source) || is_half(target));
}

// Memory for what lies between two steps. That of a copy, for another thread, begins with nothing:
// copied with all it holds, the scratch of an operation takes a tenth of a part's time.
template <size_t size>
class Scratch {
   public:
    Scratch() {}
    Scratch(const Scratch &) {}
    operator char *() { return bytes_; }

   private:
    alignas(64) char bytes_[size];
};

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
        const Adjustment adjusted = adjustment != nullptr ? *adjustment : Adjustment{};
        loop_ = loops_.choose_adjusted(source, target, mode, n, tuned, adjusted, work_);
        if (exists() && tuned && !copies_ && adjusted.table == nullptr && loops_.level == 1 &&
            n >= worth_a_table && is_worth_a_table(source, target))
            look_up(source, target, mode, n, adjusted);
        else if (loop_ == loops_.look_up_bytes && n >= worth_a_table)
            look_up_pairs();
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
            char *const own = parts_;
            loop_(src + at * from_size_, own, count, work_);
            char *out = dst + written(at);
            auto *bytes = reinterpret_cast<std::uint8_t *>(out);
            if (to_bool_) loops_.either_part(reinterpret_cast<std::uint8_t *>(own), bytes, count / 2);
            else loops_.with_zero_parts(own, out, count, to_size_);
        }
    }

   private:
    // Two codes of 8 bits are one of 16, and so are their results.
    void look_up_pairs() {
        constexpr size_t codes = 256;
        std::uint8_t code[codes], result[codes];
        for (size_t i = 0; i < codes; ++i) code[i] = (std::uint8_t)i;
        loop_(code, result, codes, work_);
        const std::shared_ptr<std::uint16_t[]> made(new std::uint16_t[codes * codes]);
        for (size_t i = 0; i < codes * codes; ++i)
            made[i] = (std::uint16_t)(result[i / codes] << 8 | result[i % codes]);
        table_ = made;
        work_.pairs = made.get();
        loop_ = loops_.look_up_pairs;
    }

    // Make a table of what the loop does with all codes, and take it from now on.
    void look_up(Type source, Type target, const CastMode &mode, size_t n, Adjustment adjustment) {
        constexpr size_t codes = 1 << 16;
        const std::shared_ptr<unsigned char[]> made(new unsigned char[codes * to_size_]);
        const DefaultFloatState state;
        if (source.bits > 16) loop_ = loops_.choose(bfloat16, target, mode, few, true, work_);
        std::uint16_t some[few];
        for (size_t at = 0; at < codes; at += few) {
            for (size_t i = 0; i < few; ++i) some[i] = (std::uint16_t)(at + i);
            loop_(some, made.get() + at * to_size_, few, work_);
        }
        adjustment.table = made.get();
        table_ = made;
        loop_ = loops_.choose_adjusted(source, target, mode, n, true, adjustment, work_);
    }

    const Loops &loops_ = version();
    const bool from_pairs_, to_pairs_, to_bool_;
    size_t from_size_, to_size_;
    bool copies_;
    Loop loop_;
    Work work_;
    std::shared_ptr<const void> table_;  // of which `work_` has the address
    Scratch<few * 8> parts_;
};

}  // namespace promoarray
