// The floating-point state of the thread: rounding, subnormals, traps, the flags of exceptions.
#pragma once

#include <cfenv>

#if defined(__SSE2__) || defined(_M_X64)
#define PROMOARRAY_HAS_MXCSR
#include <immintrin.h>
#else
#include <cstdint>
#endif

namespace promoarray {

// The exceptions raised by whatever computes here, x87 included, by which glibc raises some for
// NumPy; as NumPy numbers them: division by zero 1, overflow 2, underflow 4, invalid 8.
inline int raised_flags() {
    const int raised = std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    const auto is = [raised](int flag, int bit) { return (raised & flag) != 0 ? bit : 0; };
    return is(FE_DIVBYZERO, 1) | is(FE_OVERFLOW, 2) | is(FE_UNDERFLOW, 4) | is(FE_INVALID, 8);
}

// While it lives, rounding is to nearest and with subnormals, whatever the thread has set
// (-ffast-math and PyTorch can make it flush them to zero). Afterwards the state is as it was, the
// flags of exceptions included. For loops of ours, which use no x87.
class DefaultFloatState {
   public:
    DefaultFloatState(const DefaultFloatState &) = delete;
#ifdef PROMOARRAY_HAS_MXCSR
    DefaultFloatState() { clear(); }
    ~DefaultFloatState() { _mm_setcsr(before_); }
    void clear() { _mm_setcsr(0x1f80); }
    int raised() const {  // numbered as in `raised_flags`
        const int flags = (int)_mm_getcsr();
        return (flags >> 2 & 7) | (flags & 1) << 3;
    }

   private:
    const unsigned before_ = _mm_getcsr();
#else
    DefaultFloatState() {
        std::fegetenv(&before_);
        clear();
    }
    ~DefaultFloatState() { std::fesetenv(&before_); }
    void clear() { std::fesetenv(FE_DFL_ENV); }
    int raised() const { return raised_flags(); }

   private:
    std::fenv_t before_;
#endif
};

// All of the state but the flags, which others look at: NumPy clears and reads them by itself.
struct FloatControl {
#ifdef PROMOARRAY_HAS_MXCSR
    unsigned sse = _mm_getcsr();
    bool is_default() const { return (sse & ~0x3fu) == 0x1f80 && x87_is_default(); }
    void restore() const {
        _mm_setcsr(sse);
        set_x87(x87);
    }
    static void set_default() {
        _mm_setcsr(0x1f80);
        set_x87(0x37f);
    }
// BLAS takes x87 for norms, and glibc looks there for the rounding of texts. (Windows has another
// default, and what runs there uses it for nothing.)
#if defined(__GNUC__) && !defined(_WIN32)
    unsigned short x87 = get_x87();
    static unsigned short get_x87() {
        unsigned short word;
        __asm__ volatile("fnstcw %0" : "=m"(word));
        return word;
    }
    static void set_x87(unsigned short word) { __asm__ volatile("fldcw %0" : : "m"(word)); }
    bool x87_is_default() const { return (x87 & 0xf3f) == 0x33f; }
#else
    unsigned short x87 = 0;
    static void set_x87(unsigned short) {}
    bool x87_is_default() const { return true; }
#endif
#elif defined(__aarch64__) && defined(__GNUC__)
    std::uint64_t word = get();
    static std::uint64_t get() {
        std::uint64_t found;
        __asm__ volatile("mrs %0, fpcr" : "=r"(found));
        return found;
    }
    static void set(std::uint64_t word) { __asm__ volatile("msr fpcr, %0" : : "r"(word)); }
    bool is_default() const { return word == 0; }
    void restore() const { set(word); }
    static void set_default() { set(0); }
#else
    std::fenv_t environment;
    FloatControl() { std::fegetenv(&environment); }
    bool is_default() const { return false; }  // nobody says whether it flushes
    void restore() const { std::fesetenv(&environment); }
    static void set_default() { std::fesetenv(FE_DFL_ENV); }
#endif
};

// The same for calls of Python and of NumPy. Nothing is written where the state is the default, so
// that it costs an operation a few nanoseconds.
class FloatStateGuard {
   public:
    FloatStateGuard() { if (changes_) FloatControl::set_default(); }
    ~FloatStateGuard() { if (changes_) before_.restore(); }
    FloatStateGuard(const FloatStateGuard &) = delete;

   private:
    const FloatControl before_;
    const bool changes_ = !before_.is_default();
};

}  // namespace promoarray
