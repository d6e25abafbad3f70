#include "known_calls.h"

#include <cstdint>
#include <new>
#include <unordered_map>
#include <utility>

namespace promoarray {
namespace {

struct CallEntry {
    std::vector<std::uintptr_t> key;
    SharedTold told;
};

}  // namespace

struct Calls {
    std::unordered_multimap<std::size_t, CallEntry> entries;  // by the hash of their key
    std::unordered_map<PyObject *, long> sorts;           // of code, which is held
    std::vector<std::pair<Ref, long long>> left;          // how often calls were met again that were replaced
};

PyTypeObject *known_calls_type;

namespace {

enum Field { MADE, TELLS, WITHIN, CHECKED, PASSES, SCREEN, FIELDS };  // of a Known (watcher.py)

// Forget all; what was held is let go of once no lock is held.
void forget(KnownCalls *self) {
    Calls old;
    {
        const Guard guard(*self->lock);
        std::swap(old, *self->calls);
        std::swap(old.left, self->calls->left);
        for (auto &each : old.entries) {
            each.second.told->is_forgotten = true;
            if (const long long times = each.second.told->again.exchange(0))
                self->calls->left.emplace_back(Ref::to(each.second.told->known.get()), times);
        }
    }
    for (auto &each : old.entries) Key::let_go(each.second.key.data(), each.second.key.size());
    for (const auto &each : old.sorts) Py_DECREF(each.first);
    PyDict_Clear(self->same);
}

}  // namespace

SharedTold find(const KnownCalls *self, const Key &key) {
    const Guard guard(*self->lock);
    const auto alike = self->calls->entries.equal_range(key.hash());
    for (auto at = alike.first; at != alike.second; ++at)
        if (key.is_like(at->second.key)) return at->second.told;
    return nullptr;
}

Ref same_as(const KnownCalls *self, PyObject *x) {
    PyObject *found = PyDict_GetItemWithError(self->same, x);
    if (found != nullptr) return Ref::to(found);
    if (PyErr_Occurred()) return Ref(nullptr);
    if (PyDict_Size(self->same) >= static_cast<Py_ssize_t>(MOST_CALLS)) PyDict_Clear(self->same);
    return PyDict_SetItem(self->same, x, x) == 0 ? Ref::to(x) : Ref(nullptr);
}

SharedTold read_known(const KnownCalls *self, PyObject *known) {
    auto told = std::make_shared<ToldCall>();
    told->known = Ref::to(known);
    if (known == Py_None) return told;
    if (!PyTuple_Check(known) || PyTuple_Size(known) < FIELDS || !PyTuple_Check(PyTuple_GetItem(known, MADE))) {
        PyErr_SetString(PyExc_TypeError, "what is kept of a call is a Known");
        return nullptr;
    }
    PyObject *made = PyTuple_GetItem(known, MADE);
    for (Py_ssize_t i = 0; i < PyTuple_Size(made); ++i) {
        PyObject *kind, *slot;
        if (!PyArg_ParseTuple(PyTuple_GetItem(made, i), "OO", &kind, &slot)) return nullptr;
        Ref same = same_as(self, kind);
        if (!same) return nullptr;
        told->made.push_back({std::move(same), Ref::to(slot)});
    }
    told->checked = PyTuple_GetItem(known, CHECKED) == Py_True;
    told->passes = Ref::to(PyTuple_GetItem(known, PASSES));
    told->screen = Ref::to(PyTuple_GetItem(known, SCREEN));
    if (told->passes.get() != Py_None && !PyList_Check(told->passes.get())) {
        PyErr_SetString(PyExc_TypeError, "passes are counted in a list");
        return nullptr;
    }
    return told;
}

void put(KnownCalls *self, Key *key, SharedTold told) {
    if (self->calls->entries.size() >= MOST_CALLS) forget(self);
    const std::size_t hash = key->hash();
    const Guard guard(*self->lock);
    const auto alike = self->calls->entries.equal_range(hash);
    for (auto at = alike.first; at != alike.second; ++at) {
        if (!key->is_like(at->second.key)) continue;
        at->second.told.swap(told);
        told->is_forgotten = true;
        if (const long long times = told->again.exchange(0))
            self->calls->left.emplace_back(Ref::to(told->known.get()), times);
        return;
    }
    self->calls->entries.emplace(hash, CallEntry{key->release(), std::move(told)});
}

long kept_sort(KnownCalls *self, PyObject *code) {
    const Guard guard(*self->lock);
    const auto found = self->calls->sorts.find(code);
    return found != self->calls->sorts.end() ? found->second : -1;
}

void keep_sort(KnownCalls *self, PyObject *code, long sort) {
    const Guard guard(*self->lock);
    if (self->calls->sorts.size() < MOST_CALLS && self->calls->sorts.emplace(code, sort).second) Py_INCREF(code);
}

namespace {

PyObject *calls_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *scalar_class, *floats, *ints;
    if (!PyArg_ParseTuple(args, "OO!O!", &scalar_class, &PyList_Type, &floats, &PyList_Type, &ints)) return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    KnownCalls *self = calls_of(made.get());
    self->calls = new (std::nothrow) Calls;
    self->borders = new (std::nothrow) Borders;
    self->lock = new (std::nothrow) Lock;
    self->scalar_class = Py_NewRef(scalar_class);
    self->same = PyDict_New();
    if (self->calls == nullptr || self->borders == nullptr || self->lock == nullptr) return PyErr_NoMemory();
    return self->same != nullptr && self->borders->read(floats, ints) ? made.release() : nullptr;
}

// How often calls were met again since this was asked last, each with what was known of it.
PyObject *calls_taken(PyObject *object, PyObject *) {
    KnownCalls *self = calls_of(object);
    std::vector<std::pair<Ref, long long>> counted;
    {
        const Guard guard(*self->lock);
        counted.swap(self->calls->left);
        for (auto &each : self->calls->entries)
            if (const long long times = each.second.told->again.exchange(0))
                counted.emplace_back(Ref::to(each.second.told->known.get()), times);
    }
    Ref list(PyList_New(static_cast<Py_ssize_t>(counted.size())));
    for (std::size_t i = 0; list && i < counted.size(); ++i) {
        PyObject *pair = Py_BuildValue("(OL)", counted[i].first.get(), counted[i].second);
        if (pair == nullptr) return nullptr;
        PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), pair);
    }
    return list.release();
}

