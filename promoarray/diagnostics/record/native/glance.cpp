#include "glance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "numpy_array.h"

namespace promoarray {
namespace {

__extension__ typedef __int128 Wide;  // holds what two 64-bit integers give

constexpr int MOST_AXES = 64;
constexpr std::int64_t EXACT = std::int64_t(1) << 53;  // so far float64 has all integers

// The numbers of an operand: of an array where they lie, of a scalar or a Python number its own.
struct Numbers {
    char kind = 0;  // as NumPy has it, b i u f c; 0 of what is not looked at here
    Py_ssize_t size = 0;
    bool is_weak = false;  // a number of Python's
    const ArrayFields *array = nullptr;
    union {
        std::int64_t whole;
        double real = 0;
    };
    bool is_alone() const { return array == nullptr; }
    bool is_whole() const { return kind == 'i' || kind == 'u' || kind == 'b'; }
    bool is_like(const Numbers &other) const { return kind == other.kind && size == other.size; }
};

Numbers read(const FastHook *self, PyObject *x) {
    Numbers found;
    const Class known = class_of(self, x);
    if (known.sort == Sort::NUMBER) {
        found.is_weak = true;
        found.size = 8;
        int beyond = 0;
        if (PyFloat_CheckExact(x)) {
            found.kind = 'f';
            found.real = PyFloat_AsDouble(x);
        } else if (PyLong_Check(x)) {
            found.kind = 'i';
            found.whole = PyLong_AsLongLongAndOverflow(x, &beyond);
        }
        if (beyond != 0) found.kind = 0;
        return found;
    }
    if (const ArrayFields *fields = fields_of(x)) {
        constexpr char letters[] = "biufc";
        const bool is_read = fields->dtype->byte_order != '>' && std::strchr(letters, fields->dtype->kind) != nullptr;
        const Py_ssize_t least = fields->dtype->kind == 'f' ? 4 : fields->dtype->kind == 'c' ? 8 : 1;
        const Py_ssize_t most = fields->dtype->kind == 'c' ? 16 : 8;
        if (!is_read || (fields->flags & ALIGNED) == 0 || fields->ndim > MOST_AXES) return found;
        if (fields->dtype->item < least || fields->dtype->item > most) return found;
        found.kind = fields->dtype->kind;
        found.size = fields->dtype->item;
        found.array = fields;
        return found;
    }
    if (known.sort != Sort::SCALAR || known.dtype == nullptr) return found;
    const auto *dtype = reinterpret_cast<const DtypeFields *>(known.dtype);
    if (dtype->kind == 'f' && dtype->item >= 4 && known.read == Read::FLOAT) {
        found.real = PyFloat_Check(x) ? PyFloat_AsDouble(x) : PyFloat_AsDouble(Ref(PyNumber_Float(x)).get());
        found.kind = 'f';
    } else if (dtype->kind == 'i' || dtype->kind == 'u') {
        const Ref number(PyNumber_Index(x));
        int beyond = 0;
        found.whole = number ? PyLong_AsLongLongAndOverflow(number.get(), &beyond) : 0;
        if (number && beyond == 0) found.kind = dtype->kind;
    }
    found.size = dtype->item;
    if (PyErr_Occurred()) {
        PyErr_Clear();
        found.kind = 0;
    }
    return found;
}

// --- Walks through arrays ------------------------------------------------------------------------

// Several arrays side by side, each as often as the first needs it; axes that lie in a row are one.
struct Walk {
    int count = 0, axes = 0;
    const char *data[3] = {};
    Py_ssize_t shape[MOST_AXES], strides[3][MOST_AXES];

