#include "call_cache.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dtype_map.h"
#include "hook.h"
#include "numpy_array.h"

namespace promoarray {
namespace {

constexpr std::size_t MOST = 4096;     // so many calls are known
constexpr std::size_t MOST_HERE = 64;  // and so many at one place
constexpr Py_ssize_t LONGEST = 16;     // a longer list is like no other
constexpr unsigned OFTEN = 1U << 12U;  // after so many calls the recorder is told that they go on
constexpr int DEEPEST = 3;             // and so is what holds lists of lists of lists of lists
constexpr int HIGHEST = 64;            // and what a library does so many calls below the program
constexpr int EXACT = 16;              // whole numbers up to here stand for themselves

// The fields of a Told (call_cache.py), in their order.
enum Field { KIND_AND_NAME, OPERATIONS_OF, TELLS, MADE, WITHIN, FIELDS };

Ref attribute(const FastHook *self, PyObject *x, Name name) {
    return Ref(PyObject_GetAttr(x, self->names[name]));
}

bool is_scalar(PyObject *x) {
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyComplex_CheckExact(x);
}

Ref dtype_of(const FastHook *self, PyObject *array) {
    if (const ArrayFields *fields = fields_of(array)) return Ref::to(reinterpret_cast<PyObject *>(fields->dtype));
    PyObject *known = class_of(self, array).dtype;
    return known != nullptr ? Ref::to(known) : attribute(self, array, DTYPE);
}

// How many axes an array has; -1 with the error.
Py_ssize_t axes_of(const FastHook *self, PyObject *array) {
    if (const ArrayFields *fields = fields_of(array)) return fields->ndim;
    if (class_of(self, array).sort == Sort::SCALAR) return 0;
    const Ref ndim = attribute(self, array, NDIM);
    return ndim ? PyLong_AsSsize_t(ndim.get()) : -1;
}

// --- Classes of numbers (scalar_class.py) --------------------------------------------------------

template <typename Number>
std::uint64_t rung(const std::vector<Number> &below, const std::vector<Number> &above, Number size) {
    const auto left = std::lower_bound(below.begin(), below.end(), size) - below.begin();
    const auto right = std::upper_bound(above.begin(), above.end(), size) - above.begin();
    return static_cast<std::uint64_t>(left << 12 | right);
}

constexpr std::uint64_t A_BOOL = 0, AN_INT = 1, A_FLOAT = 2, NEGATIVE = 4, WHOLE = 8, ITSELF = 16, NO_NUMBER = 32;
constexpr int VALUE = 8;  // bits that are taken

std::uint64_t class_of_float(const Cache &cache, double x) {
    const std::uint64_t sign = std::signbit(x) ? NEGATIVE : 0;
    if (!std::isfinite(x)) return A_FLOAT | NO_NUMBER | (std::isnan(x) ? WHOLE : sign);
    const double size = std::fabs(x);
    const bool whole = std::trunc(x) == x;
    if ((whole && size <= EXACT) || x == 0.5)
        return A_FLOAT | ITSELF | sign | static_cast<std::uint64_t>(2 * size) << VALUE;
    return A_FLOAT | sign | (whole ? WHOLE : 0) | rung(cache.floats_below, cache.floats_above, size) << VALUE;
}

std::uint64_t class_of_int(const Cache &cache, long long x) {
    const std::uint64_t sign = x < 0 ? NEGATIVE : 0;
    const std::uint64_t size = x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    if (size <= EXACT) return AN_INT | ITSELF | sign | size << VALUE;
    return AN_INT | sign | rung(cache.ints_below, cache.ints_above, size) << VALUE;
}

bool add_number(const FastHook *self, Key *key, PyObject *x) {
    const Cache &cache = *self->cache;
    if (PyBool_Check(x)) {
        key->add_number(A_BOOL | (x == Py_True ? WHOLE : 0));
        return true;
    }
    if (PyFloat_CheckExact(x)) {
        key->add_number(class_of_float(cache, PyFloat_AsDouble(x)));
        return true;
    }
    if (PyLong_CheckExact(x)) {
        int beyond = 0;
        const long long value = PyLong_AsLongLongAndOverflow(x, &beyond);
        if (beyond == 0) {
            key->add_number(class_of_int(cache, value));
            return true;
        }
    }
    Ref found = call(self->parts[SCALAR_CLASS], x);
    if (!found) return false;
    key->add(std::move(found));
    return true;
}

// --- Operands ------------------------------------------------------------------------------------

bool add_array(const FastHook *self, Key *key, PyObject *array, const Class &known, bool values) {
    key->add(reinterpret_cast<PyObject *>(Py_TYPE(array)));
    if (known.dtype == nullptr) {
        Ref dtype = dtype_of(self, array);
        if (!dtype) return false;
        key->add(std::move(dtype));
    }
    Ref slot = slot_of(self->carried, array);
    key->add(slot ? std::move(slot) : Ref::to(Py_None));
    const Py_ssize_t axes = known.sort == Sort::SCALAR ? 0 : axes_of(self, array);
    if (axes < 0) return false;
    key->add(axes == 0 ? Py_True : Py_False);
    if (axes != 0 || !values) return true;
    const Ref value(known.read == Read::FLOAT ? PyNumber_Float(array)
                    : known.read == Read::INT ? PyNumber_Index(array)
                                              : PyObject_CallMethodObjArgs(array, self->names[ITEM], nullptr));
    return value && is_scalar(value.get()) && add_number(self, key, value.get());
}

bool add(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values, int deep);

bool add_list(const FastHook *self, Key *key, PyObject *list, bool values, int deep) {
    const Py_ssize_t length = PySequence_Size(list);
    if (length > LONGEST || deep == DEEPEST) return false;
    key->add(reinterpret_cast<PyObject *>(Py_TYPE(list)));
    key->add_number(static_cast<std::uint64_t>(length));
    for (Py_ssize_t i = 0; i < length; ++i) {
        const Ref x(PySequence_GetItem(list, i));
        if (!x || !add(self, key, x.get(), class_of(self, x.get()), values, deep + 1)) return false;
    }
    return true;
}

bool add(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values, int deep) {
    switch (known.sort) {
        case Sort::NUMBER: return add_number(self, key, x);
        case Sort::SCALAR:
        case Sort::ARRAY: return add_array(self, key, x, known, values);
        case Sort::LIST: return add_list(self, key, x, values, deep);
        default: break;
    }
    const bool stands_for_itself = x == Py_None || PyUnicode_CheckExact(x) || PyType_Check(x) ||
                                   PyObject_TypeCheck(x, type_in(self, NUMPY_DTYPE));
    if (stands_for_itself) key->add(x);
    return stands_for_itself;
}

Class classify(const FastHook *self, PyObject *x) {
    if (is_scalar(x)) return {Sort::NUMBER};
    if (PyUnicode_CheckExact(x) || PyBytes_CheckExact(x)) return {Sort::TEXT};
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return {Sort::LIST};
    if (PySet_Contains(self->parts[PLAIN], reinterpret_cast<PyObject *>(Py_TYPE(x))) == 1) return {Sort::PLAIN};
    if (PyObject_TypeCheck(x, type_in(self, NDARRAY))) return {Sort::ARRAY};
    if (!PyObject_TypeCheck(x, type_in(self, GENERIC))) return {Sort::OTHER};
    Ref dtype = attribute(self, x, DTYPE);
    const Ref kind(dtype ? PyObject_GetAttrString(dtype.get(), "kind") : nullptr);
    const Py_UCS4 letter = kind && PyUnicode_Check(kind.get()) ? PyUnicode_ReadChar(kind.get(), 0) : 0;
    const bool is_number = PyUnicode_FindChar(self->parts[KINDS], letter, 0, 5, 1) >= 0;
    const Ref number(letter == 'f' ? PyObject_CallMethodObjArgs(x, self->names[ITEM], nullptr) : nullptr);
    PyErr_Clear();
    const bool is_float = number && PyFloat_CheckExact(number.get());  // which a long double is not
    const Read read = is_float ? Read::FLOAT : letter == 'i' || letter == 'u' ? Read::INT : Read::ITEM;
    return {Sort::SCALAR, is_number ? dtype.release() : nullptr, read};
}

// --- What was made -------------------------------------------------------------------------------

// The arrays that a call made: one, or those in a tuple or list.
bool find_made(const FastHook *self, PyObject *x, std::vector<PyObject *> *made) {
    if (is_array(self, x)) made->push_back(x);
    if (!PyList_Check(x) && !PyTuple_Check(x)) return true;
    const Py_ssize_t length = PySequence_Size(x);
    for (Py_ssize_t i = 0; i < length; ++i) {
        const Ref each(PySequence_GetItem(x, i));
        if (!each) return false;
        if (is_array(self, each.get())) made->push_back(each.get());  // which the list holds
    }
    return length >= 0;
}

bool is_such(const FastHook *self, PyObject *array, const Told::Made &made) {
    const Class known = class_of(self, array);
    if (known.sort == Sort::SCALAR && known.dtype != nullptr) return known.dtype == made.dtype.get() && made.ndim == 0;
    if (known.sort != Sort::SCALAR && known.sort != Sort::ARRAY) return false;
    const Ref dtype = dtype_of(self, array);
    return dtype && dtype.get() == made.dtype.get() && axes_of(self, array) == made.ndim;
}

bool carry(const FastHook *self, const Told &told, PyObject *x) {
    if (told.made.size() == 1 && !PyList_Check(x) && !PyTuple_Check(x))
        return is_such(self, x, told.made[0]) && put_slot(self->carried, x, told.made[0].slot.get());
    std::vector<PyObject *> made;
    if (!find_made(self, x, &made) || made.size() != told.made.size()) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (!is_such(self, made[i], told.made[i])) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (!put_slot(self->carried, made[i], told.made[i].slot.get())) return false;
    return true;
}

template <typename Float>
bool lie_within(const ArrayFields &array, const Told &told) {
    const auto *values = reinterpret_cast<const Float *>(array.data);
    const Py_ssize_t count = elements_of(array);
    bool all = true;  // and no NaN
    for (Py_ssize_t i = 0; i < count; ++i) all &= values[i] >= told.least && values[i] < told.most;
    return all;
}

// --- Counting ------------------------------------------------------------------------------------

bool count_call(PyObject *calls, PyObject *counted, long long more) {
    if (calls == nullptr || !PyDict_Check(calls)) return false;
    PyObject *before = PyDict_GetItemWithError(calls, counted);
    if (before == nullptr && PyErr_Occurred()) return false;
    const long long count = before == nullptr ? 0 : PyLong_AsLongLong(before);
    const Ref after(PyLong_FromLongLong(count + more));
    return after && PyDict_SetItem(calls, counted, after.get()) == 0;
}

bool add_to(PyObject *object, PyObject *name, long long more) {
    const Ref before(PyObject_GetAttr(object, name));
    const long long count = before ? PyLong_AsLongLong(before.get()) : -1;
    if (count < 0) return false;
    const Ref after(PyLong_FromLongLong(count + more));
    return after && PyObject_SetAttr(object, name, after.get()) == 0;
}

// Whether code is a library's, of promoarray itself among them; -1 with the error.
int is_library(const FastHook *self, const Ref &code) {
    auto &codes = self->cache->codes;
    if (const Code *known = codes.find(code.get())) return known->is_library;
    const Ref file = attribute(self, code.get(), FILE_NAME);
    const Ref answer(file ? PyObject_CallOneArg(self->parts[IS_LIBRARY], file.get()) : nullptr);
    if (!answer) return -1;
    const bool is = answer.get() == Py_True;
    if (codes.size() < MOST) codes[code.get()] = {Ref::to(code.get()), is};
    return is;
}

std::shared_ptr<Told> read_known(PyObject *known) {
    PyObject *made = PyTuple_Check(known) && PyTuple_Size(known) == FIELDS ? PyTuple_GetItem(known, MADE) : nullptr;
    if (made == nullptr || !PyTuple_Check(made)) return nullptr;
    auto told = std::make_shared<Told>();
    told->counted = Ref::to(PyTuple_GetItem(known, KIND_AND_NAME));
    told->operations = Ref::to(PyTuple_GetItem(known, OPERATIONS_OF));
    told->tells = Ref::to(PyTuple_GetItem(known, TELLS));
    if (!PyTuple_Check(told->operations.get()) || !PyTuple_Check(told->tells.get())) return nullptr;
    PyObject *within = PyTuple_GetItem(known, WITHIN);
    told->by_values = within != Py_None;
    if (told->by_values && !PyArg_ParseTuple(within, "dd", &told->least, &told->most)) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_Size(made); ++i) {
        PyObject *dtype, *slot;
        Py_ssize_t ndim;
        if (!PyArg_ParseTuple(PyTuple_GetItem(made, i), "(On)O", &dtype, &ndim, &slot)) return nullptr;
        told->made.push_back({Ref::to(dtype), Ref::to(slot), ndim});
    }
    return told;
}

// Tell a report how often a call was told again.
bool flush_one(const FastHook *self, Told *told) {
    const long long more = std::exchange(told->again, 0);
    const Ref calls = more != 0 ? attribute(self, self->report, CALLS) : Ref(nullptr);
    if (more == 0) return true;
    if (!count_call(calls.get(), told->counted.get(), more)) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(told->operations.get()); ++i)
        if (!add_to(PyTuple_GetItem(told->operations.get(), i), self->names[COUNT], more)) return false;
    return true;
}

}  // namespace

