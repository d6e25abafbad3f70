#include "hook.h"

#include <new>

#include "dtype_map.h"
#include "numpy_array.h"

namespace promoarray {
namespace {

// --- Operators -----------------------------------------------------------------------------------

PyObject *power(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, Py_None); }
PyObject *power_in_place(PyObject *a, PyObject *b) { return PyNumber_InPlacePower(a, b, Py_None); }
template <int OPERATION>
PyObject *compared(PyObject *a, PyObject *b) {
    return PyObject_RichCompare(a, b, OPERATION);
}

struct Operator {
    const char *name;
    PyObject *(*of_two)(PyObject *, PyObject *);
    PyObject *(*in_place)(PyObject *, PyObject *);  // null of a comparison
    PyObject *(*of_one)(PyObject *);
};
constexpr Operator OPERATORS[] = {
    {"add", PyNumber_Add, PyNumber_InPlaceAdd, nullptr},
    {"subtract", PyNumber_Subtract, PyNumber_InPlaceSubtract, nullptr},
    {"multiply", PyNumber_Multiply, PyNumber_InPlaceMultiply, nullptr},
    {"divide", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide, nullptr},
    {"floor_divide", PyNumber_FloorDivide, PyNumber_InPlaceFloorDivide, nullptr},
    {"remainder", PyNumber_Remainder, PyNumber_InPlaceRemainder, nullptr},
    {"pow", power, power_in_place, nullptr},
    {"matmul", PyNumber_MatrixMultiply, PyNumber_InPlaceMatrixMultiply, nullptr},
    {"bitwise_and", PyNumber_And, PyNumber_InPlaceAnd, nullptr},
    {"bitwise_or", PyNumber_Or, PyNumber_InPlaceOr, nullptr},
    {"bitwise_xor", PyNumber_Xor, PyNumber_InPlaceXor, nullptr},
    {"bitwise_left_shift", PyNumber_Lshift, PyNumber_InPlaceLshift, nullptr},
    {"bitwise_right_shift", PyNumber_Rshift, PyNumber_InPlaceRshift, nullptr},
    {"equal", compared<Py_EQ>, nullptr, nullptr},
    {"not_equal", compared<Py_NE>, nullptr, nullptr},
    {"less", compared<Py_LT>, nullptr, nullptr},
    {"less_equal", compared<Py_LE>, nullptr, nullptr},
    {"greater", compared<Py_GT>, nullptr, nullptr},
    {"greater_equal", compared<Py_GE>, nullptr, nullptr},
    {"negative", nullptr, nullptr, PyNumber_Negative},
    {"positive", nullptr, nullptr, PyNumber_Positive},
    {"bitwise_invert", nullptr, nullptr, PyNumber_Invert},
};
constexpr int COUNT_OF_OPERATORS = sizeof OPERATORS / sizeof OPERATORS[0];
constexpr int POW = 6;
constexpr long NUMBER = 31, CHANGES = 32, TESTED = 64;  // how `operate` is told the operator
constexpr int BITS = 7;

PyObject *NAMES_OF_OPERATORS[COUNT_OF_OPERATORS];  // never let go of

// One operation that is carried out.
struct Operation {
    const Operator &is;
    bool in_place, is_pow;
    PyObject *a, *b;  // no second of an operator of one