    explicit Walk(const ArrayFields &first) : axes(first.ndim) {
        std::copy(first.shape, first.shape + axes, shape);
        add(first);
    }
    // False if it has not the first's shape, and is not broadcast to it.
    bool add(const ArrayFields &array) {
        const int missing = axes - array.ndim;
        if (missing < 0) return false;
        for (int i = 0; i < axes; ++i) {
            const Py_ssize_t length = i < missing ? 1 : array.shape[i - missing];
            if (length != shape[i] && length != 1) return false;
            strides[count][i] = length == 1 ? 0 : array.strides[i - missing];
        }
        data[count++] = array.data;
        return true;
    }
    void add(const void *number) {
        std::fill(strides[count], strides[count] + axes, 0);
        data[count++] = static_cast<const char *>(number);
    }
    template <typename Row>
    void each(Row row) {
        for (int i = 0; i < axes; ++i)
            if (shape[i] == 0) return;
        join();
        const int inner = axes - 1;
        Py_ssize_t index[MOST_AXES] = {};
        const char *at[3] = {data[0], data[1], data[2]};
        static constexpr Py_ssize_t none[3] = {0, 0, 0};
        if (axes == 0) return row(at, none, 1);
        Py_ssize_t steps[3] = {};
        for (int k = 0; k < count; ++k) steps[k] = strides[k][inner];
        for (;;) {
            row(at, steps, shape[inner]);
            int axis = inner - 1;
            for (; axis >= 0; --axis) {
                for (int k = 0; k < count; ++k) at[k] += strides[k][axis];
                if (++index[axis] < shape[axis]) break;
                for (int k = 0; k < count; ++k) at[k] -= strides[k][axis] * shape[axis];
                index[axis] = 0;
            }
            if (axis < 0) return;
        }
    }

