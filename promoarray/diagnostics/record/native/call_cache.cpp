#include "call_cache.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>

#include "dtype_map.h"
#include "numpy_array.h"

namespace promoarray {
namespace {

constexpr std::size_t MOST = 4096;    // so many calls are known
constexpr Py_ssize_t LONGEST = 16;    // a longer list is like no other
constexpr unsigned OFTEN = 1U << 12U;  // after so many calls the recorder is told that they go on
constexpr int DEEPEST = 3;            // and so is what holds lists of lists of lists of lists
constexpr int HIGHEST = 64;           // and what a library does so many calls below the program

enum Part { RECORDER, CARRIED, IS_LIBRARY, NDARRAY, GENERIC, NUMPY_DTYPE, MAGNITUDE, MOVE, PARTS };
enum Name { DTYPE, NDIM, ITEM, REPORT, CALLS, COUNT, HEARD_AGAIN, BACK, INSTRUCTION, FILE_NAME, NAMES };
constexpr const char *NAME_OF[NAMES] = {"dtype", "ndim", "item", "report", "calls", "count", "heard_again",
                                        "f_back", "f_lasti", "co_filename"};
// The fields of a Told (known.py), in their order.
enum Field { KIND_AND_NAME, OPERATIONS_OF, TELLS, MADE, FIELDS };

struct Made {
    Ref dtype, slot;
    Py_ssize_t ndim;
};

// What was told of a call.
struct Told {
    Ref counted{nullptr}, operations{nullptr}, tells{nullptr};
    std::vector<Made> made;
};

struct Hash {
    std::size_t operator()(const Key &key) const { return key.hash(); }
};

using Table = std::unordered_map<Key, std::shared_ptr<const Told>, Hash>;

// Code that was met, which is held, and whether it is a library's.
using Codes = std::unordered_map<PyObject *, std::pair<Ref, bool>>;

struct Alike {
    PyObject_HEAD
    PyObject *parts[PARTS], *names[NAMES];
    int by_value;  // whether values of 0-d arrays are looked at
    unsigned counted;
    Table *table;
    Codes *codes;
};

Alike *alike_of(PyObject *object) { return reinterpret_cast<Alike *>(object); }

PyTypeObject *type_in(const Alike *self, Part part) {
    return reinterpret_cast<PyTypeObject *>(self->parts[part]);
}

Ref attribute(const Alike *self, PyObject *x, Name name) {
    return Ref(PyObject_GetAttr(x, self->names[name]));
}

bool is_array(const Alike *self, PyObject *x) {
    return PyObject_TypeCheck(x, type_in(self, NDARRAY)) || PyObject_TypeCheck(x, type_in(self, GENERIC));
}

bool is_scalar(PyObject *x) {
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyComplex_CheckExact(x);
}

Ref dtype_of(const Alike *self, PyObject *array) {
    const ArrayFields *fields = fields_of(array);
    if (fields != nullptr) return Ref::to(reinterpret_cast<PyObject *>(fields->dtype));
    return attribute(self, array, DTYPE);
}

// How many axes an array has; -1 with the error.
Py_ssize_t axes_of(const Alike *self, PyObject *array) {
    if (const ArrayFields *fields = fields_of(array)) return fields->ndim;
    if (PyObject_TypeCheck(array, type_in(self, GENERIC))) return 0;
    const Ref ndim = attribute(self, array, NDIM);
    return ndim ? PyLong_AsSsize_t(ndim.get()) : -1;
}

bool add_scalar(const Alike *self, Key *key, PyObject *x) {
    Ref found = call(self->parts[MAGNITUDE], x);
    if (!found) return false;
    key->add(std::move(found));
    return true;
}

bool add_array(const Alike *self, Key *key, PyObject *array) {
    Ref dtype = dtype_of(self, array);
    const Py_ssize_t axes = dtype ? axes_of(self, array) : -1;
    if (axes < 0) return false;
    Ref slot = slot_of(self->parts[CARRIED], array);
    key->add(reinterpret_cast<PyObject *>(Py_TYPE(array)));
    key->add(std::move(dtype));
    key->add(slot ? slot.get() : Py_None);
    key->add(axes == 0 ? Py_True : Py_False);
    if (axes != 0 || !self->by_value) return true;
    const Ref value(PyObject_CallMethodObjArgs(array, self->names[ITEM], nullptr));
    return value && is_scalar(value.get()) && add_scalar(self, key, value.get());
}

bool add(const Alike *self, Key *key, PyObject *x, int deep);

bool add_list(const Alike *self, Key *key, PyObject *list, int deep) {
    const Py_ssize_t length = PySequence_Size(list);
    if (length > LONGEST || deep == DEEPEST) return false;
    key->add(reinterpret_cast<PyObject *>(Py_TYPE(list)));
    key->add(Ref(PyLong_FromSsize_t(length)));  // one of the small ints, of which there is one each
    for (Py_ssize_t i = 0; i < length; ++i) {
        const Ref x(PySequence_GetItem(list, i));
        if (!x || !add(self, key, x.get(), deep + 1)) return false;
    }
    return true;
}

bool add(const Alike *self, Key *key, PyObject *x, int deep) {
    if (is_scalar(x)) return add_scalar(self, key, x);
    if (is_array(self, x)) return add_array(self, key, x);
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return add_list(self, key, x, deep);
    const bool stands_for_itself = x == Py_None || PyUnicode_CheckExact(x) || PyType_Check(x) ||
                                   PyObject_TypeCheck(x, type_in(self, NUMPY_DTYPE));
    if (stands_for_itself) key->add(x);
    return stands_for_itself;
}

// --- What was made -------------------------------------------------------------------------------

// The arrays that a call made: one, or those in a tuple or list.
bool find_made(const Alike *self, PyObject *x, std::vector<Ref> *made) {
    const auto find = [&](PyObject *each) {
        if (is_array(self, each)) made->push_back(Ref::to(each));
    };
    if (!PyList_Check(x) && !PyTuple_Check(x)) {
        find(x);
        return true;
    }
    const Py_ssize_t length = PySequence_Size(x);
    for (Py_ssize_t i = 0; i < length; ++i) {
        const Ref each(PySequence_GetItem(x, i));
        if (!each) return false;
        find(each.get());
    }
    return length >= 0;
}

bool is_such(const Alike *self, PyObject *array, const Made &made) {
    const Ref dtype = dtype_of(self, array);
    return dtype && dtype.get() == made.dtype.get() && axes_of(self, array) == made.ndim;
}

bool carry(const Alike *self, const Told &told, PyObject *x) {
    std::vector<Ref> made;
    if (!find_made(self, x, &made) || made.size() != told.made.size()) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (!is_such(self, made[i].get(), told.made[i])) return false;
    for (std::size_t i = 0; i < made.size(); ++i) {
        PyObject *slot = told.made[i].slot.get();
        const Ref before = slot_of(self->parts[CARRIED], made[i].get());
        if ((before ? before.get() : Py_None) == slot) continue;
        if (!put_slot(self->parts[CARRIED], made[i].get(), slot)) return false;
    }
    return true;
}

// --- Counting ------------------------------------------------------------------------------------

bool count_call(const Alike *self, PyObject *report, PyObject *counted) {
    const Ref calls = attribute(self, report, CALLS);
    if (!calls || !PyDict_Check(calls.get())) return false;
    PyObject *before = PyDict_GetItemWithError(calls.get(), counted);
    if (before == nullptr && PyErr_Occurred()) return false;
    const long long count = before == nullptr ? 0 : PyLong_AsLongLong(before);
    const Ref after(PyLong_FromLongLong(count + 1));
    return after && PyDict_SetItem(calls.get(), counted, after.get()) == 0;
}

bool add_to(PyObject *object, PyObject *name, long long more) {
    const Ref before(PyObject_GetAttr(object, name));
    const long long count = before ? PyLong_AsLongLong(before.get()) : -1;
    if (count < 0) return false;
    const Ref after(PyLong_FromLongLong(count + more));
    return after && PyObject_SetAttr(object, name, after.get()) == 0;
}

// Count one more pass of each operation, and call what is to be called besides.
bool count_operations(const Alike *self, const Told &told) {
    const Py_ssize_t count = PyTuple_Size(told.operations.get());
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!add_to(PyTuple_GetItem(told.operations.get(), i), self->names[COUNT], 1)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(told.tells.get()); ++i) {
        const Ref done(PyObject_CallNoArgs(PyTuple_GetItem(told.tells.get(), i)));
        if (!done) return false;
    }
    return true;
}

// Whether code is a library's, of promoarray itself among them; -1 with the error.
int is_library(Alike *self, const Ref &code) {
    const auto found = self->codes->find(code.get());
    if (found != self->codes->end()) return found->second.second;
    const Ref file(PyObject_GetAttr(code.get(), self->names[FILE_NAME]));
    const Ref answer(file ? PyObject_CallOneArg(self->parts[IS_LIBRARY], file.get()) : nullptr);
    if (!answer) return -1;
    const bool is = answer.get() == Py_True;
    if (self->codes->size() < MOST) self->codes->emplace(code.get(), std::pair{Ref::to(code.get()), is});
    return is;
}

std::shared_ptr<const Told> read_known(PyObject *known) {
    PyObject *made = PyTuple_Size(known) == FIELDS ? PyTuple_GetItem(known, MADE) : nullptr;
    if (made == nullptr || !PyTuple_Check(made)) return nullptr;
    auto told = std::make_shared<Told>();
    told->counted = Ref::to(PyTuple_GetItem(known, KIND_AND_NAME));
    told->operations = Ref::to(PyTuple_GetItem(known, OPERATIONS_OF));
    told->tells = Ref::to(PyTuple_GetItem(known, TELLS));
    if (!PyTuple_Check(told->operations.get()) || !PyTuple_Check(told->tells.get())) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_Size(made); ++i) {
        PyObject *dtype, *slot;
        Py_ssize_t ndim;
        if (!PyArg_ParseTuple(PyTuple_GetItem(made, i), "(On)O", &dtype, &ndim, &slot)) return nullptr;
        told->made.push_back({Ref::to(dtype), Ref::to(slot), ndim});
    }
    return told;
}