    PyObject *done(PyObject *first, PyObject *second) const {
        if (b == nullptr) return is.of_one(first);
        return (in_place ? is.in_place : is.of_two)(first, second);
    }
    PyObject *name() const { return NAMES_OF_OPERATORS[&is - OPERATORS]; }
    // How it is written: of a scalar `**` looks for a loop, as `np.power` does; of an array it may be
    // a square. What `x += y` puts in the place of `x` is no operation in place.
    PyObject *form(const FastHook *self, PyObject *made) const {
        if (is_pow && class_of(self, a).sort == Sort::SCALAR) return self->parts[FUNCTION];
        return self->parts[in_place && made == a ? INPLACE : OPERATOR];
    }
};

// What the operands are cast to first, where the past does: None where NumPy 2 does the same.
Ref dtypes_of(const FastHook *self, const Operation &op) {
    const bool is_int = PyLong_CheckExact(op.a) || (op.b != nullptr && PyLong_CheckExact(op.b));
    if (op.b == nullptr || !is_any(self->past) || (self->refuses && !is_int)) return Ref::to(Py_None);
    return call_method(self->past, self, DTYPES,
                       {op.name(), op.a, op.b, self->parts[op.in_place ? INPLACE : OPERATOR]});
}

// An operand in a dtype, as the past has it. A float, or an int that every float holds, its class makes.
Ref cast_operand(const FastHook *self, PyObject *past, PyObject *x, PyObject *dtype) {
    constexpr long MOST_IN_HALF = 1 << 11;
    const auto *fields = reinterpret_cast<const DtypeFields *>(dtype);
    if (known_ndarray != nullptr && fields->kind == 'f') {
        int beyond = 0;
        const long whole = PyLong_CheckExact(x) ? PyLong_AsLongAndOverflow(x, &beyond) : MOST_IN_HALF;
        const bool is_small = beyond == 0 && -MOST_IN_HALF < whole && whole < MOST_IN_HALF;
        if (is_small || PyFloat_CheckExact(x) || class_of(self, x).read == Read::FLOAT) return call(fields->scalar, x);
    }
    return call_method(past, self, CAST_TO, {x, dtype});
}

// Carry it out on operands that are cast.
Ref carried_out(const FastHook *self, const Operation &op, PyObject *dtypes) {
    if (!PyTuple_Check(dtypes) || PyTuple_Size(dtypes) != 2) return Ref(op.done(op.a, op.b));
    const Ref past = Ref::to(self->past);
    Ref operands[] = {Ref::to(op.a), Ref::to(op.b)};
    for (int i = 0; i < 2; ++i) {
        PyObject *dtype = PyTuple_GetItem(dtypes, i);
        if (dtype != Py_None) operands[i] = cast_operand(self, past.get(), operands[i].get(), dtype);
        if (!operands[i]) return Ref(nullptr);
    }
    const bool alone = op.is_pow && class_of(self, op.a).sort == Sort::SCALAR;
    Ref made = alone ? call_method(past.get(), self, POWER, {operands[0].get(), operands[1].get()})
                     : Ref(op.done(operands[0].get(), operands[1].get()));
    if (!made || !call_method(past.get(), self, MADE_SO, {made.get()})) return Ref(nullptr);
    return made;
}

Ref recorded(FastHook *self, const Operation &op, long place) {
    const Class of_first = class_of(self, op.a), of_second = op.b == nullptr ? Class{Sort::NUMBER} : class_of(self, op.b);
    const Sort first = of_first.sort, second = of_second.sort;
    if (is_plain(first) && is_plain(second)) {
        const bool compares = op.b != nullptr && op.is.in_place == nullptr;
        if (compares && first >= Sort::LIST && second >= Sort::LIST &&
            !call_method(reinterpret_cast<PyObject *>(self), self, OF_LISTS, {op.name(), op.a, op.b}))
            return Ref(nullptr);
        return Ref(op.done(op.a, op.b));
    }
    const bool any = first == Sort::ARRAY || second == Sort::ARRAY;
    if (!any && first != Sort::SCALAR && second != Sort::SCALAR) return Ref(op.done(op.a, op.b));
    const Ref session = Ref::to(self->session);
    Key key;
    const bool values = self->by_value && (any || op.is_pow);
    const bool looks = add_operand(self, &key, op.a, of_first, values) &&
                       (op.b == nullptr || add_operand(self, &key, op.b, of_second, values)) && add_place(self, &key, place);
    const std::shared_ptr<Told> known = looks ? find(self, place, key) : nullptr;
    const bool asks = known == nullptr || (PyTuple_Check(known->dtypes.get()) && PyTuple_Size(known->dtypes.get()) == 0);
    Ref dtypes = asks ? dtypes_of(self, op) : Ref::to(known->dtypes.get());
    if (!dtypes) return dtypes;
    Ref made = carried_out(self, op, dtypes.get());
    if (!made || !is_array(self, made.get()) || self->session != session.get()) return made;
    const bool went_well = told(self, place, &key, looks, known, made.get(), std::move(dtypes), [&] {
        const Ref operands(op.b == nullptr ? Py_BuildValue("[O]", op.a) : Py_BuildValue("[OO]", op.a, op.b));
        if (!operands) return Ref(nullptr);
        return call_method(session.get(), self, OPERATOR_SEEN,
                           {op.name(), operands.get(), made.get(), frame_here(), op.form(self, made.get())});
    });
    return went_well ? std::move(made) : Ref(nullptr);
}

PyObject *operate(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    long given;
    if (!read_place("operate", args, count, 2, &given)) return nullptr;
    const long number = given & NUMBER;
    const Operation op{OPERATORS[number < COUNT_OF_OPERATORS ? number : 0], (given & CHANGES) != 0, number == POW,
                       args[1], count > 2 ? args[2] : nullptr};
    Ref made = is_recording(self) ? recorded(self, op, given >> BITS) : Ref(op.done(op.a, op.b));
    if ((given & TESTED) == 0 || !made || PyBool_Check(made.get())) return made.release();
    const int truth = PyObject_IsTrue(made.get());  // of which an error stands where the comparison does
    return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

// Tell of a part or a view of an array, or of what makes arrays of a key.
PyObject *told_of_view(FastHook *self, PyObject *name, PyObject *source, PyObject *key, Ref &&made) {
    const Sort sort = class_of(self, source).sort;
    if (!made || !is_recording(self) || is_plain(sort)) return made.release();
    PyObject *x = made.get();
    if (sort == Sort::OTHER) {
        const Ref operands(Py_BuildValue("[OO]", source, key));
        if (!operands) return nullptr;
        return go_on(call_method(reinterpret_cast<PyObject *>(self), self, OTHERWISE_VIEWED, {operands.get(), x, frame_here()}), x);
    }
    if (source == x || !is_array(self, x)) return made.release();
    const bool is_part = PyUnicode_Compare(name, self->names[REAL]) == 0 ||
                         PyUnicode_Compare(name, self->names[IMAG]) == 0;
    if (!is_part && carry_on(self, name, source, x)) return made.release();
    if (PyErr_Occurred()) return nullptr;
    return go_on(call_method(self->session, self, VIEWED, {name, source, x, frame_here()}), x);
}

PyObject *item(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "item takes 2 arguments, not %zd", count);
    static PyObject *const name = PyUnicode_InternFromString("__getitem__");
    return told_of_view(hook_of(object), name, args[0], args[1], Ref(PyObject_GetItem(args[0], args[1])));
}

PyObject *attribute(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "attribute takes 2 arguments, not %zd", count);
    return told_of_view(hook_of(object), args[1], args[0], Py_None, Ref(PyObject_GetAttr(args[0], args[1])));
}

