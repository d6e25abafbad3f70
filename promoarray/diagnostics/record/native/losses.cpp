#include "losses.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace promoarray {
namespace {

// An array's memory, in whatever order; false with the error.
class Buffer {
   public:
    explicit Buffer(PyObject *array, int order = PyBUF_ANY_CONTIGUOUS)
        : is_held_(PyObject_GetBuffer(array, &view_, order | PyBUF_FORMAT) == 0) {}
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() {
        if (is_held_) PyBuffer_Release(&view_);
    }
    explicit operator bool() const { return is_held_; }
    Py_ssize_t size() const { return view_.len / view_.itemsize; }
    const void *data() const { return view_.buf; }

    // The letter of the `struct` module, of which 'l' may have 4 bytes or 8.
    char letter() const {
        const char letter = *view_.format;
        if (letter != 'l' && letter != 'L') return letter;
        return static_cast<char>((view_.itemsize == 8 ? 'q' : 'i') - (letter == 'L' ? 'a' - 'A' : 0));
    }

   private:
    Py_buffer view_{};
    bool is_held_;
};

// Call `apply` with a null pointer to the integers of a letter; null with the error for other letters.
template <typename Apply>
PyObject *by_letter(char letter, const Apply &apply) {
    switch (letter) {
        case 'b': return apply(static_cast<std::int8_t *>(nullptr));
        case 'h': return apply(static_cast<std::int16_t *>(nullptr));
        case 'i': return apply(static_cast<std::int32_t *>(nullptr));
        case 'q': return apply(static_cast<std::int64_t *>(nullptr));
        case 'B': return apply(static_cast<std::uint8_t *>(nullptr));
        case 'H': return apply(static_cast<std::uint16_t *>(nullptr));
        case 'I': return apply(static_cast<std::uint32_t *>(nullptr));
        case 'Q': return apply(static_cast<std::uint64_t *>(nullptr));
        default: PyErr_SetString(PyExc_TypeError, "an array of integers of 8 to 64 bits is wanted"); return nullptr;
    }
}

// -- floats ------------------------------------------------------------------------------------------

// A row of `promoarray.dtypes.Format`; -1 for None.
struct Layout {
    long long exponent, mantissa, bias, largest, inf, nan, negative_zero, is_signed;
};

bool read(PyObject *format, Layout &layout) {
    long long *fields[] = {&layout.exponent, &layout.mantissa, &layout.bias, &layout.largest,
                           &layout.inf, &layout.nan, &layout.negative_zero, &layout.is_signed};
    if (!PyTuple_Check(format) || PyTuple_Size(format) != 8) {
        PyErr_SetString(PyExc_TypeError, "a Format is wanted");
        return false;
    }
    for (Py_ssize_t i = 0; i < 8; ++i) {
        PyObject *field = PyTuple_GetItem(format, i);
        *fields[i] = field == Py_None ? -1 : PyLong_AsLongLong(field);
        if (PyErr_Occurred()) return false;
    }
    return true;
}

// The codes of an array; magnitudes are ordered as they are.
template <typename Word>
struct Floats {
    const Word *words;
    Py_ssize_t size;
    Word mask, sign, largest, normal;

    Floats(const Buffer &buffer, const Layout &layout)
        : words(static_cast<const Word *>(buffer.data())), size(buffer.size()) {
        const auto digits = layout.exponent + layout.mantissa;
        mask = static_cast<Word>((std::uint64_t{1} << digits) - 1);
        sign = layout.is_signed ? static_cast<Word>(std::uint64_t{1} << digits) : Word{0};
        largest = static_cast<Word>(layout.largest);
        normal = static_cast<Word>(std::uint64_t{1} << layout.mantissa);
    }

