#include "dtype_map.h"

#include <algorithm>
#include <deque>
#include <new>
#include <utility>
#include <vector>

#include "flat_map.h"
#include "guard.h"

namespace promoarray {
namespace {

// Objects without weak references are kept alive. Of more than so many those are let go that nobody
// else refers to, and beyond the second number the oldest.
constexpr std::size_t MANY = 64, MOST = 1 << 18;
constexpr int LOOKS = 8;  // at so many objects in turn, whether anybody else refers to them
constexpr std::size_t MOST_CLASSES = 32;  // without weak references are known

struct Entry {
    Ref held, slot;  // a weak reference to the array, or else the array
    unsigned long long turn = 0;  // of what is kept alive
};

struct Turn {
    PyObject *array;
    unsigned long long number;
};

struct Tables {
    FlatMap<PyObject *, Entry> entries;       // by the array's address
    FlatMap<PyObject *, PyObject *> by_weak;  // from a weak reference to that address
    std::deque<Turn> turns;                   // of what is kept alive, the oldest first, and was
    std::size_t alive = 0;
    unsigned long long turn = 0;              // the last that was given
    std::vector<PyTypeObject *> strong;       // classes that have no weak references; they are held
    Lock lock;
};

struct Carried {
    PyObject_HEAD
    PyObject *dtype_class, *dtype_name, *died;
    Tables *tables;
};

Carried *carried_of(PyObject *object) { return reinterpret_cast<Carried *>(object); }

// Take an entry out; the caller lets go of it once no lock is held.
Entry taken(Tables &tables, PyObject *array) {
    Entry entry = tables.entries.take(array);
    if (entry.turn != 0) --tables.alive;
    else if (entry.held) tables.by_weak.take(entry.held.get());
    return entry;
}

void put_weakly(Tables &tables, PyObject *array, Entry &&entry) {
    tables.by_weak[entry.held.get()] = array;
    tables.entries[array] = std::move(entry);
}

// What is kept alive longest, whose turn is then the first.
PyObject *oldest(Tables &tables) {
    for (;; tables.turns.pop_front()) {
        const Turn &first = tables.turns.front();
        const Entry *entry = tables.entries.find(first.array);
        if (entry != nullptr && entry->turn == first.number) return first.array;
    }
}

// Keep what has no weak references alive, and return what is let go for it.
Entry put_alive(Tables &tables, PyObject *array, Entry &&entry) {
    entry.held = Ref::to(array);
    entry.turn = ++tables.turn;
    tables.turns.push_back({array, entry.turn});
    tables.entries[array] = std::move(entry);
    ++tables.alive;
    for (int look = 0; tables.turns.size() > MANY && look < LOOKS; ++look) {
        PyObject *first = oldest(tables);
        if (Py_REFCNT(first) == 1) return taken(tables, first);
        tables.turns.push_back(tables.turns.front());
        tables.turns.pop_front();
    }
    return tables.alive > MOST ? taken(tables, oldest(tables)) : Entry{};
}

// Whether a class is known to have no weak references: asking costs an error with its text.
bool is_strong(Tables &tables, PyTypeObject *type) {
    const Guard guard(tables.lock);
    return std::find(tables.strong.begin(), tables.strong.end(), type) != tables.strong.end();
}

void note_strong(Tables &tables, PyTypeObject *type) {
    const Guard guard(tables.lock);
    if (tables.strong.size() >= MOST_CLASSES) return;
    tables.strong.push_back(type);
    Py_INCREF(reinterpret_cast<PyObject *>(type));
}

// Called with a weak reference whose array is dead.
PyObject *forget_dead(PyObject *object, PyObject *weak) {
    Tables &tables = *carried_of(object)->tables;
    Entry entry;
    {
        const Guard guard(tables.lock);
        if (PyObject *const *array = tables.by_weak.find(weak)) entry = taken(tables, *array);
    }
    Py_RETURN_NONE;
}

PyMethodDef forgetting = {"forget_dead", forget_dead, METH_O, nullptr};

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
    self->died = PyCFunction_New(&forgetting, made.get());
    return self->died != nullptr ? made.release() : nullptr;
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
    if (!PyArg_ParseTuple(args, "OO", &array, &slot) || !put_slot(self, array, slot)) return nullptr;
    Py_RETURN_NONE;
}

int carried_contains(PyObject *self, PyObject *array) { return static_cast<bool>(slot_of(self, array)); }

Py_ssize_t carried_length(PyObject *self) {
    return static_cast<Py_ssize_t>(carried_of(self)->tables->entries.size());
}

int carried_traverse(PyObject *object, visitproc visit, void *arg) {
    Carried *self = carried_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->dtype_class);
    Py_VISIT(self->died);
    if (self->tables == nullptr) return 0;
    for (const auto &each : self->tables->entries.slots()) {
        Py_VISIT(each.value.held.get());
        Py_VISIT(each.value.slot.get());
    }
    return 0;
}

int carried_clear(PyObject *object) {
    Carried *self = carried_of(object);
    if (self->tables != nullptr) {
        FlatMap<PyObject *, Entry> old;  // let go of when the tables are empty
        old.swap(self->tables->entries);
        self->tables->by_weak = {};
        self->tables->turns.clear();
        self->tables->alive = 0;
    }
    Py_CLEAR(self->died);
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
    const Entry *found = tables.entries.find(array);
    return Ref(found == nullptr ? nullptr : Py_NewRef(found->slot.get()));
}

bool put_slot(PyObject *carried, PyObject *array, PyObject *slot) {
    Carried *self = carried_of(carried);
    Tables &tables = *self->tables;
    Entry entry, old, let_go;
    const Ref before = slot_of(carried, array);
    const bool differs = slot != Py_None && !PyObject_TypeCheck(
        slot, reinterpret_cast<PyTypeObject *>(self->dtype_class));
    if (differs) {
        if (before.get() == slot) return true;
        entry.slot = Ref::to(slot);
        if (!is_strong(tables, Py_TYPE(array))) entry.held = Ref(PyWeakref_NewRef(array, self->died));
        if (!entry.held && PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
            PyErr_Clear();
            note_strong(tables, Py_TYPE(array));
        }
    }
    const Guard guard(tables.lock);
    if (before) old = taken(tables, array);
    if (entry.held) put_weakly(tables, array, std::move(entry));
    else if (differs) let_go = put_alive(tables, array, std::move(entry));
    return true;
}

PyType_Spec carried_spec = {"promoarray.diagnostics.record._seen.Carried", sizeof(Carried), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            carried_slots};

}  // namespace promoarray
