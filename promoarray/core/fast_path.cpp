// The fast path of operations on one or two operands. Operands of types that the dispatcher has met
// before take one look-up of the executable and its kernel, or its `run`, without a frame of ours.
// Nothing here decides a dtype: what is not in `policy.executables` goes to a Python function, `slow`.
//
// Plain C API rather than nanobind, whose functions cannot be the methods of a class that Python
// defines. It keeps to the limited API of Python 3.12, because one abi3 wheel serves 3.12 and later
// and a module outside of it would tie the wheel to one version; 3.11 gets a build of its own.
// Free-threaded builds have no stable ABI and, as no GIL guards them, no caches of ours: see Cache.
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "../kernels/cpu/float_state.h"

#if PY_VERSION_HEX < 0x030C0000  // the names of descrobject.h are new in 3.12
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace {

// A reference this code owns.
class Ref {
   public:
    explicit Ref(PyObject *owned) : object_(owned) {}
    Ref(Ref &&other) noexcept : object_(other.release()) {}
    Ref(const Ref &) = delete;
    Ref &operator=(Ref &&other) noexcept {
        PyObject *old = object_;
        object_ = other.release();
        Py_XDECREF(old);
        return *this;
    }
    Ref &operator=(const Ref &) = delete;
    ~Ref() { Py_XDECREF(object_); }

    static Ref to(PyObject *borrowed) { return Ref(Py_NewRef(borrowed)); }
    PyObject *get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    PyObject *release() {
        PyObject *object = object_;
        object_ = nullptr;
        return object;
    }

   private:
    PyObject *object_;
};

// --- ArraySlots: what PArray derives from --------------------------------------------------------

// The limited API does not tell where the slots of a Python class lie; those of this one we know.
struct ArraySlots {
    PyObject_HEAD
    PyObject *buffer;
    PyObject *type;
};

int array_slots_traverse(PyObject *object, visitproc visit, void *arg) {
    auto *self = reinterpret_cast<ArraySlots *>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->buffer);
    Py_VISIT(self->type);
    return 0;
}

int array_slots_clear(PyObject *object) {
    auto *self = reinterpret_cast<ArraySlots *>(object);
    Py_CLEAR(self->buffer);
    Py_CLEAR(self->type);
    return 0;
}