    // How many magnitudes are like this, and words like that. The counters are as wide as the words,
    // for some of these at a time, as processors count several at once then.
    template <typename IsLike>
    Py_ssize_t count(const IsLike &is_like) const {
        constexpr Py_ssize_t block = std::numeric_limits<std::make_signed_t<Word>>::max();
        Py_ssize_t total = 0;
        for (Py_ssize_t start = 0; start < size; start += block) {
            Word found = 0;
            const Py_ssize_t stop = start + std::min(block, size - start);
            for (Py_ssize_t i = start; i < stop; ++i) {
                found = static_cast<Word>(found + is_like(static_cast<Word>(words[i] & mask)));
            }
            total += static_cast<Py_ssize_t>(found);
        }
        return total;
    }
};

// Whether there is anything to count: what reaches the largest number, and what lies below the normal
// ones. The difference from either leaves its sign, where there is room for one.
template <typename Word>
void look(const Floats<Word> &floats, bool &is_any_large, bool &is_any_small) {
    constexpr Word top = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    if (floats.sign != top) return;
    Word large = 0, small = 0;
    for (Py_ssize_t i = 0; i < floats.size; ++i) {
        const Word magnitude = floats.words[i] & floats.mask;
        large |= static_cast<Word>(magnitude + (top - floats.largest));
        small |= static_cast<Word>(magnitude - floats.normal);
    }
    is_any_large = large & top;
    is_any_small = small & top;
}

PyObject *screen(PyObject *, PyObject *const *args, Py_ssize_t count) {
    Layout layout;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "screen takes words and a Format");
    if (!read(args[1], layout)) return nullptr;
    const Buffer words(args[0]);
    if (!words) return nullptr;
    return by_letter(words.letter(), [&](auto *type) -> PyObject * {
        using Word = std::make_unsigned_t<std::remove_pointer_t<decltype(type)>>;
        const Floats<Word> floats(words, layout);
        const Word largest = floats.largest, normal = floats.normal, inf = static_cast<Word>(layout.inf);
        bool is_any_large = true, is_any_small = true;
        look(floats, is_any_large, is_any_small);
        Py_ssize_t beyond = 0, infinite = 0, ends = 0, zeros = 0, small = 0;
        if (is_any_large) {
            beyond = floats.count([=](Word magnitude) { return magnitude > largest; });
            infinite = layout.inf < 0 ? 0 : floats.count([=](Word magnitude) { return magnitude == inf; });
            ends = floats.count([=](Word magnitude) { return magnitude == largest; });
        }
        if (is_any_small && layout.mantissa > 0) {
            zeros = floats.count([=](Word magnitude) { return magnitude == 0; });
            small = floats.count([=](Word magnitude) { return magnitude < normal; }) - zeros;
        }
        if (layout.nan > static_cast<long long>(floats.mask)) {  // in place of -0
            for (Py_ssize_t i = 0; zeros > 0 && i < floats.size; ++i) {
                const bool is_nan = (floats.words[i] & (floats.mask | floats.sign)) == floats.sign;
                beyond += is_nan;
                zeros -= is_nan;
            }
        }
        return Py_BuildValue("nnnnn", beyond - infinite, infinite, zeros, small, ends);
    });
}

// The least and the greatest magnitude of finite numbers, as codes, -1 if there are none; 1 or -1 if
// all have that sign, else 0; and whether all numbers are finite.
PyObject *span(PyObject *, PyObject *const *args, Py_ssize_t count) {
    Layout layout;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "span takes words and a Format");
    if (!read(args[1], layout)) return nullptr;
    const Buffer words(args[0]);
    if (!words) return nullptr;
    return by_letter(words.letter(), [&](auto *type) -> PyObject * {
        using Word = std::make_unsigned_t<std::remove_pointer_t<decltype(type)>>;
        // Signed where no sign is left: processors compare those sooner.
        using Magnitude = std::conditional_t<sizeof(Word) == 1, std::uint8_t, std::make_signed_t<Word>>;
        const Floats<Word> floats(words, layout);
        const auto largest = static_cast<Magnitude>(floats.largest);
        Magnitude least = largest, most = 0;
        Word all = static_cast<Word>(~Word{0}), any = 0, finite = 0, always = all;
        for (Py_ssize_t i = 0; i < floats.size; ++i) {
            const auto magnitude = static_cast<Magnitude>(floats.words[i] & floats.mask);
            const Word is_finite = magnitude <= largest ? static_cast<Word>(~Word{0}) : Word{0};
            least = std::min(least, magnitude);
            most = std::max(most, static_cast<Magnitude>(magnitude & static_cast<Magnitude>(is_finite)));
            all &= static_cast<Word>(floats.words[i] | static_cast<Word>(~is_finite));
            any |= floats.words[i] & is_finite;
            finite |= is_finite;
            always &= is_finite;
        }
        const int sign = (all & floats.sign) ? -1 : (any & floats.sign) ? 0 : 1;
        PyObject *is_all = always ? Py_True : Py_False;
        if (!finite) return Py_BuildValue("LLiO", -1LL, -1LL, 0, is_all);
        return Py_BuildValue("LLiO", static_cast<long long>(least), static_cast<long long>(most), sign, is_all);
    });
}

