#include "hook.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "dtype_map.h"
#include "glance.h"
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
    Glance glance = Glance::NONE;  // of one whose result may lose what its operands have
};
constexpr Operator OPERATORS[] = {
    {"add", PyNumber_Add, PyNumber_InPlaceAdd, nullptr, Glance::ADD},
    {"subtract", PyNumber_Subtract, PyNumber_InPlaceSubtract, nullptr, Glance::SUBTRACT},
    {"multiply", PyNumber_Multiply, PyNumber_InPlaceMultiply, nullptr, Glance::MULTIPLY},
    {"divide", PyNumber_TrueDivide, PyNumber_InPlaceTrueDivide, nullptr, Glance::DIVIDE},
    {"floor_divide", PyNumber_FloorDivide, PyNumber_InPlaceFloorDivide, nullptr, Glance::FLOOR_DIVIDE},
    {"remainder", PyNumber_Remainder, PyNumber_InPlaceRemainder, nullptr, Glance::REMAINDER},
    {"pow", power, power_in_place, nullptr, Glance::POW},
    {"matmul", PyNumber_MatrixMultiply, PyNumber_InPlaceMatrixMultiply, nullptr, Glance::MATMUL},
    {"bitwise_and", PyNumber_And, PyNumber_InPlaceAnd, nullptr},
    {"bitwise_or", PyNumber_Or, PyNumber_InPlaceOr, nullptr},
    {"bitwise_xor", PyNumber_Xor, PyNumber_InPlaceXor, nullptr},
    {"bitwise_left_shift", PyNumber_Lshift, PyNumber_InPlaceLshift, nullptr, Glance::SHIFT},
    {"bitwise_right_shift", PyNumber_Rshift, PyNumber_InPlaceRshift, nullptr},
    {"equal", compared<Py_EQ>, nullptr, nullptr},
    {"not_equal", compared<Py_NE>, nullptr, nullptr},
    {"less", compared<Py_LT>, nullptr, nullptr},
    {"less_equal", compared<Py_LE>, nullptr, nullptr},
    {"greater", compared<Py_GT>, nullptr, nullptr},
    {"greater_equal", compared<Py_GE>, nullptr, nullptr},
    {"negative", nullptr, nullptr, PyNumber_Negative, Glance::NEGATIVE},
    {"positive", nullptr, nullptr, PyNumber_Positive},
    {"bitwise_invert", nullptr, nullptr, PyNumber_Invert},
};
constexpr int COUNT_OF_OPERATORS = sizeof OPERATORS / sizeof OPERATORS[0];
constexpr int POW = 6;
constexpr long NUMBER = 31, CHANGES = 32, TESTED = 64, OF_ATTRIBUTE = 128;  // how it is told the operator
constexpr int BITS = 8;

PyObject *NAMES_OF_OPERATORS[COUNT_OF_OPERATORS];  // never let go of

// One operation that is carried out.
struct Operation {
    const Operator &is;
    bool in_place;
    PyObject *a, *b;  // no second of an operator of one

    Operation(long given, PyObject *first, PyObject *second)
        : is(OPERATORS[(given & NUMBER) < COUNT_OF_OPERATORS ? given & NUMBER : 0]),
          in_place((given & CHANGES) != 0 && is.in_place != nullptr), a(first), b(is.of_one != nullptr ? nullptr : second) {}

    PyObject *done(PyObject *first, PyObject *second) const {
        if (b == nullptr) return is.of_one(first);
        return (in_place ? is.in_place : is.of_two)(first, second);
    }
    PyObject *name() const { return NAMES_OF_OPERATORS[&is - OPERATORS]; }
    bool is_pow() const { return &is - OPERATORS == POW; }
};

