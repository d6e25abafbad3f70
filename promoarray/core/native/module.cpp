// promoarray.core._fast_path: operations whose executables were compiled before, without a frame of
// Python's; and what it uses of Python, which `begin` is given by name.
#include "operator.h"

namespace promoarray {

Objects python;
Names names_of;
PyTypeObject *array_slots_type = nullptr;

namespace {

struct Wanted {
    const char *name;
    PyObject **into;
    PyTypeObject *type;  // null: a callable
};

// Take over the objects by name: all of them, or none with the error.
PyObject *begin(PyObject *, PyObject *args, PyObject *kwargs) {
    const Wanted wanted[] = {
        {"observers", &python.observers, &PyList_Type},
        {"guarding", &python.guarding, &PyList_Type},
        {"policy_here", &python.policy_here, nullptr},
        {"default_policy", &python.default_policy, &PyList_Type},
        {"named", &python.named, &PyDict_Type},
        {"adopted", &python.adopted, &PyDict_Type},
        {"weak_bool", &python.weak[0], &PyBaseObject_Type},
        {"weak_int", &python.weak[1], &PyBaseObject_Type},
        {"weak_float", &python.weak[2], &PyBaseObject_Type},
        {"weak_complex", &python.weak[3], &PyBaseObject_Type},
        {"ndarray", &python.ndarray, &PyType_Type},
        {"asarray", &python.asarray, nullptr},
        {"dtype_class", &python.dtype_class, &PyType_Type},
        {"numpy_dtype", &python.numpy_dtype, &PyType_Type},
        {"bool_dtype", &python.bool_dtype, &PyBaseObject_Type},
        {"executable", &python.executable, &PyType_Type},
        {"choice", &python.choice, &PyType_Type},
    };
    constexpr Py_ssize_t count = sizeof wanted / sizeof *wanted;
    if (PyTuple_Size(args) != 0 || kwargs == nullptr || PyDict_Size(kwargs) != count) {
        PyErr_Format(PyExc_TypeError, "begin takes %zd objects by name", count);
        return nullptr;
    }
    for (const Wanted &each : wanted) {
        PyObject *given = PyDict_GetItemString(kwargs, each.name);
        const bool fits = given != nullptr && (each.type == nullptr ? PyCallable_Check(given) != 0
                                                                    : PyObject_TypeCheck(given, each.type) != 0);
        if (!fits) {
            PyErr_Format(PyExc_TypeError, "begin takes another sort of object as %s", each.name);
            return nullptr;
        }
    }
    for (PyObject *type : {PyDict_GetItemString(kwargs, "executable"), PyDict_GetItemString(kwargs, "choice")}) {
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(type), &PyTuple_Type)) {
            PyErr_SetString(PyExc_TypeError, "an Executable and a Choice are tuples");
            return nullptr;
        }
    }
    for (const Wanted &each : wanted) {  // what was there before stays alive, as a call may use it
        *each.into = Py_NewRef(PyDict_GetItemString(kwargs, each.name));
    }
    look_at_arrays(python.ndarray);
    if (PyErr_Occurred()) return nullptr;
    Py_RETURN_NONE;
}

bool intern_names() {
    const Ref types(PyImport_ImportModule("types"));
    names_of.method_type = types ? PyObject_GetAttrString(types.get(), "MethodType") : nullptr;
    const struct {
        PyObject **into;
        const char *text;
    } wanted[] = {{&names_of.policy, "_policy"}, {&names_of.executables, "executables"},
                  {&names_of.canonical, "canonical"}, {&names_of.dtype, "dtype"}, {&names_of.name, "name"},
                  {&names_of.item, "item"}, {&names_of.copy, "copy"}, {&names_of.copies, "copies"}};
    for (const auto &each : wanted) *each.into = PyUnicode_InternFromString(each.text);
    return PyErr_Occurred() == nullptr;
}

int execute(PyObject *module) {
    if (!intern_names()) return -1;
    for (PyType_Spec *spec : {&array_slots_spec, &operator_spec}) {
        const Ref type(PyType_FromModuleAndSpec(module, spec, nullptr));
        auto *made = reinterpret_cast<PyTypeObject *>(type.get());
        if (!type || PyModule_AddType(module, made) != 0) return -1;
        if (spec == &array_slots_spec) array_slots_type = reinterpret_cast<PyTypeObject *>(Py_NewRef(type.get()));
    }
    return 0;
}

PyMethodDef functions[] = {
    {"begin", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(begin)),
     METH_VARARGS | METH_KEYWORDS, "Take over what operators use of Python, by name."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "promoarray.core._fast_path",
                          "Operations whose executables were compiled before.",
                          0,
                          functions,
                          module_slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace promoarray

PyMODINIT_FUNC PyInit__fast_path() { return PyModuleDef_Init(&promoarray::definition); }