// `x in values`.
PyObject *contains(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    if (count != 2) return PyErr_Format(PyExc_TypeError, "contains takes 2 arguments, not %zd", count);
    Ref values = Ref::to(args[1]);
    const Sort sort = class_of(self, args[1]).sort;
    if (is_recording(self) && (sort == Sort::LIST || sort == Sort::ARRAY || sort == Sort::OTHER))
        values = call_method(object, self, SEARCHED, {args[1], args[0]});
    const int found = values ? PySequence_Contains(values.get(), args[0]) : -1;
    return found < 0 ? nullptr : PyBool_FromLong(found);
}

// --- What is evaluated once and stands twice -----------------------------------------------------

constexpr std::size_t MOST_HELD = 1 << 16;  // no recursion goes so deep: these are of dead frames

PyObject *hold(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    long place;
    if (!read_place("hold", args, count, 2, &place)) return nullptr;
    Held dead;
    Ref old = Ref::to(args[1]);
    const Guard guard(self->cache->lock);
    if (self->held->size() >= MOST_HELD) dead.swap(*self->held);
    std::swap((*self->held)[{frame_here(), place}], old);
    return Py_NewRef(args[1]);
}

// Null without an error if nothing is held.
Ref take_held(FastHook *self, long place) {
    const Guard guard(self->cache->lock);
    return self->held->take({frame_here(), place});
}