// What the operands are cast to first, where the past does: None where NumPy 2 does the same.
Ref dtypes_of(const FastHook *self, const Operation &op) {
    const bool is_int = PyLong_CheckExact(op.a) || (op.b != nullptr && PyLong_CheckExact(op.b));
    if (op.b == nullptr || self->past == Py_None || (self->refuses && !is_int)) return Ref::to(Py_None);
    return Ref(PyObject_CallMethod(self->past, "dtypes", "OOOO", op.name(), op.a, op.b, op.in_place ? Py_True : Py_False));
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
    return Ref(PyObject_CallMethod(past, "cast_to", "OO", x, dtype));
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
    const bool alone = op.is_pow() && class_of(self, op.a).sort == Sort::SCALAR;
    Ref made = alone ? Ref(PyObject_CallMethod(past.get(), "power", "OO", operands[0].get(), operands[1].get()))
                     : Ref(op.done(operands[0].get(), operands[1].get()));
    if (!made || !Ref(PyObject_CallMethod(past.get(), "made_so", "(O)", made.get()))) return Ref(nullptr);
    return made;
}

// What tells the line of an operation, which made an array, from others (flow.py); null if none did.
Ref line_of(const FastHook *self, PyObject *x) {
    static PyObject *const name = PyUnicode_InternFromString("context");
    const Ref slot = slot_of(self->carried, x);
    const Ref context(slot ? PyObject_GetAttr(slot.get(), name) : nullptr);
    if (!context || !PyTuple_Check(context.get()) || PyTuple_Size(context.get()) == 0) {
        PyErr_Clear();
        return Ref(nullptr);
    }
    return Ref::to(PyTuple_GetItem(context.get(), 0));
}

// Whether an operand of a sum is what the same line made in the pass before.
bool is_fed(const FastHook *self, PyObject *x, PyObject *made) {
    const Ref own = line_of(self, made), line = own ? line_of(self, x) : Ref(nullptr);
    return own && line && PyObject_RichCompareBool(own.get(), line.get(), Py_EQ) == 1;
}

// Look at what an operator made; of one in place `before` has the operands as they were. False with the
// error.
bool check_operator(FastHook *self, long place, const Operation &op, PyObject *before, PyObject *made) {
    Where where;
    if (!where_of(self, place, op.name(), &where)) return false;
    PyObject *first = op.a, *second = op.b;
    if (before != Py_None) {
        PyObject *operands = PyTuple_GetItem(before, 0);
        if (operands == nullptr) return false;
        first = PyTuple_GetItem(operands, 0);
        second = PyTuple_GetItem(operands, 1);
    }
    const bool is_looked = is_looked_at(self, made);
    const bool sums = op.is.glance == Glance::ADD || op.is.glance == Glance::SUBTRACT;
    const bool updates = is_looked && sums && (op.in_place || is_fed(self, op.a, made));
    const bool swapped = is_looked && op.is.glance == Glance::ADD && !updates && is_fed(self, op.b, made);
    if (swapped) std::swap(first, second);
    const bool is_clean = !is_looked || lost_nothing(self, op.is.glance, first, second, made, updates || swapped);
    if (PyErr_Occurred()) return false;
    if (is_clean) return count_clean(self, where);
    const Ref operands(op.b == nullptr ? PyTuple_Pack(1, op.a) : PyTuple_Pack(2, op.a, op.b)), at = told_where(where);
    return operands && at &&
           Ref(PyObject_CallMethod(self->session, "operated", "OLOOOOOO", at.get(), taken_clean(self, where), op.name(),
                                   operands.get(), op.in_place ? Py_True : Py_False, before, made, frame_here()));
}

constexpr int MOST_CLASSES = 256;

// Whether a library that nobody records computes with NumPy in an object, as pandas does in a Series; -1
// with the error.
int is_foreign(const FastHook *self, PyObject *x) {
    PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(x));
    PyObject *known = PyDict_GetItemWithError(self->foreign, type);
    if (known != nullptr || PyErr_Occurred()) return known == nullptr ? -1 : known == Py_True;
    if (PyDict_Size(self->foreign) >= MOST_CLASSES) PyDict_Clear(self->foreign);  // which holds them
    const Ref found(PyObject_CallMethod(self->session, "is_foreign", "(O)", type));
    if (!found || PyDict_SetItem(self->foreign, type, found.get()) != 0) return -1;
    return found.get() == Py_True;
}

