// Loops over cast.h, and their bindings. Nothing here allocates, promotes or knows a policy: Python
// hands over two contiguous buffers, and what is wrong with them is an exception before the first
// element is written.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>

#include "cast.h"

namespace nb = nanobind;
using namespace promoarray;

// Each loop is compiled for x86-64 levels 1, 3 (AVX2) and 4 (AVX-512); the loader takes the best
// one the machine has. CMake finds out whether compiler and C library can do that.
#ifdef PROMOARRAY_TARGET_CLONES
#define PROMOARRAY_LOOP \
    __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PROMOARRAY_LOOP
#endif

#ifdef _MSC_VER
#define PROMOARRAY_RESTRICT __restrict
#else
#define PROMOARRAY_RESTRICT __restrict__
#endif

namespace {

// target_clones takes no templates, so the loops are named one by one. What depends on the format
// alone is decided outside of them.
#define PROMOARRAY_ENCODE(name, encode, Source, Code)                                       \
    PROMOARRAY_LOOP void name(const Source::Bits *PROMOARRAY_RESTRICT src,                  \
                              Code *PROMOARRAY_RESTRICT dst, std::size_t n, Format format,  \
                              Edges edge) {                                                 \
        for (std::size_t i = 0; i < n; ++i) {                                               \
            dst[i] = (Code)encode<Source>(src[i], format, edge);                            \
        }                                                                                   \
    }
#define PROMOARRAY_DECODE(name, Code)                                                       \
    PROMOARRAY_LOOP void name(const Code *PROMOARRAY_RESTRICT src,                          \
                              u32 *PROMOARRAY_RESTRICT dst, std::size_t n, Format format) { \
        for (std::size_t i = 0; i < n; ++i) dst[i] = decode(src[i], format);                \
    }

PROMOARRAY_ENCODE(signed_32_8, encode_signed, Float32, std::uint8_t)
PROMOARRAY_ENCODE(signed_32_16, encode_signed, Float32, std::uint16_t)
PROMOARRAY_ENCODE(signed_64_8, encode_signed, Float64, std::uint8_t)
PROMOARRAY_ENCODE(signed_64_16, encode_signed, Float64, std::uint16_t)
PROMOARRAY_ENCODE(scale_32_8, encode_scale, Float32, std::uint8_t)
PROMOARRAY_ENCODE(scale_64_8, encode_scale, Float64, std::uint8_t)
PROMOARRAY_DECODE(decode_8_32, std::uint8_t)
PROMOARRAY_DECODE(decode_16_32, std::uint16_t)

// The buffer protocol and not nb::ndarray: it is cheaper on one element, takes read-only
// arrays and refuses foreign byte orders by their format.
class Buffer {
   public:
    Buffer(nb::handle object, const char *name, bool writable) : name_(name) {
        const int flags = PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
        if (view_.ndim != 1) {
            const std::string message = name_ + " has " + std::to_string(view_.ndim) +
                                        " dimensions; a kernel takes exactly 1";
            PyBuffer_Release(&view_);  // the destructor does not run for what was not constructed
            throw nb::value_error(message.c_str());
        }
    }
    ~Buffer() { PyBuffer_Release(&view_); }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    // The element type, as a letter of Python's struct module in native byte order.
    char letter() const {
        const char *format = view_.format != nullptr ? view_.format : "B";
        if (*format == '@' || *format == '=') ++format;
        return std::strlen(format) == 1 ? *format : '\0';
    }
    std::size_t size() const { return (std::size_t)(view_.len / view_.itemsize); }
    std::size_t bytes() const { return (std::size_t)view_.len; }
    void *data() const { return view_.buf; }

    void check_aligned() const {
        if ((std::uintptr_t)view_.buf % (std::uintptr_t)view_.itemsize == 0) return;
        const std::string message = name_ + " is not aligned to its elements";
        throw nb::value_error(message.c_str());
    }
    [[noreturn]] void refuse(const char *expected) const {
        const std::string format = view_.format != nullptr ? view_.format : "B";
        const std::string message =
            name_ + " must hold " + expected + ", not elements of format '" + format + "'";
        throw nb::type_error(message.c_str());
    }

