// The short way of the binary operators. Operands whose plan the dispatcher has made before take
// one look-up, the casts the route asks for, and the ufunc, without a frame or a tuple of Python's.
// Nothing here decides a dtype: what is not in `policy.direct` goes to a Python function, `slow`.
//
// Plain C API rather than nanobind, whose functions cannot be the methods of a class that Python
// defines. It keeps to the limited API of Python 3.12, because one abi3 wheel serves 3.12 and later
// and a module outside of it would tie the wheel to one version; 3.11 gets a build of its own. The
// GIL guards the places below: free-threaded builds turn it on for a module like this, which does
// not say that it can do without.
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

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
    {Py_tp_doc, const_cast<char *>("A buffer and its type, where the short way finds them.")},
    {Py_tp_members, array_slots_members},
    {Py_tp_traverse, reinterpret_cast<void *>(array_slots_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(array_slots_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<array_slots_clear>)},
    {0, nullptr}};

PyType_Spec array_slots_spec = {"promoarray.core._fast_path.ArraySlots", sizeof(ArraySlots), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                             array_slots_slots};

// --- Operator ----------------------------------------------------------------------------------

// What was found by three objects, which are known by identity: the place keeps them alive, so that
// none of their addresses can come to mean anything else. Hence 0.0 and -0.0, 1 and True are told
// apart for nothing; most scalars are constants of the program, one object each.
struct Place {
    PyObject *key[3];
    PyObject *found;

    bool holds(PyObject *a, PyObject *b, PyObject *c) const {
        return key[0] == a && key[1] == b && key[2] == c;
    }
    void keep(PyObject *a, PyObject *b, PyObject *c, PyObject *value) {
        const Place old = *this;
        *this = {{Py_NewRef(a), Py_NewRef(b), Py_NewRef(c)}, Py_NewRef(value)};
        for (PyObject *part : old.key) Py_XDECREF(part);  // last, for this may run any code
        Py_XDECREF(old.found);
    }
};

constexpr std::size_t PLACES = 32;

Place &place_of(Place (&places)[PLACES], PyObject *a, PyObject *b, PyObject *c) {
    const auto bits = [](PyObject *x) { return reinterpret_cast<std::uintptr_t>(x) >> 4; };
    const std::uintptr_t mixed = (bits(a) * 31 + bits(b)) * 31 + bits(c);
    return places[(mixed ^ mixed >> 5) % PLACES];
}

// What an operator is made of: the arguments it was given, then what it looks up once.
enum Part {
    SLOW, NAME, KERNEL, WATCHERS, OVERRIDE, DEFAULT, FITTED, NDARRAY, ASARRAY,
    ARRAY_SLOTS, METHOD, POLICY_NAME, DIRECT_NAME, ASTYPE_NAME, SHAPE_NAME, NBYTES_NAME,
    DICT,  // __name__, __doc__, __wrapped__, as functools.wraps sets them
    PARTS
};

struct Operator {
    PyObject_HEAD
    vectorcallfunc call;
    int reflected;
    PyObject *parts[PARTS];
    Place routes[PLACES];   // (policy, operand, operand), as `key_of` names operands
    Place scalars[PLACES];  // (route, scalar, None): the scalar as the 0-d buffer the route takes

    bool is(Part part, PyTypeObject *type) const {
        return reinterpret_cast<PyObject *>(type) == parts[part];
    }
};

// The policy that decides for arrays of a class; null without an error if there is none yet.
Ref policy_in_force(const Operator *self, PyTypeObject *cls) {
    Ref bound(PyObject_GetAttr(reinterpret_cast<PyObject *>(cls), self->parts[POLICY_NAME]));
    if (!bound || bound.get() != Py_None) return bound;
    Ref override(PyObject_CallNoArgs(self->parts[OVERRIDE]));
    if (!override || override.get() != Py_None) return override;
    if (PyList_Size(self->parts[DEFAULT]) == 0) return Ref(nullptr);
    return Ref::to(PyList_GetItem(self->parts[DEFAULT], 0));
}

// What `policy.direct` says of two operands; null without an error if that is nothing.
Ref route_of(Operator *self, PyObject *policy, PyObject *x, PyObject *y) {
    Place &place = place_of(self->routes, policy, x, y);
    if (place.holds(policy, x, y)) return Ref::to(place.found);
    const Ref direct(PyObject_GetAttr(policy, self->parts[DIRECT_NAME]));
    const Ref key(direct ? PyTuple_Pack(3, self->parts[NAME], x, y) : nullptr);
    if (!key) return Ref(nullptr);
    Ref found(Py_XNewRef(PyDict_GetItemWithError(direct.get(), key.get())));
    if (found) place.keep(policy, x, y, found.get());
    return found;
}

