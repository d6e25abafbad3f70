// The calls of rewritten programs: which function of NumPy's it is, and what it is given.
#include <utility>

#include "hook.h"

namespace promoarray {
namespace {

constexpr Py_ssize_t MOST_KINDS = 4096;  // of functions, whose code and classes are kept alive

bool is_of_numpy(const FastHook *self, PyObject *x) {
    const Ref module(PyObject_GetAttr(x, self->names[MODULE]));
    if (!module) PyErr_Clear();
    static const char NUMPY[] = "numpy";
    const Ref prefix(module && PyUnicode_Check(module.get()) ? PyUnicode_FromString(NUMPY) : nullptr);
    return prefix && PyUnicode_Tailmatch(module.get(), prefix.get(), 0, PY_SSIZE_T_MAX, -1) == 1;
}

// Whether a function is none of NumPy's, as far as that is seen at once.
bool is_other(const FastHook *self, PyObject *function) {
    const PyTypeObject *type = Py_TYPE(function);
    if (type == type_in(self, FUNCTION_TYPE)) return !is_of_numpy(self, function);
    if (type == type_in(self, METHOD_TYPE)) {
        const Ref owner(PyObject_GetAttr(function, self->names[SELF]));
        if (!owner) PyErr_Clear();
        return owner && !is_array(self, owner.get()) &&
               !is_of_numpy(self, reinterpret_cast<PyObject *>(Py_TYPE(owner.get())));
    }
    if (!PyCFunction_CheckExact(function)) return false;
    PyObject *owner = PyCFunction_GetSelf(function);
    if (owner == nullptr) PyErr_Clear();
    return owner != nullptr && is_plain(self, owner);
}

// Whether a function may be kept: it is none that the program makes, nor holds what is the program's.
bool may_be_kept(const FastHook *self, PyObject *function) {
    const PyTypeObject *type = Py_TYPE(function);
    if (PyCFunction_CheckExact(function)) {
        PyObject *owner = PyCFunction_GetSelf(function);
        if (owner == nullptr) PyErr_Clear();
        return owner == nullptr || PyModule_Check(owner) || Py_TYPE(owner) == type_in(self, UFUNC);
    }
    return type == type_in(self, UFUNC) || type == type_in(self, FUNCTION_TYPE) ||
           type == type_in(self, DISPATCHER) || PyType_CheckExact(function);
}

// The one Callee that is equal to another.
Ref the_one(const FastHook *self, const Ref &callee) {
    PyObject *known = PyDict_GetItemWithError(self->callees, callee.get());
    if (known != nullptr) return Ref::to(known);
    if (PyErr_Occurred() || PyDict_SetItem(self->callees, callee.get(), callee.get()) != 0) return Ref(nullptr);
    return Ref::to(callee.get());
}

// What of NumPy's is called, and the array whose method it is; false with the error.
bool find_callee(const FastHook *self, PyObject *function, Begun *begun) {
    const bool kept = may_be_kept(self, function);
    if (kept) {
        PyObject *known = PyDict_GetItemWithError(self->functions, function);
        if (known == nullptr && PyErr_Occurred()) return false;
        if (known != nullptr) {
            if (known != Py_None) begun->callee = Ref::to(known);
            return true;
        }
    }
    if (is_other(self, function)) return true;
    const Ref callee = call(self->parts[CALLEE_OF], function);
    if (!callee) return false;
    if (callee.get() == Py_None) {
        if (PyDict_Size(self->functions) >= MOST_KINDS) PyDict_Clear(self->functions);
        return !kept || PyDict_SetItem(self->functions, function, Py_None) == 0;
    }
    Ref owner(PyObject_GetAttr(callee.get(), self->names[OWNER]));
    const Ref alone = owner ? Ref(PyObject_GetAttr(callee.get(), self->names[WITHOUT_OWNER])) : Ref(nullptr);
    if (!alone) return false;
    begun->callee = the_one(self, alone);
    if (owner.get() != Py_None) begun->owner = std::move(owner);
    else if (kept && begun->callee && PyDict_SetItem(self->functions, function, begun->callee.get()) != 0)
        return false;
    return static_cast<bool>(begun->callee);
}

// What functions have in common that have stand-ins alike, or none: the code of those in Python, a
// function of a module or a class itself, and of what else is called its class, or its owner's.
Ref kind_of(const FastHook *self, PyObject *function) {
    const PyTypeObject *type = Py_TYPE(function);
    if (type == type_in(self, FUNCTION_TYPE)) return Ref(PyObject_GetAttr(function, self->names[CODE]));
    if (type == type_in(self, METHOD_TYPE)) {
        const Ref own(PyObject_GetAttr(function, self->names[FUNC]));
        return own ? kind_of(self, own.get()) : Ref(nullptr);
    }
    if (may_be_kept(self, function)) return Ref::to(function);
    if (!PyCFunction_CheckExact(function)) return Ref::to(reinterpret_cast<PyObject *>(Py_TYPE(function)));
    return Ref::to(reinterpret_cast<PyObject *>(Py_TYPE(PyCFunction_GetSelf(function))));
}

// What is called in the place of a function that is none of NumPy's; null with the error.
PyObject *stand_in(FastHook *self, PyObject *function) {
    const Ref kind = kind_of(self, function);
    if (!kind) {  // it is called nonetheless
        PyErr_Clear();
        return Py_NewRef(function);
    }
    Ref maker(Py_XNewRef(PyDict_GetItemWithError(self->stand_ins, kind.get())));
    if (!maker) {
        PyErr_Clear();
        maker = call(self->parts[STAND_IN], function);
        if (!maker) return nullptr;
        if (PyDict_Size(self->stand_ins) >= MOST_KINDS) PyDict_Clear(self->stand_ins);
        if (PyDict_SetItem(self->stand_ins, kind.get(), maker.get()) != 0) PyErr_Clear();  // it has no hash
    }
    return maker.get() == Py_None ? Py_NewRef(function) : call(maker.get(), function).release();
}

Ref keywords_of(const Begun &begun) {
    Ref keywords(PyDict_New());
    for (std::size_t i = 0; keywords && i < begun.names.size(); ++i)
        if (PyDict_SetItem(keywords.get(), begun.names[i].get(), begun.named[i].get()) != 0) return Ref(nullptr);
    return keywords;
}

// What calls that are alike have in common: the function, and its arguments; false if it is like no other.
bool add_call(const FastHook *self, const Begun &begun, Key *key) {
    if (self->alike == Py_None) return false;
    key->add(begun.callee.get());
    for (const Ref &x : begun.operands)
        if (!add_operand(self->alike, key, x.get())) return false;
    PyObject *first = begun.operands.empty() ? nullptr : begun.operands[0].get();
    for (std::size_t i = 0; i < begun.names.size(); ++i) {
        PyObject *x = begun.named[i].get();
        key->add(Py_NotImplemented);  // no argument that is known by itself
        key->add(begun.names[i].get());
        key->add(x == first ? Py_True : Py_False);  // `out=x` writes into an operand
        if (!add_operand(self->alike, key, x)) return false;
    }
    return true;
}

}  // namespace

PyObject *call_begins(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("call", args, count, 2, &place)) return nullptr;
    PyObject *function = args[1];
    Begun begun, old;
    if (is_recording(self) && !find_callee(self, function, &begun)) return nullptr;
    if (!begun.callee) {
        self->operations->take(place, &old);
        return is_recording(self) ? stand_in(self, function) : Py_NewRef(function);
    }
    const Ref callee = Ref::to(begun.callee.get()), owner(Py_XNewRef(begun.owner.get()));
    if (owner) {
        const Ref name(PyObject_GetAttr(callee.get(), self->names[NAME]));
        if (!name) return nullptr;
        if (PyUnicode_Compare(name.get(), self->names[RESIZE]) == 0) {
            begun = {};
            return go_on(call_method(object, self, RESIZED, {owner.get()}), function);
        }
        begun.operands.push_back(Ref::to(owner.get()));
    }
    self->operations->begin(place, std::move(begun));
    if (!is_any(self->past)) return Py_NewRef(function);
    PyObject *own = owner ? owner.get() : Py_None;
    return call_method(self->past, self, FUNCTION_OF, {function, callee.get(), own}).release();
}