PyObject *calls_forget(PyObject *object, PyObject *) {
    forget(calls_of(object));
    Py_RETURN_NONE;
}

int calls_traverse(PyObject *object, visitproc visit, void *arg) {
    KnownCalls *self = calls_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->same);
    Py_VISIT(self->scalar_class);
    if (self->calls == nullptr) return 0;
    for (const auto &each : self->calls->entries) {
        for (const std::uintptr_t word : each.second.key)
            if ((word & 1U) == 0) Py_VISIT(reinterpret_cast<PyObject *>(word));
        const ToldCall &told = *each.second.told;
        Py_VISIT(told.known.get());
        Py_VISIT(told.passes.get());
        Py_VISIT(told.screen.get());
        for (const ToldCall::Made &made : told.made) {
            Py_VISIT(made.kind.get());
            Py_VISIT(made.slot.get());
        }
    }
    for (const auto &each : self->calls->sorts) Py_VISIT(each.first);
    for (const auto &each : self->calls->left) Py_VISIT(each.first.get());
    return 0;
}

int calls_clear(PyObject *object) {
    KnownCalls *self = calls_of(object);
    if (self->calls != nullptr && self->same != nullptr && self->lock != nullptr) forget(self);
    if (self->calls != nullptr) {
        std::vector<std::pair<Ref, long long>> left;
        left.swap(self->calls->left);
    }
    return 0;
}

int calls_release(PyObject *object) {
    calls_clear(object);
    KnownCalls *self = calls_of(object);
    delete self->calls;
    delete self->borders;
    delete self->lock;
    self->calls = nullptr;
    Py_CLEAR(self->same);
    Py_CLEAR(self->scalar_class);
    return 0;
}

PyMethodDef calls_methods[] = {
    {"taken", calls_taken, METH_NOARGS, "How often calls were met again since this was asked, by what is known of them."},
    {"forget", calls_forget, METH_NOARGS, "Forget what is known of calls, but for how often they were met."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef calls_members[] = {
    {"by_value", Py_T_BOOL, offsetof(KnownCalls, by_value), 0, "Whether some policy looks at the values of 0-d arrays."},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot calls_slots[] = {{Py_tp_doc, const_cast<char *>("What is known of calls, by all that it hangs on.")},
                             {Py_tp_new, reinterpret_cast<void *>(calls_new)},
                             {Py_tp_methods, calls_methods},
                             {Py_tp_members, calls_members},
                             {Py_tp_traverse, reinterpret_cast<void *>(calls_traverse)},
                             {Py_tp_clear, reinterpret_cast<void *>(calls_clear)},
                             {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<calls_release>)},
                             {0, nullptr}};

}  // namespace

PyType_Spec known_calls_spec = {"promoarray.diagnostics.record._seen.KnownCalls", sizeof(KnownCalls), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE, calls_slots};

}  // namespace promoarray
