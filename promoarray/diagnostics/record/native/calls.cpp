// The calls of rewritten programs: which function of NumPy's it is, and what it is given.
#include <string>
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
    return owner != nullptr && is_plain(class_of(self, owner).sort);
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

// One call, as it is given: the arguments by position, and those by name behind them.
struct Call {
    long place;
    PyObject *function, *const *args, *names;
    Py_ssize_t count;
    Ref callee{nullptr}, owner{nullptr};  // a Callee of NumPy's, and the array whose method it is

    Py_ssize_t named() const { return names == nullptr ? 0 : PyTuple_Size(names); }
};

// What of NumPy's is called, and the array whose method it is; false with the error.
bool find_callee(const FastHook *self, Call *begun) {
    PyObject *function = begun->function;
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

// The folder of the file whose code a traceback begins in; empty if that is not known.
std::string folder_of(PyObject *traceback) {
    Ref at(Py_NewRef(traceback));
    for (const char *name : {"tb_frame", "f_code", "co_filename"}) {
        if (at) at = Ref(PyObject_GetAttrString(at.get(), name));
    }
    const Ref text(at && PyUnicode_Check(at.get()) ? PyUnicode_AsEncodedString(at.get(), "utf-8", "replace") : nullptr);
    PyErr_Clear();
    const char *file = text ? PyBytes_AsString(text.get()) : nullptr;
    if (file == nullptr) return "";
    const std::string path(file);
    return path.substr(0, path.find_last_of("/\\") + 1);
}

// Have the traceback of an error not begin with the frames of what was asked.
void pass_over_own_frames() {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    Ref at(traceback);
    const std::string own = at ? folder_of(at.get()) : "";
    while (at && !own.empty() && folder_of(at.get()) == own) {
        at = Ref(PyObject_GetAttrString(at.get(), "tb_next"));
        if (at && at.get() == Py_None) at = Ref(nullptr);
    }
    if (value != nullptr) PyException_SetTraceback(value, at ? at.get() : Py_None);
    PyErr_Restore(kind, value, at.release());
}

Ref arguments_of(const Call &call) {
    Ref given(PyTuple_New(call.count));
    for (Py_ssize_t i = 0; given && i < call.count; ++i) PyTuple_SetItem(given.get(), i, Py_NewRef(call.args[i]));
    return given;
}

Ref keywords_of(const Call &call) {
    Ref keywords(PyDict_New());
    for (Py_ssize_t i = 0; keywords && i < call.named(); ++i)
        if (PyDict_SetItem(keywords.get(), PyTuple_GetItem(call.names, i), call.args[call.count + i]) != 0)
            return Ref(nullptr);
    return keywords;
}

Ref called_plainly(const Call &call, PyObject *function) {
    return Ref(PyObject_Vectorcall(function, call.args, static_cast<std::size_t>(call.count), call.names));
}

// Call what stands in the place of a function: an Otherwise says what is asked before it, and where
// it refuses; where that answers NotImplemented it knows no better.
Ref called_otherwise(const FastHook *self, const Call &call, PyObject *function, bool *answered) {
    if (Py_TYPE(function) != type_in(self, OTHERWISE)) return called_plainly(call, function);
    const Ref otherwise = Ref::to(function);
    PyObject *const plain = PyTuple_GetItem(function, 0), *const before = PyTuple_GetItem(function, 1),
                    *const instead = PyTuple_GetItem(function, 2);
    const auto ask = [&](PyObject *what) {
        const Ref given = arguments_of(call), keywords = keywords_of(call);
        if (!given || !keywords) return Ref(nullptr);
        Ref answer(PyObject_CallFunctionObjArgs(what, given.get(), keywords.get(), nullptr));
        if (!answer) pass_over_own_frames();
        return answer;
    };
    if (before != Py_None) {
        Ref answer = ask(before);
        *answered = !answer || answer.get() != Py_NotImplemented;
        if (*answered) return answer;
    }
    Ref made = called_otherwise(self, call, plain, answered);
    if (made || instead == Py_None ||
        !(PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_TypeError)))
        return made;
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    Ref answer = ask(instead);
    *answered = true;
    if (answer && answer.get() == Py_NotImplemented) {
        PyErr_Restore(kind, value, traceback);
        return Ref(nullptr);
    }
    for (PyObject *part : {kind, value, traceback}) Py_XDECREF(part);
    return answer;
}