// --- The type ------------------------------------------------------------------------------------

PyObject *alike_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"recorder", "carried", "is_library", "ndarray", "generic", "dtype",
                                  "scalar_class", "move", "by_value", nullptr};
    PyObject *given[PARTS];
    int by_value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "$OOOO!O!O!OUp", const_cast<char **>(names),
                                     &given[RECORDER], &given[CARRIED], &given[IS_LIBRARY], &PyType_Type, &given[NDARRAY],
                                     &PyType_Type, &given[GENERIC], &PyType_Type, &given[NUMPY_DTYPE],
                                     &given[MAGNITUDE], &given[MOVE], &by_value))
        return nullptr;
    if (!is_carried(given[CARRIED])) {
        PyErr_SetString(PyExc_TypeError, "what arrays carry is in a Carried");
        return nullptr;
    }
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    Alike *self = alike_of(made.get());
    self->table = new (std::nothrow) Table;
    self->codes = new (std::nothrow) Codes;
    if (self->table == nullptr || self->codes == nullptr) return PyErr_NoMemory();
    self->by_value = by_value;
    look_at_arrays(given[NDARRAY]);
    for (int part = 0; part < PARTS; ++part) self->parts[part] = Py_NewRef(given[part]);
    for (int name = 0; name < NAMES; ++name)
        if ((self->names[name] = PyUnicode_InternFromString(NAME_OF[name])) == nullptr) return nullptr;
    return made.release();
}

