// The calls of rewritten programs: which function of NumPy's it is, and what it is given.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "glance.h"
#include "hook.h"

namespace promoarray {
namespace {

constexpr Py_ssize_t MOST_KINDS = 4096;  // of functions, whose code and classes are kept alive

bool is_of_numpy(const FastHook *self, PyObject *x) {
    const Ref module = attribute(self, x, MODULE);
    if (!module) PyErr_Clear();
    static PyObject *const numpy = PyUnicode_InternFromString("numpy");
    return module && PyUnicode_Check(module.get()) &&
           PyUnicode_Tailmatch(module.get(), numpy, 0, PY_SSIZE_T_MAX, -1) == 1;
}

// One call, as it is given: the arguments by position, and those by name behind them.
struct Call {
    long place;
    PyObject *function, *const *args, *names;
    Py_ssize_t count;
    Ref callee{nullptr}, owner{nullptr};  // a Callee of NumPy's, and the array whose method it is
    Ref maker{nullptr};                   // or what makes the stand-in of what is none

    Py_ssize_t named() const { return names == nullptr ? 0 : PyTuple_Size(names); }
    PyObject *first() const { return owner ? owner.get() : count > 0 ? args[0] : nullptr; }
};

// The object that a method is of, which holds it; null of a function.
PyObject *self_of(const FastHook *self, PyObject *function) {
    if (PyCFunction_CheckExact(function)) {
        PyObject *of = PyCFunction_GetSelf(function);
        return of == Py_None || (of != nullptr && PyModule_Check(of)) ? nullptr : of;
    }
    if (Py_TYPE(function) != type_in(self, METHOD_TYPE)) return nullptr;
    const Ref of = attribute(self, function, OWNER);
    if (!of) PyErr_Clear();
    return of.get();
}

// Whether it is one of NumPy's: an array, a ufunc, what draws numbers.
bool is_numpys(const FastHook *self, PyObject *owner) {
    if (owner == nullptr || is_array(self, owner)) return owner != nullptr;
    return is_of_numpy(self, reinterpret_cast<PyObject *>(Py_TYPE(owner)));
}

// What Python's headers say of a method in C (cpython/methodobject.h), beyond the limited API.
struct MethodFields {
    PyObject_HEAD
    const void *definition;  // one for each name
    PyObject *self;
};

// A function among those that were met last, told apart without asking for its name: by the class that it is
// a method of, and its definition in C, its code in Python or itself. Nothing of what `kind_of` has to look at.
Cache::Found met_as(const FastHook *self, PyObject *function, PyObject *owner) {
    if (!KNOWS_CALLS || (owner != nullptr && Py_TYPE(owner) == type_in(self, UFUNC))) return {};
    if (PyCFunction_CheckExact(function)) {
        if (owner == nullptr) return {nullptr, function, nullptr};
        const auto *fields = reinterpret_cast<const MethodFields *>(function);
        return fields->self == owner ? Cache::Found{Py_TYPE(owner), fields->definition, nullptr} : Cache::Found{};
    }
    if (owner != nullptr && Py_TYPE(function) == type_in(self, METHOD_TYPE)) {
        const Ref own = attribute(self, function, OF_METHOD);  // which the method holds
        if (own && Py_TYPE(own.get()) != type_in(self, FUNCTION_TYPE)) return {Py_TYPE(owner), own.get(), nullptr};
        if (!own || is_array(self, owner)) return {};
        function = own.get();
    }
    if (Py_TYPE(function) != type_in(self, FUNCTION_TYPE)) return {};
    const Ref code = attribute(self, function, CODE);
    return {nullptr, code.get(), nullptr};
}

// What functions have in common that are called alike: the name of a method, beside what it is of;
// the code of a function in Python; a function of a module, one of NumPy's or a class itself; and of
// what else is called its class, or its owner's, in a tuple: calls of the class itself are others. Null
// with the error.
Ref kind_of(const FastHook *self, PyObject *function, PyObject *owner) {
    const PyTypeObject *type = Py_TYPE(function);
    if (owner != nullptr) {
        const Ref name = attribute(self, function, NAME);
        PyObject *of = reinterpret_cast<PyObject *>(Py_TYPE(owner));
        return name ? Ref(PyTuple_Pack(2, Py_TYPE(owner) == type_in(self, UFUNC) ? owner : of, name.get())) : Ref(nullptr);
    }
    if (type == type_in(self, METHOD_TYPE)) {
        const Ref own = attribute(self, function, OF_METHOD);
        return own ? kind_of(self, own.get(), nullptr) : Ref(nullptr);
    }
    if (type == type_in(self, FUNCTION_TYPE) && !is_of_numpy(self, function)) return attribute(self, function, CODE);
    PyObject *of = PyCFunction_CheckExact(function) ? PyCFunction_GetSelf(function) : nullptr;
    const bool is_one = PyCFunction_CheckExact(function)
                            ? of == nullptr || of == Py_None || PyModule_Check(of)
                            : PyType_Check(function) || type == type_in(self, FUNCTION_TYPE) ||
                                  type == type_in(self, UFUNC) || type == type_in(self, DISPATCHER);
    if (is_one) return Ref::to(function);
    return Ref(PyTuple_Pack(1, Py_TYPE(of != nullptr ? of : function)));  // no call of the class itself
}

// What is called in the place of functions of a kind: it is asked once, of one of them. `kinds` holds it; null
// with the error.
PyObject *answer_of(FastHook *self, PyObject *kind, PyObject *function) {
    // Code that is equal is called alike, too, but has the slowest of hashes: its address stands for it.
    const bool is_code = !PyTuple_Check(kind) && PyCallable_Check(kind) == 0;
    const Ref key = is_code ? Ref(PyLong_FromVoidPtr(kind)) : Ref::to(kind);
    PyObject *known = key ? PyDict_GetItemWithError(self->kinds, key.get()) : nullptr;
    if (known == nullptr) {
        if (PyErr_Occurred()) return nullptr;
        const Ref answer = call(self->parts[RESOLVE], function);
        const Ref both(answer ? PyTuple_Pack(2, kind, answer.get()) : nullptr);
        if (PyDict_Size(self->kinds) >= MOST_KINDS) {
            std::fill(std::begin(self->cache->functions), std::end(self->cache->functions), Cache::Found{});
            PyDict_Clear(self->kinds);
        }
        if (!both || PyDict_SetItem(self->kinds, key.get(), both.get()) != 0) return nullptr;
        known = both.get();  // which the dict holds
    }
    return PyTuple_GetItem(known, 1);
}

// Find out what of NumPy's is called, or what makes the stand-in of another function. False with the
// error.
bool resolve(FastHook *self, Call *begun) {
    PyObject *of = self_of(self, begun->function);
    const Cache::Found met = met_as(self, begun->function, of);
    const auto mixed = reinterpret_cast<std::uintptr_t>(met.what) ^ reinterpret_cast<std::uintptr_t>(met.of) >> 5U;
    Cache::Found &last = self->cache->functions[mixed * 0x9E3779B97F4A7C15u >> 56];
    PyObject *answer = met.what != nullptr && last.what == met.what && last.of == met.of ? last.answer : nullptr;
    if (answer == nullptr) {
        PyErr_Clear();
        PyObject *owner = is_numpys(self, of) ? of : nullptr;
        const Ref kind = kind_of(self, begun->function, owner);
        if (!kind) {  // it is called nonetheless
            PyErr_Clear();
            return true;
        }
        answer = answer_of(self, kind.get(), begun->function);
        if (answer == nullptr) return false;
        if (met.what != nullptr && (met.of != nullptr ? PyTuple_Check(kind.get()) != 0 : met.what == kind.get()))
            last = {met.of, met.what, answer};
    }
    if (Py_TYPE(answer) == type_in(self, CALLEE)) {
        begun->callee = Ref::to(answer);
        if (of != nullptr && is_array(self, of)) begun->owner = Ref::to(of);
    } else if (answer != Py_None) {
        begun->maker = Ref::to(answer);
    }
    return true;
}

// Have the traceback of an error not begin with the frames of what was asked.
void pass_over_own_frames(const FastHook *self) {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    const Ref own(traceback), outside = call(self->parts[OUTSIDE], traceback != nullptr ? traceback : Py_None);
    if (value != nullptr && outside) PyException_SetTraceback(value, outside.get());
    PyErr_Restore(kind, value, outside.get() != Py_None ? Py_XNewRef(outside.get()) : nullptr);
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
        if (!answer) pass_over_own_frames(self);
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

// What calls that are alike have in common: the function, and its arguments; false if it is like no other.
bool add_call(const FastHook *self, const Call &call, Key *key) {
    const auto add = [&](PyObject *x) { return add_operand(self, key, x, class_of(self, x), self->by_value); };
    if (!key->add(call.callee.get()) || (call.owner && !add(call.owner.get()))) return false;
    for (Py_ssize_t i = 0; i < call.count; ++i)
        if (!add(call.args[i])) return false;
    for (Py_ssize_t i = 0; i < call.named(); ++i) {
        PyObject *x = call.args[call.count + i];
        const bool goes_on = key->add(Py_NotImplemented) &&  // no argument that is known by itself
                             key->add(PyTuple_GetItem(call.names, i)) &&
                             key->add_number(x == call.first());  // `out=x` writes into an operand
        if (!goes_on || !add(x)) return false;
    }
    return add_place(self, key, call.place);
}

// The operands of a call, of a method the array first; null with the error.
Ref operands_of(const Call &call) {
    const Ref given = arguments_of(call), own(call.owner ? PyTuple_Pack(1, call.owner.get()) : PyTuple_New(0));
    return Ref(given && own ? PySequence_Concat(own.get(), given.get()) : nullptr);
}

// Tell of a call that was carried out.
bool tell_of(FastHook *self, const Call &call, Asked *asked, bool answered, PyObject *x) {
    PyObject *first = call.first();
    const bool may_store = x == Py_None && first != nullptr && is_array(self, first);
    const Sort sort = class_of(self, x).sort;
    if (!may_store && !is_array(self, x) && !PyList_Check(x) && !PyTuple_Check(x)) {  // it only asks
        if (is_plain(sort)) return true;
        const Ref keywords = keywords_of(call), operands = operands_of(call);
        return keywords && operands && tell_wrapped(self, call.callee.get(), operands.get(), keywords.get(), x);
    }
    const Ref session = Ref::to(self->session);
    Ref asks = Ref::to(answered ? Py_True : Py_False);
    return asked->tell(self, call.place, first, x, std::move(asks), [&] {
        const Ref keywords = keywords_of(call), operands = operands_of(call);
        if (!keywords || !operands) return Ref(nullptr);
        return Ref(PyObject_CallMethod(session.get(), "call", "OOOOO", call.callee.get(), operands.get(), keywords.get(),
                                       x, frame_here()));
    });
}

// What the session answers of a function whose values are looked at: how many arguments it has, beyond which
// it writes into one, and a Glance times OPERANDS.
constexpr long OPERANDS = 256, NOBODY_LOOKS = -1, LOOKS_FAILED = -2;

long looks_of(FastHook *self, PyObject *callee) {
    auto &known = self->cache->looks;
    const auto found = KNOWS_CALLS ? known.find(callee) : known.end();
    if (found != known.end()) return found->second;
    const Ref answer(PyObject_CallMethod(self->session, "looks", "(O)", callee));
    const long looks = answer ? PyLong_AsLong(answer.get()) : LOOKS_FAILED;
    if (PyErr_Occurred()) return LOOKS_FAILED;
    if (KNOWS_CALLS) known[Py_NewRef(callee)] = looks;
    return looks;
}

// Call a method of the session that is told of a call, with its operands. Null with the error.
Ref checked(FastHook *self, const Call &call, const char *method, long long passes, PyObject *before, PyObject *made) {
    Where where;
    if (!where_of(self, call.place, PyTuple_GetItem(call.callee.get(), 0), &where)) return Ref(nullptr);
    const Ref keywords = keywords_of(call), operands = operands_of(call), at = told_where(where);
    if (!keywords || !operands || !at) return Ref(nullptr);
    return Ref(PyObject_CallMethod(self->session, method, "OLOOOOOO", at.get(), passes, call.callee.get(), operands.get(),
                                   keywords.get(), before, made, frame_here()));
}

// Whether every array among the arguments has the dtype of a result.
bool are_of_dtype(const FastHook *self, const Call &call, PyObject *made) {
    const Ref dtype = attribute(self, made, DTYPE);
    for (Py_ssize_t i = 0; dtype && i < call.count + call.named(); ++i) {
        if (PyList_Check(call.args[i]) || PyTuple_Check(call.args[i])) return false;
        const Ref own = is_array(self, call.args[i]) ? attribute(self, call.args[i], DTYPE) : Ref(nullptr);
        if (own && own.get() != dtype.get() && PyObject_RichCompareBool(own.get(), dtype.get(), Py_EQ) != 1) return false;
    }
    return static_cast<bool>(dtype);
}

// Whether an argument by position names a dtype.
bool names_dtype(const FastHook *self, const Call &call) {
    bool found = false;
    for (Py_ssize_t i = 0; i < call.count; ++i)
        found = found || PyType_Check(call.args[i]) || PyUnicode_Check(call.args[i]) ||
                PyObject_TypeCheck(call.args[i], type_in(self, NUMPY_DTYPE));
    return found;
}

bool is_clean(const FastHook *self, const Call &call, Glance how, PyObject *before, PyObject *made) {
    if (how == Glance::NONE || before != Py_None) return false;
    const bool casts = how == Glance::CAST || how == Glance::MAKE;
    if (!casts && is_array(self, made) && !is_looked_at(self, made)) return true;
    if (PyTuple_Check(made) || PyList_Check(made)) {
        for (Py_ssize_t i = 0; i < PySequence_Size(made); ++i) {
            const Ref each(PySequence_GetItem(made, i));
            if (how != Glance::FINITE || !each || !is_array(self, each.get())) return false;
            if (!lost_nothing(self, how, nullptr, nullptr, each.get(), false)) return false;
        }
        return true;
    }
    if (how == Glance::FINITE || how == Glance::WHOLE) return lost_nothing(self, how, nullptr, nullptr, made, false);
    if (call.named() != 0 && how != Glance::SUM && how != Glance::CAST) return false;
    if (how == Glance::CHOOSE) return (self->checks & LOOKS_AT_FLOATS) == 0 || are_of_dtype(self, call, made);
    if (how == Glance::MAKE) return !names_dtype(self, call);
    PyObject *first = call.first(), *second = call.count > (call.owner ? 0 : 1) ? call.args[call.owner ? 0 : 1] : nullptr;
    const bool of_two = how >= Glance::ADD;
    if (first == nullptr || (of_two && second == nullptr) || (how == Glance::DIFF && second != nullptr)) return false;
    return lost_nothing(self, how, first, of_two ? second : nullptr, made, false);
}

// Look at what a call made; false with the error.
bool check_call(FastHook *self, const Call &call, long looks, PyObject *before, PyObject *made) {
    if (looks < 0) return looks != LOOKS_FAILED;
    const bool has_made = is_array(self, made) || PyTuple_Check(made) || PyList_Check(made);
    if (!has_made && (made != Py_None || looks / OPERANDS != 0)) return true;
    const bool clean = is_clean(self, call, static_cast<Glance>(looks / OPERANDS), before, made);
    if (PyErr_Occurred()) return false;
    Where where;
    if (!where_of(self, call.place, PyTuple_GetItem(call.callee.get(), 0), &where)) return false;
    if (clean) return count_clean(self, where);
    return static_cast<bool>(checked(self, call, "called", taken_clean(self, where), before, made));
}

// What the past calls in the place of a function. Where it but notes what NumPy refuses, it answers alike of
// all that are called alike. Null with the error.
Ref asked_past(FastHook *self, const Call &call) {
    auto &known = self->cache->refuses;
    PyObject *callee = call.callee.get(), *own = call.owner ? call.owner.get() : Py_None;
    const bool is_known = KNOWS_CALLS && self->refuses;
    const auto found = is_known ? known.find(callee) : known.end();
    if (found != known.end() && !found->second) return Ref::to(call.function);
    Ref function(PyObject_CallMethod(self->past, "function", "OOO", call.function, callee, own));
    if (function && is_known && found == known.end()) known[Py_NewRef(callee)] = function.get() != call.function;
    return function;
}

// Carry out a call, and tell of it, unless that is done later.
Ref carried_out(FastHook *self, Call *begun, bool is_told) {
    if (!is_recording(self)) return called_plainly(*begun, begun->function);
    bool answered = false;
    if (Py_TYPE(begun->function) == type_in(self, OTHERWISE))
        return called_otherwise(self, *begun, begun->function, &answered);
    if (!resolve(self, begun)) return Ref(nullptr);
    if (!begun->callee) {
        const Ref other = begun->maker ? call(begun->maker.get(), begun->function) : Ref::to(begun->function);
        return other ? called_otherwise(self, *begun, other.get(), &answered) : Ref(nullptr);
    }
    if (begun->owner && PyUnicode_CompareWithASCIIString(PyTuple_GetItem(begun->callee.get(), 0), "resize") == 0) {
        const Ref owner = std::move(begun->owner);
        if (!Ref(PyObject_CallMethod(reinterpret_cast<PyObject *>(self), "_resized", "(O)", owner.get())))
            return Ref(nullptr);
    }
    const Ref session = Ref::to(self->session);
    Asked asked(self, begun->place, [&](Key *key) { return add_call(self, *begun, key); });
    const bool asks = self->past != Py_None && (asked.told == nullptr || asked.told->dtypes.get() == Py_True);
    Ref function = asks ? asked_past(self, *begun) : Ref::to(begun->function);
    const long looks = self->checks != 0 ? looks_of(self, begun->callee.get()) : NOBODY_LOOKS;
    Ref before(looks == LOOKS_FAILED ? nullptr : Py_NewRef(Py_None));
    if (looks >= 0 && (begun->named() != 0 || begun->count > looks % OPERANDS))
        before = checked(self, *begun, "overwritten", 0, Py_None, Py_None);
    Ref made = function && before ? called_otherwise(self, *begun, function.get(), &answered) : Ref(nullptr);
    if (!made && self->session == session.get()) {
        const Ref what(PyTuple_Pack(3, begun->callee.get(), begun->function, begun->owner ? begun->owner.get() : Py_None));
        const Ref given = what ? arguments_of(*begun) : Ref(nullptr), keywords = keywords_of(*begun);
        if (what) tell_failed(self, what.get(), given.get(), keywords.get());
    }
    if (!made || !is_told || self->session != session.get()) return made;
    if (!tell_of(self, *begun, &asked, answered, made.get())) return Ref(nullptr);
    if (!check_call(self, *begun, looks, before.get(), made.get())) return Ref(nullptr);
    return made;
}

}  // namespace

PyObject *call_function(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    long place;
    if (!read_place("call", args, count, 2, &place)) return nullptr;
    Call call{place, args[1], args + 2, names, count - 2};
    return carried_out(hook_of(object), &call, true).release();
}

PyObject *call_later(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names) {
    long place;
    if (!read_place("call_later", args, count, 2, &place)) return nullptr;
    Call call{place, args[1], args + 2, names, count - 2};
    const Ref made = carried_out(hook_of(object), &call, false);
    const Py_ssize_t all = count + call.named();
    const Ref given(made ? PyTuple_New(all) : nullptr);
    for (Py_ssize_t i = 0; given && i < all; ++i) PyTuple_SetItem(given.get(), i, Py_NewRef(args[i]));
    return given ? PyTuple_Pack(3, made.get(), given.get(), names != nullptr ? names : Py_None) : nullptr;
}

PyObject *result_of(PyObject *object, PyObject *called) {
    FastHook *self = hook_of(object);
    PyObject *made, *given, *names;
    if (!PyArg_ParseTuple(called, "OO!O", &made, &PyTuple_Type, &given, &names)) return nullptr;
    std::vector<PyObject *> args;
    for (Py_ssize_t i = 0; i < PyTuple_Size(given); ++i) args.push_back(PyTuple_GetItem(given, i));
    names = names != Py_None ? names : nullptr;
    const Py_ssize_t count = PyTuple_Size(given) - (names != nullptr ? PyTuple_Size(names) : 0);
    long place;
    if (!read_place("result", args.data(), count, 2, &place)) return nullptr;
    Call call{place, args[1], args.data() + 2, names, count - 2};
    if (is_recording(self) && (!resolve(self, &call))) return nullptr;
    if (call.callee) {
        Asked asked(self, place, [&](Key *key) { return add_call(self, call, key); });
        if (!tell_of(self, call, &asked, self->past != Py_None, made)) return nullptr;
        const long looks = self->checks != 0 ? looks_of(self, call.callee.get()) : NOBODY_LOOKS;
        if (!check_call(self, call, looks, Py_None, made)) return nullptr;
    }
    return Py_NewRef(made);
}

}  // namespace promoarray
