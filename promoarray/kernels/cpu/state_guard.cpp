// A callable that runs another in the default floating-point state. Plain C API, as nanobind's
// functions are no methods of classes that Python defines.
#include "float_state.h"
#include "module.h"

#include <cstddef>
#include <vector>

#if PY_VERSION_HEX < 0x030C0000  // the names of descrobject.h are new in 3.12
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace promoarray {
namespace {

struct StateGuard {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *function;
    PyObject *state;  // of a context variable: see guard_new; may be null
    PyObject *dict;   // __name__, __doc__, __wrapped__, as functools.wraps sets them
};

StateGuard *guard_of(PyObject *object) { return reinterpret_cast<StateGuard *>(object); }

// The parts of `state`.
enum { GET, SET, RESET, USUAL, INSTEAD, OTHERWISE, PARTS };

PyObject *part_of(const StateGuard *self, int part) { return PyTuple_GetItem(self->state, part); }

// Set the variable where it is as usual; null if it is not.
PyObject *enter(const StateGuard *self) {
    PyObject *now = PyObject_CallNoArgs(part_of(self, GET)), *token = nullptr;
    if (now == part_of(self, USUAL))
        token = PyObject_CallFunctionObjArgs(part_of(self, SET), part_of(self, INSTEAD), nullptr);
    Py_XDECREF(now);
    PyErr_Clear();
    return token;
}

// Give it the value it had; what the function raised is raised on.
void leave(const StateGuard *self, PyObject *token) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(PyObject_CallFunctionObjArgs(part_of(self, RESET), token, nullptr));
    Py_DECREF(token);
    PyErr_Restore(type, value, traceback);
}

// How many arguments there are, those with names behind the others.
std::size_t total(std::size_t nargs, PyObject *names) {
    const Py_ssize_t named = names != nullptr ? PyTuple_Size(names) : 0;
    return static_cast<std::size_t>(PyVectorcall_NARGS(nargs) + named);
}

PyObject *guard_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const FloatStateGuard state;
    const StateGuard *guard = guard_of(self);
    if (guard->state == nullptr) return PyObject_Vectorcall(guard->function, args, nargs, names);
    PyObject *const token = enter(guard);
    if (token == nullptr) {  // the program's own state
        std::vector<PyObject *> given(args, args + total(nargs, names));
        given.insert(given.begin(), guard->function);
        return PyObject_Vectorcall(part_of(guard, OTHERWISE), given.data(), PyVectorcall_NARGS(nargs) + 1, names);
    }
    PyObject *out = PyObject_Vectorcall(guard->function, args, nargs, names);
    leave(guard, token);
    return out;
}

// The function; and how a context variable is read, set and reset, its usual value, what it has in
// place of that meanwhile, and what calls the function with its arguments where it has another.
PyObject *guard_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"", "state", nullptr};
    PyObject *function, *state = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O!", const_cast<char **>(names), &function,
                                     &PyTuple_Type, &state)) {
        return nullptr;
    }
    if (state != nullptr && PyTuple_Size(state) != PARTS) {
        PyErr_SetString(PyExc_TypeError, "a state has six parts");
        return nullptr;
    }
    if (!PyCallable_Check(function)) {
        PyErr_SetString(PyExc_TypeError, "StateGuard takes a callable");
        return nullptr;
    }
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    guard_of(made)->call = guard_call;
    guard_of(made)->function = Py_NewRef(function);
    guard_of(made)->state = Py_XNewRef(state);
    return made;
}

PyObject *guard_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    PyObject *const types = PyImport_ImportModule("types");  // PyMethod_New is not in the limited API
    if (types == nullptr) return nullptr;
    PyObject *const type = PyObject_GetAttrString(types, "MethodType");
    Py_DECREF(types);
    if (type == nullptr) return nullptr;
    PyObject *const bound = PyObject_CallFunctionObjArgs(type, self, instance, nullptr);
    Py_DECREF(type);
    return bound;
}

int guard_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(guard_of(self)->function);
    Py_VISIT(guard_of(self)->state);
    Py_VISIT(guard_of(self)->dict);
    return 0;
}

// A cycle through a guard is broken at the dictionary, its own or the function's, so that no call
// ever meets one without its function.
int guard_clear(PyObject *self) {
    Py_CLEAR(guard_of(self)->dict);
    return 0;
}

void guard_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_CLEAR(guard_of(self)->function);
    Py_CLEAR(guard_of(self)->state);
    Py_CLEAR(guard_of(self)->dict);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyMemberDef guard_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(StateGuard, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(StateGuard, dict), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef guard_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot guard_slots[] = {
    {Py_tp_doc, const_cast<char *>("A function, run in the default floating-point state.")},
    {Py_tp_new, reinterpret_cast<void *>(guard_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(guard_get)},
    {Py_tp_members, guard_members},
    {Py_tp_getset, guard_getset},
    {Py_tp_traverse, reinterpret_cast<void *>(guard_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(guard_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(guard_dealloc)},
    {0, nullptr}};

// METHOD_DESCRIPTOR: `x.item()` calls the guard with (x,) and makes no bound method.
PyType_Spec guard_spec = {"promoarray.kernels._cpu.StateGuard", sizeof(StateGuard), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                              Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
                          guard_slots};

}  // namespace

nanobind::object state_guard_type() {
    PyObject *type = PyType_FromSpec(&guard_spec);
    if (type == nullptr) throw nanobind::python_error();
    return nanobind::steal(type);
}

}  // namespace promoarray