// What is called in the place of a function that is none of NumPy's; null with the error.
Ref stand_in(FastHook *self, PyObject *function) {
    const Ref kind = kind_of(self, function);
    if (!kind) {  // it is called nonetheless
        PyErr_Clear();
        return Ref::to(function);
    }
    const Maker *known = self->stand_ins->find(kind.get());
    Ref maker = known != nullptr ? Ref::to(known->maker.get()) : Ref(nullptr);
    if (!maker) {
        maker = call(self->parts[STAND_IN], function);
        if (!maker) return maker;
        if (self->stand_ins->size() < MOST_KINDS)
            (*self->stand_ins)[kind.get()] = {Ref::to(kind.get()), Ref::to(maker.get())};
    }
    return maker.get() == Py_None ? Ref::to(function) : call(maker.get(), function);
}

// What calls that are alike have in common: the function, and its arguments; false if it is like no other.
bool add_call(const FastHook *self, const Call &call, Key *key) {
    key->add(call.callee.get());
    if (call.owner && !add_operand(self, key, call.owner.get(), self->by_value)) return false;
    for (Py_ssize_t i = 0; i < call.count; ++i)
        if (!add_operand(self, key, call.args[i], self->by_value)) return false;
    PyObject *first = call.owner ? call.owner.get() : call.count > 0 ? call.args[0] : nullptr;
    for (Py_ssize_t i = 0; i < call.named(); ++i) {
        PyObject *x = call.args[call.count + i];
        key->add(Py_NotImplemented);  // no argument that is known by itself
        key->add(PyTuple_GetItem(call.names, i));
        key->add(x == first ? Py_True : Py_False);  // `out=x` writes into an operand
        if (!add_operand(self, key, x, self->by_value)) return false;
    }
    return add_place(self, key, call.place);
}

// Tell of a call that was carried out.
bool tell_of(FastHook *self, const Call &call, Key *key, bool looks, const std::shared_ptr<Told> &known, bool answered,
             PyObject *x) {
    PyObject *first = call.owner ? call.owner.get() : call.count > 0 ? call.args[0] : nullptr;
    const bool may_store = x == Py_None && first != nullptr && is_array(self, first);
    if (!may_store && !is_array(self, x) && !PyList_Check(x) && !PyTuple_Check(x)) return true;  // it only asks
    const Ref session = Ref::to(self->session);
    return told(self, call.place, key, looks, of_values(known, first), x, Ref::to(answered ? Py_True : Py_None), [&] {
        Ref operands = Ref(PyList_New(0));
        if (operands && call.owner && PyList_Append(operands.get(), call.owner.get()) != 0) return Ref(nullptr);
        for (Py_ssize_t i = 0; operands && i < call.count; ++i)
            if (PyList_Append(operands.get(), call.args[i]) != 0) return Ref(nullptr);
        const Ref keywords = keywords_of(call);
        if (!operands || !keywords) return Ref(nullptr);
        return call_method(session.get(), self, CALL_SEEN,
                           {call.callee.get(), operands.get(), keywords.get(), x, frame_here()});
    });
}

// Carry out a call, and tell of it, unless that is done later.
Ref carried_out(FastHook *self, Call *call, bool is_told) {
    if (!is_recording(self)) return called_plainly(*call, call->function);
    bool answered = false;
    if (Py_TYPE(call->function) == type_in(self, OTHERWISE))
        return called_otherwise(self, *call, call->function, &answered);
    if (!find_callee(self, call)) return Ref(nullptr);
    if (!call->callee) {
        const Ref other = stand_in(self, call->function);
        return other ? called_otherwise(self, *call, other.get(), &answered) : Ref(nullptr);
    }
    if (call->owner) {
        const Ref name(PyObject_GetAttr(call->callee.get(), self->names[NAME]));
        if (!name) return Ref(nullptr);
        if (PyUnicode_Compare(name.get(), self->names[RESIZE]) == 0) {
            const Ref owner = std::move(call->owner);
            if (!call_method(reinterpret_cast<PyObject *>(self), self, RESIZED, {owner.get()})) return Ref(nullptr);
        }
    }
    const Ref session = Ref::to(self->session);
    Key key;
    const bool looks = add_call(self, *call, &key);
    const std::shared_ptr<Told> known = looks ? find(self, call->place, key) : nullptr;
    Ref function = Ref::to(call->function);
    if (is_any(self->past) && (known == nullptr || known->dtypes.get() == Py_True)) {
        PyObject *own = call->owner ? call->owner.get() : Py_None;
        function = call_method(self->past, self, FUNCTION_OF, {call->function, call->callee.get(), own});
    }
    Ref made = function ? called_otherwise(self, *call, function.get(), &answered) : Ref(nullptr);
    if (!made || !is_told || self->session != session.get()) return made;
    return tell_of(self, *call, &key, looks, known, answered, made.get()) ? std::move(made) : Ref(nullptr);
}