// Name what is done with such an object; false with the error.
bool name_foreign(const FastHook *self, PyObject *name, std::initializer_list<PyObject *> operands) {
    for (PyObject *x : operands) {
        if (x == nullptr || class_of(self, x).sort != Sort::OTHER) continue;
        const int foreign = is_foreign(self, x);
        if (foreign != 0) return foreign > 0 && Ref(PyObject_CallMethod(self->session, "elsewhere", "OOO", name, x, frame_here()));
    }
    return true;
}

Ref recorded(FastHook *self, const Operation &op, long place) {
    const Class of_first = class_of(self, op.a), of_second = op.b == nullptr ? Class{Sort::NUMBER} : class_of(self, op.b);
    const Sort first = of_first.sort, second = of_second.sort;
    if (is_plain(first) && is_plain(second)) {
        const bool compares = op.b != nullptr && op.is.in_place == nullptr;
        PyObject *object = reinterpret_cast<PyObject *>(self);
        if (compares && first >= Sort::LIST && second >= Sort::LIST &&
            !Ref(PyObject_CallMethod(object, "of_lists", "OOO", op.name(), op.a, op.b)))
            return Ref(nullptr);
        return Ref(op.done(op.a, op.b));
    }
    const bool any = first == Sort::ARRAY || second == Sort::ARRAY;
    if ((first == Sort::OTHER || second == Sort::OTHER) && !name_foreign(self, op.name(), {op.a, op.b})) return Ref(nullptr);
    if (!any && first != Sort::SCALAR && second != Sort::SCALAR) return Ref(op.done(op.a, op.b));
    const Ref session = Ref::to(self->session);  // which another may take the place of meanwhile
    const bool values = self->by_value && (any || op.is_pow()), checks = self->checks != 0 && op.is.glance != Glance::NONE;
    Asked asked(self, place, [&](Key *key) {
        return add_operand(self, key, op.a, of_first, values) &&
               (op.b == nullptr || add_operand(self, key, op.b, of_second, values)) && add_place(self, key, place);
    });
    PyObject *cast = asked.told != nullptr ? asked.told->dtypes.get() : nullptr;
    const bool asks = cast == nullptr || (PyTuple_Check(cast) && PyTuple_Size(cast) == 0);
    Ref dtypes = asks ? dtypes_of(self, op) : Ref::to(cast);
    if (!dtypes) return dtypes;
    Ref before = Ref::to(Py_None);  // what an array has that is about to be written over
    if (checks && op.in_place && first == Sort::ARRAY && is_looked_at(self, op.a))
        before = Ref(PyObject_CallMethod(session.get(), "before", "OO", op.a, op.b));
    Ref made = before ? carried_out(self, op, dtypes.get()) : Ref(nullptr);
    if (!made) {
        const Ref given(op.b == nullptr ? PyTuple_Pack(1, op.a) : PyTuple_Pack(2, op.a, op.b));
        tell_failed(self, op.name(), given.get(), Py_None, op.in_place);
        return made;
    }
    if (self->session != session.get()) return made;
    if (!is_array(self, made.get())) {
        const Ref given(op.b == nullptr ? Py_BuildValue("[O]", op.a) : Py_BuildValue("[OO]", op.a, op.b));
        return given && tell_wrapped(self, op.name(), given.get(), Py_None, made.get()) ? std::move(made) : Ref(nullptr);
    }
    const bool went_well = asked.tell(self, place, nullptr, made.get(), std::move(dtypes), [&] {
        const Ref operands(op.b == nullptr ? Py_BuildValue("[O]", op.a) : Py_BuildValue("[OO]", op.a, op.b));
        if (!operands) return Ref(nullptr);  // what `x += y` puts in the place of `x` is nothing in place
        return Ref(PyObject_CallMethod(session.get(), "operator", "OOOOO", op.name(), operands.get(), made.get(),
                                       frame_here(), op.in_place && made.get() == op.a ? Py_True : Py_False));
    });
    if (went_well && checks && !check_operator(self, place, op, before.get(), made.get())) return Ref(nullptr);
    return went_well ? std::move(made) : Ref(nullptr);
}

