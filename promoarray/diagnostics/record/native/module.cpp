// promoarray.diagnostics.record._seen: what is seen of recorded programs, without a frame of ours
// where it is like something that was seen before.
#include <initializer_list>
#include <utility>

#include "call_cache.h"
#include "dtype_map.h"
#include "hook.h"
#include "known_calls.h"
#include "watcher.h"

namespace promoarray {
namespace {

int execute(PyObject *module) {
    PyTypeObject *other = nullptr;
    for (const auto &[spec, made] : {std::pair{&carried_spec, &other}, {&hook_spec, &other},
                                     {&known_calls_spec, &known_calls_type}, {&call_key_spec, &call_key_type},
                                     {&call_watcher_spec, &other}}) {
        Ref type(PyType_FromModuleAndSpec(module, spec, nullptr));
        if (!type || PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type.get())) != 0) return -1;
        *made = reinterpret_cast<PyTypeObject *>(type.release());
    }
    const Ref names(operator_names());
    return names ? PyModule_AddObjectRef(module, "OPERATORS", names.get()) : -1;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "promoarray.diagnostics.record._seen",
                          "What is seen of recorded programs.",
                          0,
                          nullptr,
                          module_slots,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace promoarray

PyMODINIT_FUNC PyInit__seen() { return PyModuleDef_Init(&promoarray::definition); }