// A function that is called where no argument tells its place, or of which is told later.
struct Bound {
    PyObject_HEAD
    PyObject *hook, *function, *given, *names, *result;
    long place;
    bool later;
};

Bound *bound_of(PyObject *object) { return reinterpret_cast<Bound *>(object); }

// The arguments, by name behind those by position, in a tuple.
Ref in_a_row(PyObject *args, PyObject *kwargs, Ref *names) {
    const Ref keys(kwargs == nullptr ? PyList_New(0) : PyDict_Keys(kwargs)),
        values(kwargs == nullptr ? PyList_New(0) : PyDict_Values(kwargs));
    *names = keys ? Ref(PyList_AsTuple(keys.get())) : Ref(nullptr);
    const Ref last(values ? PyList_AsTuple(values.get()) : nullptr);
    return *names && last ? Ref(PySequence_Concat(args, last.get())) : Ref(nullptr);
}

template <typename Function>
auto with_call(const Bound *self, const Function &function) {
    std::vector<PyObject *> args;
    const Py_ssize_t all = PyTuple_Size(self->given), named = PyTuple_Size(self->names);
    for (Py_ssize_t i = 0; i < all; ++i) args.push_back(PyTuple_GetItem(self->given, i));
    Call call{self->place, self->function, args.data(), named != 0 ? self->names : nullptr, all - named};
    return function(&call);
}

PyObject *bound_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    Bound *self = bound_of(object);
    Ref names(nullptr), given = in_a_row(args, kwargs, &names);
    if (!given) return nullptr;
    Ref(std::exchange(self->given, given.release()));
    Ref(std::exchange(self->names, names.release()));
    Ref made = with_call(self, [&](Call *call) { return carried_out(hook_of(self->hook), call, !self->later); });
    if (!made || !self->later) return made.release();
    Ref(std::exchange(self->result, made.release()));
    return Py_NewRef(object);
}

// As the function is called in messages.
PyObject *bound_attribute(PyObject *object, PyObject *name) {
    return PyObject_GetAttr(bound_of(object)->function, name);
}

int bound_release(PyObject *object) {
    Bound *self = bound_of(object);
    for (PyObject **part : {&self->hook, &self->function, &self->given, &self->names, &self->result}) Py_CLEAR(*part);
    return 0;
}

int bound_traverse(PyObject *object, visitproc visit, void *arg) {
    const Bound *self = bound_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : {self->hook, self->function, self->given, self->names, self->result}) Py_VISIT(part);
    return 0;
}

PyType_Slot bound_slots[] = {{Py_tp_call, reinterpret_cast<void *>(bound_call)},
                             {Py_tp_getattro, reinterpret_cast<void *>(bound_attribute)},
                             {Py_tp_traverse, reinterpret_cast<void *>(bound_traverse)},
                             {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<bound_release>)},
                             {0, nullptr}};

}  // namespace

PyObject *call_function(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    long place;
    if (!read_place("call", args, count, 2, &place)) return nullptr;
    Call call{place, args[1], args + 2, names, count - 2};
    return carried_out(hook_of(object), &call, true).release();
}

PyObject *bound(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    long place;
    if (!read_place("bound", args, count, 3, &place)) return nullptr;
    Ref made(PyType_GenericAlloc(bound_type, 0));
    if (!made) return nullptr;
    Bound *self = bound_of(made.get());
    self->hook = Py_NewRef(object);
    self->function = Py_NewRef(args[1]);
    self->later = args[2] == Py_True;
    self->place = place;
    return made.release();
}

PyObject *result_of(PyObject *object, PyObject *x) {
    FastHook *self = hook_of(object);
    if (Py_TYPE(x) != bound_type || bound_of(x)->result == nullptr) {
        PyErr_SetString(PyExc_TypeError, "what a function returned is in what was called");
        return nullptr;
    }
    PyObject *made = bound_of(x)->result;
    if (!is_recording(self)) return Py_NewRef(made);
    const bool went_well = with_call(bound_of(x), [&](Call *call) {
        if (!find_callee(self, call)) return false;
        if (!call->callee) return true;
        Key key;
        const bool looks = add_call(self, *call, &key);
        const std::shared_ptr<Told> known = looks ? find(self, call->place, key) : nullptr;
        const bool asks = is_any(self->past);
        return tell_of(self, *call, &key, looks, known, asks, made);
    });
    return went_well ? Py_NewRef(made) : nullptr;
}

PyType_Spec bound_spec = {"promoarray.diagnostics.record._seen.Bound", sizeof(Bound), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, bound_slots};

}  // namespace promoarray