PyObject *argument(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    Place place;
    if (!read_place("argument", args, count, 2, &place)) return nullptr;
    hook_of(object)->operations->with(place, [&](Begun &begun) { begun.operands.push_back(Ref::to(args[1])); });
    return Py_NewRef(args[1]);
}

PyObject *named(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    Place place;
    if (!read_place("named", args, count, 3, &place)) return nullptr;
    hook_of(object)->operations->with(place, [&](Begun &begun) {
        begun.names.push_back(Ref::to(args[1]));
        begun.named.push_back(Ref::to(args[2]));
    });
    return Py_NewRef(args[2]);
}

// Arguments in a sequence; an iterator's are not looked at, as that would use them up.
PyObject *starred(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("starred", args, count, 2, &place)) return nullptr;
    PyObject *values = args[1];
    if (PyList_CheckExact(values) || PyTuple_CheckExact(values)) {
        std::vector<Ref> found;
        for (Py_ssize_t i = 0; i < PySequence_Size(values); ++i)
            found.emplace_back(PySequence_GetItem(values, i));
        self->operations->with(place, [&](Begun &begun) {
            for (Ref &x : found) begun.operands.push_back(std::move(x));
        });
    } else {
        Begun ended;
        self->operations->take(place, &ended);
    }
    return Py_NewRef(values);
}

// Keyword arguments in a dict.
PyObject *rest(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("rest", args, count, 2, &place)) return nullptr;
    PyObject *values = args[1], *name, *x;
    if (PyDict_CheckExact(values)) {
        self->operations->with(place, [&](Begun &begun) {
            for (Py_ssize_t at = 0; PyDict_Next(values, &at, &name, &x);) {
                begun.names.push_back(Ref::to(name));
                begun.named.push_back(Ref::to(x));
            }
        });
    } else {
        Begun ended;
        self->operations->take(place, &ended);
    }
    return Py_NewRef(values);
}

PyObject *called(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    Place place;
    if (!read_place("called", args, count, 2, &place)) return nullptr;
    PyObject *x = args[1];
    Begun begun;
    if (!self->operations->take(place, &begun) || !is_recording(self) || !begun.callee) return Py_NewRef(x);
    const bool may_store = x == Py_None && !begun.operands.empty() && is_array(self, begun.operands[0].get());
    if (!may_store && !is_array(self, x) && !PyList_Check(x) && !PyTuple_Check(x))
        return Py_NewRef(x);  // it only asks
    Key key;
    const bool known_sort = add_call(self, begun, &key);
    const Ref session = Ref::to(self->session);
    const bool went_well = told(self, std::move(key), known_sort, x, [&] {
        const Ref operands = list_of(begun.operands), keywords = keywords_of(begun);
        if (!operands || !keywords) return Ref(nullptr);
        return call_method(session.get(), self, CALL_SEEN,
                      {begun.callee.get(), operands.get(), keywords.get(), x, place.frame});
    });
    return went_well ? Py_NewRef(x) : nullptr;
}

}  // namespace promoarray