   private:
    Py_buffer view_;
    std::string name_;
};

void check_pair(const Buffer &src, const Buffer &dst) {
    if (src.size() != dst.size()) {
        const std::string message = "src has " + std::to_string(src.size()) +
                                    " elements and dst has " + std::to_string(dst.size());
        throw nb::value_error(message.c_str());
    }
    // The loops are compiled for whole elements, and for buffers that do not overlap.
    src.check_aligned();
    dst.check_aligned();
    const auto s = (std::uintptr_t)src.data(), d = (std::uintptr_t)dst.data();
    if (s < d + dst.bytes() && d < s + src.bytes()) {
        throw nb::value_error("src and dst overlap in memory");
    }
}

using FormatTuple = std::tuple<int, int, int, int, int, int, bool, bool>;

// The row as the arithmetic of cast.h needs it: anything else could shift by a negative count.
Format check_format(const FormatTuple &row, int code_bits) {
    const auto &[exponent, mantissa, bias, largest, inf, nan, negative_zero, has_sign] = row;
    const bool widths = exponent >= 1 && exponent <= 8 && mantissa >= 0 && mantissa <= 15 &&
                        exponent + mantissa + (has_sign ? 1 : 0) <= code_bits;
    if (!widths) throw nb::value_error("format does not fit the width of the codes");
    const int magnitudes = 1 << (exponent + mantissa);
    const int codes = has_sign ? 2 * magnitudes : magnitudes;
    if (largest < 1 || largest >= magnitudes || inf < -1 || inf >= magnitudes || nan < -1 ||
        nan >= codes) {
        throw nb::value_error("format has a special code that it has no room for");
    }
    // Within float32, and its subnormals normal there unless both share their exponents.
    const bool within = bias >= (largest >> mantissa) - 127 && bias >= 0 &&
                        (bias == 127 || bias + mantissa <= 126);
    if (!within) throw nb::value_error("format reaches beyond float32");
    if (!has_sign && (mantissa != 0 || nan < 0 || inf >= 0 || code_bits != 8)) {
        throw nb::value_error("a format without sign takes uint8, a NaN, no mantissa and no Inf");
    }
    return {exponent, mantissa, bias, largest, inf, nan, negative_zero, has_sign};
}

int code_bits(const Buffer &codes) {
    switch (codes.letter()) {
        case 'B': return 8;
        case 'H': return 16;
        default: codes.refuse("codes as uint8 or uint16");
    }
}

void encode_buffer(nb::handle source, nb::handle target, const FormatTuple &row, bool saturate) {
    const Buffer src(source, "src", false), dst(target, "dst", true);
    const char letter = src.letter();
    if (letter != 'f' && letter != 'd') src.refuse("float32 or float64 in native byte order");
    const int bits = code_bits(dst);
    const Format format = check_format(row, bits);
    check_pair(src, dst);

    const nb::gil_scoped_release release;
    const Edges edge = edges(format, saturate);
    const std::size_t n = src.size();
    auto *y8 = (std::uint8_t *)dst.data();
    auto *y16 = (std::uint16_t *)dst.data();
    if (letter == 'f') {
        const auto *x = (const u32 *)src.data();
        if (!format.has_sign) scale_32_8(x, y8, n, format, edge);
        else if (bits == 8) signed_32_8(x, y8, n, format, edge);
        else signed_32_16(x, y16, n, format, edge);
    } else {
        const auto *x = (const u64 *)src.data();
        if (!format.has_sign) scale_64_8(x, y8, n, format, edge);
        else if (bits == 8) signed_64_8(x, y8, n, format, edge);
        else signed_64_16(x, y16, n, format, edge);
    }
}

void decode_buffer(nb::handle source, nb::handle target, const FormatTuple &row) {
    const Buffer src(source, "src", false), dst(target, "dst", true);
    const int bits = code_bits(src);
    if (dst.letter() != 'f') dst.refuse("float32 in native byte order");
    const Format format = check_format(row, bits);
    check_pair(src, dst);

    const nb::gil_scoped_release release;
    auto *y = (u32 *)dst.data();
    if (bits == 8) decode_8_32((const std::uint8_t *)src.data(), y, src.size(), format);
    else decode_16_32((const std::uint16_t *)src.data(), y, src.size(), format);
}

}  // namespace

NB_MODULE(_cpu, m) {
    m.doc() = "The casts of cast.h over one-dimensional contiguous buffers.";
    m.def("encode", &encode_buffer, nb::arg("src"), nb::arg("dst"), nb::arg("format"),
          nb::arg("saturate"), "Write the codes of src's float32 or float64 values to dst.");
    m.def("decode", &decode_buffer, nb::arg("src"), nb::arg("dst"), nb::arg("format"),
          "Write the float32 values of src's codes to dst.");
}
