#include "call_cache.h"

#include <cmath>
#include <cstring>
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

enum Field { MADE, TELLS, WITHIN };  // the first fields of a Known (watcher.py)

Ref dtype_of(const FastHook *self, PyObject *array, const Class &known) {
    if (known.dtype != nullptr) return Ref::to(known.dtype);
    if (const ArrayFields *fields = fields_of(array)) return Ref::to(reinterpret_cast<PyObject *>(fields->dtype));
    return attribute(self, array, DTYPE);
}

// How many axes an array has; -1 with the error.
Py_ssize_t axes_of(const FastHook *self, PyObject *array, const Class &known) {
    if (known.sort == Sort::SCALAR) return 0;
    if (const ArrayFields *fields = fields_of(array)) return fields->ndim;
    const Ref ndim = attribute(self, array, NDIM);
    return ndim ? PyLong_AsSsize_t(ndim.get()) : -1;
}

bool add_number(const FastHook *self, Key *key, PyObject *x) {
    return add_number(key, self->cache->borders, self->parts[SCALAR_CLASS], x);
}

// --- Operands ------------------------------------------------------------------------------------

bool add_array(const FastHook *self, Key *key, PyObject *array, const Class &known, bool values) {
    if (!key->add(reinterpret_cast<PyObject *>(Py_TYPE(array)))) return false;
    Py_ssize_t axes = 0;
    if (known.dtype == nullptr) {  // which its class does not say
        const Ref dtype = dtype_of(self, array, known);
        axes = axes_of(self, array, known);
        if (!dtype || axes < 0 || !key->add(dtype.get()) || !key->add_number(axes == 0)) return false;
    }
    PyObject *slot = peek_slot(self->carried, array);
    if (!key->add(slot != nullptr ? slot : Py_None)) return false;
    if (axes != 0 || !values) return true;
    const Ref value(known.read == Read::FLOAT ? PyNumber_Float(array)
                    : known.read == Read::INT ? PyNumber_Index(array)
                                              : PyObject_CallMethodObjArgs(array, self->names[ITEM], nullptr));
    return value && is_number(value.get()) && add_number(self, key, value.get());
}

bool add(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values, int deep) {
    if (known.sort == Sort::NUMBER) return add_number(self, key, x);
    if (known.sort == Sort::SCALAR || known.sort == Sort::ARRAY) return add_array(self, key, x, known, values);
    if (known.sort == Sort::LIST) {
        const Py_ssize_t length = PySequence_Size(x);
        if (length > LONGEST || deep == DEEPEST) return false;
        if (!key->add(reinterpret_cast<PyObject *>(Py_TYPE(x)))) return false;
        if (!key->add_number(static_cast<std::uint64_t>(length))) return false;
        for (Py_ssize_t i = 0; i < length; ++i) {
            const Ref each(PySequence_GetItem(x, i));
            if (!each || !add(self, key, each.get(), class_of(self, each.get()), values, deep + 1)) return false;
        }
        return true;
    }
    const bool stands_for_itself = x == Py_None || PyUnicode_CheckExact(x) || PyType_Check(x) ||
                                   PyObject_TypeCheck(x, type_in(self, NUMPY_DTYPE));
    return stands_for_itself && key->add(x);
}

Class classify(const FastHook *self, PyObject *x) {
    if (is_number(x)) return {Sort::NUMBER};
    if (PyUnicode_CheckExact(x) || PyBytes_CheckExact(x)) return {Sort::TEXT};
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return {Sort::LIST};
    if (PySet_Contains(self->parts[PLAIN], reinterpret_cast<PyObject *>(Py_TYPE(x))) == 1) return {Sort::PLAIN};
    if (PyObject_TypeCheck(x, type_in(self, NDARRAY))) return {Sort::ARRAY};
    if (!PyObject_TypeCheck(x, type_in(self, GENERIC))) return {Sort::OTHER};
    Ref dtype = attribute(self, x, DTYPE);
    const Ref kind(dtype ? PyObject_GetAttrString(dtype.get(), "kind") : nullptr);
    const Py_UCS4 letter = kind && PyUnicode_Check(kind.get()) ? PyUnicode_ReadChar(kind.get(), 0) : 0;
    const bool counts = letter != 0 && letter < 128 && std::strchr("biufc", static_cast<int>(letter)) != nullptr;
    const Ref number(letter == 'f' ? PyObject_CallMethodObjArgs(x, self->names[ITEM], nullptr) : nullptr);
    PyErr_Clear();
    const bool is_float = number && PyFloat_CheckExact(number.get());  // which a long double is not
    const Read read = is_float ? Read::FLOAT : letter == 'i' || letter == 'u' ? Read::INT : Read::ITEM;
    return {Sort::SCALAR, counts ? dtype.release() : nullptr, read};
}

