// The casts over whole arrays: what Python hands over is checked, walked in blocks and given to the
// loops. Nothing here allocates, promotes or knows a policy; what is wrong with the arguments is an
// exception before the first element is written.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "loops.h"

namespace nb = nanobind;
using namespace promoarray;

namespace {

using std::size_t;
using std::to_string;

[[noreturn]] void refuse(const std::string &message) { throw nb::value_error(message.c_str()); }

// --- Arrays --------------------------------------------------------------------------------------

// An array by the buffer protocol, without its element type: NumPy exports the types of ml_dtypes
// only so, and the row says what the bits mean.
class Array {
   public:
    Array(nb::handle object, const char *name, int flags) : name_(name) {
        // Names are made once: making them takes longer than the cast of a few elements.
        static PyObject *const names[3] = {PyUnicode_InternFromString("dtype"),
                                           PyUnicode_InternFromString("isnative"),
                                           PyUnicode_InternFromString("hasobject")};
        const nb::object dtype = nb::getattr(object, nb::handle(names[0]), nb::none());
        bool objects = false;
        if (dtype.is_none()) {
            flags |= PyBUF_FORMAT;  // bytes, array.array, memoryview: see below
        } else {
            native_ = nb::cast<bool>(dtype.attr(nb::handle(names[1])));
            objects = nb::cast<bool>(dtype.attr(nb::handle(names[2])));
        }
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
        if (dtype.is_none()) {
            const char *format = view_.format != nullptr ? view_.format : "B";
            objects = std::strlen(format) != 1 || std::strchr("?bBhHiIlLqQefd", *format) == nullptr;
        }
        if (!objects) return;
        PyBuffer_Release(&view_);  // the destructor does not run for what was not constructed
        const std::string message = std::string(name) + " must be an array of plain numbers";
        throw nb::type_error(message.c_str());
    }
    ~Array() { PyBuffer_Release(&view_); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    const char *name() const { return name_; }
    char *data() const { return static_cast<char *>(view_.buf); }
    int ndim() const { return view_.ndim; }
    Py_ssize_t shape(int axis) const { return view_.shape[axis]; }
    Py_ssize_t stride(int axis) const { return view_.strides[axis]; }
    size_t item() const { return (size_t)view_.itemsize; }
    bool native() const { return native_; }
    bool empty() const { return view_.len == 0; }

    // The addresses that its elements lie between.
    void bounds(std::uintptr_t &low, std::uintptr_t &high) const {
        low = (std::uintptr_t)view_.buf;
        high = low + (std::uintptr_t)view_.itemsize;
        for (int i = 0; i < view_.ndim; ++i) {
            const Py_ssize_t reach = view_.strides[i] * (view_.shape[i] - 1);
            (reach < 0 ? low : high) += (std::uintptr_t)reach;
        }
    }

   private:
    Py_buffer view_;
    const char *name_;
    bool native_ = true;
};

void check_pair(const Array &src, const Array &dst) {
    if (!dst.native()) refuse("dst must be in native byte order");
    bool same = src.ndim() == dst.ndim();
    for (int i = 0; same && i < src.ndim(); ++i) same = src.shape(i) == dst.shape(i);
    if (!same) {
        std::string shapes[2];
        for (const Array *array : {&src, &dst}) {
            std::string &text = shapes[array == &dst];
            for (int i = 0; i < array->ndim(); ++i) text += to_string(array->shape(i)) + ", ";
            text = "(" + text.substr(0, text.size() - (text.empty() ? 0 : 2)) + ")";
        }
        refuse("src has shape " + shapes[0] + " and dst has " + shapes[1]);
    }
    if (dst.empty()) return;
    std::uintptr_t low, high, first, last;
    src.bounds(low, high);
    dst.bounds(first, last);
    if (low < last && first < high) refuse("src and dst overlap in memory");
}

// --- Rows and rules ------------------------------------------------------------------------------

// The integers of a tuple, each between bounds that the caller names.
class Fields {
   public:
    Fields(nb::handle tuple, const char *name, Py_ssize_t size) : tuple_(tuple), name_(name) {
        if (!PyTuple_Check(tuple.ptr()) || PyTuple_Size(tuple.ptr()) != size) {
            const std::string message = std::string(name) + " must be a tuple of " +
                                        to_string(size) + " integers";
            throw nb::type_error(message.c_str());
        }
    }
    i64 next(i64 low, i64 high) {
        const i64 value = PyLong_AsLongLong(PyTuple_GetItem(tuple_.ptr(), at_));
        if (value == -1 && PyErr_Occurred()) throw nb::python_error();
        if (value < low || value > high) {
            refuse("item " + to_string(at_) + " of " + name_ + " is " + to_string(value) +
                   ", not from " + to_string(low) + " to " + to_string(high));
        }
        ++at_;
        return value;
    }
    template <typename Enum>
    Enum choice(Enum last) {
        return static_cast<Enum>(next(0, static_cast<int>(last)));
    }
    const char *name() const { return name_; }

