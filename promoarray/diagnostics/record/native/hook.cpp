#include "hook.h"

#include <new>
#include <utility>

namespace promoarray {
namespace {

// --- Operators -----------------------------------------------------------------------------------

PyObject *first(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("first", args, count, 2, &place)) return nullptr;
    if (is_recording(self)) {
        Begun begun;
        begun.operands.reserve(2);
        begun.operands.push_back(Ref::to(args[1]));
        self->operations->begin(place, std::move(begun));
    }
    return Py_NewRef(args[1]);
}

// Whether an object of Python's own holds others, which may be NumPy's.
bool holds_others(PyObject *x) { return PyList_Check(x) || PyTuple_Check(x) || PyDict_Check(x); }

PyObject *then(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("then", args, count, 3, &place)) return nullptr;
    PyObject *name = args[1], *x = args[2];
    if (!is_recording(self)) return Py_NewRef(x);
    Ref before(nullptr);
    self->operations->with(place, [&](const Begun &begun) { before = Ref::to(begun.operands[0].get()); });
    if (!before) return Py_NewRef(x);
    if (is_plain(self, x) && is_plain(self, before.get())) {
        Begun ended;
        self->operations->take(place, &ended);
        if (!holds_others(x) || !holds_others(before.get())) return Py_NewRef(x);
        return go_on(call_method(object, self, OF_LISTS, {name, before.get(), x}), x);
    }
    self->operations->with(place, [&](Begun &begun) { begun.operands.push_back(Ref::to(x)); });
    const bool is_int = PyLong_CheckExact(x) || PyLong_CheckExact(before.get());
    if (!is_any(self->past) || (self->refuses && !is_int)) return Py_NewRef(x);
    PyObject *form = count > 3 ? args[3] : self->parts[OPERATOR];
    return call_method(self->past, self, OPERAND, {name, before.get(), x, form}).release();
}

// How an operator is written: of a scalar `**` looks for a loop, as `np.power` does; of an array it
// may be a square. What `x += y` puts in the place of `x` is no operation in place.
PyObject *form_of(const FastHook *self, PyObject *name, PyObject *first, PyObject *form, PyObject *made) {
    if (form == self->parts[INPLACE] && first != made) form = self->parts[OPERATOR];
    const bool is_power = PyUnicode_Compare(name, self->names[POW]) == 0;
    return is_power && PyObject_TypeCheck(first, type_in(self, GENERIC)) ? self->parts[FUNCTION] : form;
}

PyObject *done(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("done", args, count, 3, &place)) return nullptr;
    PyObject *name = args[1], *x = args[2];
    Begun begun;
    if (!self->operations->take(place, &begun) || !is_recording(self) || !is_array(self, x)) return Py_NewRef(x);
    bool any = false;
    for (const Ref &operand : begun.operands) any = any || is_array(self, operand.get());
    if (!any) return Py_NewRef(x);
    PyObject *given = count > 3 ? args[3] : self->parts[OPERATOR];
    PyObject *form = form_of(self, name, begun.operands[0].get(), given, x);
    Key key;
    key.add(name);
    key.add(form);
    bool known_sort = self->alike != Py_None;
    for (const Ref &operand : begun.operands)
        known_sort = known_sort && add_operand(self->alike, &key, operand.get());
    const Ref session = Ref::to(self->session);
    const bool went_well = told(self, std::move(key), known_sort, x, [&] {
        const Ref operands = list_of(begun.operands);
        if (!operands) return Ref(nullptr);
        return call_method(session.get(), self, OPERATOR_SEEN, {name, operands.get(), x, place.frame, form});
    });
    return went_well ? Py_NewRef(x) : nullptr;
}

PyObject *viewed(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("viewed", args, count, 3, &place)) return nullptr;
    PyObject *name = args[1], *x = args[2];
    Begun begun;
    if (!self->operations->take(place, &begun) || !is_recording(self)) return Py_NewRef(x);
    PyObject *source = begun.operands[0].get();
    if (!is_array(self, source)) {
        if (is_plain(self, source)) return Py_NewRef(x);
        const Ref operands = list_of(begun.operands);
        if (!operands) return nullptr;
        return go_on(call_method(object, self, OTHERWISE_VIEWED, {operands.get(), x, place.frame}), x);
    }
    if (source == x || !is_array(self, x)) return Py_NewRef(x);
    const bool is_part = PyUnicode_Compare(name, self->names[REAL]) == 0 ||
                         PyUnicode_Compare(name, self->names[IMAG]) == 0;
    if (!is_part && self->alike != Py_None && carry_on(self->alike, name, source, x)) return Py_NewRef(x);
    if (PyErr_Occurred()) return nullptr;
    return go_on(call_method(self->session, self, VIEWED, {name, source, x, place.frame}), x);
}

