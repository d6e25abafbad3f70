#include "watcher.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "dtype_map.h"
#include "key.h"
#include "known_calls.h"

namespace promoarray {

PyTypeObject *call_key_type;

namespace {

constexpr std::size_t LONGEST = 4096;    // words of a key: optimizers are given lists of parameters
constexpr int DEEPEST = 16;              // what holds lists so deep is like no other
constexpr unsigned OFTEN = 1U << 8U;     // after so many calls the recorder is told that they go on

// --- What stands for a call in Python ------------------------------------------------------------

struct CallKey {
    PyObject_HEAD
    Key *key;
};


// What a call has in common with those that are alike; None of one that is like no other.
Ref key_object(const Key &key) {
    Ref made(PyType_GenericAlloc(call_key_type, 0));
    auto *own = made ? new (std::nothrow) Key(LONGEST) : nullptr;
    if (own == nullptr) return made ? Ref(PyErr_NoMemory()) : Ref(nullptr);
    reinterpret_cast<CallKey *>(made.get())->key = own;
    own->add_all(key);
    return made;
}

void key_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    delete reinterpret_cast<CallKey *>(object)->key;
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyType_Slot key_slots[] = {{Py_tp_doc, const_cast<char *>("What calls that are alike have in common.")},
                           {Py_tp_dealloc, reinterpret_cast<void *>(key_dealloc)},
                           {0, nullptr}};

// --- The watcher ---------------------------------------------------------------------------------

// What a watcher is made of, in the order of the tuple it is given (watcher.py).
enum Part { KNOWN, RECORDER, CARRIED, TENSOR, KIND_OF, NDIM_OF, NAMES_OF_DTYPES, STATE, PLAIN, HANDLERS, PARTS };
enum Name { DTYPE, NDIM, BACK, INSTRUCTION, SORT_OF, VALUE_CLASS, ARGUMENT_CLASS, NUMBER_FIRST, LOOKED_INTO, ENDED,
            FAILED, ASKED_FAILED, HANDLER_OF, TAPED, UNHEARD, BEFORE, WRITES, HEARD_AGAIN, TOLD_AGAIN, NAMES };
constexpr const char *TEXTS[NAMES] = {
    "dtype", "ndim", "f_back", "f_lasti", "_sort_of", "_value_class", "_argument_class", "_number_first",
    "_looked_into", "_ended", "_failed", "failed", "_handler_of", "_taped", "_unheard", "before", "writes",
    "heard_again", "told_again"};
enum Sort : long { OF_PROGRAM, OF_LIBRARY, OF_HOOK };  // of code (Watcher._sort_of)

struct CallWatcher {
    PyObject_HEAD
    PyObject *parts[PARTS], *names[NAMES];
    bool looks, is_taped;  // whether values are looked at; whether calls are kept with their values
    unsigned counted;
};

CallWatcher *watcher_of(PyObject *object) { return reinterpret_cast<CallWatcher *>(object); }

struct Call {
    PyObject *watcher, *func, *name, *handler, *own, *carry_out, *args, *kwargs;  // `kwargs` null of none
    Ref frame;  // where it stands
};

Ref attribute(const CallWatcher *self, PyObject *x, Name name) { return Ref(PyObject_GetAttr(x, self->names[name])); }

template <typename... Given>
Ref method(const CallWatcher *self, PyObject *object, Name name, Given... given) {
    return Ref(PyObject_CallMethodObjArgs(object, self->names[name], given..., nullptr));
}

bool add_same(const KnownCalls *known, Key *key, PyObject *x) {
    const Ref same = same_as(known, x);
    return same && key->add(same.get());
}

// Add what tensors of a kind have in common.
Ref kind_of(const CallWatcher *self, PyObject *x) {
    PyObject *function = self->parts[KIND_OF];
    const Ref kind = function == Py_None ? attribute(self, x, DTYPE) : call(function, x);
    return kind ? same_as(calls_of(self->parts[KNOWN]), kind.get()) : Ref(nullptr);
}

bool add_tensor(CallWatcher *self, Key *key, PyObject *x) {
    const KnownCalls *known = calls_of(self->parts[KNOWN]);
    const Ref kind = kind_of(self, x);
    if (!kind || !key->add(kind.get())) return false;
    PyObject *function = self->parts[NDIM_OF];
    const Ref ndim = function == Py_None ? attribute(self, x, NDIM) : call(function, x);
    const bool flat = ndim && PyLong_AsLong(ndim.get()) == 0;
    if (!ndim || PyErr_Occurred() || !key->add_number(flat)) return false;
    const Ref slot = slot_of(self->parts[CARRIED], x);
    if (!key->add(slot ? slot.get() : Py_None)) return false;
    if (!flat || !known->by_value) return true;
    const Ref value = method(self, reinterpret_cast<PyObject *>(self), VALUE_CLASS, x);
    return value && value.get() != Py_NotImplemented && add_same(known, key, value.get());
}

bool add(CallWatcher *self, Key *key, PyObject *x, int deep) {
    const KnownCalls *known = calls_of(self->parts[KNOWN]);
    auto *type = reinterpret_cast<PyObject *>(Py_TYPE(x));
    if (is_number(x)) return add_number(key, *known->borders, known->scalar_class, x);
    if (x == Py_None) return key->add(x);
    if (PyUnicode_CheckExact(x)) return add_same(known, key, x);
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {
        const Py_ssize_t length = PySequence_Size(x);
        if (deep == DEEPEST || !key->add(type) || !key->add_number(static_cast<std::uint64_t>(length))) return false;
        for (Py_ssize_t i = 0; i < length; ++i) {
            const Ref each(PySequence_GetItem(x, i));
            if (!each || !add(self, key, each.get(), deep + 1)) return false;
        }
        return true;
    }
    const int is_tensor = PyObject_IsInstance(x, self->parts[TENSOR]);
    if (is_tensor != 0) return is_tensor > 0 && add_tensor(self, key, x);
    if (PySet_Contains(self->parts[PLAIN], type) == 1) return key->add(type);
    const int is_dtype = PyObject_IsInstance(x, self->parts[NAMES_OF_DTYPES]);
    if (is_dtype != 0) return is_dtype > 0 && add_same(known, key, x);
    if (PyDict_CheckExact(x)) {
        if (deep == DEEPEST || !key->add(type)) return false;
        if (!key->add_number(static_cast<std::uint64_t>(PyDict_Size(x)))) return false;
        Py_ssize_t at = 0;
        PyObject *name, *value;
        while (PyDict_Next(x, &at, &name, &value)) {
            const Ref held = Ref::to(value), named = Ref::to(name);
            if (!add_same(known, key, name) || !add(self, key, value, deep + 1)) return false;
        }
        return true;
    }
    const Ref found = method(self, reinterpret_cast<PyObject *>(self), ARGUMENT_CLASS, x);
    return found && add_same(known, key, found.get());
}

// Of the program, of a library or of a hook; -1 with the error.
long sort_of(CallWatcher *self, PyObject *code) {
    KnownCalls *known = calls_of(self->parts[KNOWN]);
    if (const long kept = kept_sort(known, code); kept >= 0) return kept;
    const Ref answer = method(self, reinterpret_cast<PyObject *>(self), SORT_OF, code);
    const long sort = answer ? PyLong_AsLong(answer.get()) : -1;
    if (sort >= 0) keep_sort(known, code, sort);
    return sort;
}

// Add where a call stands: its instruction, of one in a library those that led to it up to the program's. The
// frame is that of whoever called the hook, and then the one where it stands.
bool add_place(CallWatcher *self, Key *key, Call *call) {
    Ref frame = Ref::to(call->frame.get());
    for (bool stands = false; frame && frame.get() != Py_None;) {
        const Ref code(reinterpret_cast<PyObject *>(PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        const long sort = sort_of(self, code.get());
        if (sort < 0) return false;
        const bool is_between = !stands && (sort == OF_HOOK || code.get() == call->own);
        Ref back = is_between || sort != OF_PROGRAM ? attribute(self, frame.get(), BACK) : Ref::to(Py_None);
        if (!back) return false;
        if (!is_between || back.get() == Py_None) {
            if (!std::exchange(stands, true)) call->frame = Ref::to(frame.get());
            const Ref at = attribute(self, frame.get(), INSTRUCTION);
            if (!at || !key->add(code.get())) return false;
            if (!key->add_number(static_cast<std::uint64_t>(PyLong_AsLong(at.get())))) return false;
            if (sort == OF_PROGRAM) return true;
        }
        frame = std::move(back);
    }
    return static_cast<bool>(frame);
}

// Add all that calls have in common which are alike. False of one that is like no other, with the error if
// there is one.
bool describe(CallWatcher *self, Key *key, Call *call) {
    const KnownCalls *known = calls_of(self->parts[KNOWN]);
    if (!add_place(self, key, call) || !add_same(known, key, call->func)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(self->parts[STATE]); ++i) {
        const Ref state(PyObject_CallNoArgs(PyTuple_GetItem(self->parts[STATE], i)));
        if (!state || !add_same(known, key, state.get())) return false;
    }
    for (Py_ssize_t i = 0; i < PyTuple_Size(call->args); ++i)
        if (!add(self, key, PyTuple_GetItem(call->args, i), 0)) return false;
    return call->kwargs == nullptr || add(self, key, call->kwargs, 0);
}

// --- What was made -------------------------------------------------------------------------------

using Arrays = std::vector<Ref>;

// Add the tensors in lists, tuples and dictionaries, and in those that they hold; false with the error.
bool gather(const CallWatcher *self, PyObject *x, Arrays *found, int deep) {
    const int is_tensor = PyObject_IsInstance(x, self->parts[TENSOR]);
    if (is_tensor > 0) found->push_back(Ref::to(x));
    if (is_tensor != 0) return is_tensor > 0;
    Ref values(nullptr);
    if (PyDict_Check(x)) {
        values = Ref(PyDict_Values(x));
        x = values.get();
    } else if (!PyList_Check(x) && !PyTuple_Check(x)) {
        return true;
    }
    if (x == nullptr || deep == DEEPEST) return false;
    for (Py_ssize_t i = 0; i < PySequence_Size(x); ++i) {
        const Ref each(PySequence_GetItem(x, i));
        if (!each || !gather(self, each.get(), found, deep + 1)) return false;
    }
    return true;
}

bool add_pass(PyObject *passes) {
    if (passes == Py_None) return true;
    PyObject *before = PyList_GetItem(passes, 0);
    const long long count = before != nullptr ? PyLong_AsLongLong(before) : -1;
    PyObject *after = PyErr_Occurred() ? nullptr : PyLong_FromLongLong(count + 1);
    return after != nullptr && PyList_SetItem(passes, 0, after) == 0;
}

// Count a call that is like another, if it made the same, which carries the same then. False if it has to be
// recorded, with the error if there is one.
bool count_again(CallWatcher *self, ToldCall *told, PyObject *result) {
    if (!add_pass(told->passes.get())) return false;
    if (told->checked) {
        Arrays made;
        if (!gather(self, result, &made, 0) || made.size() != told->made.size()) return false;
        for (std::size_t i = 0; i < made.size(); ++i) {
            const Ref kind = kind_of(self, made[i].get());
            if (!kind || kind.get() != told->made[i].kind.get()) return false;
            if (!put_slot(self->parts[CARRIED], made[i].get(), told->made[i].slot.get())) return false;
        }
    }
    ++told->again;
    if (told->is_forgotten) {  // meanwhile: nobody asks its table for it
        const Ref times(PyLong_FromLongLong(told->again.exchange(0)));
        return times && method(self, self->parts[RECORDER], TOLD_AGAIN, told->known.get(), times.get());
    }
    if (++self->counted % OFTEN != 0) return true;
    return static_cast<bool>(method(self, self->parts[RECORDER], HEARD_AGAIN));
}

// --- Calls ---------------------------------------------------------------------------------------

Ref keywords_of(const Call &call) { return call.kwargs != nullptr ? Ref::to(call.kwargs) : Ref(PyDict_New()); }

// Tell a method of the error that is set, which stays, of what is no end of the program.
void tell_failed(const CallWatcher *self, const Call &call, bool is_asked) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return;
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    const Ref kwargs = keywords_of(call);
    if (kwargs && value != nullptr && is_asked) {
        method(self, call.watcher, ASKED_FAILED, call.func, call.name, call.frame.get(), call.args, kwargs.get(), value);
    } else if (kwargs && value != nullptr) {
        const Ref looked(PyTuple_Pack(5, call.name, call.func, call.args, kwargs.get(), call.frame.get()));
        if (looked) method(self, call.watcher, FAILED, Py_None, looked.get(), call.handler, call.carry_out, value);
    }
    PyErr_Clear();
    PyErr_Restore(kind, value, traceback);
}

Ref carry_out(const CallWatcher *self, const Call &call, bool is_asked) {
    Ref result(PyObject_Call(call.carry_out, call.args, call.kwargs));
    if (!result) tell_failed(self, call, is_asked);
    return result;
}

// Have a method carry out a call that is like none, or whose values have to be looked at.
Ref looked_into(const CallWatcher *self, const Call &call, Key *key, PyObject *known) {
    const Ref made = key != nullptr ? key_object(*key) : Ref::to(Py_None), kwargs = keywords_of(call);
    if (!made || !kwargs) return Ref(nullptr);
    return method(self, call.watcher, LOOKED_INTO, made.get(), known, call.func, call.name, call.handler,
                  call.frame.get(), call.carry_out, call.args, kwargs.get());
}

// Carry out a call of which others that were alike are known.
Ref carry_out_again(CallWatcher *self, const Call &call, Key *key, const SharedTold &told) {
    PyObject *screen = told->screen.get();
    const bool is_screened = screen != Py_None;
    if (self->looks && !is_screened && told->passes.get() == Py_None)
        return looked_into(self, call, key, told->known.get());
    Ref before = Ref::to(Py_None);
    if (is_screened) {
        const Ref writes = attribute(self, screen, WRITES);
        if (!writes) return Ref(nullptr);
        if (writes.get() == Py_True) {
            const Ref reads = attribute(self, screen, BEFORE);
            before = reads ? method(self, call.watcher, UNHEARD, reads.get(), call.args) : Ref(nullptr);
            if (!before) return Ref(nullptr);
        }
    }
    Ref result = carry_out(self, call, false);
    if (!result || result.get() == Py_NotImplemented) return result;
    const bool is_alike = count_again(self, told.get(), result.get());
    if (!is_alike && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return Ref(nullptr);
    PyErr_Clear();  // it is met again, guarded, where the call is recorded
    if (is_alike && !is_screened) return result;
    const Ref made = key_object(*key), kwargs = keywords_of(call);
    if (!made || !kwargs) return Ref(nullptr);
    const Ref ended = method(self, call.watcher, ENDED, made.get(), told->known.get(), is_alike ? Py_True : Py_False,
                             before.get(), result.get(), call.func, call.name, call.handler, call.frame.get(),
                             call.carry_out, call.args, kwargs.get());
    return ended ? std::move(result) : Ref(nullptr);
}

Ref watch(CallWatcher *self, Call *call) {
    Key key(LONGEST);
    SharedTold told;
    const bool is_keyed = describe(self, &key, call);
    if (!is_keyed && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return Ref(nullptr);
    PyErr_Clear();
    if (is_keyed) told = find(calls_of(self->parts[KNOWN]), key);
    if (told != nullptr && told->known.get() == Py_None) {
        const std::size_t size = key.size();
        const Ref side = method(self, call->watcher, NUMBER_FIRST, call->frame.get());
        if (!side) return Ref(nullptr);
        told = key.add(side.get()) ? find(calls_of(self->parts[KNOWN]), key) : nullptr;
        key.shorten(size);
    }
    if (told == nullptr) return looked_into(self, *call, is_keyed ? &key : nullptr, Py_None);
    return carry_out_again(self, *call, &key, told);
}

// --- The type ------------------------------------------------------------------------------------

PyObject *watcher_new(PyTypeObject *type, PyObject *, PyObject *) {
    Ref made(PyType_GenericAlloc(type, 0));
    CallWatcher *self = made ? watcher_of(made.get()) : nullptr;
    for (int name = 0; self != nullptr && name < NAMES; ++name)
        if ((self->names[name] = PyUnicode_InternFromString(TEXTS[name])) == nullptr) return nullptr;
    return made.release();
}

// What it is made of, once.
PyObject *watcher_prepare(PyObject *object, PyObject *args) {
    PyObject *parts;
    int looks, is_taped;
    if (!PyArg_ParseTuple(args, "O!pp", &PyTuple_Type, &parts, &looks, &is_taped)) return nullptr;
    CallWatcher *self = watcher_of(object);
    if (PyTuple_Size(parts) != PARTS || self->parts[KNOWN] != nullptr ||
        !is_carried(PyTuple_GetItem(parts, CARRIED)) || !PyTuple_Check(PyTuple_GetItem(parts, STATE)) ||
        !PyFrozenSet_Check(PyTuple_GetItem(parts, PLAIN)) || !PyDict_Check(PyTuple_GetItem(parts, HANDLERS)) ||
        !PyObject_TypeCheck(PyTuple_GetItem(parts, KNOWN), known_calls_type))
        return PyErr_Format(PyExc_TypeError, "a watcher is made of other parts, once");
    for (int part = 0; part < PARTS; ++part) self->parts[part] = Py_NewRef(PyTuple_GetItem(parts, part));
    self->looks = looks;
    self->is_taped = is_taped;
    Py_RETURN_NONE;
}

bool is_prepared(const CallWatcher *self) {
    if (self->parts[KNOWN] == nullptr) PyErr_SetString(PyExc_RuntimeError, "the watcher is not prepared");
    return self->parts[KNOWN] != nullptr;
}

// Watch a call that stands in a frame.
PyObject *watched(CallWatcher *self, Call *call, bool taped) {
    if (call->kwargs != nullptr && PyDict_Size(call->kwargs) == 0) call->kwargs = nullptr;
    if (!taped) return watch(self, call).release();
    const Ref kwargs = keywords_of(*call);
    if (!kwargs) return nullptr;
    return method(self, call->watcher, TAPED, call->func, call->name, call->handler, call->frame.get(),
                  call->carry_out, call->args, kwargs.get()).release();
}

template <bool IS_TAPED>
PyObject *watcher_watch(PyObject *object, PyObject *args, PyObject *kwargs) {
    constexpr Py_ssize_t OWN = 5;
    CallWatcher *self = watcher_of(object);
    if (!is_prepared(self)) return nullptr;
    if (PyTuple_Size(args) < OWN) return PyErr_Format(PyExc_TypeError, "watch takes 5 arguments, and the call's");
    const Ref given(PyTuple_GetSlice(args, OWN, PyTuple_Size(args)));
    if (!given) return nullptr;
    PyObject *func = PyTuple_GetItem(args, 0), *name = PyTuple_GetItem(args, 1), *handler = PyTuple_GetItem(args, 2);
    Call call{object, func, name, handler, nullptr, PyTuple_GetItem(args, 4), given.get(), kwargs,
              Ref::to(PyTuple_GetItem(args, 3))};
    return watched(self, &call, IS_TAPED && self->is_taped);
}

// What PyTorch tells of a call: the function, the types of its operands, and its arguments.
PyObject *torch_function(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    CallWatcher *self = watcher_of(object);
    if (!is_prepared(self)) return nullptr;
    if (count < 2 || count > 4 || (count > 2 && !PyTuple_Check(args[2])))
        return PyErr_Format(PyExc_TypeError, "__torch_function__ takes a function, types, a tuple and keywords");
    const Ref none(PyTuple_New(0));
    PyObject *kwargs = count > 3 && args[3] != Py_None ? args[3] : nullptr;
    Ref found(Py_XNewRef(PyDict_GetItemWithError(self->parts[HANDLERS], args[0])));
    if (!found && !PyErr_Occurred()) found = method(self, object, HANDLER_OF, args[0]);
    if (!none || !found) return nullptr;
    PyObject *name, *handler, *own;
    if (!PyArg_ParseTuple(found.get(), "OOO", &name, &handler, &own)) return nullptr;
    auto *frame = reinterpret_cast<PyObject *>(PyEval_GetFrame());
    Call call{object, args[0], name, handler, own, args[0], count > 2 ? args[2] : none.get(), kwargs,
              Ref::to(frame != nullptr ? frame : Py_None)};
    if (handler == Py_None) return carry_out(self, call, true).release();
    return watched(self, &call, self->is_taped);
}

// Keep what is known of a call, a Known; if it hangs on the side on which a number stands, for that.
PyObject *watcher_keep(PyObject *object, PyObject *args) {
    CallWatcher *self = watcher_of(object);
    PyObject *given, *known, *side = nullptr;
    if (!is_prepared(self) || !PyArg_ParseTuple(args, "O!O|O", call_key_type, &given, &known, &side)) return nullptr;
    KnownCalls *calls = calls_of(self->parts[KNOWN]);
    const Key &whole = *reinterpret_cast<CallKey *>(given)->key;
    const SharedTold told = read_known(calls, known);
    if (told == nullptr) return nullptr;
    Key key(LONGEST);
    key.add_all(whole);
    if (side != nullptr) {
        put(calls, &key, read_known(calls, Py_None));
        key.shorten(0);
        key.add_all(whole);
        if (!key.add(side)) Py_RETURN_NONE;
    }
    put(calls, &key, told);
    Py_RETURN_NONE;
}

// Count a call that is like another, if it made the same; else answer False.
PyObject *watcher_again(PyObject *object, PyObject *args) {
    PyObject *known, *result;
    if (!is_prepared(watcher_of(object)) || !PyArg_ParseTuple(args, "OO", &known, &result)) return nullptr;
    const KnownCalls *calls = calls_of(watcher_of(object)->parts[KNOWN]);
    const SharedTold told = read_known(calls, known);
    if (told == nullptr) return nullptr;
    told->is_forgotten = true;  // it is in no table
    const bool is_alike = count_again(watcher_of(object), told.get(), result);
    if (!is_alike && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
    PyErr_Clear();
    return PyBool_FromLong(is_alike);
}

int watcher_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : watcher_of(object)->parts) Py_VISIT(part);
    return 0;
}

int watcher_clear(PyObject *object) {
    for (PyObject *&part : watcher_of(object)->parts) Py_CLEAR(part);
    return 0;
}

int watcher_release(PyObject *object) {
    watcher_clear(object);
    for (PyObject *&name : watcher_of(object)->names) Py_CLEAR(name);
    return 0;
}

template <typename Function>
constexpr PyCFunction as_method(Function function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef watcher_methods[] = {
    {"prepare", watcher_prepare, METH_VARARGS, "Take what it is made of."},
    {"watch", as_method(watcher_watch<true>), METH_VARARGS | METH_KEYWORDS,
     "Carry out a call of a function, and record what it was."},
    {"_watch", as_method(watcher_watch<false>), METH_VARARGS | METH_KEYWORDS, "The same of one that is kept."},
    {"__torch_function__", as_method(torch_function), METH_FASTCALL, "Carry out a call that PyTorch tells of."},
    {"keep", watcher_keep, METH_VARARGS, "Keep what is known of a call."},
    {"again", watcher_again, METH_VARARGS, "Count a call that is like another, if it made the same."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot watcher_slots[] = {
    {Py_tp_doc, const_cast<char *>("Carries out calls, and counts those that are like others.")},
    {Py_tp_new, reinterpret_cast<void *>(watcher_new)},
    {Py_tp_methods, watcher_methods},
    {Py_tp_traverse, reinterpret_cast<void *>(watcher_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(watcher_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<watcher_release>)},
    {0, nullptr}};

}  // namespace

PyType_Spec call_key_spec = {"promoarray.diagnostics.record._seen.CallKey", sizeof(CallKey), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                             key_slots};
PyType_Spec call_watcher_spec = {"promoarray.diagnostics.record._seen.CallWatcher", sizeof(CallWatcher), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE, watcher_slots};

}  // namespace promoarray
