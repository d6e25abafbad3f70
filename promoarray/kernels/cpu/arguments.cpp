#include "arguments.h"

#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

namespace promoarray {

using std::to_string;

void refuse(const std::string &message) { throw nb::value_error(message.c_str()); }

// --- Arrays --------------------------------------------------------------------------------------

Array::Array(nb::handle object, const char *name, int flags) : name_(name) {
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

void Array::bounds(std::uintptr_t &low, std::uintptr_t &high) const {
    low = (std::uintptr_t)view_.buf;
    high = low + (std::uintptr_t)view_.itemsize;
    for (int i = 0; i < view_.ndim; ++i) {
        const Py_ssize_t reach = view_.strides[i] * (view_.shape[i] - 1);
        (reach < 0 ? low : high) += (std::uintptr_t)reach;
    }
}

void check_item(const Array &array, const Type &type) {
    const size_t size = size_of(type) * (type.kind == Kind::complex ? 2 : 1);
    if (array.item() == size) return;
    refuse(std::string(array.name()) + " has elements of " + to_string(array.item()) +
           " bytes, and its row says " + to_string(size));
}

void check_apart(const Array &src, const Array &dst) {
    if (dst.empty() || src.empty()) return;
    std::uintptr_t low, high, first, last;
    src.bounds(low, high);
    dst.bounds(first, last);
    if (low >= last || first >= high) return;
    refuse(std::string(src.name()) + " and " + dst.name() + " overlap in memory");
}

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
    check_apart(src, dst);
}

// --- Rows and modes ------------------------------------------------------------------------------

namespace {

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

}  // namespace

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
    if (type.kind == Kind::boolean && bits != 8) {
        refuse(std::string(name) + " is a bool of " + to_string(bits) + " bits, which has 8");
    }
    if (type.kind != Kind::real && type.kind != Kind::complex) {
        f = {};  // as of the types that loops name themselves, which are to be the same
        return type;
    }
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

CastMode read_mode(nb::handle tuple) {
    Fields fields(tuple, "mode", 10);
    CastMode mode = {};
    mode.overflow = fields.choice(Beyond::largest);
    mode.infinity = fields.choice(Beyond::largest);
    mode.keep_nan_sign = fields.next(0, 1) != 0;
    mode.nan_without = fields.choice(NanWithout::largest);
    mode.to_integer = fields.choice(ToInteger::arm64_scalar);
    mode.scale_rounding = fields.choice(ScaleRounding::nearest_but_lowest_up);
    mode.scale_negative = fields.choice(ScaleNegative::absolute);
    mode.scale_zero = fields.choice(ScaleZero::smallest);
    mode.scale_strict = fields.next(0, 1) != 0;
    mode.via_float32 = fields.next(0, 1) != 0;
    return mode;
}

Adjustment read_adjustment(nb::handle given, Type source, Type target) {
    Adjustment adjustment = {};
    if (given.is_none()) return adjustment;
    if (PyBytes_Check(given.ptr())) {
        const auto table = nb::borrow<nb::bytes>(given);
        const size_t codes = source.bits <= 8 ? 256 : (size_t)1 << 16;
        if (source.bits > 16 || table.size() != codes * size_of(target)) {
            refuse("adjustment has " + to_string(table.size()) + " bytes, which is no table of the pair");
        }
        adjustment.table = static_cast<const unsigned char *>(table.data());
        return adjustment;
    }
    if (!PyTuple_Check(given.ptr())) {
        const auto way = nb::cast<int>(given);
        if (way < 1 || way > (int)Way::through_int64) {
            refuse("adjustment is " + to_string(way) + ", not from 1 to 5");
        }
        adjustment.way = static_cast<Way>(way);
        return adjustment;
    }
    const auto found = nb::borrow<nb::tuple>(given);
    if (found.size() > (size_t)most_replacements) {
        refuse("adjustment has " + to_string(found.size()) + " replacements, and there is room for " +
               to_string(most_replacements));
    }
    for (nb::handle item : found) {
        const auto [first, last, code] = nb::cast<std::tuple<u64, u64, u64>>(item);
        adjustment.replacement[adjustment.replacements++] = {first, last, code};
    }
    return adjustment;
}

}  // namespace promoarray