// --- Assignments ---------------------------------------------------------------------------------

PyObject *target(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("target", args, count, 2, &place)) return nullptr;
    PyObject *x = args[1];
    Begun begun;
    if (!self->operations->take(place, &begun) || !is_recording(self) ||
        !PyObject_TypeCheck(x, type_in(self, NDARRAY)))
        return Py_NewRef(x);
    PyObject *value = begun.operands[0].get();
    Key key;
    key.add(self->names[SETITEM]);
    const bool known_sort = self->alike != Py_None && add_operand(self->alike, &key, x) &&
                            add_operand(self->alike, &key, value);
    const Ref session = Ref::to(self->session);
    const bool went_well = told(self, std::move(key), known_sort, Py_None, [&] {
        return call_method(session.get(), self, ASSIGNED, {x, value, place.frame});
    });
    if (!went_well) return nullptr;
    return is_any(self->past) ? call_method(self->past, self, TARGET, {x, value}).release() : Py_NewRef(x);
}

// --- What is evaluated once and stands twice -----------------------------------------------------

PyObject *hold(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    Place place;
    if (!read_place("hold", args, count, 2, &place)) return nullptr;
    hook_of(object)->operations->hold(place, args[1]);
    return Py_NewRef(args[1]);
}

PyObject *taken(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    Place place;
    if (!read_place("taken", args, count, 1, &place)) return nullptr;
    Ref found = hook_of(object)->operations->take_held(place);
    if (!found) PyErr_SetString(PyExc_KeyError, "nothing is held here");
    return found.release();
}

// The end of a chain of comparisons, which may have stopped before all were needed.
PyObject *released(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    for (Py_ssize_t i = 1; i < count; ++i) {
        Place place;
        if (!read_place("released", args + i, 1, 1, &place)) return nullptr;
        hook_of(object)->operations->take_held(place);
    }
    if (count > 0) return Py_NewRef(args[0]);
    PyErr_SetString(PyExc_TypeError, "released takes what a chain answered, and numbers");
    return nullptr;
}

// Forget what has begun; and of what is held an array and its views, as nothing is to refer to it.
// Of None nothing is held.
PyObject *forget(PyObject *object, PyObject *array) {
    FastHook *self = hook_of(object);
    self->operations->forget_begun();
    if (array == Py_None) Py_RETURN_NONE;
    for (const auto &[place, x] : self->operations->held()) {
        const Ref base(PyObject_GetAttr(x.get(), self->names[BASE]));
        PyErr_Clear();  // of what is no array
        if (x.get() == array || base.get() == array) self->operations->take_held(place);
    }
    Py_RETURN_NONE;
}

// --- The type ------------------------------------------------------------------------------------

PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"ndarray", "generic", "plain", "inplace", "operator", "function",
                                  "callee_of", "function_type", "method_type", "ufunc", "dispatcher",
                                  "stand_in", nullptr};
    PyObject *given[PARTS];
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$O!O!O!OOOOO!O!O!O!O", const_cast<char **>(names),
                                     &PyType_Type, &given[NDARRAY], &PyType_Type, &given[GENERIC],
                                     &PyFrozenSet_Type, &given[PLAIN], &given[INPLACE], &given[OPERATOR],
                                     &given[FUNCTION], &given[CALLEE_OF], &PyType_Type,
                                     &given[FUNCTION_TYPE], &PyType_Type, &given[METHOD_TYPE],
                                     &PyType_Type, &given[UFUNC], &PyType_Type, &given[DISPATCHER],
                                     &given[STAND_IN]))
        return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    FastHook *self = hook_of(made.get());
    self->operations = new (std::nothrow) Operations;
    if (self->operations == nullptr) return PyErr_NoMemory();
    for (PyObject **part : {&self->session, &self->past, &self->alike}) *part = Py_NewRef(Py_None);
    for (int part = 0; part < PARTS; ++part) self->parts[part] = Py_NewRef(given[part]);
    for (int name = 0; name < NAMES; ++name)
        if ((self->names[name] = PyUnicode_InternFromString(HOOK_NAMES[name])) == nullptr) return nullptr;
    self->functions = PyDict_New();
    self->callees = PyDict_New();
    self->stand_ins = PyDict_New();
    const bool is_made = self->functions != nullptr && self->callees != nullptr && self->stand_ins != nullptr;
    return is_made ? made.release() : nullptr;
}

Py_ssize_t hook_length(PyObject *object) { return hook_of(object)->operations->size(); }

PyObject *get_session(PyObject *object, void *) { return Py_NewRef(hook_of(object)->session); }

