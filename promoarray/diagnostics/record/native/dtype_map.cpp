#include "dtype_map.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#ifdef Py_GIL_DISABLED
#include <mutex>
#endif

namespace promoarray {
namespace {

// Without a GIL two threads may look here at once. No code of Python's runs while the lock is held:
// references are let go of afterwards.
#ifdef Py_GIL_DISABLED
using Lock = std::mutex;
using Guard = std::lock_guard<std::mutex>;
#else
struct Lock {};
struct Guard {
    explicit Guard(Lock &) {}
    ~Guard() {}
};
#endif

// What is held of one array: a weak reference to it, or itself where its class has none, as NumPy's
// numbers.
struct Entry {
    Ref held, slot;
    bool is_weak = false;
};

// With so many entries those are let go of whose arrays are dead, or held by nobody else; if that is
// not half of them, the next time is later.
constexpr std::size_t FEW = 256;

struct Tables {
    std::unordered_map<PyObject *, Entry> entries;
    std::size_t limit = FEW;
    std::vector<PyTypeObject *> without;  // classes without weak references; they are held
    Lock lock;
};

struct Carried {
    PyObject_HEAD
    PyObject *dtype_class, *dtype_name;
    Tables *tables;
};

Carried *carried_of(PyObject *object) { return reinterpret_cast<Carried *>(object); }

bool is_dead(PyObject *weak) {
#if PY_VERSION_HEX >= 0x030D0000 && !defined(Py_LIMITED_API)
    PyObject *found = nullptr;
    PyWeakref_GetRef(weak, &found);
    Py_XDECREF(found);
    return found == nullptr;
#else  // what 3.13 has instead is not in the limited API of 3.12
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    return PyWeakref_GetObject(weak) == Py_None;
#endif
}

bool is_needed(const Entry &entry) {
    return entry.slot && (entry.is_weak ? !is_dead(entry.held.get()) : Py_REFCNT(entry.held.get()) > 1);
}

// Let go of what nobody needs, and return it: the caller drops it once no lock is held.
std::vector<Entry> swept(Tables &tables) {
    std::vector<Entry> gone;
    for (auto at = tables.entries.begin(); at != tables.entries.end();) {
        const bool stays = is_needed(at->second);
        if (!stays) gone.push_back(std::move(at->second));
        at = stays ? std::next(at) : tables.entries.erase(at);
    }
    tables.limit = std::max(FEW, 2 * tables.entries.size());
    return gone;
}

bool has_no_weak(const Tables &tables, PyObject *array) {
    return std::find(tables.without.begin(), tables.without.end(), Py_TYPE(array)) != tables.without.end();
}

// Where it is put down what an array carries; null if nowhere.
Entry *find(Tables &tables, PyObject *array) {
    const auto at = tables.entries.find(array);
    const bool is_there = at != tables.entries.end() && !(at->second.is_weak && is_dead(at->second.held.get()));
    return is_there ? &at->second : nullptr;
}

PyObject *found(Tables &tables, PyObject *array) {
    const Entry *entry = find(tables, array);
    return entry != nullptr ? entry->slot.get() : nullptr;
}

PyObject *carried_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *dtype_class;
    if (!PyArg_ParseTuple(args, "O!", &PyType_Type, &dtype_class)) return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    Carried *self = carried_of(made.get());
    self->tables = new (std::nothrow) Tables;
    if (self->tables == nullptr) return PyErr_NoMemory();
    self->dtype_class = Py_NewRef(dtype_class);
    self->dtype_name = PyUnicode_InternFromString("dtype");
    return self->dtype_name != nullptr ? made.release() : nullptr;
}

PyObject *carried_slot(PyObject *self, PyObject *array) {
    Ref slot = slot_of(self, array);
    return slot ? slot.release() : Py_NewRef(Py_None);
}

PyObject *carried_get(PyObject *self, PyObject *args) {
    PyObject *array, *dtype;
    if (!PyArg_ParseTuple(args, "OO", &array, &dtype)) return nullptr;
    const Ref slot = slot_of(self, array);
    if (!slot) return Py_NewRef(dtype);
    const Ref of_slot(PyObject_GetAttr(slot.get(), carried_of(self)->dtype_name));
    if (!of_slot) return nullptr;
    return Py_NewRef(of_slot.get() == dtype ? slot.get() : dtype);
}

PyObject *carried_put(PyObject *self, PyObject *args) {
    PyObject *array, *slot;
    if (!PyArg_ParseTuple(args, "OO", &array, &slot)) return nullptr;
    auto *dtypes = reinterpret_cast<PyTypeObject *>(carried_of(self)->dtype_class);
    if (!put_slot(self, array, PyObject_TypeCheck(slot, dtypes) ? Py_None : slot)) return nullptr;
    Py_RETURN_NONE;
}

int carried_contains(PyObject *self, PyObject *array) { return static_cast<bool>(slot_of(self, array)); }

Py_ssize_t carried_length(PyObject *self) {
    Tables &tables = *carried_of(self)->tables;
    std::vector<Entry> gone;
    const Guard guard(tables.lock);
    gone = swept(tables);
    return static_cast<Py_ssize_t>(tables.entries.size());
}

int carried_traverse(PyObject *object, visitproc visit, void *arg) {
    Carried *self = carried_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dtype_class);
    if (self->tables == nullptr) return 0;
    for (const auto &each : self->tables->entries) {
        Py_VISIT(each.second.held.get());
        Py_VISIT(each.second.slot.get());
    }
    return 0;
}