   private:
    nb::handle tuple_;
    const char *name_;
    Py_ssize_t at_ = 0;
};

// The row as the arithmetic of cast.h needs it: anything else could shift by a negative count.
Type read_type(nb::handle row, const char *name) {
    Fields fields(row, name, 10);
    Type type = {};
    type.kind = fields.choice(Kind::complex);
    type.bits = (int)fields.next(1, 128);
    Format &f = type.format;
    f.exponent = (int)fields.next(0, 11);
    f.mantissa = (int)fields.next(0, 52);
    f.bias = (int)fields.next(0, 1023);
    constexpr i64 most = ((i64)1 << 62) - 1 + ((i64)1 << 62);
    f.largest = fields.next(0, most);
    f.inf = fields.next(-1, most);
    f.nan = fields.next(-1, most);
    f.negative_zero = fields.next(0, 1) != 0;
    f.has_sign = fields.next(0, 1) != 0;

    if (type.kind == Kind::complex) type.bits /= 2;
    const int bits = type.bits;
    if (bits > 64 || (bits > 8 && bits != 16 && bits != 32 && bits != 64)) {
        refuse(std::string(name) + " has " + to_string(bits) + " bits, which no element has");
    }
    if (type.kind != Kind::real && type.kind != Kind::complex) return type;

    const int width = f.exponent + f.mantissa;
    if (f.exponent < 1 || width + f.has_sign > bits) {
        refuse(std::string("the format of ") + name + " does not fit its bits");
    }
    const i64 end = width == 63 ? most : ((i64)1 << width) - 1;
    const i64 last = f.has_sign && width < 63 ? 2 * end + 1 : end;
    if (f.largest < 1 || f.largest > end || f.inf > end || f.nan > last) {
        refuse(std::string("the format of ") + name + " has a special code beyond its bits");
    }
    if ((f.inf >= 0 && f.inf <= f.largest) || (f.nan >= 0 && f.nan <= f.largest)) {
        refuse(std::string("the format of ") + name + " has a special code among its numbers");
    }
    const bool scale = width == 8 && f.mantissa == 0 && f.bias == 127 && f.largest == 254 &&
                       f.inf < 0 && f.nan == 255;
    if (!f.has_sign && !scale) {
        refuse(std::string("the format of ") + name + " has no sign and is not that of e8m0");
    }
    return type;
}

Rule read_rule(nb::handle tuple) {
    Fields fields(tuple, "rule", 10);
    Rule rule = {};
    rule.overflow = fields.choice(Beyond::largest);
    rule.infinity = fields.choice(Beyond::largest);
    rule.keep_nan_sign = fields.next(0, 1) != 0;
    rule.nan_without = fields.choice(NanWithout::largest);
    rule.to_integer = fields.choice(ToInteger::aclnn);
    rule.scale_rounding = fields.choice(ScaleRounding::nearest_but_lowest_up);
    rule.scale_negative = fields.choice(ScaleNegative::absolute);
    rule.scale_zero = fields.choice(ScaleZero::smallest);
    rule.scale_strict = fields.next(0, 1) != 0;
    rule.via_float32 = fields.next(0, 1) != 0;
    return rule;
}

// --- The walk ------------------------------------------------------------------------------------

// Elements at a time where something lies between source and target: gathered elements, and parts
// of complex numbers. Both fit a first-level cache, 32 KiB in all.
constexpr size_t block = 2048;

struct Scratch {
    alignas(64) unsigned char gathered[block * 8], parts[block * 8];
};

// The cast of contiguous, aligned elements in native byte order.
class Caster {
   public:
    Caster(Type source, Type target, Rule rule, size_t n, bool tuned) {
        from_pairs = source.kind == Kind::complex;
        to_pairs = target.kind == Kind::complex;
        to_bool_ = from_pairs && target.kind == Kind::boolean;
        if (from_pairs) source.kind = Kind::real;
        if (to_pairs) target.kind = Kind::real;
        from_size = size_of(source);
        to_size = size_of(target);
        loop_ = choose_loop(source, target, rule, n, tuned, work_);
    }