// --- Keys ----------------------------------------------------------------------------------------

void Key::add(Ref &&part) {
    if (is_whole()) words_[size_++] = reinterpret_cast<std::uintptr_t>(part.release());
}

void Key::add_number(std::uint64_t number) {  // objects lie at even addresses
    if (is_whole()) words_[size_++] = static_cast<std::uintptr_t>(number << 1U | 1U);
}

bool Key::is_like(const std::vector<std::uintptr_t> &other) const {
    return other.size() == size_ && std::equal(words_, words_ + size_, other.begin());
}

std::vector<std::uintptr_t> Key::release() {
    return {words_, words_ + std::exchange(size_, 0)};
}

void Key::let_go(const std::uintptr_t *words, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if ((words[i] & 1U) == 0) Py_DECREF(reinterpret_cast<PyObject *>(words[i]));
}

bool read_borders(Cache *cache, PyObject *floats, PyObject *ints) {
    for (Py_ssize_t i = 0; i < PyList_Size(floats); ++i) {
        double below, above;
        if (!PyArg_ParseTuple(PyList_GetItem(floats, i), "dd", &below, &above)) return false;
        cache->floats_below.push_back(below);
        cache->floats_above.push_back(above);
    }
    for (Py_ssize_t i = 0; i < PyList_Size(ints); ++i) {
        unsigned long long below, above;
        if (!PyArg_ParseTuple(PyList_GetItem(ints, i), "KK", &below, &above)) return false;
        cache->ints_below.push_back(below);
        cache->ints_above.push_back(above);
    }
    return true;
}

