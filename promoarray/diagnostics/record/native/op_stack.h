// Begun: the operations of rewritten programs that have begun, and values that are needed again.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "guard.h"
#include "ref.h"

namespace promoarray {

// An operation is known by the frame that it has begun in and its number there.
struct Place {
    PyObject *frame;
    long number;
    bool operator==(const Place &other) const { return frame == other.frame && number == other.number; }
};

// What an operation was given so far, and what is called if it is a call: a Callee of NumPy's, and
// the array whose method it is. The last operands were given by name.
struct Begun {
    Ref callee{nullptr}, owner{nullptr};
    std::vector<Ref> operands, names, named;
};

class Operations {
   public:
    void begin(const Place &place, Begun &&begun);
    // Take out an operation that has begun; false if there is none.
    bool take(const Place &place, Begun *begun);
    // Call a function with an operation that has begun, if it has.
    template <typename Function>
    void with(const Place &place, const Function &function) {
        const Guard guard(lock_);
        const auto found = begun_.find(place);
        if (found != begun_.end()) function(found->second);
    }

    void hold(const Place &place, PyObject *x);
    // Null without an error if nothing is held.
    Ref take_held(const Place &place);
    std::vector<std::pair<Place, Ref>> held();

    void forget_begun();
    Py_ssize_t size() const { return static_cast<Py_ssize_t>(begun_.size() + held_.size()); }
    int traverse(visitproc visit, void *arg) const;

   private:
    struct Hash {
        std::size_t operator()(const Place &place) const;
    };

    std::unordered_map<Place, Begun, Hash> begun_;
    std::unordered_map<Place, Ref, Hash> held_;
    Lock lock_;
};

}  // namespace promoarray
