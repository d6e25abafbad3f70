// promoarray.core._fast_path: the fast path of operations that were met before.
//
// Operands of types that the dispatcher has met before take one look-up of the executable and its
// kernel, or its `run`, without a frame of ours. Free-threaded builds have no caches of ours, as no
// GIL guards them: see Cache.
#include <initializer_list>

#include "borders.h"
#include "operator.h"
#include "tally.h"

namespace promoarray {
namespace {

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
    for (PyType_Spec *spec : {&array_slots_spec, &shared_spec, &operator_spec, &heard_spec,
                             &within_spec, &by_name_spec, &places_spec, &tally_spec, &borders_spec}) {
        const Ref type(PyType_FromModuleAndSpec(module, spec, nullptr));
        if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type.get())) != 0) {
            return -1;
        }
    }
    const bool added = add_names(module, "FIELDS", FIELD_NAMES, FIELDS) == 0 &&
                       add_names(module, "CHOICE_FIELDS", CHOICE_FIELD_NAMES, CHOICE_FIELDS) == 0 &&
                       add_names(module, "KNOWN_FIELDS", KNOWN_FIELD_NAMES, KNOWN_FIELDS) == 0;
    return added ? 0 : -1;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "promoarray.core._fast_path",
                          "The fast path of operations that were met before.",
                          0,
                          nullptr,
                          module_slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace promoarray

PyMODINIT_FUNC PyInit__fast_path() { return PyModuleDef_Init(&promoarray::definition); }
