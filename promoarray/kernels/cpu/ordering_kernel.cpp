// A callable that sorts few numbers, or finds what is unique among them: by the codes they have, so
// that the bits stay as they are. What it is not made for it answers with None.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "array_view.h"
#include "kernel_type.h"
#include "module.h"

namespace promoarray {
namespace {

using u64 = std::uint64_t;
constexpr size_t FEW = 256;  // elements; NumPy's sorts are faster with more
constexpr u64 LAST = ~u64{0};

struct OrderingKernel {
    PyObject_HEAD
    vectorcallfunc call;
    Type type, index;
    char made[5];  // a letter for each result: see ordering_new
    bool in_rows;  // along the last axis; else of all elements
    PyObject *empty;          // numpy.empty
    PyObject *storage;        // NumPy's dtypes: of the elements, and of indices
    PyObject *index_storage;

    std::array<PyObject *, 3> parts() const { return {empty, storage, index_storage}; }
    void release() {}
};

// --- Order ---------------------------------------------------------------------------------------

// An integer in the order of the values; of a complex number two.
struct RealKey {
    u64 value;
    bool operator<(RealKey other) const { return value < other.value; }
    bool operator==(RealKey other) const { return value == other.value; }
    RealKey operator~() const { return {~value}; }
    bool is_nan() const { return value == LAST; }
};
struct ComplexKey {
    u64 first, second;
    bool operator<(const ComplexKey &other) const {
        return first != other.first ? first < other.first : second < other.second;
    }
    bool operator==(const ComplexKey &other) const {
        return first == other.first && second == other.second;
    }
    ComplexKey operator~() const { return {~first, ~second}; }
    bool is_nan() const { return first >= LAST - 2; }
};

template <typename Key> struct Element {
    Key key;
    std::uint32_t at;
    bool operator<(const Element &other) const {
        return key == other.key ? at < other.at : key < other.key;
    }
};

u64 code_at(const char *data, size_t size, size_t i) {
    u64 code = 0;
    std::memcpy(&code, data + i * size, size);  // little-endian, see module.cpp
    return code;
}

bool is_float(const Type &type) {
    return type.kind == Kind::real || type.kind == Kind::complex;
}

// Of a complex number these are asked of its parts.
bool is_nan(const Type &type, u64 code) {
    const Format &f = type.format;
    if (!is_float(type) || f.nan < 0) return false;
    if (!f.has_sign || !f.negative_zero) return code == static_cast<u64>(f.nan);
    const u64 last = static_cast<u64>(f.inf < 0 ? f.largest : f.inf);
    return (code & ((u64{1} << (type.bits - 1)) - 1)) > last;
}

// Zeros have one, and all NaN the last.
u64 key_of(const Type &type, u64 code) {
    const u64 sign = u64{1} << (type.bits - 1), all = sign | (sign - 1);
    if (type.kind != Kind::boolean) code &= all;  // bits above a narrow code say nothing
    if (is_nan(type, code)) return LAST;
    if (type.kind == Kind::signed_integer) return code ^ sign;
    if (!is_float(type) || !type.format.has_sign) return code;
    if ((code & sign) == 0) return code | sign;
    return code == sign ? sign : ~code & all;
}

void read_key(const Type &type, const char *data, size_t i, RealKey &key) {
    key = {key_of(type, code_at(data, size_of(type), i))};
}
// As NumPy has it, those with a NaN come last, by the part that is none: x + NaN j, NaN + y j, both.
void read_key(const Type &type, const char *data, size_t i, ComplexKey &key) {
    const size_t size = size_of(type);
    const u64 real = key_of(type, code_at(data, size, 2 * i));
    const u64 imag = key_of(type, code_at(data, size, 2 * i + 1));
    if (real == LAST && imag == LAST) key = {LAST, 0};
    else if (real == LAST) key = {LAST - 1, imag};
    else if (imag == LAST) key = {LAST - 2, real};
    else key = {real, imag};
}

// The elements of a line in order.
template <typename Key>
void order(const Type &type, const char *data, size_t n, bool descending, Element<Key> *out) {
    for (size_t i = 0; i < n; ++i) {
        Key key;
        read_key(type, data, i, key);
        out[i] = {descending ? ~key : key, static_cast<std::uint32_t>(i)};
    }
    std::sort(out, out + n);
}

// --- Results -------------------------------------------------------------------------------------

// Memory for a result, and where it lies.
class Made {
   public:
    Made(const OrderingKernel *self, int ndim, const Py_ssize_t *shape, bool is_index)
        : size_(item_of(is_index ? self->index : self->type)) {
        PyObject *storage = is_index ? self->index_storage : self->storage;
        array_ = new_array(ndim, shape, storage, self->empty);
        is_there_ = array_ != nullptr &&
                    view_.open(array_, is_index ? self->index : self->type, PyBUF_WRITABLE);
    }
    ~Made() {
        view_.release();
        Py_XDECREF(array_);
    }
    Made(const Made &) = delete;
    Made &operator=(const Made &) = delete;

