#include "dtype_map.h"

#include <list>
#include <new>
#include <unordered_map>
#include <utility>

#include "guard.h"

namespace promoarray {
namespace {

// Objects without weak references are kept alive. Of more than so many those are let go that nobody
// else refers to, and beyond the second number the oldest.
constexpr std::size_t MANY = 256, MOST = 1 << 18;
constexpr int LOOKS = 8;  // at so many objects in turn, whether anybody else refers to them

struct Entry {
    Ref held{nullptr}, slot{nullptr};  // a weak reference to the array, or else the array
    bool weak = false;
    std::list<PyObject *>::iterator turn{};  // of what is kept alive, when it is to be let go
};

struct Tables {
    std::unordered_map<PyObject *, Entry> entries;         // by the array's address
    std::unordered_map<PyObject *, PyObject *> by_weak;    // from a weak reference to that address
    std::list<PyObject *> alive;                           // the oldest first
    PyTypeObject *strong = nullptr;  // the class met last that has no weak references; it is held
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
    const auto found = tables.entries.find(array);
    if (found == tables.entries.end()) return {};
    Entry entry = std::move(found->second);
    tables.entries.erase(found);
    if (entry.weak) tables.by_weak.erase(entry.held.get());
    else tables.alive.erase(entry.turn);
    return entry;
}

void put_weakly(Tables &tables, PyObject *array, Entry &&entry) {
    entry.weak = true;
    tables.by_weak.emplace(entry.held.get(), array);
    tables.entries.emplace(array, std::move(entry));
}

// Keep what has no weak references alive, and return what is let go for it.
Entry put_alive(Tables &tables, PyObject *array, Entry &&entry) {
    entry.held = Ref::to(array);
    entry.turn = tables.alive.insert(tables.alive.end(), array);
    tables.entries.emplace(array, std::move(entry));
    for (int look = 0; tables.alive.size() > MANY && look < LOOKS; ++look) {
        if (Py_REFCNT(tables.alive.front()) == 1) return taken(tables, tables.alive.front());
        tables.alive.splice(tables.alive.end(), tables.alive, tables.alive.begin());
    }
    return tables.alive.size() > MOST ? taken(tables, tables.alive.front()) : Entry{};
}

// Called with a weak reference whose array is dead.
PyObject *forget_dead(PyObject *object, PyObject *weak) {
    Tables &tables = *carried_of(object)->tables;
    Entry entry;
    {
        const Guard guard(tables.lock);
        const auto found = tables.by_weak.find(weak);
        if (found != tables.by_weak.end()) entry = taken(tables, found->second);
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
    for (const auto &[array, entry] : self->tables->entries) {
        Py_VISIT(entry.held.get());
        Py_VISIT(entry.slot.get());
    }
    return 0;
}

int carried_clear(PyObject *object) {
    Carried *self = carried_of(object);
    if (self->tables != nullptr) {
        std::unordered_map<PyObject *, Entry> old;  // let go of when the tables are empty
        old.swap(self->tables->entries);
        self->tables->by_weak.clear();
        self->tables->alive.clear();
    }
    Py_CLEAR(self->died);
    return 0;
}

int carried_release(PyObject *object) {
    carried_clear(object);
    Carried *self = carried_of(object);
    if (self->tables != nullptr) Py_XDECREF(reinterpret_cast<PyObject *>(self->tables->strong));
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
    const auto found = tables.entries.find(array);
    return Ref(found == tables.entries.end() ? nullptr : Py_NewRef(found->second.slot.get()));
}

bool put_slot(PyObject *carried, PyObject *array, PyObject *slot) {
    Carried *self = carried_of(carried);
    Tables &tables = *self->tables;
    Entry entry, old, oldest;
    const bool differs = slot != Py_None && !PyObject_TypeCheck(
        slot, reinterpret_cast<PyTypeObject *>(self->dtype_class));
    if (differs) {
        entry.slot = Ref::to(slot);
        // Asking costs an error with its text, and of numbers there are many in a row.
        if (Py_TYPE(array) != tables.strong) entry.held = Ref(PyWeakref_NewRef(array, self->died));
        if (!entry.held && PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
            PyErr_Clear();
            const Ref before(reinterpret_cast<PyObject *>(tables.strong));
            tables.strong = reinterpret_cast<PyTypeObject *>(Py_NewRef(reinterpret_cast<PyObject *>(Py_TYPE(array))));
        }
    }
    const Guard guard(tables.lock);
    old = taken(tables, array);
    if (entry.held) put_weakly(tables, array, std::move(entry));
    else if (differs) oldest = put_alive(tables, array, std::move(entry));
    return true;
}

PyType_Spec carried_spec = {"promoarray.diagnostics.record._seen.Carried", sizeof(Carried), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                            carried_slots};

}  // namespace promoarray