// Record what is seen from here on, or nothing.
PyObject *tell(PyObject *object, PyObject *args) {
    FastHook *self = hook_of(object);
    PyObject *session, *past, *alike;
    if (!PyArg_ParseTuple(args, "OOO", &session, &past, &alike)) return nullptr;
    if (alike != Py_None && !is_alike(alike)) {
        PyErr_SetString(PyExc_TypeError, "calls that are alike are in an Alike");
        return nullptr;
    }
    const Ref before[] = {Ref(self->session), Ref(self->past), Ref(self->alike)};
    self->session = Py_NewRef(session);
    self->past = Py_NewRef(past);
    self->refuses = !PyObject_HasAttrString(past, "policy");
    self->alike = Py_NewRef(alike);
    PyDict_Clear(self->stand_ins);  // which hang on what is recorded
    Py_RETURN_NONE;
}

int hook_traverse(PyObject *object, visitproc visit, void *arg) {
    FastHook *self = hook_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    for (PyObject *part : {self->session, self->past, self->alike, self->functions, self->callees,
                           self->stand_ins})
        Py_VISIT(part);
    return self->operations != nullptr ? self->operations->traverse(visit, arg) : 0;
}

// Not the type's tp_clear, as of an operator: the hook is one of the builtins as long as Python runs.
int hook_release(PyObject *object) {
    FastHook *self = hook_of(object);
    delete self->operations;
    self->operations = nullptr;
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (PyObject *&name : self->names) Py_CLEAR(name);
    for (PyObject **part : {&self->session, &self->past, &self->alike, &self->functions, &self->callees,
                            &self->stand_ins})
        Py_CLEAR(*part);
    return 0;
}

template <PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t)>
constexpr PyMethodDef method_def(const char *name, const char *doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}

PyMethodDef hook_methods[] = {
    {"tell", tell, METH_VARARGS, "Have a session, its past and what it knows told of what is seen."},
    method_def<first>("first", "The first operand, with which an operation begins."),
    method_def<first>("changed", "The first operand of an operation in place."),
    method_def<then>("then", "The second operand."),
    method_def<done>("done", "The result; of ``x += y`` the operand itself where it is an array."),
    method_def<argument>("key", "What ``np.r_`` and ``np.c_`` are given to join."),
    method_def<viewed>("viewed", "A part or a view of an array."),
    method_def<call_begins>("call", "A function that is about to be called."),
    method_def<argument>("argument", "An argument of it."),
    method_def<named>("named", "A keyword argument."),
    method_def<starred>("starred", "Arguments in a sequence."),
    method_def<rest>("rest", "Keyword arguments in a dict."),
    method_def<called>("called", "What the function returned."),
    method_def<target>("target", "The array of ``x[key] = value``, whose value is there already."),
    method_def<hold>("hold", "A value that is needed again."),
    method_def<taken>("taken", "That value."),
    method_def<released>("released", "The end of a chain of comparisons."),
    {"forget", forget, METH_O, "Forget what has begun; and of what is held an array and its views."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef hook_getset[] = {{"session", get_session, nullptr, "Who is told, or None.", nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot hook_slots[] = {
    {Py_tp_doc, const_cast<char *>("What rewritten programs pass their operands and results through.")},
    {Py_tp_new, reinterpret_cast<void *>(hook_new)},
    {Py_tp_methods, hook_methods},
    {Py_tp_getset, hook_getset},
    {Py_mp_length, reinterpret_cast<void *>(hook_length)},
    {Py_tp_traverse, reinterpret_cast<void *>(hook_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<hook_release>)},
    {0, nullptr}};

}  // namespace

bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, Place *place) {
    if (count < least) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", method, least, count);
        return false;
    }
    *place = {frame_here(), PyLong_AsLong(args[0])};
    if (place->frame == nullptr) PyErr_Format(PyExc_RuntimeError, "%s is called by rewritten code", method);
    return !PyErr_Occurred();
}

Ref list_of(const std::vector<Ref> &values) {
    Ref list(PyList_New(static_cast<Py_ssize_t>(values.size())));
    for (std::size_t i = 0; list && i < values.size(); ++i)
        PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), Py_NewRef(values[i].get()));
    return list;
}

Ref call_method(PyObject *object, const FastHook *self, Name name, std::initializer_list<PyObject *> given) {
    std::vector<PyObject *> all{object};
    all.insert(all.end(), given);
    return Ref(PyObject_VectorcallMethod(self->names[name], all.data(), all.size(), nullptr));
}

PyType_Spec hook_spec = {"promoarray.diagnostics.record._seen.FastHook", sizeof(FastHook), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, hook_slots};

}  // namespace promoarray
