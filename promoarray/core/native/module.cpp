// promoarray.core._fast_path: operations whose executables were compiled before, without a frame of
// Python's; and what it uses of Python, which `begin` is given by name.
#include "operator.h"

namespace promoarray {

Objects python;
Names names_of;
PyTypeObject *array_slots_type = nullptr;

namespace {

bool is_tuple_class(PyObject *cls) {
    return PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(cls), &PyTuple_Type) != 0;
}

// Take over the objects: all of them, or none with the error. What was there before stays alive, as a
// call may use it.
PyObject *begin(PyObject *, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"observers", "guarding",    "policy_here", "default_policy", "named",
                                  "adopted",   "weak",        "ndarray",     "asarray",        "dtype_class",
                                  "numpy_dtype", "bool_dtype", "executable", "choice",         nullptr};
    Objects given{};
    PyObject *weak;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!O!OO!O!O!O!O!OO!O!OO!O!:begin", const_cast<char **>(names), &PyList_Type,
            &given.observers, &PyList_Type, &given.guarding, &given.policy_here, &PyList_Type,
            &given.default_policy, &PyDict_Type, &given.named, &PyDict_Type, &given.adopted, &PyTuple_Type, &weak,
            &PyType_Type, &given.ndarray, &given.asarray, &PyType_Type, &given.dtype_class, &PyType_Type,
            &given.numpy_dtype, &given.bool_dtype, &PyType_Type, &given.executable, &PyType_Type, &given.choice))
        return nullptr;
    if (PyTuple_Size(weak) != WEAK || !PyCallable_Check(given.policy_here) || !PyCallable_Check(given.asarray) ||
        !is_tuple_class(given.executable) || !is_tuple_class(given.choice)) {
        PyErr_SetString(PyExc_TypeError, "begin takes callables, four weak dtypes, and classes of tuples");
        return nullptr;
    }
    for (int kind = 0; kind < WEAK; ++kind) given.weak[kind] = PyTuple_GetItem(weak, kind);
    auto *every = reinterpret_cast<PyObject **>(&given);
    for (std::size_t i = 0; i < sizeof given / sizeof *every; ++i) Py_INCREF(every[i]);
    python = given;
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
                  {&names_of.canonical, "canonical"}, {&names_of.foreign, "foreign"},
                  {&names_of.dtype, "dtype"}, {&names_of.name, "name"}, {&names_of.item, "item"},
                  {&names_of.copy, "copy"}, {&names_of.copies, "copies"}};
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