PyObject *taken(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    long place;
    if (!read_place("taken", args, count, 1, &place)) return nullptr;
    Ref found = take_held(hook_of(object), place);
    if (!found) PyErr_SetString(PyExc_KeyError, "nothing is held here");
    return found.release();
}

// The end of a chain of comparisons, which may have stopped before all were needed.
PyObject *released(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    for (Py_ssize_t i = 1; i < count; ++i) {
        long place;
        if (!read_place("released", args + i, 1, 1, &place)) return nullptr;
        take_held(hook_of(object), place);
    }
    if (count > 0) return Py_NewRef(args[0]);
    PyErr_SetString(PyExc_TypeError, "released takes what a chain answered, and numbers");
    return nullptr;
}

// The array of `x[key] = value`, whose value is held.
PyObject *target(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    long place;
    if (!read_place("target", args, count, 2, &place)) return nullptr;
    PyObject *x = args[1];
    const Ref value = take_held(self, place);
    if (!value || !is_recording(self) || class_of(self, x).sort != Sort::ARRAY) return Py_NewRef(x);
    const Ref session = Ref::to(self->session);
    Key key;
    const bool looks = add_operand(self, &key, x, self->by_value) && add_operand(self, &key, value.get(), self->by_value) &&
                       add_place(self, &key, place);
    const std::shared_ptr<Told> known = looks ? find(self, place, key) : nullptr;
    const bool went_well = told(self, place, &key, looks, of_values(known, value.get()), Py_None, Ref::to(Py_None), [&] {
        return call_method(session.get(), self, ASSIGNED, {x, value.get(), frame_here()});
    });
    if (!went_well) return nullptr;
    const ArrayFields *fields = fields_of(x);
    const bool holds_all = fields != nullptr && fields->dtype->kind != 'i' && fields->dtype->kind != 'u';
    if (!is_any(self->past) || holds_all) return Py_NewRef(x);
    return call_method(self->past, self, TARGET, {x, value.get()}).release();
}

// Forget what is held of an array and its views, as nothing is to refer to it.
PyObject *forget(PyObject *object, PyObject *array) {
    FastHook *self = hook_of(object);
    std::vector<std::pair<PyObject *, long>> of_array;
    for (const auto &slot : self->held->slots()) {
        const Ref base(slot.used ? PyObject_GetAttr(slot.value.get(), self->names[BASE]) : nullptr);
        PyErr_Clear();  // of what is no array
        if (slot.used && (slot.value.get() == array || base.get() == array)) of_array.push_back(slot.key);
    }
    for (const auto &key : of_array) self->held->take(key);
    Py_RETURN_NONE;
}

// --- The type ------------------------------------------------------------------------------------

PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"ndarray", "generic", "dtype", "plain", "inplace", "operator", "function",
                                  "callee_of", "function_type", "method_type", "ufunc", "dispatcher", "stand_in",
                                  "otherwise", "scalar_class", "is_library", "move", "kinds", "floats", "ints", nullptr};
    PyObject *given[PARTS], *floats, *ints;
    PyObject *const kind = reinterpret_cast<PyObject *>(&PyType_Type);
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "$O!O!O!O!OOOOO!O!O!O!OO!OOUUO!O!", const_cast<char **>(names), kind, &given[NDARRAY], kind,
            &given[GENERIC], kind, &given[NUMPY_DTYPE], &PyFrozenSet_Type, &given[PLAIN], &given[INPLACE],
            &given[OPERATOR], &given[FUNCTION], &given[CALLEE_OF], kind, &given[FUNCTION_TYPE], kind,
            &given[METHOD_TYPE], kind, &given[UFUNC], kind, &given[DISPATCHER], &given[STAND_IN], kind,
            &given[OTHERWISE], &given[SCALAR_CLASS], &given[IS_LIBRARY], &given[MOVE], &given[KINDS], &PyList_Type,
            &floats, &PyList_Type, &ints))
        return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    FastHook *self = hook_of(made.get());
    self->cache = new (std::nothrow) Cache;
    self->held = new (std::nothrow) Held;
    self->stand_ins = new (std::nothrow) FlatMap<PyObject *, Maker>;
    if (self->cache == nullptr || self->held == nullptr || self->stand_ins == nullptr) return PyErr_NoMemory();
    for (PyObject **part : {&self->session, &self->past, &self->recorder, &self->carried, &self->report})
        *part = Py_NewRef(Py_None);
    for (int part = 0; part < PARTS; ++part) self->parts[part] = Py_NewRef(given[part]);
    for (int name = 0; name < NAMES; ++name)
        if ((self->names[name] = PyUnicode_InternFromString(HOOK_NAMES[name])) == nullptr) return nullptr;
    look_at_arrays(given[NDARRAY]);
    self->functions = PyDict_New();
    self->callees = PyDict_New();
    const bool is_made = self->functions != nullptr && self->callees != nullptr;
    return is_made && read_borders(self->cache, floats, ints) ? made.release() : nullptr;
}

Py_ssize_t hook_length(PyObject *object) { return static_cast<Py_ssize_t>(hook_of(object)->held->size()); }

PyObject *get_session(PyObject *object, void *) { return Py_NewRef(hook_of(object)->session); }

// Record what is seen from here on, or nothing.
PyObject *tell(PyObject *object, PyObject *args) {
    FastHook *self = hook_of(object);
    PyObject *session, *past, *recorder, *carried;
    int by_value;
    if (!PyArg_ParseTuple(args, "OOOOp", &session, &past, &recorder, &carried, &by_value)) return nullptr;
    if (session != Py_None && !is_carried(carried)) {
        PyErr_SetString(PyExc_TypeError, "what arrays carry is in a Carried");
        return nullptr;
    }
    if (!flush(self)) return nullptr;
    forget_calls(self);
    PyObject **const fields[] = {&self->session, &self->past, &self->recorder, &self->carried};
    PyObject *const given[] = {session, past, recorder, carried};
    for (int i = 0; i < 4; ++i) Ref(std::exchange(*fields[i], Py_NewRef(given[i])));
    self->by_value = by_value;
    self->refuses = !PyObject_HasAttrString(past, "policy");
    decltype(*self->stand_ins) &kept = *self->stand_ins;
    std::remove_reference_t<decltype(kept)> old;  // which hang on what is recorded
    old.swap(kept);
    if (!flush(self)) return nullptr;
    Py_RETURN_NONE;
}

PyObject *hook_flush(PyObject *object, PyObject *) {
    if (!flush(hook_of(object))) return nullptr;
    Py_RETURN_NONE;
}

PyObject *hook_number_class(PyObject *object, PyObject *x) { return number_class(hook_of(object), x).release(); }

PyObject *hook_forget_calls(PyObject *object, PyObject *) {
    if (!flush(hook_of(object))) return nullptr;
    forget_calls(hook_of(object));
    Py_RETURN_NONE;
}