    bool is_there() const { return is_there_; }
    void put(size_t i, const char *element) { std::memcpy(at(i), element, size_); }
    void put(size_t i, std::int64_t index) { std::memcpy(at(i), &index, size_); }
    PyObject *take() {
        view_.release();
        PyObject *array = array_;
        array_ = nullptr;
        return array;
    }

   private:
    char *at(size_t i) { return static_cast<char *>(view_.data()) + i * size_; }

    PyObject *array_ = nullptr;
    View view_;
    size_t size_;
    bool is_there_;
};

template <typename Key>
PyObject *sorted(const OrderingKernel *self, const View &x, size_t length, bool descending) {
    const bool wants_indices = self->made[0] == 'o';
    Made made(self, x.ndim(), x.shape(), wants_indices);
    if (!made.is_there()) return nullptr;
    const auto *data = static_cast<const char *>(x.data());
    const size_t size = item_of(self->type);
    Element<Key> line[FEW];
    for (size_t begin = 0; begin < x.count(); begin += length) {
        order(self->type, data + begin * size, length, descending, line);
        for (size_t i = 0; i < length; ++i) {
            if (wants_indices) made.put(begin + i, static_cast<std::int64_t>(line[i].at));
            else made.put(begin + i, data + (begin + line[i].at) * size);
        }
    }
    return made.take();
}

template <typename Key>
PyObject *unique_result(const OrderingKernel *self, char which, const View &x,
                        const Element<Key> *line, const std::uint32_t *starts, size_t count) {
    const size_t n = x.count();
    const auto length = static_cast<Py_ssize_t>(count);
    Made made(self, which == 'v' ? x.ndim() : 1, which == 'v' ? x.shape() : &length, which != 'u');
    if (!made.is_there()) return nullptr;
    const auto *data = static_cast<const char *>(x.data());
    for (size_t k = 0; k < count; ++k) {
        const size_t begin = starts[k], end = k + 1 < count ? starts[k + 1] : n;
        const std::int64_t first = line[begin].at;
        if (which == 'u') made.put(k, data + (size_t)first * item_of(self->type));
        if (which == 'i') made.put(k, first);
        if (which == 'c') made.put(k, static_cast<std::int64_t>(end - begin));
        for (size_t i = begin; which == 'v' && i < end; ++i)
            made.put(line[i].at, static_cast<std::int64_t>(k));
    }
    return made.take();
}

// The values, each from its first element, and what else is asked for.
template <typename Key>
PyObject *unique(const OrderingKernel *self, const View &x) {
    const size_t n = x.count();
    Element<Key> line[FEW];
    std::uint32_t starts[FEW];
    order(self->type, static_cast<const char *>(x.data()), n, false, line);
    size_t count = 0;
    for (size_t i = 0; i < n; ++i) {
        const bool is_nan = is_float(self->type) && line[i].key.is_nan();  // equal to none
        const bool is_own = i == 0 || is_nan || !(line[i].key == line[i - 1].key);
        if (is_own) starts[count++] = static_cast<std::uint32_t>(i);
    }
    const auto results = static_cast<Py_ssize_t>(std::strlen(self->made));
    if (results == 1) return unique_result(self, 'u', x, line, starts, count);
    PyObject *out = PyTuple_New(results);
    for (Py_ssize_t i = 0; out != nullptr && i < results; ++i) {
        PyObject *made = unique_result(self, self->made[i], x, line, starts, count);
        if (made == nullptr) Py_CLEAR(out);
        else PyTuple_SetItem(out, i, made);
    }
    return out;
}

template <typename Key>
PyObject *ordered(const OrderingKernel *self, const View &x, bool descending) {
    if (!self->in_rows) return unique<Key>(self, x);
    const bool has_rows = x.ndim() > 0 && x.count() > 0;
    return has_rows ? sorted<Key>(self, x, x.length(), descending) : nullptr;
}

// --- The type ------------------------------------------------------------------------------------

// Whether the axis is the last one, and the other options are bools; the first of them.
bool reads_options(PyObject *const *options, Py_ssize_t count, int ndim, bool &descending) {
    if (count == 0) return true;
    if (count != 3 || !PyLong_CheckExact(options[0]) || !PyBool_Check(options[1])) return false;
    const long axis = PyLong_AsLong(options[0]);
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    descending = options[1] == Py_True;
    return axis == -1 || axis == ndim - 1;
}

PyObject *ordering_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                        PyObject *names) {
    const OrderingKernel *self = kernel_of<OrderingKernel>(object);
    View x;
    bool descending = false;
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0;
    PyObject *out = nullptr;
    if (PyVectorcall_NARGS(nargs) == 1 && x.open(args[0], self->type) && x.count() <= FEW &&
        reads_options(args + 1, options, x.ndim(), descending)) {
        const bool pairs = self->type.kind == Kind::complex;
        out = (pairs ? ordered<ComplexKey> : ordered<RealKey>)(self, x, descending);
    }
    if (out != nullptr || PyErr_Occurred()) return out;
    Py_RETURN_NONE;
}

// What is made: "s" sorted or "o" the order; else values that are unique, "u", and of "i", "v" and "c"
// their first indices, the inverse indices and their counts.
PyObject *ordering_new(PyTypeObject *type, PyObject *args, PyObject *) {
    const char *made;
    PyObject *row, *index, *storage, *index_storage, *empty;
    if (!PyArg_ParseTuple(args, "sOOOOO", &made, &row, &index, &storage, &index_storage, &empty))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        const std::string letters(made);
        const bool in_rows = letters == "s" || letters == "o";
        if (letters.empty() || letters.size() > 4 || (!in_rows && letters[0] != 'u') ||
            letters.find_first_not_of("uivc", 1) != std::string::npos)
            refuse("what is made is s, o, or u with some of i, v and c");
        const Type of_elements = read_type(row, "row"), of_indices = read_type(index, "index");
        if (of_indices.kind != Kind::signed_integer || of_indices.bits < 32)
            refuse("indices are integers of 32 or 64 bits");
        PyObject *found = PyType_GenericAlloc(type, 0);
        if (found == nullptr) return nullptr;
        OrderingKernel *self = kernel_of<OrderingKernel>(found);
        self->call = ordering_call;
        self->type = of_elements;
        self->index = of_indices;
        self->in_rows = in_rows;
        std::memcpy(self->made, letters.c_str(), letters.size() + 1);
        self->empty = Py_NewRef(empty);
        self->storage = Py_NewRef(storage);
        self->index_storage = Py_NewRef(index_storage);
        return found;
    });
}

}  // namespace

nanobind::object ordering_kernel_type() {
    return kernel_type<OrderingKernel>(
        "promoarray.kernels._cpu.OrderingKernel",
        "A sort, or what is unique, of few elements; of others it answers None.",
        ordering_new);
}

}  // namespace promoarray