// Of every type here: the last reference of an instance takes its reference to the type along.
template <int (*clear)(PyObject *)>
void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyMemberDef array_slots_members[] = {
    {"_buffer", Py_T_OBJECT_EX, offsetof(ArraySlots, buffer), 0, "The storage."},
    {"_type", Py_T_OBJECT_EX, offsetof(ArraySlots, type), 0, "What the bits mean."},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot array_slots_slots[] = {
    {Py_tp_doc, const_cast<char *>("A buffer and its type, where the fast path finds them.")},
    {Py_tp_members, array_slots_members},
    {Py_tp_traverse, reinterpret_cast<void *>(array_slots_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(array_slots_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<array_slots_clear>)},
    {0, nullptr}};

PyType_Spec array_slots_spec = {"promoarray.core._fast_path.ArraySlots", sizeof(ArraySlots), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                             array_slots_slots};

// --- FastOperator --------------------------------------------------------------------------------

// What was found by three objects, which are known by identity: a slot keeps them alive, so that
// none of their addresses can come to mean anything else. Hence 0.0 and -0.0, 1 and True are told
// apart for nothing; most scalars are constants of the program, one object each. In place of the
// first, which nobody else might need any more, a slot may keep a weak reference to it that empties
// the slot when it dies.
//
// Without a GIL two threads would write one slot at once. A lock for each look-up would cost what
// the cache saves, so a free-threaded build asks the dictionary and the converter every time, which
// have locks of their own.
#ifdef Py_GIL_DISABLED
class Cache {
   public:
    Ref find(PyObject *, PyObject *, PyObject *) const { return Ref(nullptr); }
    void keep(PyObject *, PyObject *, PyObject *, PyObject *, const Ref &) {}
    void forget(PyObject *) {}
    int traverse(visitproc, void *) const { return 0; }
    void clear() {}
};
#else
class Cache {
   public:
    // Null without an error if there is nothing.
    Ref find(PyObject *a, PyObject *b, PyObject *c) {
        const Slot &slot = of(a, b, c);
        const bool holds = slot.key[0] == a && slot.key[1] == b && slot.key[2] == c;
        return Ref(holds ? Py_XNewRef(slot.kept[FOUND]) : nullptr);
    }
    // `first` is what keeps the address of `a` to itself: `a`, or a weak reference to it.
    void keep(PyObject *a, PyObject *b, PyObject *c, PyObject *first, const Ref &found) {
        put(of(a, b, c), {{a, b, c},
                            {Py_NewRef(first), Py_NewRef(b), Py_NewRef(c), Py_NewRef(found.get())}});
    }
    // The object that a weak reference was to is dead.
    void forget(PyObject *first) {
        for (Slot &slot : slots_)
            if (slot.kept[0] == first) return put(slot, {});
    }
    int traverse(visitproc visit, void *arg) const {
        for (const Slot &slot : slots_)
            for (PyObject *part : slot.kept) Py_VISIT(part);
        return 0;
    }
    void clear() {
        for (Slot &slot : slots_) put(slot, {});
    }

   private:
    enum { FOUND = 3 };
    struct Slot {
        PyObject *key[3];   // addresses
        PyObject *kept[4];  // references: what keeps the three, and what was found
    };

    Slot &of(PyObject *a, PyObject *b, PyObject *c) {
        const auto bits = [](PyObject *x) { return reinterpret_cast<std::uintptr_t>(x) >> 4; };
        const std::uintptr_t mixed = (bits(a) * 31 + bits(b)) * 31 + bits(c);
        return slots_[(mixed ^ mixed >> 5) % SLOTS];
    }
    static void put(Slot &slot, const Slot &next) {
        const Slot old = slot;
        slot = next;
        for (PyObject *part : old.kept) Py_XDECREF(part);  // last, for this may run any code
    }

    static constexpr std::size_t SLOTS = 32;
    Slot slots_[SLOTS];
};
#endif

// What an operator is made of: the arguments it was given, then what it looks up once.
enum Part {
    SLOW, NAME, OBSERVERS, LONE_OBSERVER, POLICY_HERE, DEFAULT_POLICY, NDARRAY, ASARRAY,
    ARRAY_SLOTS, METHOD, POLICY_NAME, EXECUTABLES_NAME, ASTYPE_NAME, SHAPE_NAME, NBYTES_NAME,
    NDIM_NAME, REPEATS_NAME, QUICK_NAME, SCALAR_NAME,
    DICT,  // __name__, __doc__, __wrapped__, as functools.wraps sets them
    PARTS
};

// The fields of an Executable (executable.py), a named tuple, in its order.
enum Field { RUN, SCALARS, RESULT, EXTRA_RESULTS, KERNEL, WIDEN, FIELDS };
constexpr const char *FIELD_NAMES[FIELDS] = {"run",           "scalars", "result",
                                             "extra_results", "kernel",  "widen"};

PyObject *field(const Ref &executable, Field which) {
    return PyTuple_GetItem(executable.get(), which);
}

// The fields of a Known (repeats.py), a named tuple, in its order.
enum KnownField { KNOWN_EXECUTABLE, KNOWN_TYPES, KNOWN_TELL, KNOWN_FIELDS };
constexpr const char *KNOWN_FIELD_NAMES[KNOWN_FIELDS] = {"executable", "types", "tell"};

struct FastOperator {
    PyObject_HEAD
    vectorcallfunc call;
    int reflected;
    PyObject *parts[PARTS];
    Cache executables;  // (policy, operand, operand), as `read` names operands
    Cache scalars;      // (executable, operand's converter, scalar): the 0-d buffer

    bool is(Part part, PyTypeObject *type) const {
        return reinterpret_cast<PyObject *>(type) == parts[part];
    }
};

// The policy that decides for arrays of a class; null without an error if there is none yet.
Ref policy_in_force(const FastOperator *self, PyTypeObject *cls) {
    Ref bound(PyObject_GetAttr(reinterpret_cast<PyObject *>(cls), self->parts[POLICY_NAME]));
    if (!bound || bound.get() != Py_None) return bound;
    Ref here(PyObject_CallNoArgs(self->parts[POLICY_HERE]));
    if (!here) return here;
    if (here.get() != Py_None) return Ref(Py_XNewRef(PyTuple_GetItem(here.get(), 0)));
    if (PyList_Size(self->parts[DEFAULT_POLICY]) == 0) return Ref(nullptr);
#ifdef Py_GIL_DISABLED
    return Ref(PyList_GetItemRef(self->parts[DEFAULT_POLICY], 0));
#else
    return Ref::to(PyList_GetItem(self->parts[DEFAULT_POLICY], 0));
#endif
}

PyObject *policy_died(PyObject *self, PyObject *weak) {
    reinterpret_cast<FastOperator *>(self)->executables.forget(weak);
    return Py_NewRef(Py_None);
}

PyMethodDef policy_died_definition = {"policy_died", policy_died, METH_O, nullptr};

// Keep an executable for as long as its policy lives, which is not kept: there may be thousands
// of derived ones, one after the other.
void keep_executable(FastOperator *self, PyObject *policy, PyObject *x, PyObject *y,
                     const Ref &found) {
#ifndef Py_GIL_DISABLED
    const Ref died(PyCFunction_New(&policy_died_definition, reinterpret_cast<PyObject *>(self)));
    const Ref weak(died ? PyWeakref_NewRef(policy, died.get()) : nullptr);
    if (weak) self->executables.keep(policy, x, y, weak.get(), found);
    else PyErr_Clear();  // it is found again without the cache
#endif
}

// What `policy.executables` has for one operand (y is None) or two; null without an error if that
// is nothing.
Ref executable_of(FastOperator *self, PyObject *policy, PyObject *x, PyObject *y) {
    if (Ref known = self->executables.find(policy, x, y)) return known;
    const Ref kept(PyObject_GetAttr(policy, self->parts[EXECUTABLES_NAME]));
    if (!kept) return Ref(nullptr);
    const Ref key(y == Py_None ? PyTuple_Pack(2, self->parts[NAME], x)
                               : PyTuple_Pack(3, self->parts[NAME], x, y));
    if (!key) return Ref(nullptr);
#ifdef Py_GIL_DISABLED
    PyObject *found = nullptr;
    PyDict_GetItemRef(kept.get(), key.get(), &found);
    return Ref(found);
#else
    Ref found(Py_XNewRef(PyDict_GetItemWithError(kept.get(), key.get())));
    if (found) keep_executable(self, policy, x, y, found);
    return found;
#endif
}

// A Python scalar as the buffer an executable takes; None where the long way has to be asked.
Ref scalar_buffer(FastOperator *self, const Ref &executable, Py_ssize_t index, PyObject *value) {
    PyObject *convert = PyTuple_GetItem(field(executable, SCALARS), index);
    if (Ref known = self->scalars.find(executable.get(), convert, value)) return known;
    Ref buffer(PyObject_CallFunctionObjArgs(convert, value, nullptr));
    if (buffer && buffer.get() != Py_None)
        self->scalars.keep(executable.get(), convert, value, executable.get(), buffer);
    return buffer;
}

constexpr Py_ssize_t MUCH = 1 << 17;  // bytes; of more, `run` casts what a cache holds at a time
constexpr Py_ssize_t LONG = 1 << 20;  // bytes; `run` casts more of them without the GIL

// Floats as doubles; of complex numbers both parts. NumPy's own cast would warn of a signalling
// NaN. Null without an error if the buffer is one for `run`.
Ref doubled(const FastOperator *self, PyObject *buffer, PyObject *wider) {
    Py_buffer from, to;
    if (PyObject_GetBuffer(buffer, &from, PyBUF_C_CONTIGUOUS) != 0) {
        PyErr_Clear();
        return Ref(nullptr);
    }
    Ref out(nullptr);
    if (from.len <= LONG) {
        const Ref shape(PyObject_GetAttr(buffer, self->parts[SHAPE_NAME]));
        PyObject *args[] = {shape.get(), wider};
        if (shape) out = Ref(PyObject_Vectorcall(self->parts[NDARRAY], args, 2, nullptr));
    }
    if (out && PyObject_GetBuffer(out.get(), &to, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0)
        out = Ref(nullptr);
    if (out) {
        // A buffer whose dtype was set behind our back does not hold what its array says.
        const bool fits = to.len == 2 * from.len;
        if (fits) {
            const auto *given = static_cast<const char *>(from.buf);  // perhaps not aligned
            auto *made = static_cast<double *>(to.buf);
            const auto count = static_cast<std::size_t>(from.len) / sizeof(float);
            for (std::size_t i = 0; i < count; ++i) {
                float value;
                std::memcpy(&value, given + i * sizeof value, sizeof value);
                made[i] = static_cast<double>(value);
            }
        }
        PyBuffer_Release(&to);
        if (!fits) out = Ref(nullptr);
    }
    PyBuffer_Release(&from);
    return out;
}

// An operand as the kernel takes it; null without an error if `run` has to cast it.
Ref widened(const FastOperator *self, PyObject *buffer, PyObject *wider) {
    if (wider == Py_None) return Ref::to(buffer);
    if (PyTuple_Check(wider)) return doubled(self, buffer, PyTuple_GetItem(wider, 0));
    const Ref bytes(PyObject_GetAttr(buffer, self->parts[NBYTES_NAME]));
    if (!bytes || PyLong_AsSsize_t(bytes.get()) > MUCH) return Ref(nullptr);
    PyObject *args[] = {buffer, wider};
    return Ref(PyObject_VectorcallMethod(self->parts[ASTYPE_NAME], args, 2, nullptr));
}

// An operand: what an executable is looked up by, the type of an array or the class of a scalar, and
// the buffer of an array. Type and class are not the same, as an array may be weakly typed too. The
// key is null for all that is not the fast path's business.
struct Read {
    Ref key, buffer;
};

Read read(const FastOperator *self, PyObject *operand, PyTypeObject *cls) {
    PyTypeObject *type = Py_TYPE(operand);
    if (type != cls) {
        const bool scalar = type == &PyFloat_Type || type == &PyLong_Type ||
                            type == &PyBool_Type || type == &PyComplex_Type;
        return {Ref(scalar ? Py_NewRef(reinterpret_cast<PyObject *>(type)) : nullptr), Ref(nullptr)};
    }
    auto *array = reinterpret_cast<ArraySlots *>(operand);
    Read out = {Ref(nullptr), Ref(nullptr)};
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(operand);  // as the members are set in one
#endif
    if (array->buffer != nullptr && self->is(NDARRAY, Py_TYPE(array->buffer))) {
        out.key = Ref(Py_XNewRef(array->type));
        out.buffer = Ref::to(array->buffer);
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return out;
}

// What is done for the one observer here with an operation that it has heard of: a Known. Null
// without an error if it has not, if another observes, or an array has no axes, as its value may be
// looked at.
Ref known_of(const FastOperator *self, PyObject *policy, PyObject *const *operands,
             const Read *given, Py_ssize_t count) {
    const Ref observer(PyObject_CallNoArgs(self->parts[LONE_OBSERVER]));
    if (!observer || observer.get() == Py_None) return Ref(nullptr);
    const Ref repeats(PyObject_GetAttr(observer.get(), self->parts[REPEATS_NAME]));
    if (!repeats || repeats.get() == Py_None) return Ref(nullptr);
    const Ref key(PyTuple_New(2 + count));
    if (!key) return Ref(nullptr);
    PyTuple_SetItem(key.get(), 0, Py_NewRef(self->parts[NAME]));
    PyTuple_SetItem(key.get(), 1, Py_NewRef(policy));
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *part;
        if (given[i].buffer) {
            const Ref axes(PyObject_GetAttr(given[i].buffer.get(), self->parts[NDIM_NAME]));
            if (!axes || PyLong_AsLong(axes.get()) == 0) return Ref(nullptr);
            part = Py_NewRef(given[i].key.get());
        } else {
            PyObject *args[] = {repeats.get(), operands[i]};
            part = PyObject_VectorcallMethod(self->parts[SCALAR_NAME], args, 2, nullptr);
            if (part == nullptr) return Ref(nullptr);
        }
        PyTuple_SetItem(key.get(), 2 + i, part);
    }
    const Ref quick(PyObject_GetAttr(repeats.get(), self->parts[QUICK_NAME]));
    if (!quick) return Ref(nullptr);
#ifdef Py_GIL_DISABLED
    PyObject *found = nullptr;
    PyDict_GetItemRef(quick.get(), key.get(), &found);
    return Ref(found);
#else
    return Ref(Py_XNewRef(PyDict_GetItemWithError(quick.get(), key.get())));
#endif
}

// The kernel on widened operands; null without an error if `run` has to be asked.
Ref run_kernel(const FastOperator *self, const Ref &executable, PyObject *const *buffers,
               Py_ssize_t count) {
    Ref wide[2] = {Ref(nullptr), Ref(nullptr)};
    PyObject *args[2];
    for (Py_ssize_t i = 0; i < count; ++i) {
        wide[i] = widened(self, buffers[i], PyTuple_GetItem(field(executable, WIDEN), i));
        if (!wide[i]) return Ref(nullptr);
        args[i] = wide[i].get();
    }
    return Ref(PyObject_Vectorcall(field(executable, KERNEL), args, count, nullptr));
}

// Whether an error is about shapes or dtypes, which the long way tells in its own words.
bool is_told_better() {
    for (PyObject *kind : {PyExc_ValueError, PyExc_IndexError, PyExc_TypeError})
        if (PyErr_ExceptionMatches(kind)) return true;
    return false;
}

// Operands stand in the order of the operation; cls is the class of the one whose method this is.
// False if the long way has to be taken; else there is a result, null with the error set.
bool fast_path(FastOperator *self, PyObject *const *operands, Py_ssize_t count, PyTypeObject *cls,
               PyObject **result) {
    *result = nullptr;
    // 1. What the operands are, and whether all of that is known.
    if (!PyType_IsSubtype(cls, reinterpret_cast<PyTypeObject *>(self->parts[ARRAY_SLOTS])))
        return false;
    const bool observed = PyList_Size(self->parts[OBSERVERS]) != 0;
    Read given[2] = {{Ref(nullptr), Ref(nullptr)}, {Ref(nullptr), Ref(nullptr)}};
    PyObject *keys[2] = {Py_None, Py_None};
    for (Py_ssize_t i = 0; i < count; ++i) {
        given[i] = read(self, operands[i], cls);
        if (!given[i].key) return false;
        keys[i] = given[i].key.get();
    }

    // 2. The executable for it.
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    Ref known(nullptr), executable(nullptr);
    if (observed) {
        known = known_of(self, policy.get(), operands, given, count);
        if (known) executable = Ref::to(PyTuple_GetItem(known.get(), KNOWN_EXECUTABLE));
    } else {
        executable = executable_of(self, policy.get(), keys[0], keys[1]);
    }
    if (!executable) return PyErr_Occurred() != nullptr;
    if (PyTuple_Size(field(executable, EXTRA_RESULTS)) != 0) return false;

    // 3. The buffers, of Python scalars too.
    PyObject *buffers[2];
    for (Py_ssize_t i = 0; i < count; ++i) {
        Ref &buffer = given[i].buffer;
        if (!buffer) buffer = scalar_buffer(self, executable, i, operands[i]);
        if (!buffer) return true;
        if (buffer.get() == Py_None) return false;
        buffers[i] = buffer.get();
    }

    // 4. The kernel where it does it all, else the executable's own way.
    Ref out(nullptr);
    if (field(executable, KERNEL) != Py_None) out = run_kernel(self, executable, buffers, count);
    if (!out && !PyErr_Occurred())
        out = Ref(PyObject_Vectorcall(field(executable, RUN), buffers, count, nullptr));
    if (!out && is_told_better()) {
        PyErr_Clear();
        return false;
    }
    if (out && !self->is(NDARRAY, Py_TYPE(out.get()))) {
        // Of 0-d arrays NumPy makes scalars.
        out = Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], out.get(), nullptr));
    }
    if (!out) return true;

    // 5. The array.
    *result = PyType_GenericAlloc(cls, 0);
    if (*result != nullptr) {
        auto *made = reinterpret_cast<ArraySlots *>(*result);
        made->buffer = out.release();
        PyObject *types = known ? PyTuple_GetItem(known.get(), KNOWN_TYPES) : nullptr;
        made->type = Py_NewRef(types ? PyTuple_GetItem(types, 0) : field(executable, RESULT));
    }

    // 6. The observer is told.
    if (known && *result != nullptr) {
        const Ref told(PyObject_CallNoArgs(PyTuple_GetItem(known.get(), KNOWN_TELL)));
        if (!told) Py_CLEAR(*result);
    }
    return true;
}

