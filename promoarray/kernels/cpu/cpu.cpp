// The casts over whole arrays, and arithmetic between casts: what Python hands over is checked, walked
// in blocks and given to the loops. Nothing here promotes or knows a policy; what is wrong with the
// arguments is an exception before the first element is written.
#include <memory>
#include <vector>

#include "arguments.h"

#ifdef __SSE2__
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace {

// --- The versions of the loops -------------------------------------------------------------------

// Lowest first.
std::vector<const Loops *> found_versions() {
    std::vector<const Loops *> found = {&level1::loops};
#ifdef PROMOARRAY_HAS_LEVELS
    if (__builtin_cpu_supports("x86-64-v3")) found.push_back(&level3::loops);
    if (__builtin_cpu_supports("x86-64-v4")) found.push_back(&level4::loops);
#endif
    return found;
}

const std::vector<const Loops *> &versions() {
    static const std::vector<const Loops *> found = found_versions();
    return found;
}

// The version in use. It is read and written with the lock of the interpreter held.
const Loops *&version() {
    static const Loops *chosen = versions().back();
    return chosen;
}

nb::tuple levels() {
    nb::list found;
    for (const Loops *one : versions()) found.append(one->level);
    return nb::tuple(found);
}

int use_level(int level) {
    const int before = version()->level;
    std::string known;
    for (const Loops *one : versions()) {
        known += (known.empty() ? "" : ", ") + to_string(one->level);
        if (one->level == level) {
            version() = one;
            return before;
        }
    }
    refuse("level " + to_string(level) + " is none of those that this machine has: " + known);
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
    Caster(Type source, Type target, CastMode mode, size_t n, bool tuned) {
        from_pairs = source.kind == Kind::complex;
        to_pairs = target.kind == Kind::complex;
        to_bool_ = from_pairs && target.kind == Kind::boolean;
        if (from_pairs) source.kind = Kind::real;
        if (to_pairs) target.kind = Kind::real;
        from_size = size_of(source);
        to_size = size_of(target);
        loop_ = loops_.choose(source, target, mode, n, tuned, work_);
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
            if (to_bool_) loops_.either_part(scratch.parts, bytes, count / 2);
            else loops_.with_zero_parts(scratch.parts, out, count, to_size);
        }
    }

    Scratch scratch;

   private:
    const Loops &loops_ = *version();
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

// --- The state of the machine's arithmetic -------------------------------------------------------

// Rounding to nearest, with subnormals, whatever the thread has set (-ffast-math and PyTorch can make
// it flush them to zero); as it was afterwards, the flags of exceptions among it.
class PlainArithmetic {
   public:
    PlainArithmetic(const PlainArithmetic &) = delete;
#ifdef __SSE2__
    PlainArithmetic() { clear(); }
    ~PlainArithmetic() { _mm_setcsr(before_); }
    void clear() { _mm_setcsr(0x1f80); }
    // As NumPy numbers them: division by zero 1, overflow 2, underflow 4, invalid 8.
    int raised() const {
        const int flags = (int)_mm_getcsr();
        return (flags >> 2 & 7) | (flags & 1) << 3;
    }

   private:
    const unsigned before_ = _mm_getcsr();
#else
    PlainArithmetic() {
        std::fegetenv(&before_);
        clear();
    }
    ~PlainArithmetic() { std::fesetenv(&before_); }
    void clear() { std::fesetenv(FE_DFL_ENV); }
    int raised() const {
        const auto is = [](int flag, int bit) { return std::fetestexcept(flag) != 0 ? bit : 0; };
        return is(FE_DIVBYZERO, 1) | is(FE_OVERFLOW, 2) | is(FE_UNDERFLOW, 4) | is(FE_INVALID, 8);
    }

   private:
    std::fenv_t before_;
#endif
};

// --- Arithmetic ----------------------------------------------------------------------------------

// One operand or the result of an operation: where it lies, and the cast on the way to or from what
// the machine computes in.
class Side {
   public:
    Side(const Array &array, Type own, Type computed, CastMode mode, bool is_result)
        : array_(array), size_(size_of(own)), is_one_(array.count() == 1),
          same_(same_type(own, computed)),
          cast_(is_result ? computed : own, is_result ? own : computed, mode, array.count(), true) {
    }

    // n elements from `at` on, as the machine computes with them. One element stands for them all.
    const char *read(size_t at, size_t n) {
        if (same_ && !is_one_) return array_.data() + at * size_;
        if (!is_one_) cast_.run(array_.data() + at * size_, room_, n);
        else if (at == 0) spread();
        return room_;
    }
    // Where n results from `at` on go, and what is left to do then.
    char *place(size_t at) { return same_ ? array_.data() + at * size_ : room_; }
    void write(size_t at, size_t n) {
        if (!same_) cast_.run(room_, array_.data() + at * size_, n);
    }

   private:
    void spread() {
        const size_t size = same_ ? size_ : cast_.to_size;
        if (same_) std::memcpy(room_, array_.data(), size);
        else cast_.run(array_.data(), room_, 1);
        for (size_t i = 1; i < block; ++i) std::memcpy(room_ + i * size, room_, size);
    }

    const Array &array_;
    const size_t size_;
    const bool is_one_, same_;
    Caster cast_;
    alignas(64) char room_[block * 8];
};

// Whether numbers of 16 bits go through registers: what is computed in float32 is only rounded.
bool goes_at_once(const Type (&types)[4], const CastMode &mode) {
    const bool rounds = mode.overflow == Beyond::infinity && mode.infinity == Beyond::infinity &&
                        mode.keep_nan_sign;
    return rounds && types[0].kind == Kind::real && types[0].bits == 16 &&
           same_type(types[0], types[1]) && same_type(types[0], types[3]) &&
           same_type(types[2], {Kind::real, 32, float32_format()});
}

int combine(const char *name, nb::handle left, nb::handle right, nb::handle result,
            nb::handle rows, nb::handle modes) {
    // 1. What is computed, and in what.
    if (!PyTuple_Check(rows.ptr()) || PyTuple_Size(rows.ptr()) != 4 || !PyTuple_Check(modes.ptr()) ||
        PyTuple_Size(modes.ptr()) != 3) {
        throw nb::type_error("rows must be a tuple of 4 rows, and modes one of 3");
    }
    const char *const names[4] = {"left_row", "right_row", "computed_row", "result_row"};
    Type types[4];
    CastMode given[3];
    for (int i = 0; i < 4; ++i) types[i] = read_type(PyTuple_GetItem(rows.ptr(), i), names[i]);
    for (int i = 0; i < 3; ++i) given[i] = read_mode(PyTuple_GetItem(modes.ptr(), i));
    Type computed = types[2];
    Operation operation = version()->operation(name, computed);
    if (operation == nullptr) refuse(std::string("there is no loop that computes ") + name);
    if (goes_at_once(types, given[2]) && version()->operation(name, types[0]) != nullptr) {
        computed = types[0];
        operation = version()->operation(name, computed);
    }

    // 2. The arrays.
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array a(left, "left", flags), b(right, "right", flags);
    const Array out(result, "result", flags | PyBUF_WRITABLE);
    const Array *const arrays[3] = {&a, &b, &out};
    const Type own[3] = {types[0], types[1], types[3]};
    const size_t n = out.count();
    for (int i = 0; i < 3; ++i) {
        const Array &array = *arrays[i];
        if (own[i].kind == Kind::complex) refuse(std::string(array.name()) + " is complex");
        check_item(array, own[i]);
        if (!array.native() || (std::uintptr_t)array.data() % size_of(own[i]) != 0) {
            refuse(std::string(array.name()) + " must be aligned and in native byte order");
        }
        if (array.count() != n && (array.count() != 1 || i == 2)) {
            refuse(std::string(array.name()) + " has " + to_string(array.count()) +
                   " elements, and result has " + to_string(n));
        }
        if (i < 2) check_apart(array, out);
    }

    // 3. Block by block. (Each side is larger than the stacks of some threads should bear.)
    const auto first = std::make_unique<Side>(a, own[0], computed, given[0], false);
    const auto second = std::make_unique<Side>(b, own[1], computed, given[1], false);
    const auto last = std::make_unique<Side>(out, own[2], computed, given[2], true);
    int raised = 0;
    const nb::gil_scoped_release release;
    PlainArithmetic plain;
    for (size_t at = 0; at < n; at += block) {
        const size_t count = n - at < block ? n - at : block;
        const char *x = first->read(at, count), *y = second->read(at, count);
        plain.clear();
        operation(x, y, last->place(at), count);
        raised |= plain.raised();
        last->write(at, count);
    }
    return raised;
}

// --- The binding ---------------------------------------------------------------------------------

void cast_array(nb::handle source, nb::handle target, nb::handle source_row, nb::handle target_row,
                nb::handle mode_tuple, bool tuned) {
    const Type from = read_type(source_row, "source_row"), to = read_type(target_row, "target_row");
    const CastMode mode = read_mode(mode_tuple);
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
    Caster cast(from, to, mode, n, tuned);
    if (cast.reads_both()) axes.append(2, (Py_ssize_t)cast.from_size);

    const PlainArithmetic plain;
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
          nb::arg("target_row"), nb::arg("mode"), nb::arg("tuned") = true,
          "Cast every element of src to its place in dst.");
    m.def("combine", &combine, nb::arg("name"), nb::arg("left"), nb::arg("right"),
          nb::arg("result"), nb::arg("rows"), nb::arg("modes"),
          "Cast two arrays, add, subtract, multiply or divide, and cast the result.");
    m.def("levels", &levels, "The x86-64 levels whose loops this machine can run; (1,) elsewhere.");
    m.def("use_level", &use_level, nb::arg("level"),
          "Take the loops of one level from now on; return the one before.");
}