   private:
    void join() {
        int kept = 0;
        for (int i = 1; i < axes; ++i) {
            bool is_row = true;
            for (int k = 0; k < count; ++k) is_row = is_row && strides[k][kept] == strides[k][i] * shape[i];
            if (is_row) {
                shape[kept] *= shape[i];
            } else {
                shape[++kept] = shape[i];
            }
            for (int k = 0; k < count; ++k) strides[k][kept] = strides[k][i];
        }
        if (axes > 0) axes = kept + 1;
    }
};

template <typename T>
T at(const char *data, Py_ssize_t offset) {
    return *reinterpret_cast<const T *>(data + offset);
}

// Have each row of an array read, in which the numbers lie so many bytes apart: a constant where they lie
// side by side, for which the compiler finds better loops.
template <typename T, typename Row>
void each_row(const ArrayFields &array, Row row) {
    Walk(array).each([&](const char *const *data, const Py_ssize_t *steps, Py_ssize_t count) {
        if (steps[0] == sizeof(T)) {
            row(data[0], std::integral_constant<Py_ssize_t, sizeof(T)>(), count);
        } else {
            row(data[0], steps[0], count);
        }
    });
}

// Call with a number of the type that an array has.
template <typename Function>
auto of_integers(const Numbers &x, Function function) {
    switch ((x.kind == 'i' ? 0 : 8) + x.size) {
        case 1: return function(std::int8_t());
        case 2: return function(std::int16_t());
        case 4: return function(std::int32_t());
        case 8: return function(std::int64_t());
        case 10: return function(std::uint16_t());
        case 12: return function(std::uint32_t());
        case 16: return function(std::uint64_t());
        default: return function(std::uint8_t());  // and bool
    }
}

// --- Integers ------------------------------------------------------------------------------------

struct Range {
    Wide low, high;
    bool holds(const Range &other) const { return low <= other.low && other.high <= high; }
};

Range range_of_type(const Numbers &x) {
    return of_integers(x, [](auto number) {
        using T = decltype(number);
        return Range{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    });
}

Range range_of(const Numbers &x) {
    if (x.is_alone()) return {x.whole, x.whole};
    if (x.kind == 'b') return {0, 1};
    return of_integers(x, [&](auto number) -> Range {
        using T = decltype(number);
        T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
        each_row<T>(*x.array, [&](const char *data, auto step, Py_ssize_t count) {
            T least = low, most = high;
            for (Py_ssize_t i = 0; i < count; ++i) {
                const T each = at<T>(data, i * step);
                least = each < least ? each : least;
                most = each > most ? each : most;
            }
            low = least;
            high = most;
        });
        return low <= high ? Range{low, high} : Range{0, 0};
    });
}

Wide size_of(const Range &x) { return std::max(-x.low, x.high); }

// The results of integers that may be; false if that is not told from ranges.
bool results_of(Glance how, const Range &a, const Range &b, Wide depth, Range *found) {
    constexpr Wide most = Wide(1) << 63;
    if (how == Glance::ADD) {
        *found = {a.low + b.low, a.high + b.high};
    } else if (how == Glance::SUBTRACT) {
        *found = {a.low - b.high, a.high - b.low};
    } else if (how == Glance::NEGATIVE) {
        *found = {-a.high, -a.low};
    } else if (how == Glance::MULTIPLY || how == Glance::MATMUL) {
        if (size_of(a) >= most || size_of(b) >= most || depth >= (Wide(1) << 60)) return false;
        const Wide size = size_of(a) * size_of(b);
        if (size != 0 && depth > most / size) return false;
        *found = {a.low >= 0 && b.low >= 0 ? 0 : -size * depth, size * depth};
    } else if (how == Glance::POW) {
        Wide size = 1;
        for (Wide i = 0; b.low < 0 || i < b.high; ++i) {
            if (b.low < 0 || size_of(a) * size >= most) return size_of(a) < 2 && b.low >= 0;
            size *= size_of(a);
            if (size < 2) break;
        }
        *found = {a.low >= 0 ? 0 : -size, std::max(size, Wide(1))};
    } else if (how == Glance::SHIFT) {
        if (b.low < 0 || b.high > 62) return false;
        *found = {a.low * (Wide(1) << static_cast<int>(b.high)), a.high * (Wide(1) << static_cast<int>(b.high))};
        *found = {std::min(found->low, a.low), std::max(found->high, a.high)};
    } else if (how == Glance::FLOOR_DIVIDE) {
        *found = {-size_of(a), b.low < 0 ? size_of(a) : a.high};
        *found = {b.low < 0 || a.low < 0 ? found->low : 0, std::max(found->high, Wide(0))};
    } else {
        return how == Glance::REMAINDER && (*found = Range{0, 0}, true);
    }
    return true;
}

// Call with three numbers of each element: the result and the operands, of its type.
template <typename T, typename Each>
bool each_of_three(const Numbers &a, const Numbers &b, const Numbers &made, Each each) {
    T own[3];
    const Numbers *all[] = {&made, &a, &b};
    for (int k = 0; k < 3; ++k) own[k] = all[k]->kind == 'f' ? static_cast<T>(all[k]->real) : static_cast<T>(all[k]->whole);
    if (made.is_alone()) {
        if (!a.is_alone() || !b.is_alone()) return false;
        each(own[0], own[1], own[2]);
        return true;
    }
    Walk walk(*made.array);
    for (int k = 1; k < 3; ++k) {
        if (all[k]->is_alone()) {
            walk.add(&own[k]);
        } else if (!all[k]->is_like(made) || !walk.add(*all[k]->array)) {
            return false;
        }
    }
    walk.each([&](const char *const *data, const Py_ssize_t *steps, Py_ssize_t count) {
        for (Py_ssize_t i = 0; i < count; ++i)
            each(at<T>(data[0], i * steps[0]), at<T>(data[1], i * steps[1]), at<T>(data[2], i * steps[2]));
    });
    return true;
}

// Whether each sum, difference or product of elements fits.
bool each_fits(Glance how, const Numbers &a, const Numbers &b, const Numbers &made) {
    const Range range = range_of_type(made);
    for (const Numbers *x : {&a, &b})
        if (x->is_alone() && !range.holds({x->whole, x->whole})) return false;
    return made.kind != 'b' && of_integers(made, [&](auto number) {
        using T = decltype(number);
        bool wraps = false;
        const bool told = each_of_three<T>(a, b, made, [&](T, T x, T y) {
            T out;
            wraps |= how == Glance::ADD        ? __builtin_add_overflow(x, y, &out)
                     : how == Glance::SUBTRACT ? __builtin_sub_overflow(x, y, &out)
                                               : __builtin_mul_overflow(x, y, &out);
        });
        return told && !wraps;
    });
}

bool integers_fit(Glance how, const Numbers &a, const Numbers &b, const Numbers &made) {
    if (!a.is_whole() || !b.is_whole()) return false;
    const Range of_result = range_of_type(made);
    const Wide depth = how != Glance::MATMUL || a.is_alone() || a.array->ndim == 0 ? Wide(1)
                                                                                   : a.array->shape[a.array->ndim - 1];
    Range found{0, 0};
    const bool told = results_of(how, range_of(a), range_of(b), depth, &found);
    if (told && (how == Glance::REMAINDER || of_result.holds(found))) return true;
    const bool by_elements = how == Glance::ADD || how == Glance::SUBTRACT || how == Glance::MULTIPLY;
    return by_elements && each_fits(how, a, b, made);
}

// --- Floats --------------------------------------------------------------------------------------

struct Seen {
    bool all_finite = true, any_small = false;  // less than the least normal number, zero as well
};

template <typename T>
Seen seen_in(const ArrayFields &array) {
    using Count = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
    Seen seen;
    each_row<T>(array, [&](const char *data, auto step, Py_ssize_t count) {
        Count beyond = 0, small = 0;
        for (Py_ssize_t i = 0; i < count; ++i) {
            const T size = std::fabs(at<T>(data, i * step));
            beyond |= !(size <= most);
            small |= size < least;
        }
        seen.all_finite = seen.all_finite && beyond == 0;
        seen.any_small = seen.any_small || small != 0;
    });
    return seen;
}

// Whether a complex array is finite: its parts lie in pairs.
template <typename T>
bool is_finite_complex(const ArrayFields &array) {
    bool all = true;
    Walk(array).each([&](const char *const *data, const Py_ssize_t *steps, Py_ssize_t count) {
        for (Py_ssize_t i = 0; i < count; ++i)
            all &= std::isfinite(at<T>(data[0], i * steps[0])) && std::isfinite(at<T>(data[0], i * steps[0] + sizeof(T)));
    });
    return all;
}

Seen seen_in(const Numbers &x) {
    if (x.kind == 'c') return {x.size == 16 ? is_finite_complex<double>(*x.array) : is_finite_complex<float>(*x.array), false};
    if (!x.is_alone()) return x.size == 8 ? seen_in<double>(*x.array) : seen_in<float>(*x.array);
    const double least = x.size == 8 ? std::numeric_limits<double>::min() : double(std::numeric_limits<float>::min());
    return {std::isfinite(x.real), std::fabs(x.real) < least};
}

template <typename T>
bool small_are_zeros(Glance how, const Numbers &a, const Numbers &b, const Numbers &made) {
    bool all = true;
    const bool told = each_of_three<T>(a, b, made, [&](T result, T x, T y) {
        const bool is_zero = result == 0 && (x == 0 || (how == Glance::MULTIPLY && y == 0));
        all &= std::fabs(result) >= std::numeric_limits<T>::min() || is_zero;
    });
    return told && all;
}

template <typename T>
bool few_are_absorbed(const Numbers &a, const Numbers &b, const Numbers &made) {
    Py_ssize_t absorbed = 0, moves = 0;
    const bool told = each_of_three<T>(a, b, made, [&](T result, T x, T y) {
        moves += y != 0;
        absorbed += y != 0 && result == x;
    });
    return told && 2 * absorbed <= moves;
}

// Whether floats hold an operand as it is, and are no wider than data that is.
bool is_held(const Numbers &x, const Numbers &made) {
    if (x.is_weak) return true;
    if (x.kind == 'f') return x.size == made.size || (x.size < made.size && (x.is_alone() || x.array->ndim == 0));
    if (!x.is_whole()) return false;
    if (x.size * 8 <= (made.size == 8 ? 32 : 16)) return true;
    const Range range = range_of(x);
    const Wide most = made.size == 8 ? EXACT : 1 << 24;
    return -most <= range.low && range.high <= most;
}

bool floats_keep(Glance how, const Numbers &a, const Numbers &b, const Numbers &made, bool updates) {
    const Seen seen = seen_in(made);
    if (!seen.all_finite || !is_held(a, made) || !is_held(b, made)) return false;
    const bool scales = how == Glance::MULTIPLY || how == Glance::DIVIDE || how == Glance::POW;
    const bool is_wide = made.size == 8;
    if (scales && seen.any_small &&
        !(is_wide ? small_are_zeros<double>(how, a, b, made) : small_are_zeros<float>(how, a, b, made)))
        return false;
    if (!updates || (how != Glance::ADD && how != Glance::SUBTRACT)) return true;
    return is_wide ? few_are_absorbed<double>(a, b, made) : few_are_absorbed<float>(a, b, made);
}

// --- Casts ---------------------------------------------------------------------------------------

struct Reach {
    double low = 0, high = 0, least = 0;  // and the least that is not zero
    bool all_numbers = true;
};

template <typename T>
Reach reach_in(const ArrayFields &array) {
    T low = std::numeric_limits<T>::infinity(), high = -low, least = low;
    bool numbers = true;
    each_row<T>(array, [&](const char *data, auto step, Py_ssize_t count) {
        T bottom = low, top = high, small = least;
        Py_ssize_t others = 0;
        for (Py_ssize_t i = 0; i < count; ++i) {
            const T x = at<T>(data, i * step), size = std::fabs(x);
            bottom = x < bottom ? x : bottom;
            top = x > top ? x : top;
            others += !(size <= std::numeric_limits<T>::max());
            small = x != 0 && size < small ? size : small;
        }
        low = bottom;
        high = top;
        least = small;
        numbers = numbers && others == 0;
    });
    return low <= high ? Reach{double(low), double(high), double(least), numbers} : Reach{};
}

Reach reach_of(const Numbers &x) {
    if (!x.is_alone()) return x.size == 8 ? reach_in<double>(*x.array) : reach_in<float>(*x.array);
    return {x.real, x.real, std::fabs(x.real), std::isfinite(x.real)};
}

bool cast_keeps(const Numbers &x, const Numbers &made) {
    if (x.kind == 0 || made.kind == 0 || x.kind == 'c' || made.kind == 'c' || made.kind == 'b') return false;
    if (x.is_like(made) || (x.kind == 'f' && made.kind == 'f' && made.size > x.size)) return true;
    if (x.is_whole())
        return made.kind == 'f' ? is_held(x, made) && !x.is_weak : range_of_type(made).holds(range_of(x));
    const Reach reach = reach_of(x);
    if (!reach.all_numbers) return false;
    if (made.kind != 'f') {  // of an end of 64 bits, which is rounded, false
        const Range range = range_of_type(made);
        return reach.low > double(range.low) - 1 && reach.high < double(range.high) + 1;
    }
    const double most = std::max(-reach.low, reach.high);  // of float64 to float32
    const bool is_spread = x.is_alone() || reach.low * reach.high <= 0 || reach.high - reach.low > most / 16;
    return most <= 1 << 24 && is_spread && reach.least >= double(std::numeric_limits<float>::min());
}

}  // namespace

bool lost_nothing(const FastHook *self, Glance how, PyObject *first, PyObject *second, PyObject *result, bool updates) {
    const Numbers made = read(self, result);
    if (made.kind == 0) return false;
    if (made.kind == 'b' && how != Glance::CAST) return true;
    if (how == Glance::WHOLE && made.is_whole()) return false;
    if (how == Glance::FINITE || how == Glance::WHOLE) return made.is_whole() || seen_in(made).all_finite;
    if ((how == Glance::ABS || how == Glance::DIFF || how == Glance::SUM) && !made.is_whole()) return seen_in(made).all_finite;
    const Numbers a = read(self, first);
    if (a.kind == 0) return false;
    if (how == Glance::CAST) return cast_keeps(a, made);
    if (how == Glance::SAME) return made.is_whole() || (a.is_like(made) && !a.is_weak && seen_in(made).all_finite);
    if (how == Glance::SUM) {
        if (!a.is_whole()) return false;
        const Wide count = a.is_alone() ? 1 : std::max(elements_of(*a.array), Py_ssize_t(1));
        const Range range = range_of(a);
        if (size_of(range) >= Wide(1) << 62 || count >= Wide(1) << 60) return false;
        return range_of_type(made).holds({std::min(range.low, range.low * count), std::max(range.high, range.high * count)});
    }
    if (how == Glance::ABS) return a.is_whole() && range_of_type(made).holds({0, size_of(range_of(a))});
    if (how == Glance::SQUARE) how = Glance::MULTIPLY;
    if (how == Glance::DIFF) how = Glance::SUBTRACT;
    const Numbers b = second != nullptr ? read(self, second) : a;
    if (b.kind == 0 || made.kind == 'c') return false;
    return made.is_whole() ? integers_fit(how, a, b, made) : floats_keep(how, a, b, made, updates);
}

bool is_looked_at(const FastHook *self, PyObject *made) {
    const Class known = class_of(self, made);
    const ArrayFields *fields = fields_of(made);
    if (fields == nullptr && known.dtype == nullptr) return true;
    const auto *dtype = fields != nullptr ? fields->dtype : reinterpret_cast<const DtypeFields *>(known.dtype);
    const bool is_whole = dtype->kind == 'i' || dtype->kind == 'u';
    return dtype->kind != 'b' && (self->checks & (is_whole ? LOOKS_AT_INTEGERS : LOOKS_AT_FLOATS)) != 0;
}

bool is_held_as_it_is(const FastHook *self, PyObject *target, PyObject *value) {
    const Numbers array = read(self, target), x = read(self, value);
    if (array.kind == 0 || x.kind == 0) return false;
    if (!x.is_weak) return x.is_like(array);
    if (x.kind == 'i') return array.is_whole() || (array.kind == 'f' && -256 <= x.whole && x.whole <= 256);
    return array.kind == 'f' && array.size == 8;
}

}  // namespace promoarray