// -- integers ----------------------------------------------------------------------------------------

PyObject *extremes(PyObject *, PyObject *array) {
    const Buffer integers(array);
    if (!integers) return nullptr;
    return by_letter(integers.letter(), [&](auto *type) -> PyObject * {
        using T = std::remove_pointer_t<decltype(type)>;
        const T *values = static_cast<const T *>(integers.data());
        T least = std::numeric_limits<T>::max(), most = std::numeric_limits<T>::min();
        for (Py_ssize_t i = 0; i < integers.size(); ++i) {
            least = std::min(least, values[i]);
            most = std::max(most, values[i]);
        }
        if (integers.size() == 0) least = most = 0;
        if (std::is_signed_v<T>) return Py_BuildValue("LL", static_cast<long long>(least), static_cast<long long>(most));
        return Py_BuildValue("KK", static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
    });
}

enum Operation { ADD, SUBTRACT, MULTIPLY };

// x op y beyond the range of T. Doubles are exact where it matters: of 64 bits the low ones are known,
// and what was lost is a multiple of 2^64.
template <typename T, int operation>
struct Exact {
    using Wide = std::conditional_t<sizeof(T) == 1 || std::is_same_v<T, std::int16_t>, std::int32_t, double>;
    using Bits = std::make_unsigned_t<T>;

    template <typename Number>
    static Number of(Number x, Number y) {
        return static_cast<Number>(operation == ADD ? x + y : operation == SUBTRACT ? x - y : x * y);
    }
    static std::uint64_t low_bits(T x, T y) { return of(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)); }
    // Small ones in all digits, which doubles may have cancelled.
    static Wide in_digits(T x, T y) {
        const Wide exact = of(static_cast<Wide>(x), static_cast<Wide>(y));
        if (sizeof(T) < 8) return exact;
        const auto small = static_cast<Wide>(static_cast<std::int64_t>(low_bits(x, y)));
        return std::fabs(static_cast<double>(exact - small)) < 0x1p63 ? small : exact;
    }
    static bool wraps(T x, T y) {
        const Wide exact = of(static_cast<Wide>(x), static_cast<Wide>(y));
        if (sizeof(T) < 8) {
            return exact < static_cast<Wide>(std::numeric_limits<T>::min()) ||
                   exact > static_cast<Wide>(std::numeric_limits<T>::max());
        }
        const auto low = static_cast<T>(low_bits(x, y));
        return std::fabs(static_cast<double>(exact) - static_cast<double>(low)) >= 0x1p63;
    }
};