PyObject *operator_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                        PyObject *names) {
    auto *self = reinterpret_cast<FastOperator *>(object);
    const Py_ssize_t count = PyVectorcall_NARGS(nargs);
    const promoarray::FloatStateGuard state;  // for NumPy's kernels and casts, and the long way
    if ((count == 1 || count == 2) && names == nullptr) {
        PyObject *result, *turned[] = {args[count - 1], args[0]};
        PyTypeObject *cls = Py_TYPE(args[0]);
        // A function may have its array second: `pa.add(1.5, x)`.
        if (count == 2 && !PyType_IsSubtype(
                cls, reinterpret_cast<PyTypeObject *>(self->parts[ARRAY_SLOTS])))
            cls = Py_TYPE(args[1]);
        if (fast_path(self, self->reflected ? turned : args, count, cls, &result)) return result;
    }
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"slow",           "name",        "reflected",
                                  "observers",      "lone_observer", "policy_here",
                                  "default_policy", "ndarray",     "asarray",   nullptr};
    PyObject *given[PARTS] = {};
    int reflected;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OU$pO!OOO!OO", const_cast<char **>(names), &given[SLOW], &given[NAME],
            &reflected, &PyList_Type, &given[OBSERVERS], &given[LONE_OBSERVER],
            &given[POLICY_HERE], &PyList_Type, &given[DEFAULT_POLICY], &given[NDARRAY], &given[ASARRAY])) {
        return nullptr;
    }
    PyObject *const module = PyType_GetModule(type);
    const Ref types(PyImport_ImportModule("types"));
    if (module == nullptr || !types) return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    auto *self = reinterpret_cast<FastOperator *>(made.get());
    self->call = operator_call;
    self->reflected = reflected;
    for (int part = SLOW; part <= ASARRAY; ++part) self->parts[part] = Py_NewRef(given[part]);
    self->parts[ARRAY_SLOTS] = PyObject_GetAttrString(module, "ArraySlots");
    self->parts[METHOD] = PyObject_GetAttrString(types.get(), "MethodType");
    self->parts[POLICY_NAME] = PyUnicode_InternFromString("_policy");
    self->parts[EXECUTABLES_NAME] = PyUnicode_InternFromString("executables");
    self->parts[ASTYPE_NAME] = PyUnicode_InternFromString("astype");
    self->parts[SHAPE_NAME] = PyUnicode_InternFromString("shape");
    self->parts[NBYTES_NAME] = PyUnicode_InternFromString("nbytes");
    self->parts[NDIM_NAME] = PyUnicode_InternFromString("ndim");
    self->parts[REPEATS_NAME] = PyUnicode_InternFromString("repeats");
    self->parts[QUICK_NAME] = PyUnicode_InternFromString("quick");
    self->parts[SCALAR_NAME] = PyUnicode_InternFromString("scalar");
    return PyErr_Occurred() == nullptr ? made.release() : nullptr;
}