    bool from_pairs, to_pairs;
    size_t from_size, to_size;  // bytes of a real element or of a part
    // What a step of the walk reads and writes: a part where both are read, else an element.
    bool reads_both() const { return from_pairs && (to_pairs || to_bool_); }
    // How many bytes n of those steps write.
    size_t written(size_t n) const {
        return to_bool_ ? n / 2 : n * to_size * (to_pairs && !from_pairs ? 2 : 1);
    }

    void run(const char *src, char *dst, size_t n) {
        if (written(n) == n * to_size) {
            loop_(src, dst, n, work_);
            return;
        }
        for (size_t at = 0; at < n; at += block) {  // an even number, so that no pair is cut
            const size_t count = n - at < block ? n - at : block;
            loop_(src + at * from_size, scratch.parts, count, work_);
            char *out = dst + written(at);
            auto *bytes = reinterpret_cast<std::uint8_t *>(out);
            if (to_bool_) either_part(scratch.parts, bytes, count / 2);
            else with_zero_parts(scratch.parts, out, count, to_size);
        }
    }

    Scratch scratch;

   private:
    bool to_bool_;
    Loop loop_;
    Work work_;
};

// Copy elements that lie anywhere into a row, in native byte order.
template <typename Word>
void gather_words(const char *src, Py_ssize_t stride, char *dst, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        std::memcpy(dst + i * sizeof(Word), src + (Py_ssize_t)i * stride, sizeof(Word));
    }
}

void gather(const char *src, Py_ssize_t stride, char *dst, size_t n, size_t size, bool native) {
    if (size == 1) gather_words<std::uint8_t>(src, stride, dst, n);
    else if (size == 2) gather_words<std::uint16_t>(src, stride, dst, n);
    else if (size == 4) gather_words<std::uint32_t>(src, stride, dst, n);
    else gather_words<std::uint64_t>(src, stride, dst, n);
    if (native || size == 1) return;
    for (size_t i = 0; i < n; ++i, dst += size) {
        for (size_t low = 0, high = size - 1; low < high; ++low, --high) {
            const char byte = dst[low];
            dst[low] = dst[high];
            dst[high] = byte;
        }
    }
}

// The axes of an array, outermost first, with those merged that are one in memory.
struct Axes {
    int ndim = 0;
    size_t shape[PyBUF_MAX_NDIM + 1];
    Py_ssize_t stride[PyBUF_MAX_NDIM + 1];