Class class_of(const FastHook *self, PyObject *x) {
    if (PyFloat_CheckExact(x) || PyLong_CheckExact(x)) return {Sort::NUMBER};
    Cache &cache = *self->cache;
    {
        const Guard guard(cache.lock);
        if (const Class *known = cache.classes.find(Py_TYPE(x))) return *known;
    }
    const Class made = classify(self, x);
    const Guard guard(cache.lock);
    if (cache.classes.size() < MOST && cache.classes.find(Py_TYPE(x)) == nullptr) {
        cache.classes[Py_TYPE(x)] = made;
        Py_INCREF(reinterpret_cast<PyObject *>(Py_TYPE(x)));
    }
    return made;
}

Ref number_class(const FastHook *self, PyObject *x) {
    Key key;
    if (!is_scalar(x)) PyErr_SetString(PyExc_TypeError, "it is no number of Python's");
    if (PyErr_Occurred() || !add_number(self, &key, x)) return Ref(nullptr);
    const std::uintptr_t word = key.release().front();
    return Ref((word & 1U) != 0 ? PyLong_FromSize_t(word) : reinterpret_cast<PyObject *>(word));
}

bool add_operand(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values) {
    const bool added = add(self, key, x, known, values, 0);
    if (!added) PyErr_Clear();
    return added;
}