PyObject *operator_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    PyObject *args[] = {self, instance};
    return PyObject_Vectorcall(reinterpret_cast<FastOperator *>(self)->parts[METHOD], args, 2, nullptr);
}

int operator_traverse(PyObject *object, visitproc visit, void *arg) {
    auto *self = reinterpret_cast<FastOperator *>(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    for (const Cache *cache : {&self->executables, &self->scalars})
        if (const int stop = cache->traverse(visit, arg)) return stop;
    return 0;
}

// Not the type's tp_clear: a cycle through an operator is broken at the function or a dictionary,
// as with tuples, so that no call ever meets an operator without its parts.
int operator_release(PyObject *object) {
    auto *self = reinterpret_cast<FastOperator *>(object);
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (Cache *cache : {&self->executables, &self->scalars}) cache->clear();
    return 0;
}

PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(FastOperator, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(FastOperator, parts) + DICT * sizeof(PyObject *),
     Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef operator_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operator_slots[] = {
    {Py_tp_doc,
     const_cast<char *>("An operation of one or two operands: an executable if there is one, else slow.")},
    {Py_tp_new, reinterpret_cast<void *>(operator_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(operator_get)},
    {Py_tp_members, operator_members},
    {Py_tp_getset, operator_getset},
    {Py_tp_traverse, reinterpret_cast<void *>(operator_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<operator_release>)},
    {0, nullptr}};

// METHOD_DESCRIPTOR: `x + y` calls the operator with (x, y) and makes no bound method.
PyType_Spec operator_spec = {"promoarray.core._fast_path.FastOperator", sizeof(FastOperator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
                             operator_slots};

// The names of a named tuple's fields, for the tests.
int add_names(PyObject *module, const char *as, const char *const *names, Py_ssize_t count) {
    const Ref fields(PyTuple_New(count));
    if (!fields) return -1;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *name = PyUnicode_FromString(names[i]);
        if (name == nullptr || PyTuple_SetItem(fields.get(), i, name) != 0) return -1;
    }
    return PyModule_AddObjectRef(module, as, fields.get());
}

int execute(PyObject *module) {
    for (PyType_Spec *spec : {&array_slots_spec, &operator_spec}) {
        const Ref type(PyType_FromModuleAndSpec(module, spec, nullptr));
        if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type.get())) != 0) {
            return -1;
        }
    }
    return add_names(module, "FIELDS", FIELD_NAMES, FIELDS) != 0
               ? -1
               : add_names(module, "KNOWN_FIELDS", KNOWN_FIELD_NAMES, KNOWN_FIELDS);
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "promoarray.core._fast_path",
                          "The fast path of operations on one or two arrays.",
                          0,
                          nullptr,
                          module_slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__fast_path() { return PyModuleDef_Init(&definition); }
