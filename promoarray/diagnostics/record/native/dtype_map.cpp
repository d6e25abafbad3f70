#include "dtype_map.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
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

// What is held of one array: a weak reference to it, or itself where its class has none.
struct Entry {
    PyObject *array;  // null once something else is carried
    Ref held, slot;
    bool is_weak;
};

// Beyond so many entries those are let go of whose arrays are dead, or held by nobody else; if that
// is not half of them, the next time is later; and of more than the second number the older half goes.
constexpr std::size_t FEW = 64, MOST = 1 << 18;

struct Tables {
    std::vector<Entry> entries;         // the oldest first
    std::vector<std::uint32_t> places;  // where an array's entry is, plus one, at its hash or behind
    std::size_t limit = 0;
    std::vector<PyTypeObject *> strong;  // classes without weak references; they are held
    Lock lock;
};

// The first place from an array's hash on of which `is_it` says so of the number there.
template <typename IsIt>
std::size_t place_of(const Tables &tables, const PyObject *array, const IsIt &is_it) {
    const std::size_t mask = tables.places.size() - 1;  // a power of two, half of them free
    std::size_t at = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(array) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (!is_it(tables.places[at])) at = (at + 1) & mask;
    return at;
}

void add(Tables &tables, Entry &&entry) {
    const std::size_t at = place_of(tables, entry.array, [](std::uint32_t number) { return number == 0; });
    tables.entries.push_back(std::move(entry));
    tables.places[at] = static_cast<std::uint32_t>(tables.entries.size());
}

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
    if (entry.array == nullptr) return false;
    return entry.is_weak ? !is_dead(entry.held.get()) : Py_REFCNT(entry.array) > 1;
}

// The entry of what is, or was, at an address; null if there is none.
Entry *find(Tables &tables, PyObject *array) {
    if (tables.entries.empty()) return nullptr;
    const std::size_t at = place_of(tables, array, [&](std::uint32_t number) {
        return number == 0 || tables.entries[number - 1].array == array;
    });
    return tables.places[at] == 0 ? nullptr : &tables.entries[tables.places[at] - 1];
}

// Let go of what nobody needs, and return it: the caller drops it once no lock is held.
std::vector<Entry> swept(Tables &tables) {
    std::vector<Entry> kept, gone;
    for (Entry &entry : tables.entries) (is_needed(entry) ? kept : gone).push_back(std::move(entry));
    if (kept.size() > MOST) {
        const auto newer = kept.end() - MOST / 2;
        std::move(kept.begin(), newer, std::back_inserter(gone));
        kept.erase(kept.begin(), newer);
    }
    tables.limit = 2 * kept.size() > FEW ? 2 * kept.size() : FEW;
    std::size_t size = 2 * FEW;
    while (size < 2 * tables.limit) size *= 2;
    tables.places.assign(size, 0);
    tables.entries.clear();
    for (Entry &entry : kept) add(tables, std::move(entry));
    return gone;
}

// A weak reference to an array, or itself. Which classes have none is known after the first: asking
// costs an error with its text. False with the error.
bool hold(Tables &tables, PyObject *array, Entry *entry) {
    PyTypeObject *type = Py_TYPE(array);
    bool is_strong = false;
    {
        const Guard guard(tables.lock);
        for (PyTypeObject *each : tables.strong) is_strong |= each == type;
    }
    if (!is_strong) {
        entry->held = Ref(PyWeakref_NewRef(array, nullptr));
        entry->is_weak = static_cast<bool>(entry->held);
        if (entry->is_weak) return true;
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear();
        const Guard guard(tables.lock);
        Py_INCREF(reinterpret_cast<PyObject *>(type));
        tables.strong.push_back(type);
    }
    entry->held = Ref::to(array);
    return true;
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
    for (const Entry &each : self->tables->entries) {
        Py_VISIT(each.held.get());
        Py_VISIT(each.slot.get());
    }
    return 0;
}

int carried_clear(PyObject *object) {
    Carried *self = carried_of(object);
    if (self->tables == nullptr) return 0;
    std::vector<Entry> old;  // let go of when the table is empty
    old.swap(self->tables->entries);
    self->tables->limit = 0;
    return 0;
}

int carried_release(PyObject *object) {
    carried_clear(object);
    Carried *self = carried_of(object);
    if (self->tables != nullptr)
        for (PyTypeObject *type : self->tables->strong) Py_DECREF(reinterpret_cast<PyObject *>(type));
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

Ref slot_of(PyObject *carried, PyObject *array) {
    Tables &tables = *carried_of(carried)->tables;
    const Guard guard(tables.lock);
    const Entry *found = find(tables, array);
    const bool is_it = found != nullptr && !(found->is_weak && is_dead(found->held.get()));
    return Ref(is_it ? Py_NewRef(found->slot.get()) : nullptr);
}

bool put_slot(PyObject *carried, PyObject *array, PyObject *slot) {
    Tables &tables = *carried_of(carried)->tables;
    const bool differs = slot != Py_None;
    Entry entry{array, Ref(nullptr), Ref(nullptr), false};
    Entry gone_one{nullptr, Ref(nullptr), Ref(nullptr), false};
    std::vector<Entry> gone;
    if (differs) entry.slot = Ref::to(slot);
    {
        const Guard guard(tables.lock);
        Entry *before = find(tables, array);
        if (before != nullptr && differs && !(before->is_weak && is_dead(before->held.get()))) {
            std::swap(before->slot, entry.slot);
            return true;
        }
        if (before != nullptr) std::swap(*before, gone_one);
    }
    if (!differs) return true;
    if (!hold(tables, array, &entry)) return false;
    const Guard guard(tables.lock);
    if (tables.entries.size() >= tables.limit) gone = swept(tables);
    add(tables, std::move(entry));
    return true;
}

PyType_Spec carried_spec = {"promoarray.diagnostics.record._seen.Carried", sizeof(Carried), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            carried_slots};

}  // namespace promoarray