Ref fit(Operator *self, PyObject *policy, PyObject *route, PyObject *value) {
    Place &place = place_of(self->scalars, route, value, Py_None);
    if (place.holds(route, value, Py_None)) return Ref::to(place.found);
    PyObject *args[] = {policy, value, PyTuple_GetItem(route, 2)};
    Ref buffer(PyObject_Vectorcall(self->parts[FITTED], args, 3, nullptr));
    if (buffer) place.keep(route, value, Py_None, buffer.get());
    return buffer;
}

constexpr Py_ssize_t MUCH = 1 << 17;  // bytes
constexpr Py_ssize_t LONG = 1 << 20;  // bytes; the long way casts more of them without the GIL

// Floats as doubles; of complex numbers both parts. NumPy's own cast would warn of a signalling
// NaN. Null without an error if the buffer is one for the long way.
Ref doubled(const Operator *self, PyObject *buffer, PyObject *wider) {
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
        const auto *given = static_cast<const char *>(from.buf);  // perhaps not aligned
        auto *made = static_cast<double *>(to.buf);
        const auto count = static_cast<std::size_t>(from.len) / sizeof(float);
        for (std::size_t i = 0; i < count; ++i) {
            float value;
            std::memcpy(&value, given + i * sizeof value, sizeof value);
            made[i] = static_cast<double>(value);
        }
        PyBuffer_Release(&to);
    }
    PyBuffer_Release(&from);
    return out;
}

// A route has None where nothing is to be cast, the dtype where NumPy's own cast will do, and the
// dtype in a tuple where floats are to be doubled.
Ref cast(const Operator *self, PyObject *buffer, PyObject *wider) {
    if (wider == Py_None) return Ref::to(buffer);
    if (PyTuple_Check(wider)) return doubled(self, buffer, PyTuple_GetItem(wider, 0));
    // Of much, the long way casts no more at a time than a cache holds.
    const Ref bytes(PyObject_GetAttr(buffer, self->parts[NBYTES_NAME]));
    if (!bytes || PyLong_AsSsize_t(bytes.get()) > MUCH) return Ref(nullptr);
    PyObject *args[] = {buffer, wider};
    return Ref(PyObject_VectorcallMethod(self->parts[ASTYPE_NAME], args, 2, nullptr));
}

// What the short way looks up an operand by: the type of an array, the class of a scalar. They are
// not the same, as an array may be weakly typed too. Null for all that is not its business.
PyObject *key_of(const Operator *self, PyObject *operand, PyTypeObject *cls) {
    PyTypeObject *type = Py_TYPE(operand);
    if (type == cls) {
        auto *array = reinterpret_cast<ArraySlots *>(operand);
        if (array->buffer == nullptr || !self->is(NDARRAY, Py_TYPE(array->buffer))) return nullptr;
        return array->type;
    }
    const bool scalar = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
                        type == &PyComplex_Type;
    return scalar ? reinterpret_cast<PyObject *>(type) : nullptr;
}

// x and y stand in the order of the operation; cls is the class of the one whose method this is.
// False if the long way has to be taken; else there is a result, null with the error set.
bool short_way(Operator *self, PyObject *x, PyObject *y, PyTypeObject *cls, PyObject **result) {
    *result = nullptr;
    if (!PyType_IsSubtype(cls, reinterpret_cast<PyTypeObject *>(self->parts[ARRAY_SLOTS])))
        return false;
    if (PyList_Size(self->parts[WATCHERS]) != 0) return false;
    PyObject *const type_x = key_of(self, x, cls), *const type_y = key_of(self, y, cls);
    if (type_x == nullptr || type_y == nullptr) return false;

    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    const Ref route = route_of(self, policy.get(), type_x, type_y);
    if (!route) return PyErr_Occurred() != nullptr;

    const auto operand = [&](PyObject *object, Py_ssize_t index) {
        if (Py_TYPE(object) != cls) return fit(self, policy.get(), route.get(), object);
        const Ref buffer = Ref::to(reinterpret_cast<ArraySlots *>(object)->buffer);
        return cast(self, buffer.get(), PyTuple_GetItem(route.get(), index));
    };
    const Ref left = operand(x, 0);
    if (!left) return PyErr_Occurred() != nullptr;
    const Ref right = operand(y, 1);
    if (!right) return PyErr_Occurred() != nullptr;
    PyObject *args[] = {left.get(), right.get()};
    Ref out(PyObject_Vectorcall(self->parts[KERNEL], args, 2, nullptr));
    if (!out && PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();  // shapes that do not fit: the long way says so in its own words
        return false;
    }
    if (out && !self->is(NDARRAY, Py_TYPE(out.get()))) {
        // Of 0-d arrays NumPy makes scalars.
        out = Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], out.get(), nullptr));
    }
    if (!out) return true;
    *result = PyType_GenericAlloc(cls, 0);
    if (*result != nullptr) {
        auto *made = reinterpret_cast<ArraySlots *>(*result);
        made->buffer = out.release();
        made->type = Py_NewRef(PyTuple_GetItem(route.get(), 3));
    }
    return true;
}

