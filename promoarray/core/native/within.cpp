// Within: a function that runs under the policy of a namespace, and answers with its arrays.
#include "operator.h"

namespace promoarray {
namespace {

// What it is made of, in the order of its arguments; `_in_namespace` (namespaces.py) says what each is.
enum Given { FUNCTION, CLASS, DEFAULT_CLASS, BLOCK, READ, SET, CHECK, BIND, GIVEN_PARTS };

struct Within {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *parts[GIVEN_PARTS];
};

Within *within_of(PyObject *object) { return reinterpret_cast<Within *>(object); }

constexpr int DEEP = 8;  // sequences in sequences, beyond which `check` is asked

// Whether an argument may be an array of another namespace, or has one in it.
bool may_mix(const Within *self, PyObject *value, int depth = 0) {
    PyTypeObject *type = Py_TYPE(value);
    const auto is = [&](Given part) { return reinterpret_cast<PyObject *>(type) == self->parts[part]; };
    if (is(CLASS) || is(DEFAULT_CLASS)) return false;
    const bool is_list = PyList_CheckExact(value);
    if (!is_list && !PyTuple_CheckExact(value))
        return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(self->parts[DEFAULT_CLASS]));
#ifdef Py_GIL_DISABLED
    return depth >= 0;  // another thread may change it meanwhile
#else
    if (depth == DEEP) return true;
    const Py_ssize_t count = is_list ? PyList_Size(value) : PyTuple_Size(value);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *item = is_list ? PyList_GetItem(value, i) : PyTuple_GetItem(value, i);
        if (may_mix(self, item, depth + 1)) return true;
    }
    return false;
#endif
}

// Refuse arrays of another namespace; false with the error.
bool check(const Within *self, PyObject *const *args, Py_ssize_t count) {
    if (self->parts[CHECK] == Py_None) return true;
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!may_mix(self, args[i])) continue;
        const Ref one(PyTuple_Pack(1, args[i]));
        const Ref none(one ? PyObject_CallFunctionObjArgs(self->parts[CHECK], one.get(), nullptr) : nullptr);
        if (!none) return false;
    }
    return true;
}

// A block of `with policy(...)`, as `Context` enters and leaves one.
class Block {
   public:
    explicit Block(const Within *self)
        : self_(self), before_(PyObject_CallNoArgs(self->parts[READ])), entry_(nullptr) {
        PyObject *policy = PyTuple_GetItem(self->parts[BLOCK], 0);
        PyObject *context = PyTuple_GetItem(self->parts[BLOCK], 1);
        if (before_) entry_ = Ref(PyTuple_Pack(3, policy, context, before_.get()));
    }
    bool enter() const { return entry_ && set(entry_.get()); }
    // Where a block is left that began inside and goes on, as of a generator, `Context` knows how.
    bool leave() const {
        const Ref now(PyObject_CallNoArgs(self_->parts[READ]));
        if (now.get() == entry_.get()) return set(before_.get());
        PyObject *context = PyTuple_GetItem(self_->parts[BLOCK], 1);
        return now && Ref(PyObject_CallMethod(context, "__exit__", "OOO", Py_None, Py_None, Py_None));
    }

   private:
    bool set(PyObject *entry) const {
        return static_cast<bool>(Ref(PyObject_CallFunctionObjArgs(self_->parts[SET], entry, nullptr)));
    }

    const Within *self_;
    Ref before_, entry_;
};

// The arrays of an answer as those of the namespace.
PyObject *bound(const Within *self, Ref &out) {
    PyTypeObject *type = Py_TYPE(out.get());
    if (reinterpret_cast<PyObject *>(type) == self->parts[DEFAULT_CLASS]) {
        const auto *array = reinterpret_cast<const ArraySlots *>(out.get());
        Ref buffer(nullptr), dtype(nullptr);
#ifdef Py_GIL_DISABLED
        Py_BEGIN_CRITICAL_SECTION(out.get());  // as the members are set in one
#endif
        buffer = Ref(Py_XNewRef(array->buffer)), dtype = Ref(Py_XNewRef(array->type));
#ifdef Py_GIL_DISABLED
        Py_END_CRITICAL_SECTION();
#endif
        return wrap(reinterpret_cast<PyTypeObject *>(self->parts[CLASS]), buffer, dtype.get());
    }
    if (PyTuple_Check(out.get()) || PyList_Check(out.get()) || PyDict_Check(out.get()))
        return PyObject_CallFunctionObjArgs(self->parts[BIND], out.get(), self->parts[CLASS], nullptr);
    return out.release();
}

PyObject *within_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const Within *self = within_of(object);
    const Py_ssize_t count = PyVectorcall_NARGS(nargs) + (names != nullptr ? PyTuple_Size(names) : 0);
    if (!check(self, args, count)) return nullptr;
    const Block block(self);
    if (!block.enter()) return nullptr;
    Ref out(PyObject_Vectorcall(self->parts[FUNCTION], args, nargs, names));
    PyObject *kind, *error, *traceback;
    PyErr_Fetch(&kind, &error, &traceback);
    const bool left = block.leave();
    if (kind != nullptr) {
        PyErr_Restore(kind, error, traceback);
        return nullptr;
    }
    return left ? bound(self, out) : nullptr;
}

// --- The type ------------------------------------------------------------------------------------

PyObject *within_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"function", "array_class", "default_class", "block", "read",
                                  "set",      "check",       "bind",          nullptr};
    PyObject *given[GIVEN_PARTS];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!O!OOOO", const_cast<char **>(names),
                                     &given[FUNCTION], &PyType_Type, &given[CLASS], &PyType_Type,
                                     &given[DEFAULT_CLASS], &PyTuple_Type, &given[BLOCK],
                                     &given[READ], &given[SET], &given[CHECK], &given[BIND]))
        return nullptr;
    if (PyTuple_Size(given[BLOCK]) != 2) {
        PyErr_SetString(PyExc_ValueError, "a block is a policy and its context manager");
        return nullptr;
    }
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    within_of(made)->call = within_call;
    for (int part = 0; part < GIVEN_PARTS; ++part) within_of(made)->parts[part] = Py_NewRef(given[part]);
    return made;
}

int within_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : within_of(object)->parts) Py_VISIT(part);
    return 0;
}

// Not the type's tp_clear, as of an operator: a cycle is broken at the namespace's dictionary.
int within_release(PyObject *object) {
    for (PyObject *&part : within_of(object)->parts) Py_CLEAR(part);
    return 0;
}

PyMemberDef within_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Within, call), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot within_slots[] = {
    {Py_tp_doc, const_cast<char *>("A function under a policy, with arrays of its namespace.")},
    {Py_tp_new, reinterpret_cast<void *>(within_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, within_members},
    {Py_tp_traverse, reinterpret_cast<void *>(within_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<within_release>)},
    {0, nullptr}};

}  // namespace

PyType_Spec within_spec = {"promoarray.core._fast_path.Within", sizeof(Within), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_IMMUTABLETYPE,
                           within_slots};

}  // namespace promoarray