int carried_clear(PyObject *object) {
    Carried *self = carried_of(object);
    if (self->tables == nullptr) return 0;
    std::unordered_map<PyObject *, Entry> entries;  // let go of when the table is empty
    entries.swap(self->tables->entries);
    return 0;
}

int carried_release(PyObject *object) {
    carried_clear(object);
    Carried *self = carried_of(object);
    if (self->tables != nullptr)
        for (PyTypeObject *type : self->tables->without) Py_DECREF(reinterpret_cast<PyObject *>(type));
    delete self->tables;
    self->tables = nullptr;
    Py_CLEAR(self->dtype_class);
    Py_CLEAR(self->dtype_name);
    return 0;
}

PyMethodDef carried_methods[] = {
    {"get", carried_get, METH_VARARGS,
     "What an array of a dtype carries; the dtype itself where all policies agree on it."},
    {"slot", carried_slot, METH_O, "What an array carries; None if all policies agree on it."},
    {"put", carried_put, METH_VARARGS,
     "Note what an array carries from now on; a dtype, or None, where all policies agree."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot carried_slots[] = {
    {Py_tp_doc, const_cast<char *>("From arrays of another framework to what a type slot would bear.")},
    {Py_tp_new, reinterpret_cast<void *>(carried_new)},
    {Py_tp_methods, carried_methods},
    {Py_sq_contains, reinterpret_cast<void *>(carried_contains)},
    {Py_sq_length, reinterpret_cast<void *>(carried_length)},
    {Py_tp_traverse, reinterpret_cast<void *>(carried_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(carried_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<carried_release>)},
    {0, nullptr}};

}  // namespace

bool is_carried(PyObject *object) {
    return PyType_GetSlot(Py_TYPE(object), Py_tp_new) == reinterpret_cast<void *>(carried_new);
}

// None stands there once another thread has ended the recording.
PyObject *peek_slot(PyObject *carried, PyObject *array) {
    return carried != Py_None ? found(*carried_of(carried)->tables, array) : nullptr;
}

Ref slot_of(PyObject *carried, PyObject *array) {
    if (carried == Py_None) return Ref(nullptr);
    Tables &tables = *carried_of(carried)->tables;
    const Guard guard(tables.lock);
    return Ref(Py_XNewRef(found(tables, array)));
}

bool put_slot(PyObject *carried, PyObject *array, PyObject *given) {
    if (carried == Py_None) return true;
    Tables &tables = *carried_of(carried)->tables;
    Entry made;  // in the end what was there before; let go of once no lock is held, as these are
    std::vector<Entry> gone;
    made.slot = given != Py_None ? Ref::to(given) : Ref(nullptr);
    {
        const Guard guard(tables.lock);
        Entry *before = find(tables, array);
        if (before != nullptr && given != Py_None) std::swap(before->slot, made.slot);
        if (before != nullptr && given == Py_None) {  // its weak reference, too: it stops `x.resize`
            made = std::move(*before);
            tables.entries.erase(array);
        }
        if (before != nullptr || given == Py_None) return true;
        made.is_weak = !has_no_weak(tables, array);
    }
    const bool is_asked = made.is_weak;
    if (made.is_weak) made.held = Ref(PyWeakref_NewRef(array, nullptr));
    if (!made.held) {  // its class has none: asking again would cost an error with its text
        if (is_asked && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear();
        made.held = Ref::to(array);
        made.is_weak = false;
    }
    const Guard guard(tables.lock);
    if (is_asked && !made.is_weak) {
        Py_INCREF(reinterpret_cast<PyObject *>(Py_TYPE(array)));
        tables.without.push_back(Py_TYPE(array));
    }
    if (tables.entries.size() >= tables.limit) gone = swept(tables);
    std::swap(tables.entries[array], made);
    return true;
}

PyType_Spec carried_spec = {"promoarray.diagnostics.record._seen.Carried", sizeof(Carried), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            carried_slots};

}  // namespace promoarray