PyObject *operator_call(PyObject *object, PyObject *const *args, std::size_t count,
                        PyObject *names) {
    auto *self = reinterpret_cast<Operator *>(object);
    if (PyVectorcall_NARGS(count) == 2 && names == nullptr) {
        PyObject *result, *x = args[self->reflected], *y = args[!self->reflected];
        if (short_way(self, x, y, Py_TYPE(args[0]), &result)) return result;
    }
    return PyObject_Vectorcall(self->parts[SLOW], args, count, names);
}

PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"slow", "name", "kernel", "reflected", "watchers", "override",
                                  "default", "fitted", "ndarray", "asarray", nullptr};
    PyObject *given[PARTS] = {};
    int reflected;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OUO$pO!OO!OOO", const_cast<char **>(names), &given[SLOW], &given[NAME],
            &given[KERNEL], &reflected, &PyList_Type, &given[WATCHERS], &given[OVERRIDE],
            &PyList_Type, &given[DEFAULT], &given[FITTED], &given[NDARRAY], &given[ASARRAY])) {
        return nullptr;
    }
    PyObject *const module = PyType_GetModule(type);
    const Ref types(PyImport_ImportModule("types"));
    if (module == nullptr || !types) return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    auto *self = reinterpret_cast<Operator *>(made.get());
    self->call = operator_call;
    self->reflected = reflected;
    for (int part = SLOW; part <= ASARRAY; ++part) self->parts[part] = Py_NewRef(given[part]);
    self->parts[ARRAY_SLOTS] = PyObject_GetAttrString(module, "ArraySlots");
    self->parts[METHOD] = PyObject_GetAttrString(types.get(), "MethodType");
    self->parts[POLICY_NAME] = PyUnicode_InternFromString("_policy");
    self->parts[DIRECT_NAME] = PyUnicode_InternFromString("executables");
    self->parts[ASTYPE_NAME] = PyUnicode_InternFromString("astype");
    self->parts[SHAPE_NAME] = PyUnicode_InternFromString("shape");
    self->parts[NBYTES_NAME] = PyUnicode_InternFromString("nbytes");
    return PyErr_Occurred() == nullptr ? made.release() : nullptr;
}

PyObject *operator_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    PyObject *args[] = {self, instance};
    return PyObject_Vectorcall(reinterpret_cast<Operator *>(self)->parts[METHOD], args, 2, nullptr);
}

int operator_traverse(PyObject *object, visitproc visit, void *arg) {
    auto *self = reinterpret_cast<Operator *>(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    for (const auto *places : {&self->routes, &self->scalars}) {
        for (const Place &place : *places) {
            for (PyObject *part : place.key) Py_VISIT(part);
            Py_VISIT(place.found);
        }
    }
    return 0;
}

// Not the type's tp_clear: a cycle through an operator is broken at the function or a dictionary,
// as with tuples, so that no call ever meets an operator without its parts.
int operator_release(PyObject *object) {
    auto *self = reinterpret_cast<Operator *>(object);
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (auto *places : {&self->routes, &self->scalars}) {
        for (Place &place : *places) {
            for (PyObject *&part : place.key) Py_CLEAR(part);
            Py_CLEAR(place.found);
        }
    }
    return 0;
}

PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Operator, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(Operator, parts) + DICT * sizeof(PyObject *),
     Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef operator_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operator_slots[] = {
    {Py_tp_doc,
     const_cast<char *>("A binary operator: the short way where there is one, else slow.")},
    {Py_tp_new, reinterpret_cast<void *>(operator_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(operator_get)},
    {Py_tp_members, operator_members},
    {Py_tp_getset, operator_getset},
    {Py_tp_traverse, reinterpret_cast<void *>(operator_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<operator_release>)},
    {0, nullptr}};

// METHOD_DESCRIPTOR: `x + y` calls the operator with (x, y) and makes no bound method.
PyType_Spec operator_spec = {"promoarray.core._fast_path.Operator", sizeof(Operator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
                             operator_slots};

int execute(PyObject *module) {
    for (PyType_Spec *spec : {&array_slots_spec, &operator_spec}) {
        const Ref type(PyType_FromModuleAndSpec(module, spec, nullptr));
        if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type.get())) != 0) {
            return -1;
        }
    }
    return 0;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)}, {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "promoarray.core._fast_path",
                          "The short way of PArray's binary operators.",
                          0,
                          nullptr,
                          module_slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__fast_path() { return PyModuleDef_Init(&definition); }