    void append(size_t length, Py_ssize_t step) {
        if (length == 1) return;
        if (ndim > 0 && stride[ndim - 1] == (Py_ssize_t)length * step) {
            shape[ndim - 1] *= length;
            stride[ndim - 1] = step;
            return;
        }
        shape[ndim] = length;
        stride[ndim++] = step;
    }
};

void walk(Caster &cast, const char *src, char *dst, Axes axes, bool native) {
    // 1. The innermost axis is a row; the others count rows.
    const size_t size = cast.from_size;
    if (axes.ndim == 0) {
        axes.shape[0] = 1;
        axes.stride[axes.ndim++] = (Py_ssize_t)size;
    }
    const int outer = axes.ndim - 1;
    const size_t length = axes.shape[outer];
    const Py_ssize_t stride = axes.stride[outer];

    // 2. Rows as the loops take them go to the loops; short ones are better gathered first.
    bool direct = native && stride == (Py_ssize_t)size && (outer == 0 || length >= 256);
    for (int i = 0; i < outer; ++i) direct &= axes.stride[i] % (Py_ssize_t)size == 0;
    direct &= (std::uintptr_t)src % size == 0;

    // 3. All others are gathered, until a block is full or the last row is in it.
    size_t index[PyBUF_MAX_NDIM + 1] = {};
    size_t filled = 0;
    char *gathered = reinterpret_cast<char *>(cast.scratch.gathered);
    for (bool more = true; more;) {
        if (direct) {
            cast.run(src, dst, length);
            dst += cast.written(length);
        }
        for (size_t at = 0; !direct && at < length;) {
            const size_t room = block - filled, left = length - at;
            const size_t count = room < left ? room : left;
            gather(src + (Py_ssize_t)at * stride, stride, gathered + filled * size, count, size,
                   native);
            filled += count;
            at += count;
            if (filled == block) {
                cast.run(gathered, dst, block);
                dst += cast.written(block);
                filled = 0;
            }
        }
        more = false;
        for (int i = outer - 1; i >= 0 && !more; --i) {
            src += axes.stride[i];
            more = ++index[i] < axes.shape[i];
            if (!more) {
                src -= axes.stride[i] * (Py_ssize_t)axes.shape[i];
                index[i] = 0;
            }
        }
    }
    if (filled > 0) cast.run(gathered, dst, filled);
}

// --- The binding ---------------------------------------------------------------------------------

void check_item(const Array &array, const Type &type) {
    const size_t size = size_of(type) * (type.kind == Kind::complex ? 2 : 1);
    if (array.item() == size) return;
    refuse(std::string(array.name()) + " has elements of " + to_string(array.item()) +
           " bytes, and its row says " + to_string(size));
}

void cast_array(nb::handle source, nb::handle target, nb::handle source_row, nb::handle target_row,
                nb::handle rule_tuple, bool tuned) {
    const Type from = read_type(source_row, "source_row"), to = read_type(target_row, "target_row");
    const Rule rule = read_rule(rule_tuple);
    const Array src(source, "src", PyBUF_STRIDES);
    const Array dst(target, "dst", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    check_item(src, from);
    check_item(dst, to);
    check_pair(src, dst);
    const size_t align = size_of(to);
    if ((std::uintptr_t)dst.data() % align != 0) refuse("dst is not aligned to its elements");
    if (src.empty()) return;

    Axes axes;
    size_t n = 1;
    for (int i = 0; i < src.ndim(); ++i) {
        axes.append((size_t)src.shape(i), src.stride(i));
        n *= (size_t)src.shape(i);
    }
    Caster cast(from, to, rule, n, tuned);
    if (cast.reads_both()) axes.append(2, (Py_ssize_t)cast.from_size);

    if (n < 4096) {  // handing the lock over takes longer
        walk(cast, src.data(), dst.data(), axes, src.native());
        return;
    }
    const nb::gil_scoped_release release;
    walk(cast, src.data(), dst.data(), axes, src.native());
}

}  // namespace

NB_MODULE(_cpu, m) {
    m.doc() = "The casts of cast.h over arrays.";
    m.def("cast", &cast_array, nb::arg("src"), nb::arg("dst"), nb::arg("source_row"),
          nb::arg("target_row"), nb::arg("rule"), nb::arg("tuned") = true,
          "Cast every element of src to its place in dst.");
}