// --- What was made -------------------------------------------------------------------------------

bool is_such(const FastHook *self, PyObject *array, const Told::Made &made) {
    const Class known = class_of(self, array);
    if (known.dtype != nullptr) return known.dtype == made.dtype.get() && made.ndim == 0;
    if (known.sort != Sort::SCALAR && known.sort != Sort::ARRAY) return false;
    const Ref dtype = dtype_of(self, array, known);
    return dtype && dtype.get() == made.dtype.get() && axes_of(self, array, known) == made.ndim;
}

// Have the arrays that a call made, one or those in a tuple or list, carry what those did.
bool carry(const FastHook *self, const std::vector<Told::Made> &told, PyObject *x) {
    std::vector<PyObject *> made;
    if (!PyList_Check(x) && !PyTuple_Check(x)) {
        if (told.size() == 1)
            return is_such(self, x, told[0]) && put_slot(self->carried, x, told[0].slot.get());
        if (is_array(self, x)) made.push_back(x);
    } else {
        for (Py_ssize_t i = 0; i < PySequence_Size(x); ++i) {
            const Ref each(PySequence_GetItem(x, i));
            if (each && is_array(self, each.get())) made.push_back(each.get());  // which the list holds
        }
    }
    if (made.size() != told.size()) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (!is_such(self, made[i], told[i])) return false;
    for (std::size_t i = 0; i < made.size(); ++i)
        if (!put_slot(self->carried, made[i], told[i].slot.get())) return false;
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

// Whether code is a library's, of promoarray itself among them; -1 with the error.
int is_library(const FastHook *self, const Ref &code) {
    auto &known = self->cache->is_library;
    const auto found = known.find(code.get());
    if (found != known.end()) return found->second;
    const Ref file(PyObject_GetAttrString(code.get(), "co_filename"));
    const Ref answer = file ? call(self->parts[IS_LIBRARY], file.get()) : Ref(nullptr);
    if (!answer) return -1;
    const bool is = answer.get() == Py_True;
    if (known.size() < MOST) known[Py_NewRef(code.get())] = is;
    return is;
}

std::unique_ptr<Told> read_known(PyObject *known) {
    PyObject *made = PyTuple_Check(known) && PyTuple_Size(known) > WITHIN ? PyTuple_GetItem(known, MADE) : nullptr;
    PyObject *tells = made != nullptr ? PyTuple_GetItem(known, TELLS) : nullptr;
    if (tells == nullptr || !PyTuple_Check(made) || !PyTuple_Check(tells)) return nullptr;
    auto told = std::make_unique<Told>();
    std::vector<Told::Made> results;
    told->known = Ref::to(known);
    told->tells = Ref::to(tells);
    PyObject *within = PyTuple_GetItem(known, WITHIN);
    told->by_values = within != Py_None;
    if (told->by_values && !PyArg_ParseTuple(within, "dd", &told->least, &told->most)) return nullptr;
    for (Py_ssize_t i = 0; i < PyTuple_Size(made); ++i) {
        PyObject *dtype, *slot;
        Py_ssize_t ndim;
        if (!PyArg_ParseTuple(PyTuple_GetItem(made, i), "(On)O", &dtype, &ndim, &slot)) return nullptr;
        results.push_back({Ref::to(dtype), Ref::to(slot), ndim});
    }
    told->made = std::make_shared<const std::vector<Told::Made>>(std::move(results));
    return told;
}

bool counted_again(FastHook *self, const char *method, PyObject *what, long long times) {
    return static_cast<bool>(Ref(PyObject_CallMethod(self->recorder, method, "OL", what, times)));
}

void let_go(const Where &where) {
    Py_DECREF(where.name);
    Py_XDECREF(where.code);
}

// Tell the session how often nothing was lost.
bool flush_clean(FastHook *self) {
    std::unordered_map<Where, long long, Where::Hash> clean;
    clean.swap(self->cache->clean);
    bool went_well = true;
    for (const auto &each : clean) {
        const Ref where = told_where(each.first);
        if (each.second != 0 && went_well && self->session != Py_None)
            went_well = where && Ref(PyObject_CallMethod(self->session, "passed", "OOL", each.first.name, where.get(),
                                                         each.second));
        let_go(each.first);
    }
    return went_well;
}

}  // namespace

