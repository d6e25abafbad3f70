#include "dtype_map.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace promoarray {
namespace {

// What is held of one array: a weak reference to it, or itself where its class has none.
struct Entry {
    Ref held, slot;
};

// With so many entries those are let go of whose arrays are dead, or held by nobody else; if that is
// not half of them, the next time is later.
constexpr std::size_t FEW = 64;

struct Map {
    std::unordered_map<PyObject *, Entry> entries;
    std::size_t limit = FEW;
};

struct Tables {
    // What was noted last of objects without weak references, as NumPy's numbers are: each takes
    // the place of one before, which is held on only if the program still has it.
    Entry recent[256];
    // Those that left it last. Let go of at once, their memory would be that of the next, whose place
    // is the same: it would drive out the number that the program computes with.
    Entry leaving[16];
    unsigned left = 0;
    Map weak, strong;
    std::vector<PyTypeObject *> without;  // classes without weak references; they are held
    Lock lock;
};

Entry &recent_of(Tables &tables, const PyObject *array) {
    return tables.recent[reinterpret_cast<std::uintptr_t>(array) * 0x9E3779B97F4A7C15u >> 56];
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

// Let go of what nobody needs, and return it: the caller drops it once no lock is held.
template <typename IsNeeded>
std::vector<Entry> swept(Map &map, const IsNeeded &is_needed) {
    std::vector<Entry> gone;
    for (auto at = map.entries.begin(); at != map.entries.end();) {
        const bool stays = at->second.slot && is_needed(at->second.held.get());
        if (!stays) gone.push_back(std::move(at->second));
        at = stays ? std::next(at) : map.entries.erase(at);
    }
    map.limit = std::max(FEW, 2 * map.entries.size());
    return gone;
}

bool lives(PyObject *weak) { return !is_dead(weak); }
bool is_held(PyObject *array) { return Py_REFCNT(array) > 1; }

bool has_no_weak(const Tables &tables, PyObject *array) {
    return std::find(tables.without.begin(), tables.without.end(), Py_TYPE(array)) != tables.without.end();
}

// Where it is put down what an array carries; null if nowhere.
Entry *find(Tables &tables, PyObject *array) {
    Entry &recent = recent_of(tables, array);
    if (recent.held.get() == array) return &recent;
    const bool is_strong = has_no_weak(tables, array);
    auto &entries = (is_strong ? tables.strong : tables.weak).entries;
    if (entries.empty()) return nullptr;
    const auto at = entries.find(array);
    return at != entries.end() && (is_strong || lives(at->second.held.get())) ? &at->second : nullptr;
}

PyObject *found(Tables &tables, PyObject *array) {
    const Entry *entry = find(tables, array);
    return entry != nullptr ? entry->slot.get() : nullptr;
}

// Put down what an array carries, in the place of another entry. That and those that are returned
// the caller drops once no lock is held.
std::vector<Entry> added(Tables &tables, PyObject *array, Ref &&weak, Ref &&slot, Entry *before) {
    std::vector<Entry> gone;
    if (weak) {
        if (tables.weak.entries.size() >= tables.weak.limit) gone = swept(tables.weak, lives);
        *before = std::exchange(tables.weak.entries[array], {std::move(weak), std::move(slot)});
        return gone;
    }
    *before = std::exchange(recent_of(tables, array), {Ref::to(array), std::move(slot)});
    if (before->slot && is_held(before->held.get())) {
        if (tables.strong.entries.size() >= tables.strong.limit) gone = swept(tables.strong, is_held);
        PyObject *other = before->held.get();
        tables.strong.entries[other] = std::move(*before);
    } else {
        std::swap(*before, tables.leaving[tables.left++ % std::size(tables.leaving)]);
    }
    return gone;
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
    std::vector<Entry> weak, strong;
    const Guard guard(tables.lock);
    weak = swept(tables.weak, lives);
    strong = swept(tables.strong, is_held);
    auto count = static_cast<Py_ssize_t>(tables.weak.entries.size() + tables.strong.entries.size());
    for (const Entry &each : tables.recent) count += each.slot && is_held(each.held.get());
    return count;
}

int carried_traverse(PyObject *object, visitproc visit, void *arg) {
    Carried *self = carried_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dtype_class);
    if (self->tables == nullptr) return 0;
    const auto visited = [&](const Entry &entry) {
        Py_VISIT(entry.held.get());
        Py_VISIT(entry.slot.get());
        return 0;
    };
    for (const Entry &each : self->tables->recent)
        if (const int stop = visited(each)) return stop;
    for (const Entry &each : self->tables->leaving)
        if (const int stop = visited(each)) return stop;
    for (const Map *map : {&self->tables->weak, &self->tables->strong})
        for (const auto &each : map->entries)
            if (const int stop = visited(each.second)) return stop;
    return 0;
}

int carried_clear(PyObject *object) {
    Carried *self = carried_of(object);
    if (self->tables == nullptr) return 0;
    Map weak, strong;  // let go of when the tables are empty
    std::swap(weak, self->tables->weak);
    std::swap(strong, self->tables->strong);
    for (Entry &each : self->tables->recent) Entry(std::move(each));
    for (Entry &each : self->tables->leaving) Entry(std::move(each));
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
    Ref slot = given != Py_None ? Ref::to(given) : Ref(nullptr), weak;
    Entry last;  // which is let go of once no lock is held, as are these and the former slot
    std::vector<Entry> gone;
    bool is_strong;
    {
        const Guard guard(tables.lock);
        Entry *before = find(tables, array);
        if (before != nullptr && slot) std::swap(before->slot, slot);
        if (before != nullptr && given == Py_None) {  // its weak reference, too: it stops `x.resize`
            last = std::move(*before);
            for (Map *map : {&tables.weak, &tables.strong}) map->entries.erase(array);
        }
        if (before != nullptr || given == Py_None) return true;
        is_strong = has_no_weak(tables, array);
    }
    if (!is_strong) weak = Ref(PyWeakref_NewRef(array, nullptr));
    const bool is_new = !is_strong && !weak;  // that a class has none: asking costs an error with its text
    if (is_new && !PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    if (is_new) PyErr_Clear();
    const Guard guard(tables.lock);
    if (is_new) {
        Py_INCREF(reinterpret_cast<PyObject *>(Py_TYPE(array)));
        tables.without.push_back(Py_TYPE(array));
    }
    gone = added(tables, array, std::move(weak), std::move(slot), &last);
    return true;
}

PyType_Spec carried_spec = {"promoarray.diagnostics.record._seen.Carried", sizeof(Carried), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            carried_slots};

}  // namespace promoarray