Ref done(FastHook *self, const Operation &op, long given) {
    return is_recording(self) ? recorded(self, op, given >> BITS) : Ref(op.done(op.a, op.b));
}

PyObject *operate(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    long given;
    if (!read_place("operate", args, count, 2, &given)) return nullptr;
    const Operation op(given, args[1], count > 2 ? args[2] : Py_None);
    Ref made = done(hook_of(object), op, given);
    if ((given & TESTED) == 0 || !made || PyBool_Check(made.get())) return made.release();
    const int truth = PyObject_IsTrue(made.get());  // of which an error stands where the comparison does
    return truth < 0 ? nullptr : PyBool_FromLong(truth);
}

// --- Parts, and what is stored in them -----------------------------------------------------------

// Whether it is an array or a scalar, asked while an error is set.
bool is_of_numpys(const FastHook *self, PyObject *x) {
    return PyObject_TypeCheck(x, type_in(self, NDARRAY)) || PyObject_TypeCheck(x, type_in(self, GENERIC));
}

// Tell of a part or a view of an array, or of what makes arrays of a key.
Ref told_of_view(FastHook *self, PyObject *name, PyObject *source, PyObject *key, Ref &&made) {
    if (!is_recording(self)) return std::move(made);
    if (!made) {
        if (is_of_numpys(self, source) && key != Py_None) {
            const Ref given(PyTuple_Pack(2, source, key));
            tell_failed(self, name, given.get(), Py_None);
        }
        return std::move(made);  // its error stays as it is
    }
    const Sort sort = class_of(self, source).sort;
    if (is_plain(sort)) return std::move(made);
    PyObject *x = made.get();
    Ref answer(nullptr);
    if (sort == Sort::OTHER) {
        PyObject *object = reinterpret_cast<PyObject *>(self);
        answer = Ref(PyObject_CallMethod(object, "_otherwise_viewed", "OOOO", source, key, x, frame_here()));
    } else {
        if (source == x || !is_array(self, x)) return std::move(made);
        const bool is_part = PyUnicode_CompareWithASCIIString(name, "real") == 0 ||
                             PyUnicode_CompareWithASCIIString(name, "imag") == 0;
        if (!is_part && carry_on(self, name, source, x)) return std::move(made);
        if (PyErr_Occurred()) return Ref(nullptr);
        answer = Ref(PyObject_CallMethod(self->session, "viewed", "OOOO", name, source, x, frame_here()));
    }
    return answer ? std::move(made) : Ref(nullptr);
}

Ref item_of(FastHook *self, PyObject *x, PyObject *key) {
    static PyObject *const name = PyUnicode_InternFromString("__getitem__");
    return told_of_view(self, name, x, key, Ref(PyObject_GetItem(x, key)));
}

Ref attribute_of(FastHook *self, PyObject *x, PyObject *name) {
    return told_of_view(self, name, x, Py_None, Ref(PyObject_GetAttr(x, name)));
}

Ref plain_attribute_of(FastHook *, PyObject *x, PyObject *name) { return Ref(PyObject_GetAttr(x, name)); }

template <Ref (*part)(FastHook *, PyObject *, PyObject *), bool IS_KEPT>
PyObject *part_of(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) return PyErr_Format(PyExc_TypeError, "it takes 2 arguments, not %zd", count);
    Ref made = part(hook_of(object), args[0], args[1]);
    return made && IS_KEPT ? PyTuple_Pack(3, args[0], args[1], made.get()) : made.release();
}