Cache::~Cache() {
    for (const auto &each : is_library) Py_DECREF(each.first);
    for (const auto &each : moved) Py_DECREF(each.first);
    for (const auto &each : looks) Py_DECREF(each.first);
    for (const auto &each : refuses) Py_DECREF(each.first);
    for (const auto &each : clean) let_go(each.first);
}

bool where_of(const FastHook *self, long place, PyObject *name, Where *where) {
    *where = Where{place, name};
    if (place >= 0) return true;
    Ref frame(Py_XNewRef(frame_here()));
    for (int deep = 0; frame && frame.get() != Py_None && deep < HIGHEST; ++deep) {
        Ref code(reinterpret_cast<PyObject *>(PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        const int library = is_library(self, code);
        if (library < 0) return false;
        if (!library) {
            const Ref at = attribute(self, frame.get(), INSTRUCTION);
            where->code = code.get();  // which its frame holds
            where->at = at ? PyLong_AsLong(at.get()) : -1;
            return static_cast<bool>(at);
        }
        frame = attribute(self, frame.get(), BACK);
    }
    return static_cast<bool>(frame);
}

Ref told_where(const Where &where) {
    if (where.code == nullptr) return Ref(Py_BuildValue("(l)", where.place));
    return Ref(Py_BuildValue("(lNl)", where.place, PyLong_FromVoidPtr(where.code), where.at));
}

bool count_clean(FastHook *self, const Where &where) {
    if (!KNOWS_CALLS) {  // threads share the table, which has no lock
        const Ref at = told_where(where);
        return at && Ref(PyObject_CallMethod(self->session, "passed", "OOi", where.name, at.get(), 1));
    }
    if (self->cache->clean.size() >= MOST && !flush(self)) return false;
    const auto counted = self->cache->clean.try_emplace(where, 0);
    if (counted.second) {
        Py_INCREF(where.name);
        Py_XINCREF(where.code);
    }
    ++counted.first->second;
    return true;
}

long long taken_clean(FastHook *self, const Where &where) {
    if (!KNOWS_CALLS) return 0;
    const auto found = self->cache->clean.find(where);
    return found != self->cache->clean.end() ? std::exchange(found->second, 0) : 0;
}

bool have_values(const Told &told, PyObject *cast) {
    constexpr int FLOAT32 = 11, FLOAT64 = 12;  // NumPy's numbers of the dtypes
    if (!told.by_values) return true;
    const ArrayFields *array = cast != nullptr ? fields_of(cast) : nullptr;
    if (array == nullptr || array->dtype->byte_order != '=' || (~array->flags & (IN_ROWS | ALIGNED)) != 0) return false;
    if (array->dtype->number == FLOAT64) return lie_within<double>(*array, told);
    return array->dtype->number == FLOAT32 && lie_within<float>(*array, told);
}

std::vector<Entry> *known_at(Cache &cache, long place, bool grows) {
    auto &places = cache.places[place < 0];
    const auto number = static_cast<std::size_t>(place < 0 ? -(place + 1) : place);
    if (number >= places.size() && grows) places.resize(number + 1);
    return number < places.size() ? &places[number] : nullptr;
}

Class class_of(const FastHook *self, PyObject *x) {
    if (PyFloat_CheckExact(x) || PyLong_CheckExact(x)) return {Sort::NUMBER};
    if (!KNOWS_CALLS) return classify(self, x);
    PyTypeObject *type = Py_TYPE(x);
    Cache::Met &met = self->cache->classes[reinterpret_cast<std::uintptr_t>(type) * 0x9E3779B97F4A7C15u >> 56];
    if (met.type == type) return met.known;
    const Class made = classify(self, x);
    Py_INCREF(reinterpret_cast<PyObject *>(type));
    PyObject *old = reinterpret_cast<PyObject *>(std::exchange(met.type, type));
    met.known = made;
    Py_XDECREF(old);
    return made;
}

Ref number_class(const FastHook *self, PyObject *x) {
    Key key;
    if (!is_number(x)) PyErr_SetString(PyExc_TypeError, "it is no number of Python's");
    if (PyErr_Occurred() || !add_number(self, &key, x)) return Ref(nullptr);
    const std::uintptr_t word = key.release().front();
    return Ref((word & 1U) != 0 ? PyLong_FromSize_t(word) : reinterpret_cast<PyObject *>(word));
}

bool add_operand(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values) {
    const bool added = KNOWS_CALLS && add(self, key, x, known, values, 0);
    if (!added) PyErr_Clear();
    return added;
}

bool add_place(const FastHook *self, Key *key, long place) {
    if (place >= 0) return true;  // in the program itself, where the number says it
    Ref frame(Py_XNewRef(reinterpret_cast<PyObject *>(PyEval_GetFrame())));
    for (int deep = 0; frame && frame.get() != Py_None && deep < HIGHEST; ++deep) {
        Ref code(reinterpret_cast<PyObject *>(PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        const Ref at = attribute(self, frame.get(), INSTRUCTION);
        const int library = at ? is_library(self, code) : -1;
        if (library < 0) break;
        if (!key->add(code.get())) return false;
        if (!key->add_number(static_cast<std::uint64_t>(PyLong_AsLong(at.get())))) return false;
        if (!library) return true;
        frame = attribute(self, frame.get(), BACK);
    }
    PyErr_Clear();
    return false;
}

bool keep(FastHook *self, long place, Told *before, Key *key, PyObject *known, Ref &&dtypes) {
    if (known == Py_None) return true;
    std::unique_ptr<Told> told = read_known(known);
    if (told == nullptr) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "what was told of a call is a Known");
        return false;
    }
    told->dtypes = std::move(dtypes);
    Cache &cache = *self->cache;
    if (before != nullptr) {  // which made something else
        std::swap(*before, *told);
        ++cache.turn;
        return told->again == 0 || counted_again(self, "counted_again", told->known.get(), told->again);
    }
    if (cache.size >= MOST || known_at(cache, place, true)->size() >= MOST_HERE) {
        if (!flush(self)) return false;
        forget_calls(self);
    }
    known_at(cache, place, true)->emplace_back(key->release(), std::move(told));
    ++cache.size;
    return true;
}

bool count_again(FastHook *self, Told *told, PyObject *made) {
    const unsigned turn = self->cache->turn;
    const std::shared_ptr<const std::vector<Told::Made>> results = told->made;
    const bool carries = carry(self, *results, made);  // Python code may run: of finalizers, too
    if (!carries) PyErr_Clear();
    if (!carries || turn != self->cache->turn) return false;
    ++told->again;
    const Ref tells = Ref::to(told->tells.get());  // which may forget the rest
    for (Py_ssize_t i = 0; i < PyTuple_Size(tells.get()); ++i)
        if (!Ref(PyObject_CallNoArgs(PyTuple_GetItem(tells.get(), i)))) return false;
    if (++self->cache->counted % OFTEN != 0) return true;
    return static_cast<bool>(Ref(PyObject_CallMethod(self->recorder, "heard_again", nullptr)));
}

bool carry_on(FastHook *self, PyObject *name, PyObject *source, PyObject *part) {
    if (!KNOWS_CALLS) return false;
    const Ref slot = slot_of(self->carried, source);
    if (!slot) return true;
    const Ref before = dtype_of(self, source, class_of(self, source)), after = dtype_of(self, part, class_of(self, part));
    if (!before || before.get() != after.get()) return false;
    const auto counted = self->cache->moved.try_emplace(name, 0);
    if (counted.second) Py_INCREF(name);
    ++counted.first->second;
    return put_slot(self->carried, part, slot.get());
}

bool flush(FastHook *self) {
    std::vector<std::pair<Ref, long long>> known, moved;
    for (const auto &places : self->cache->places)
        for (const auto &here : places)
            for (const Entry &entry : here)
                if (const long long times = std::exchange(entry.told->again, 0))
                    known.emplace_back(Ref::to(entry.told->known.get()), times);
    for (auto &each : self->cache->moved)
        if (const long long times = std::exchange(each.second, 0)) moved.emplace_back(Ref::to(each.first), times);
    for (const auto &each : known)
        if (!counted_again(self, "counted_again", each.first.get(), each.second)) return false;
    for (const auto &each : moved)
        if (!counted_again(self, "moved_again", each.first.get(), each.second)) return false;
    return flush_clean(self);
}

void forget_calls(FastHook *self) {
    Cache &cache = *self->cache;
    ++cache.turn;
    cache.size = 0;
    for (auto &places : cache.places) {
        std::vector<std::vector<Entry>> old;  // let go of when the table is empty
        old.swap(places);
    }
    std::unordered_map<PyObject *, bool> codes;
    codes.swap(cache.is_library);
    for (const auto &each : codes) Py_DECREF(each.first);
    std::unordered_map<PyObject *, long> looks;
    looks.swap(cache.looks);
    for (const auto &each : looks) Py_DECREF(each.first);
    std::unordered_map<PyObject *, bool> refuses;
    refuses.swap(cache.refuses);
    for (const auto &each : refuses) Py_DECREF(each.first);
}

}  // namespace promoarray
