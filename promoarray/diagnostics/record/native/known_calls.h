// KnownCalls: what is known of a framework's calls, by all that it hangs on.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "dtype_map.h"
#include "key.h"
#include "ref.h"

namespace promoarray {

constexpr std::size_t MOST_CALLS = 1U << 14U;  // so many are known

struct ToldCall {
    struct Made {
        Ref kind, slot;
    };
    Ref known;  // None where it hangs on the side on which a number stands, too
    std::vector<Made> made;
    bool checked = false;
    Ref passes, screen;
    std::atomic<long long> again{0};
    std::atomic<bool> is_forgotten{false};
};
using SharedTold = std::shared_ptr<ToldCall>;

struct Calls;

struct KnownCalls {
    PyObject_HEAD
    PyObject *same, *scalar_class;  // from objects to the one that stands for all that are equal
    char by_value;                  // whether some policy looks at the values of 0-d arrays
    Calls *calls;
    Borders *borders;
    Lock *lock;
};

inline KnownCalls *calls_of(PyObject *object) { return reinterpret_cast<KnownCalls *>(object); }

// What was told of a call that is like one; null of none.
SharedTold find(const KnownCalls *self, const Key &key);

// The object that stands for all that are equal; null with the error of one that has no hash.
Ref same_as(const KnownCalls *self, PyObject *x);

// What a Known tells (watcher.py), or None of a call that hangs on a number's side; null with the error.
SharedTold read_known(const KnownCalls *self, PyObject *known);

// Keep what was told of a call, in the place of what was told before.
void put(KnownCalls *self, Key *key, SharedTold told);

// The sort of code that is kept, negative of none; and to keep one.
long kept_sort(KnownCalls *self, PyObject *code);
void keep_sort(KnownCalls *self, PyObject *code, long sort);

extern PyType_Spec known_calls_spec;
extern PyTypeObject *known_calls_type;  // once it is made, for good

}  // namespace promoarray