void forget_all(Alike *self) {
    Table old;  // let go of when the table is empty
    old.swap(*self->table);
    Codes codes;
    codes.swap(*self->codes);
}

PyObject *alike_clear(PyObject *object, PyObject *) {
    forget_all(alike_of(object));
    Py_RETURN_NONE;
}

Py_ssize_t alike_length(PyObject *object) {
    return static_cast<Py_ssize_t>(alike_of(object)->table->size());
}

int alike_traverse(PyObject *object, visitproc visit, void *arg) {
    Alike *self = alike_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    if (self->table == nullptr || self->codes == nullptr) return 0;
    for (const auto &[code, known] : *self->codes) Py_VISIT(known.first.get());
    for (const auto &[key, told] : *self->table) {
        if (const int stopped = key.traverse(visit, arg)) return stopped;
        for (PyObject *part : {told->counted.get(), told->operations.get(), told->tells.get()}) Py_VISIT(part);
        for (const Made &made : told->made) {
            Py_VISIT(made.dtype.get());
            Py_VISIT(made.slot.get());
        }
    }
    return 0;
}

int alike_forget(PyObject *object) {
    forget_all(alike_of(object));
    return 0;
}

int alike_release(PyObject *object) {
    Alike *self = alike_of(object);
    if (self->table != nullptr && self->codes != nullptr) forget_all(self);
    delete self->table;
    delete self->codes;
    self->table = nullptr;
    self->codes = nullptr;
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (PyObject *&name : self->names) Py_CLEAR(name);
    return 0;
}

PyMethodDef alike_methods[] = {{"clear", alike_clear, METH_NOARGS, "Forget all."},
                               {nullptr, nullptr, 0, nullptr}};

PyType_Slot alike_slots[] = {
    {Py_tp_doc, const_cast<char *>("What was told of calls, for those that are alike.")},
    {Py_tp_new, reinterpret_cast<void *>(alike_new)},
    {Py_tp_methods, alike_methods},
    {Py_sq_length, reinterpret_cast<void *>(alike_length)},
    {Py_tp_traverse, reinterpret_cast<void *>(alike_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(alike_forget)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<alike_release>)},
    {0, nullptr}};

}  // namespace