// Whether an array is of NumPy's own class, and holds what was made as it is.
bool has_dtype_of(const FastHook *self, PyObject *array, PyObject *made) {
    const ArrayFields *fields = fields_of(array), *stored = fields_of(made);
    if (fields == nullptr) return false;
    PyObject *dtype = stored != nullptr ? reinterpret_cast<PyObject *>(stored->dtype) : class_of(self, made).dtype;
    return dtype == reinterpret_cast<PyObject *>(fields->dtype);
}

// `x[key] += y` and `x.name += y`, of what was loaded with its owner and key: what is to be stored,
// where and as what.
PyObject *augment(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    long given;
    PyObject *owner, *key, *old;
    if (!read_place("augment", args, count, 3, &given) || !PyArg_ParseTuple(args[1], "OOO", &owner, &key, &old))
        return nullptr;
    const Operation op(given, old, args[2]);
    const Ref made = done(self, op, given);
    if (!made) return nullptr;
    Ref target = Ref::to(owner);
    const bool is_attribute = (given & OF_ATTRIBUTE) != 0, stores_otherwise = self->past != Py_None && !self->refuses;
    if (!is_attribute && stores_otherwise && class_of(self, owner).sort == Sort::ARRAY &&
        !has_dtype_of(self, owner, made.get()))
        target = Ref(PyObject_CallMethod(object, "storing", "(O)", owner));
    return target ? PyTuple_Pack(3, target.get(), key, made.get()) : nullptr;
}

// Look at a value that is about to be stored in an array; false with the error.
bool check_store(FastHook *self, long place, PyObject *target, PyObject *value) {
    static PyObject *const name = PyUnicode_InternFromString("__setitem__");
    Where where;
    if (!where_of(self, place, name, &where)) return false;
    if (is_held_as_it_is(self, target, value)) return count_clean(self, where);
    const Ref at = told_where(where);
    return at && Ref(PyObject_CallMethod(self->session, "stored", "OLOOO", at.get(), taken_clean(self, where), target,
                                         value, frame_here()));
}

// What a value is stored in by `x[key] = value`, of which the session is told; null with the error.
Ref told_target(FastHook *self, long place, PyObject *x, PyObject *key, PyObject *value) {
    static PyObject *const name = PyUnicode_InternFromString("__setitem__");
    const Class known = class_of(self, x);
    if (!is_recording(self)) return Ref::to(x);
    if (known.sort != Sort::ARRAY) return name_foreign(self, name, {x}) ? Ref::to(x) : Ref(nullptr);
    const Ref session = Ref::to(self->session);
    const Class of_value = class_of(self, value);
    Asked asked(self, place, [&](Key *alike) {
        return add_operand(self, alike, x, known, self->by_value) &&
               add_operand(self, alike, value, of_value, self->by_value) && add_place(self, alike, place);
    });
    const bool went_well = asked.tell(self, place, value, Py_None, Ref::to(Py_None), [&] {
        return Ref(PyObject_CallMethod(session.get(), "assigned", "OOOO", x, key, value, frame_here()));
    });
    if (!went_well) return Ref(nullptr);
    if (self->checks != 0 && !check_store(self, place, x, value)) return Ref(nullptr);
    const ArrayFields *fields = fields_of(x);
    const bool holds_all = fields != nullptr && fields->dtype->kind != 'i' && fields->dtype->kind != 'u';
    if (self->past == Py_None || holds_all) return Ref::to(x);
    return Ref(PyObject_CallMethod(self->past, "target", "OOO", x, key, value));
}

// `x[key] = value`, whose parts come in the order in which Python evaluates them: the same of it.
PyObject *store(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    long place;
    if (!read_place("store", args, count, 4, &place)) return nullptr;
    const Ref target = told_target(hook_of(object), place, args[2], args[3], args[1]);
    return target ? PyTuple_Pack(3, target.get(), args[3], args[1]) : nullptr;
}

