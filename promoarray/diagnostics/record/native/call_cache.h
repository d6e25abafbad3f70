// Alike: what was told of calls, found again by what those have in common that are alike.
#pragma once

#include <cstddef>
#include <vector>

#include "ref.h"

namespace promoarray {

// What calls that are alike have in common: objects, each known by identity, which are held.
class Key {
   public:
    void add(Ref &&part) { parts_.push_back(std::move(part)); }
    void add(PyObject *part) { parts_.push_back(Ref::to(part)); }
    void add_number(long number) { numbers_.push_back(number); }
    bool operator==(const Key &other) const;
    std::size_t hash() const;
    int traverse(visitproc visit, void *arg) const;

   private:
    std::vector<Ref> parts_;
    std::vector<long> numbers_;
};

// Add what an operand has in common with those that no policy tells apart from it. False, without
// an error, of what is none of a known sort: it is like no other.
bool add_operand(PyObject *alike, Key *key, PyObject *operand);

// Add where the program stands: the instruction of each frame up to the first that is no library's.
bool add_place(PyObject *alike, Key *key);

// Count a call that is like another, if it made the same. False if it has to be recorded, with the
// error if there is one.
bool count_again(PyObject *alike, const Key &key, PyObject *made);

// Keep what was told of a call: a Told (known.py).
bool keep(PyObject *alike, Key &&key, PyObject *known);

// Have a part of an array carry what the array does, and count it among what is moved. False if it
// has to be recorded.
bool carry_on(PyObject *alike, PyObject *name, PyObject *source, PyObject *part);

bool is_alike(PyObject *object);

extern PyType_Spec alike_spec;

}  // namespace promoarray
