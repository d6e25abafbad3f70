// What was told of calls, found again by their place and what those have in common that are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "key.h"
#include "ref.h"

namespace promoarray {

struct FastHook;

#ifdef Py_GIL_DISABLED  // no call is known as another: the recorder has a lock
constexpr bool KNOWS_CALLS = false;
#else
constexpr bool KNOWS_CALLS = true;
#endif

// What was told of a call: a Known (watcher.py), and how often it was told again since.
struct Told {
    struct Made {
        Ref dtype, slot;
        Py_ssize_t ndim;
    };
    Ref known{nullptr}, tells{nullptr};
    Ref dtypes{nullptr};  // what the past casts the operands to; None if to nothing
    // Shared, as what a call made may be looked at when its entry is forgotten.
    std::shared_ptr<const std::vector<Made>> made;
    long long again = 0;
    bool by_values = false;  // whether what is cast has to be whole within these
    double least = 0, most = 0;
};

// What the class of an object says of it.
enum class Sort { NUMBER, TEXT, LIST, PLAIN, SCALAR, ARRAY, OTHER };
enum class Read { ITEM, FLOAT, INT };  // how the number of a scalar is read
struct Class {
    Sort sort = Sort::OTHER;
    PyObject *dtype = nullptr;  // of NumPy's numbers, where it hangs on nothing else
    Read read = Read::ITEM;
};

struct Entry {
    std::vector<std::uintptr_t> key;
    std::unique_ptr<Told> told;
    Entry(std::vector<std::uintptr_t> &&words, std::unique_ptr<Told> known)
        : key(std::move(words)), told(std::move(known)) {}
    Entry(Entry &&) = default;
    Entry &operator=(Entry &&) = default;
    ~Entry() { Key::let_go(key.data(), key.size()); }
};

// A place, of one in a library where in the program it was called; and the name of what is done there.
struct Where {
    long place = 0;
    PyObject *name = nullptr, *code = nullptr;  // held where it is kept
    long at = -1;
    bool operator==(const Where &other) const {
        return place == other.place && name == other.name && code == other.code && at == other.at;
    }
    struct Hash {
        std::size_t operator()(const Where &x) const {
            const auto mixed = static_cast<std::size_t>(x.place) * 31 + static_cast<std::size_t>(x.at);
            return mixed * 0x9E3779B97F4A7C15u ^ reinterpret_cast<std::uintptr_t>(x.name) >> 4U ^
                   reinterpret_cast<std::uintptr_t>(x.code);
        }
    };
};

struct Cache {
    std::vector<std::vector<Entry>> places[2];  // by number: of the program, and of libraries
    std::size_t size = 0;
    unsigned counted = 0, turn = 0;
    std::unordered_map<PyObject *, bool> is_library;     // of code, which is held
    // What is called in the place of functions that were met last, by the class that they are methods of, if
    // any, and what they have in common; each in the place of one before. `kinds` holds all of it.
    struct Found {
        const void *of, *what;  // null of none
        PyObject *answer;
    } functions[256] = {};
    std::unordered_map<PyObject *, bool> refuses;  // whether it is noted what a function refuses; it is held
    struct Met {
        PyTypeObject *type;  // null, or held; dtypes are for good, who has read one may still use it
        Class known;
    } classes[256] = {};  // by the address, each in the place of one before
    std::unordered_map<PyObject *, long long> moved;     // how often by each name, which is held
    std::unordered_map<PyObject *, long> looks;          // how values of a function's are looked at, which is held
    std::unordered_map<Where, long long, Where::Hash> clean;  // how often nothing was lost at a place
    Borders borders;
    ~Cache();
};

Class class_of(const FastHook *self, PyObject *x);

// The class of a Python number, equal for those that no policy tells apart; null with the error.
Ref number_class(const FastHook *self, PyObject *x);

// Add what an operand has in common with those that no policy tells apart from it; if values count,
// of an array without axes its own. False, without an error, of what is like no other.
bool add_operand(const FastHook *self, Key *key, PyObject *x, const Class &known, bool values);

// Add where the program stands, of a place in a library the calls that led to it.
bool add_place(const FastHook *self, Key *key, long place);

// Where the program stands, to count what is done there; false with the error.
bool where_of(const FastHook *self, long place, PyObject *name, Where *where);
// The same for the session: numbers in a tuple.
Ref told_where(const Where &where);
// Count that nothing was lost there; false with the error.
bool count_clean(FastHook *self, const Where &where);
// How often that was since this was asked last.
long long taken_clean(FastHook *self, const Where &where);

// The calls that are known at a place; in a row that is as long as it has to be.
std::vector<Entry> *known_at(Cache &cache, long place, bool grows);
// Whether all values of an array that is cast are those of which something was told.
bool have_values(const Told &told, PyObject *cast);
// Count a call that is like another, if it made the same. False if it has to be recorded, with the
// error if there is one.
bool count_again(FastHook *self, Told *told, PyObject *made);

// Keep what was told of a call, a Known: in the place of what was told before, or by its key.
bool keep(FastHook *self, long place, Told *before, Key *key, PyObject *known, Ref &&dtypes);
// Have a part of an array carry what the array does, and count it among what is moved. False if it
// has to be recorded.
bool carry_on(FastHook *self, PyObject *name, PyObject *source, PyObject *part);

// Tell the recorder how often calls were told again.
bool flush(FastHook *self);
void forget_calls(FastHook *self);

}  // namespace promoarray