int hook_traverse(PyObject *object, visitproc visit, void *arg) {
    FastHook *self = hook_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    for (PyObject *part : {self->session, self->past, self->recorder, self->carried, self->report, self->functions, self->callees})
        Py_VISIT(part);
    if (self->cache == nullptr || self->held == nullptr || self->stand_ins == nullptr) return 0;
    for (const auto &slot : self->stand_ins->slots()) {
        Py_VISIT(slot.value.kind.get());
        Py_VISIT(slot.value.maker.get());
    }
    for (const auto &slot : self->held->slots()) Py_VISIT(slot.value.get());
    return traverse(*self->cache, visit, arg);
}

int hook_release(PyObject *object) {
    FastHook *self = hook_of(object);
    delete self->cache;
    delete self->held;
    delete self->stand_ins;
    self->cache = nullptr;
    self->held = nullptr;
    self->stand_ins = nullptr;
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (PyObject *&name : self->names) Py_CLEAR(name);
    for (PyObject **part : {&self->session, &self->past, &self->recorder, &self->carried, &self->report, &self->functions, &self->callees})
        Py_CLEAR(*part);
    return 0;
}

template <PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t)>
constexpr PyMethodDef method_def(const char *name, const char *doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}

PyMethodDef hook_methods[] = {
    {"tell", tell, METH_VARARGS, "Have a session, its past and its recorder told of what is seen."},
    {"flush", hook_flush, METH_NOARGS, "Tell the report how often calls were told again."},
    {"forget_calls", hook_forget_calls, METH_NOARGS, "Forget what was told of calls."},
    {"number_class", hook_number_class, METH_O, "The class of a number: equal for those that no policy tells apart."},
    method_def<operate>("operate", "Carry out an operator."),
    method_def<item>("item", "An item of an object."),
    method_def<attribute>("attribute", "An attribute that is a part or a view of an array."),
    method_def<contains>("contains", "Whether a value is among others."),
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_function)), METH_FASTCALL | METH_KEYWORDS,
     "Call a function."},
    method_def<bound>("bound", "A function that is called with what is in a sequence or a dict, or later told of."),
    {"result", result_of, METH_O, "What such a function returned."},
    method_def<target>("target", "The array of ``x[key] = value``, whose value is held."),
    method_def<hold>("hold", "A value that is needed again."),
    method_def<taken>("taken", "That value."),
    method_def<released>("released", "The end of a chain of comparisons."),
    {"forget", forget, METH_O, "Forget what is held of an array and its views."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef hook_getset[] = {{"session", get_session, nullptr, "Who is told, or None.", nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot hook_slots[] = {
    {Py_tp_doc, const_cast<char *>("What carries out the operations of rewritten programs.")},
    {Py_tp_new, reinterpret_cast<void *>(hook_new)},
    {Py_tp_methods, hook_methods},
    {Py_tp_getset, hook_getset},
    {Py_mp_length, reinterpret_cast<void *>(hook_length)},
    {Py_tp_traverse, reinterpret_cast<void *>(hook_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<hook_release>)},
    {0, nullptr}};

}  // namespace

PyObject *operator_names() {
    PyObject *names = PyTuple_New(COUNT_OF_OPERATORS);
    for (int i = 0; names != nullptr && i < COUNT_OF_OPERATORS; ++i) {
        NAMES_OF_OPERATORS[i] = PyUnicode_InternFromString(OPERATORS[i].name);
        PyTuple_SetItem(names, i, Py_XNewRef(NAMES_OF_OPERATORS[i]));
    }
    return names;
}

bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, long *place) {
    if (count < least) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", method, least, count);
        return false;
    }
    *place = PyLong_AsLong(args[0]);
    return *place != -1 || !PyErr_Occurred();
}

Ref call_method(PyObject *object, const FastHook *self, Name name, std::initializer_list<PyObject *> given) {
    PyObject *all[8] = {object};
    std::size_t count = 1;
    for (PyObject *each : given) all[count++] = each;
    return Ref(PyObject_VectorcallMethod(self->names[name], all, count, nullptr));
}

PyType_Spec hook_spec = {"promoarray.diagnostics.record._seen.FastHook", sizeof(FastHook), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, hook_slots};

}  // namespace promoarray