bool Key::operator==(const Key &other) const {
    if (parts_.size() != other.parts_.size() || numbers_ != other.numbers_) return false;
    for (std::size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i].get() != other.parts_[i].get()) return false;
    return true;
}

std::size_t Key::hash() const {
    std::uint64_t mixed = parts_.size();
    for (const Ref &part : parts_)
        mixed = (mixed ^ (reinterpret_cast<std::uintptr_t>(part.get()) >> 4)) * 0x9E3779B97F4A7C15;
    for (const long number : numbers_)
        mixed = (mixed ^ static_cast<std::uint64_t>(number)) * 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(mixed ^ mixed >> 32);
}

int Key::traverse(visitproc visit, void *arg) const {
    for (const Ref &part : parts_) Py_VISIT(part.get());
    return 0;
}

bool add_operand(PyObject *alike, Key *key, PyObject *operand) {
    const bool added = add(alike_of(alike), key, operand, 0);
    if (!added) PyErr_Clear();
    return added;
}

bool add_place(PyObject *alike, Key *key) {
    Alike *self = alike_of(alike);
    Ref frame(Py_XNewRef(reinterpret_cast<PyObject *>(PyEval_GetFrame())));
    for (int deep = 0; frame && frame.get() != Py_None && deep < HIGHEST; ++deep) {
        Ref code(reinterpret_cast<PyObject *>(
            PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        const Ref at(PyObject_GetAttr(frame.get(), self->names[INSTRUCTION]));
        const int library = at ? is_library(self, code) : -1;
        if (library < 0) break;
        key->add(std::move(code));
        key->add_number(PyLong_AsLong(at.get()));
        if (!library) return true;
        frame = Ref(PyObject_GetAttr(frame.get(), self->names[BACK]));
    }
    PyErr_Clear();
    return false;
}

bool count_again([[maybe_unused]] PyObject *alike, [[maybe_unused]] const Key &key,
                 [[maybe_unused]] PyObject *made) {
#ifdef Py_GIL_DISABLED
    return false;  // the recorder has a lock
#else
    Alike *self = alike_of(alike);
    const auto found = self->table->find(key);
    if (found == self->table->end()) return false;
    const std::shared_ptr<const Told> told = found->second;  // which counting may have forgotten
    const bool same = carry(self, *told, made);
    PyErr_Clear();
    if (!same) return false;
    const Ref report = attribute(self, self->parts[RECORDER], REPORT);
    if (!report || !count_call(self, report.get(), told->counted.get()) || !count_operations(self, *told)) return false;
    if (++self->counted % OFTEN != 0) return true;
    const Ref heard = attribute(self, self->parts[RECORDER], HEARD_AGAIN);
    return heard && Ref(PyObject_CallNoArgs(heard.get()));
#endif
}

bool keep([[maybe_unused]] PyObject *alike, [[maybe_unused]] Key &&key,
          [[maybe_unused]] PyObject *known) {
#ifndef Py_GIL_DISABLED
    Alike *self = alike_of(alike);
    std::shared_ptr<const Told> told = PyTuple_Check(known) ? read_known(known) : nullptr;
    if (told == nullptr) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "what was told of a call is a Told");
        return false;
    }
    if (self->table->size() >= MOST) forget_all(self);
    (*self->table)[std::move(key)].swap(told);
#endif
    return true;
}

bool carry_on([[maybe_unused]] PyObject *alike, [[maybe_unused]] PyObject *name,
              [[maybe_unused]] PyObject *source, [[maybe_unused]] PyObject *part) {
#ifdef Py_GIL_DISABLED
    return false;
#else
    const Alike *self = alike_of(alike);
    const Ref slot = slot_of(self->parts[CARRIED], source);
    if (!slot) return true;
    const Ref before = dtype_of(self, source), after = dtype_of(self, part);
    if (!before || before.get() != after.get()) return false;
    const Ref counted(PyTuple_Pack(2, self->parts[MOVE], name));
    const Ref report = attribute(self, self->parts[RECORDER], REPORT);
    return counted && report && put_slot(self->parts[CARRIED], part, slot.get()) &&
           count_call(self, report.get(), counted.get());
#endif
}

bool is_alike(PyObject *object) {
    return PyType_GetSlot(Py_TYPE(object), Py_tp_new) == reinterpret_cast<void *>(alike_new);
}

PyType_Spec alike_spec = {"promoarray.diagnostics.record._seen.Alike", sizeof(Alike), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                          alike_slots};

}  // namespace promoarray
