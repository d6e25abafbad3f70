// Loops of arithmetic on numbers of one type, between the casts of a plan: what the machine does with
// one instruction, and what it gives. Integers wrap around.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

struct Add { template <typename T> static T of(T x, T y) { return (T)(x + y); } };
struct Subtract { template <typename T> static T of(T x, T y) { return (T)(x - y); } };
struct Multiply {
    template <typename T> static T of(T x, T y) { return x * y; }
    static u16 of(u16 x, u16 y) { return (u16)((u32)x * y); }  // else a signed product, too long
};
struct Divide { template <typename T> static T of(T x, T y) { return (T)(x / y); } };

template <typename Step, typename T>
void each(const void *left, const void *right, void *result, std::size_t n) {
    const auto *x = static_cast<const T *>(left), *y = static_cast<const T *>(right);
    auto *PROMOARRAY_RESTRICT out = static_cast<T *>(result);
    for (std::size_t i = 0; i < n; ++i) out[i] = Step::of(x[i], y[i]);
}

// Floats of 16 bits: in float32, each result rounded once more, to Inf beyond the largest number. NaN
// keeps its sign and no payload, as in cast.h.
#ifdef __F16C__
template <typename Step, typename Format>
PROMOARRAY_CAST __m256 eight(const u16 *x, const u16 *y) {
    const __m256 a = Format::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
    const __m256 b = Format::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(y)));
    return Step::of(a, b);
}

template <typename Step, typename Format>
void each_short(const void *left, const void *right, void *result, std::size_t n) {
    const auto *x = static_cast<const u16 *>(left), *y = static_cast<const u16 *>(right);
    auto *PROMOARRAY_RESTRICT out = static_cast<u16 *>(result);
    const __m256i kept = _mm256_set1_epi16((short)0x8000);
    const auto sixteen = [kept](const u16 *a, const u16 *b) {
        return Format::write(eight<Step, Format>(a, b), eight<Step, Format>(a + 8, b + 8), kept);
    };
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m256i codes = sixteen(x + i, y + i);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + i), codes);
    }
    if (i == n) return;
    // The last are filled up with a number, whatever it is, that raises no exception.
    u16 a[16], b[16];
    for (int k = 0; k < 16; ++k) a[k] = b[k] = 0x3c00;
    std::memcpy(a, x + i, 2 * (n - i));
    std::memcpy(b, y + i, 2 * (n - i));
    const __m256i codes = sixteen(a, b);
    std::memcpy(out + i, &codes, 2 * (n - i));
}
#else
struct Bfloat {};

template <typename Step, typename Format>
void each_short(const void *left, const void *right, void *result, std::size_t n) {
    const auto *x = static_cast<const u16 *>(left), *y = static_cast<const u16 *>(right);
    auto *PROMOARRAY_RESTRICT out = static_cast<u16 *>(result);
    for (std::size_t i = 0; i < n; ++i) {
        const f32 found = Step::of(as_float((u32)x[i] << 16), as_float((u32)y[i] << 16));
        const u32 bits = as_bits(found), nan = 0x7fc0u | (bits >> 16 & 0x8000u);
        out[i] = (u16)(found == found ? bfloat_of(bits) : nan);
    }
}
#endif

// By rows, of unsigned integers, which wrap as signed ones do; float32 and float64.
template <typename Step>
constexpr Operation integers[4] = {each<Step, u8>, each<Step, u16>, each<Step, u32>,
                                   each<Step, u64>};
template <typename Step>
constexpr Operation floats[2] = {each<Step, f32>, each<Step, f64>};

template <typename Step>
Operation on_floats(Type t) {
    if (is_float32(t) || is_float64(t)) return floats<Step>[is_float64(t)];
#ifdef __F16C__
    if (is_float16(t)) return each_short<Step, Half>;
#endif
    return is_bfloat16(t) ? each_short<Step, Bfloat> : nullptr;
}

template <typename Step>
Operation on_numbers(Type t) {
    if (!is_integer(t)) return on_floats<Step>(t);
    return t.kind != Kind::boolean && t.bits >= 8 ? integers<Step>[row_of(t)] : nullptr;
}

}  // namespace

Operation find_operation(const char *name, Type type) {
    if (std::strcmp(name, "add") == 0) return on_numbers<Add>(type);
    if (std::strcmp(name, "subtract") == 0) return on_numbers<Subtract>(type);
    if (std::strcmp(name, "multiply") == 0) return on_numbers<Multiply>(type);
    if (std::strcmp(name, "divide") == 0 && !is_integer(type)) return on_floats<Divide>(type);
    return nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