// Store what was told, of which an error stands at the target.
template <int (*stored)(PyObject *, PyObject *, PyObject *)>
PyObject *put(PyObject *object, PyObject *what) {
    PyObject *target, *key, *value;
    if (!PyArg_ParseTuple(what, "OOO", &target, &key, &value)) return nullptr;
    if (stored(target, key, value) != 0) {
        static PyObject *const name = PyUnicode_InternFromString("__setitem__");
        const FastHook *self = hook_of(object);
        if (stored == PyObject_SetItem && is_recording(self) && is_of_numpys(self, target))
            tell_failed(self, name, what, Py_None);
        return nullptr;
    }
    Py_RETURN_NONE;
}

// `x in values`.
PyObject *contains(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    FastHook *self = hook_of(object);
    if (count != 2) return PyErr_Format(PyExc_TypeError, "contains takes 2 arguments, not %zd", count);
    Ref values = Ref::to(args[1]);
    const Sort sort = class_of(self, args[1]).sort;
    if (is_recording(self) && (sort == Sort::LIST || sort == Sort::ARRAY || sort == Sort::OTHER))
        values = Ref(PyObject_CallMethod(object, "searched", "OO", args[1], args[0]));
    const int found = values ? PySequence_Contains(values.get(), args[0]) : -1;
    return found < 0 ? nullptr : PyBool_FromLong(found);
}

// --- The type ------------------------------------------------------------------------------------

PyObject *hook_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *parts, *floats, *ints;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyTuple_Type, &parts, &PyList_Type, &floats, &PyList_Type, &ints))
        return nullptr;
    bool fits = PyTuple_Size(parts) == PARTS;
    for (int part = 0; fits && part < PARTS; ++part)
        fits = part < PLAIN ? PyType_Check(PyTuple_GetItem(parts, part))
                            : part != PLAIN || PyFrozenSet_Check(PyTuple_GetItem(parts, part));
    if (!fits) return PyErr_Format(PyExc_TypeError, "a hook is made of classes, a frozenset and functions");
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    FastHook *self = hook_of(made.get());
    self->cache = new (std::nothrow) Cache;
    if (self->cache == nullptr) return PyErr_NoMemory();
    for (PyObject **part : {&self->session, &self->past, &self->recorder, &self->carried}) *part = Py_NewRef(Py_None);
    for (int part = 0; part < PARTS; ++part) self->parts[part] = Py_NewRef(PyTuple_GetItem(parts, part));
    for (int name = 0; name < NAMES; ++name)
        if ((self->names[name] = PyUnicode_InternFromString(HOOK_NAMES[name])) == nullptr) return nullptr;
    look_at_arrays(self->parts[NDARRAY]);
    self->kinds = PyDict_New();
    self->foreign = PyDict_New();
    const bool is_made = self->kinds != nullptr && self->foreign != nullptr;
    return is_made && self->cache->borders.read(floats, ints) ? made.release() : nullptr;
}

PyObject *get_session(PyObject *object, void *) { return Py_NewRef(hook_of(object)->session); }

// Record what is seen from here on, or nothing.
PyObject *tell_of(PyObject *object, PyObject *args) {
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
    const Ref kinds(std::exchange(self->kinds, PyDict_New()));  // which hang on what is recorded
    std::fill(std::begin(self->cache->functions), std::end(self->cache->functions), Cache::Found{});
    if (self->kinds == nullptr) return nullptr;
    PyDict_Clear(self->foreign);
    PyObject **const fields[] = {&self->session, &self->past, &self->recorder, &self->carried};
    PyObject *const given[] = {session, past, recorder, carried};
    for (int i = 0; i < 4; ++i) Ref(std::exchange(*fields[i], Py_NewRef(given[i])));
    self->by_value = by_value;
    self->refuses = !PyObject_HasAttrString(past, "policy");
    const Ref checks(PyObject_HasAttrString(session, "checks") ? PyObject_GetAttrString(session, "checks") : PyLong_FromLong(0));
    self->checks = checks ? static_cast<int>(PyLong_AsLong(checks.get())) : 0;
    if (PyErr_Occurred()) return nullptr;
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

// It lives as long as Python does, and refers to nothing once nothing is recorded: the collector of
// garbage need not look through all calls that are known.
void hook_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    FastHook *self = hook_of(object);
    delete self->cache;
    self->cache = nullptr;
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (PyObject *&name : self->names) Py_CLEAR(name);
    for (PyObject **part : {&self->session, &self->past, &self->recorder, &self->carried, &self->kinds, &self->foreign}) Py_CLEAR(*part);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

template <PyObject *(*function)(PyObject *, PyObject *const *, Py_ssize_t)>
constexpr PyMethodDef method_def(const char *name, const char *doc) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}

