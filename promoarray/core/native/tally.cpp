// Places of the program, found by the frame that runs, and what is counted there.
#include "tally.h"

#include <cstdint>
#include <initializer_list>

namespace promoarray {
namespace {

constexpr std::size_t PLACES = 256, CODES = 64;  // that are found at once; `slot_of` has 8 bits

// The places that an observer has met, by what is said there, code and instruction. The slots keep
// these alive, so that none of their addresses can come to mean anything else. The code of
// promoarray that led there is known too, and passed over.
struct Places {
    PyObject_HEAD
    PyObject *folder, *clock;  // the package's, with a separator behind it; time.monotonic
    PyObject *back_name, *instruction_name, *file_name, *count_name, *operations_name, *quiet_name;
    PyObject *own[CODES];
    struct Place {
        PyObject *said, *code, *place;
        long instruction;
    } places[PLACES];
};

struct Tally {
    PyObject_HEAD
    PyObject *places, *said, *report, *until;
};

Places *places_of(PyObject *object) { return reinterpret_cast<Places *>(object); }
Tally *tally_of(PyObject *object) { return reinterpret_cast<Tally *>(object); }

std::uintptr_t bits(const PyObject *x) { return reinterpret_cast<std::uintptr_t>(x) >> 4; }

// Where a place is, or else where it is to be. Two slots are looked at, as places of one loop that
// share a slot would put each other out in every pass.
Places::Place &slot_of(Places *self, PyObject *said, PyObject *code, long instruction) {
    const std::uint64_t key = (bits(said) * 31 + bits(code)) * 31 + static_cast<std::uint64_t>(instruction);
    const std::size_t at = (key * 0x9E3779B97F4A7C15) >> 56;
    Places::Place &first = self->places[at], &second = self->places[at ^ 1];
    const auto holds = [&](const Places::Place &slot) {
        return slot.said == said && slot.code == code && slot.instruction == instruction;
    };
    if (holds(first)) return first;
    const bool is_free = first.said != nullptr && second.said == nullptr;
    return holds(second) || is_free ? second : first;
}

#ifndef Py_GIL_DISABLED
// Whether code is promoarray's own; false with the error.
bool is_own(Places *self, PyObject *code) {
    const Ref file(PyObject_GetAttr(code, self->file_name));
    if (!file) return false;
    const bool own = PyUnicode_Tailmatch(file.get(), self->folder, 0, PY_SSIZE_T_MAX, -1) == 1;
    if (own) {
        PyObject *&slot = self->own[bits(code) % CODES], *old = slot;
        slot = Py_NewRef(code);
        Py_XDECREF(old);
    }
    return own;
}

// The place where the program stands, which its slot keeps; null if it is not known.
PyObject *place_here(Places *self, PyObject *said) {
    Ref frame(Py_XNewRef(reinterpret_cast<PyObject *>(PyEval_GetFrame())));
    while (frame && frame.get() != Py_None) {
        const Ref code(reinterpret_cast<PyObject *>(
            PyFrame_GetCode(reinterpret_cast<PyFrameObject *>(frame.get()))));
        if (self->own[bits(code.get()) % CODES] != code.get()) {
            const Ref at(PyObject_GetAttr(frame.get(), self->instruction_name));
            if (!at) return nullptr;
            const long instruction = PyLong_AsLong(at.get());
            const Places::Place &slot = slot_of(self, said, code.get(), instruction);
            if (slot.said == said && slot.code == code.get() && slot.instruction == instruction)
                return slot.place;
            if (!is_own(self, code.get())) return nullptr;
        }
        frame = Ref(PyObject_GetAttr(frame.get(), self->back_name));
    }
    return nullptr;
}

// Whether the observer wants to be told again, whatever is told: it has something to do by then.
bool is_due(Places *self, PyObject *until) {
    if (until == Py_None) return false;
    const Ref now(PyObject_CallNoArgs(self->clock));
    const Ref quiet(now ? PyObject_GetAttr(until, self->quiet_name) : nullptr);
    return !quiet || PyFloat_AsDouble(now.get()) >= PyFloat_AsDouble(quiet.get());
}

bool add_one(PyObject *object, PyObject *name) {
    const Ref before(PyObject_GetAttr(object, name));
    const long long count = before ? PyLong_AsLongLong(before.get()) : -1;
    if (count < 0) return false;
    const Ref after(PyLong_FromLongLong(count + 1));
    return after && PyObject_SetAttr(object, name, after.get()) == 0;
}

bool count_here(const Tally *self) {
    Places *places = places_of(self->places);
    if (is_due(places, self->until)) return false;
    if (self->said != Py_None) {
        PyObject *here = place_here(places, self->said);
        if (here == nullptr) return false;
        const Ref place = Ref::to(here);
        if (!add_one(place.get(), places->count_name)) return false;
    }
    return self->report == Py_None || add_one(self->report, places->operations_name);
}
#endif

// --- The types -----------------------------------------------------------------------------------

PyObject *places_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"folder", "clock", nullptr};
    PyObject *folder, *clock;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "UO", const_cast<char **>(names), &folder, &clock))
        return nullptr;
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    Places *self = places_of(made);
    self->folder = Py_NewRef(folder);
    self->clock = Py_NewRef(clock);
    self->back_name = PyUnicode_InternFromString("f_back");
    self->instruction_name = PyUnicode_InternFromString("f_lasti");
    self->file_name = PyUnicode_InternFromString("co_filename");
    self->count_name = PyUnicode_InternFromString("count");
    self->operations_name = PyUnicode_InternFromString("operations");
    self->quiet_name = PyUnicode_InternFromString("quiet_until");
    return made;
}