// Whether anything may wrap, by bits alone: what is carried out of sums and differences, and how many
// bits factors have.
template <typename T, int operation>
bool may_wrap(const T *x, const T *y, Py_ssize_t size, Py_ssize_t step) {
    using Bits = std::make_unsigned_t<T>;
    constexpr int width = 8 * sizeof(T);
    Bits carried = 0, factor = 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
        const auto a = static_cast<Bits>(x[i]), b = static_cast<Bits>(y[i * step]);
        if (operation == MULTIPLY) {
            carried |= static_cast<Bits>(std::is_signed_v<T> ? a ^ static_cast<Bits>(x[i] >> (width - 1)) : a);
            factor |= static_cast<Bits>(std::is_signed_v<T> ? b ^ static_cast<Bits>(y[i * step] >> (width - 1)) : b);
        } else if (operation == ADD) {
            const Bits sum = a + b;
            carried |= std::is_signed_v<T> ? (a ^ sum) & (b ^ sum) : (a & b) | ((a | b) & ~sum);
        } else {
            const Bits rest = a - b;
            carried |= std::is_signed_v<T> ? (a ^ b) & (a ^ rest) : (~a & b) | ((~a | b) & rest);
        }
    }
    if (operation != MULTIPLY) return carried >> (width - 1);
    // Less than 2^n and 2^m: a signed factor may be -2^n.
    int bits = std::is_signed_v<T>;
    for (Bits left : {carried, factor}) {
        for (; left; left = static_cast<Bits>(left >> 1)) ++bits;
    }
    return bits >= width;
}

template <typename T, int operation>
PyObject *wraps_of(const T *x, const T *y, Py_ssize_t size, Py_ssize_t step) {
    using Op = Exact<T, operation>;
    using Wide = typename Op::Wide;
    const bool is_likely = step ? may_wrap<T, operation>(x, y, size, 1) : may_wrap<T, operation>(x, y, size, 0);
    Py_ssize_t count = 0, first = 0;
    for (Py_ssize_t i = 0; is_likely && i < size; ++i) count += Op::wraps(x[i], y[i * step]);
    if (count == 0) return Py_BuildValue("nndd", count, first, 0.0, 0.0);
    while (!Op::wraps(x[first], y[first * step])) ++first;
    Wide least = Op::in_digits(*x, *y), most = least;
    for (Py_ssize_t i = 1; i < size; ++i) {
        const Wide exact = Op::in_digits(x[i], y[i * step]);
        least = std::min(least, exact);
        most = std::max(most, exact);
    }
    return Py_BuildValue("nndd", count, first, static_cast<double>(least), static_cast<double>(most));
}

PyObject *wraps(PyObject *, PyObject *const *args, Py_ssize_t count) {
    const long operation = count == 3 ? PyLong_AsLong(args[0]) : -1;
    if (operation < ADD || operation > MULTIPLY) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "wraps takes 0, 1 or 2 and two arrays of integers");
        return nullptr;
    }
    const Buffer x(args[1], PyBUF_C_CONTIGUOUS);
    if (!x) return nullptr;
    const Buffer y(args[2], PyBUF_C_CONTIGUOUS);
    if (!y) return nullptr;
    if (x.letter() != y.letter() || (y.size() != x.size() && y.size() != 1)) {
        PyErr_SetString(PyExc_TypeError, "wraps takes two arrays of one dtype and size, or one and a number");
        return nullptr;
    }
    return by_letter(x.letter(), [&](auto *type) -> PyObject * {
        using T = std::remove_pointer_t<decltype(type)>;
        const T *one = static_cast<const T *>(x.data()), *other = static_cast<const T *>(y.data());
        const Py_ssize_t step = y.size() == x.size() ? 1 : 0;
        if (operation == ADD) return wraps_of<T, ADD>(one, other, x.size(), step);
        if (operation == SUBTRACT) return wraps_of<T, SUBTRACT>(one, other, x.size(), step);
        return wraps_of<T, MULTIPLY>(one, other, x.size(), step);
    });
}

template <typename Function>
constexpr PyCFunction fast(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace

PyMethodDef losses_functions[] = {
    {"screen", fast(screen), METH_FASTCALL, "Count what is NaN, Inf, zero, subnormal, the largest."},
    {"span", fast(span), METH_FASTCALL, "The least and the greatest magnitude, and the sign of all."},
    {"extremes", extremes, METH_O, "The least and the greatest of integers."},
    {"wraps", fast(wraps), METH_FASTCALL, "Count the sums, differences or products that wrap."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace promoarray