PyMethodDef hook_methods[] = {
    {"tell", tell_of, METH_VARARGS, "Have a session, its past and its recorder told of what is seen."},
    {"flush", hook_flush, METH_NOARGS, "Tell the recorder how often calls were told again."},
    {"forget_calls", hook_forget_calls, METH_NOARGS, "Forget what was told of calls."},
    {"number_class", hook_number_class, METH_O, "The class of a number: equal for those that no policy tells apart."},
    method_def<operate>("operate", "Carry out an operator."),
    method_def<part_of<item_of, false>>("item", "An item of an object."),
    method_def<part_of<attribute_of, false>>("attribute", "An attribute that is a part or a view of an array."),
    method_def<part_of<item_of, true>>("loaded_item", "An item, with its owner and its key."),
    method_def<part_of<plain_attribute_of, true>>("loaded_attribute", "An attribute, with its owner and its name."),
    method_def<augment>("augment", "Carry out an operation in place on what was loaded."),
    method_def<store>("store", "Tell of a value that is about to be stored."),
    {"put", put<PyObject_SetItem>, METH_O, "Store it."},
    {"put_attribute", put<PyObject_SetAttr>, METH_O, "Store it as an attribute."},
    method_def<contains>("contains", "Whether a value is among others."),
    {"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_function)), METH_FASTCALL | METH_KEYWORDS,
     "Call a function."},
    {"call_later", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_later)),
     METH_FASTCALL | METH_KEYWORDS, "Call a function, and answer what `result` is given."},
    {"result", result_of, METH_O, "What such a function returned, of which is told now."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef hook_getset[] = {{"session", get_session, nullptr, "Who is told, or None.", nullptr},
                             {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot hook_slots[] = {
    {Py_tp_doc, const_cast<char *>("What carries out the operations of rewritten programs.")},
    {Py_tp_new, reinterpret_cast<void *>(hook_new)},
    {Py_tp_methods, hook_methods},
    {Py_tp_getset, hook_getset},
    {Py_tp_dealloc, reinterpret_cast<void *>(hook_dealloc)},
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

void tell_failed(const FastHook *self, PyObject *what, PyObject *given, PyObject *keywords, bool in_place) {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    if (given != nullptr && keywords != nullptr && value != nullptr)
        Ref(PyObject_CallMethod(self->session, "failed", "OOOOOO", what, given, keywords, value, frame_here(),
                                in_place ? Py_True : Py_False));
    PyErr_Clear();
    PyErr_Restore(kind, value, traceback);
}

bool tell_wrapped(const FastHook *self, PyObject *what, PyObject *given, PyObject *keywords, PyObject *made) {
    if (made == Py_None || class_of(self, made).sort != Sort::OTHER) return true;
    return static_cast<bool>(
        Ref(PyObject_CallMethod(self->session, "wrapped", "OOOOO", what, given, keywords, made, frame_here())));
}

bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, long *place) {
    if (count < least) {
        PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", method, least, count);
        return false;
    }
    *place = PyLong_AsLong(args[0]);
    return *place != -1 || !PyErr_Occurred();
}

PyType_Spec hook_spec = {"promoarray.diagnostics.record._seen.FastHook", sizeof(FastHook), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, hook_slots};

}  // namespace promoarray