bool add_place(const FastHook *self, Key *key, long place) {
    if (place >= 0) return true;  // in the program itself, where the number says it
    Ref frame(Py_XNewRef(reinterpret_cast<PyObject *>(PyEval_GetFrame())));
    for (int deep = 0; frame && frame.get() != Py_None && deep < HIGHEST; ++deep) {
        Ref code(reinterpret_cast<PyObject *>(
            PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        const Ref at = attribute(self, frame.get(), INSTRUCTION);
        const int library = at ? is_library(self, code) : -1;
        if (library < 0) break;
        key->add(std::move(code));
        key->add_number(static_cast<std::uint64_t>(PyLong_AsLong(at.get())));
        if (!library) return true;
        frame = attribute(self, frame.get(), BACK);
    }
    PyErr_Clear();
    return false;
}

#ifdef Py_GIL_DISABLED  // the recorder has a lock

std::shared_ptr<Told> find(const FastHook *, long, const Key &) { return nullptr; }
bool keep(FastHook *, long, Key *, PyObject *, Ref &&) { return true; }
bool carry_on(FastHook *, PyObject *, PyObject *, PyObject *) { return false; }

#else

std::shared_ptr<Told> find(const FastHook *self, long place, const Key &key) {
    std::vector<Entry> *here = self->cache->places.find(place);
    if (here == nullptr) return nullptr;
    for (Entry &entry : *here) {
        if (!key.is_like(entry.key)) continue;
        if (&entry != &here->front()) std::swap(entry, here->front());
        return here->front().told;
    }
    return nullptr;
}

bool keep(FastHook *self, long place, Key *key, PyObject *known, Ref &&dtypes) {
    if (known == Py_None || !key->is_whole()) return true;
    std::shared_ptr<Told> told = read_known(known);
    if (told == nullptr) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "what was told of a call is a Told");
        return false;
    }
    told->dtypes = std::move(dtypes);
    Cache &cache = *self->cache;
    if (cache.size >= MOST || cache.places[place].size() >= MOST_HERE) {
        if (!flush(self)) return false;
        forget_calls(self);
    }
    std::vector<Entry> &here = cache.places[place];
    const auto same = std::find_if(here.begin(), here.end(), [&](const Entry &each) { return key->is_like(each.key); });
    if (same != here.end()) {  // which made something else
        if (!flush_one(self, same->told.get())) return false;
        same->told = std::move(told);
        return true;
    }
    here.emplace_back(key->release(), std::move(told));
    ++cache.size;
    return true;
}