PyObject *places_keep(PyObject *object, PyObject *args) {
    PyObject *said, *code, *place;
    long instruction;
    if (!PyArg_ParseTuple(args, "OOlO", &said, &code, &instruction, &place)) return nullptr;
#ifndef Py_GIL_DISABLED
    Places::Place &slot = slot_of(places_of(object), said, code, instruction);
    const Places::Place old = slot;
    slot = {Py_NewRef(said), Py_NewRef(code), Py_NewRef(place), instruction};
    Py_XDECREF(old.said);
    Py_XDECREF(old.code);
    Py_XDECREF(old.place);  // last, for this may run any code
#endif
    Py_RETURN_NONE;
}

int places_traverse(PyObject *object, visitproc visit, void *arg) {
    Places *self = places_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->clock);
    for (const Places::Place &slot : self->places) {
        Py_VISIT(slot.said);
        Py_VISIT(slot.code);
        Py_VISIT(slot.place);
    }
    return 0;
}

int places_forget(PyObject *object) {
    for (Places::Place &slot : places_of(object)->places) {
        const Places::Place old = slot;
        slot = {};
        Py_XDECREF(old.said);
        Py_XDECREF(old.code);
        Py_XDECREF(old.place);
    }
    return 0;
}

int places_release(PyObject *object) {
    Places *self = places_of(object);
    places_forget(object);
    for (PyObject *&code : self->own) Py_CLEAR(code);
    for (PyObject **part : {&self->folder, &self->clock, &self->back_name, &self->instruction_name,
                            &self->file_name, &self->count_name, &self->operations_name,
                            &self->quiet_name})
        Py_CLEAR(*part);
    return 0;
}

PyObject *tally_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"places", "said", "report", nullptr};
    PyObject *places, *said, *report;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOO", const_cast<char **>(names), &places, &said,
                                     &report))
        return nullptr;
    if (PyType_GetSlot(Py_TYPE(places), Py_tp_new) != reinterpret_cast<void *>(places_new)) {
        PyErr_SetString(PyExc_TypeError, "a Tally counts in Places");
        return nullptr;
    }
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    Tally *self = tally_of(made);
    self->places = Py_NewRef(places);
    self->said = Py_NewRef(said);
    self->report = Py_NewRef(report);
    self->until = Py_NewRef(Py_None);
    return made;
}

PyObject *tally_count(PyObject *object, PyObject *) { return PyBool_FromLong(count(object)); }

int tally_traverse(PyObject *object, visitproc visit, void *arg) {
    const Tally *self = tally_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->places);
    Py_VISIT(self->said);
    Py_VISIT(self->report);
    Py_VISIT(self->until);
    return 0;
}

// Not the type's tp_clear, so that no count meets a Tally without its parts: a cycle through one is
// broken at the report, the observer or the Places.
int tally_release(PyObject *object) {
    Tally *self = tally_of(object);
    for (PyObject **part : {&self->places, &self->said, &self->report, &self->until})
        Py_CLEAR(*part);
    return 0;
}

PyMethodDef places_methods[] = {
    {"keep", places_keep, METH_VARARGS, "Keep a place: what is said there, code, instruction, place."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot places_slots[] = {
    {Py_tp_doc, const_cast<char *>("Places of a program, by the instruction that runs.")},
    {Py_tp_new, reinterpret_cast<void *>(places_new)},
    {Py_tp_methods, places_methods},
    {Py_tp_traverse, reinterpret_cast<void *>(places_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(places_forget)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<places_release>)},
    {0, nullptr}};

PyMethodDef tally_methods[] = {
    {"count", tally_count, METH_NOARGS, "Count an operation; False if the observer has to be told."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef tally_members[] = {
    {"until", Py_T_OBJECT_EX, offsetof(Tally, until), 0,
     "What has ``quiet_until``, the time.monotonic() at which the observer is told again; or None."},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot tally_slots[] = {
    {Py_tp_doc, const_cast<char *>("Counts operations that are alike.")},
    {Py_tp_new, reinterpret_cast<void *>(tally_new)},
    {Py_tp_methods, tally_methods},
    {Py_tp_members, tally_members},
    {Py_tp_traverse, reinterpret_cast<void *>(tally_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<tally_release>)},
    {0, nullptr}};

constexpr unsigned FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE;

}  // namespace

bool is_tally(PyObject *object) {
    return PyType_GetSlot(Py_TYPE(object), Py_tp_new) == reinterpret_cast<void *>(tally_new);
}

bool count([[maybe_unused]] PyObject *tally) {
#ifdef Py_GIL_DISABLED
    return false;  // the observer has a lock
#else
    if (count_here(tally_of(tally))) return true;
    PyErr_Clear();
    return false;
#endif
}

PyType_Spec places_spec = {"promoarray.core._fast_path.Places", sizeof(Places), 0, FLAGS,
                           places_slots};
PyType_Spec tally_spec = {"promoarray.core._fast_path.Tally", sizeof(Tally), 0, FLAGS, tally_slots};

}  // namespace promoarray