bool carry_on(FastHook *self, PyObject *name, PyObject *source, PyObject *part) {
    const Ref slot = slot_of(self->carried, source);
    if (!slot) return true;
    const Ref before = dtype_of(self, source), after = dtype_of(self, part);
    if (!before || before.get() != after.get()) return false;
    const Ref counted(PyTuple_Pack(2, self->parts[MOVE], name));
    const Ref calls = attribute(self, self->report, CALLS);
    return counted && put_slot(self->carried, part, slot.get()) && count_call(calls.get(), counted.get(), 1);
}

#endif

std::shared_ptr<Told> of_values(const std::shared_ptr<Told> &told, PyObject *cast) {
    if (told == nullptr || !told->by_values) return told;
    constexpr int FLOAT32 = 11, FLOAT64 = 12;  // NumPy's numbers of the dtypes
    const ArrayFields *array = cast != nullptr ? fields_of(cast) : nullptr;
    if (array == nullptr || array->dtype->byte_order != '=' || (~array->flags & (IN_ROWS | ALIGNED)) != 0) return nullptr;
    const bool all = array->dtype->number == FLOAT64   ? lie_within<double>(*array, *told)
                     : array->dtype->number == FLOAT32 ? lie_within<float>(*array, *told)
                                                       : false;
    return all ? told : nullptr;
}

bool count_again(FastHook *self, const std::shared_ptr<Told> &told, PyObject *made) {
    if (!carry(self, *told, made)) {
        PyErr_Clear();
        return false;
    }
    ++told->again;
    for (Py_ssize_t i = 0; i < PyTuple_Size(told->tells.get()); ++i) {
        const Ref done(PyObject_CallNoArgs(PyTuple_GetItem(told->tells.get(), i)));
        if (!done) return false;
    }
    if (++self->cache->counted % OFTEN != 0) return true;
    return flush(self) && Ref(PyObject_CallMethodObjArgs(self->recorder, self->names[HEARD_AGAIN], nullptr));
}

bool flush(FastHook *self) {
    const Ref report = self->recorder == Py_None ? Ref::to(Py_None) : attribute(self, self->recorder, REPORT);
    if (!report) return false;
    const bool goes_on = report.get() == self->report;  // else it was of a process that was forked
    if (!goes_on) Ref(std::exchange(self->report, Py_NewRef(report.get())));
    std::vector<std::shared_ptr<Told>> every;
    for (const auto &slot : self->cache->places.slots())
        for (const Entry &entry : slot.value) {
            if (!goes_on) entry.told->again = 0;
            else if (entry.told->again != 0) every.push_back(entry.told);
        }
    for (const auto &told : every)
        if (!flush_one(self, told.get())) return false;
    return true;
}

void forget_calls(FastHook *self) {
    decltype(self->cache->places) old;  // let go of when the table is empty
    old.swap(self->cache->places);
    self->cache->size = 0;
    decltype(self->cache->codes) codes;
    codes.swap(self->cache->codes);
}

int traverse(const Cache &cache, visitproc visit, void *arg) {
    for (const auto &slot : cache.codes.slots()) Py_VISIT(slot.value.held.get());
    for (const auto &slot : cache.places.slots())
        for (const Entry &entry : slot.value) {
            for (const std::uintptr_t word : entry.key)
                if ((word & 1U) == 0) Py_VISIT(reinterpret_cast<PyObject *>(word));
            const Told &told = *entry.told;
            for (const Ref *part : {&told.counted, &told.operations, &told.tells, &told.dtypes}) Py_VISIT(part->get());
            for (const Told::Made &made : told.made) {
                Py_VISIT(made.dtype.get());
                Py_VISIT(made.slot.get());
            }
        }
    return 0;
}

}  // namespace promoarray
