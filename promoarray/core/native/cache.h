// A few things that were found, by the addresses of what they were found for.
#pragma once

#include <cstdint>

#include "ref.h"

namespace promoarray {

// What was found by up to four objects, which are known by identity: a slot keeps them alive, so that
// none of their addresses can come to mean anything else. Hence 0.0 and -0.0, 1 and True are told
// apart for nothing; most scalars are constants of the program, one object each. In place of the
// first, which nobody else might need any more, a slot may keep a weak reference to it that empties
// the slot when it dies.
//
// Without a GIL two threads would write one slot at once. A lock for each look-up would cost what
// the cache saves, so a free-threaded build asks the dictionary and the converter every time, which
// have locks of their own.
#ifdef Py_GIL_DISABLED
template <std::size_t SLOTS>
class CacheOf {
   public:
    Ref find(PyObject *, PyObject *, PyObject *, PyObject * = Py_None) const { return Ref(nullptr); }
    void keep(PyObject *, PyObject *, PyObject *, PyObject *, PyObject *, const Ref &) {}
    void forget(PyObject *) {}
    int traverse(visitproc, void *) const { return 0; }
    void clear() {}
};
#else
template <std::size_t SLOTS>
class CacheOf {
   public:
    // Null without an error if there is nothing.
    Ref find(PyObject *a, PyObject *b, PyObject *c, PyObject *d = Py_None) {
        if (slots_ == nullptr) return Ref(nullptr);
        const Slot &slot = of(a, b, c, d);
        const bool holds =
            slot.key[0] == a && slot.key[1] == b && slot.key[2] == c && slot.key[3] == d;
        return Ref(holds ? Py_XNewRef(slot.kept[FOUND]) : nullptr);
    }
    // `first` is what keeps the address of `a` to itself: `a`, or a weak reference to it.
    void keep(PyObject *a, PyObject *b, PyObject *c, PyObject *d, PyObject *first,
              const Ref &found) {
        if (slots_ == nullptr) slots_ = static_cast<Slot *>(PyMem_Calloc(SLOTS, sizeof(Slot)));
        if (slots_ == nullptr) return;
        put(of(a, b, c, d), {{a, b, c, d},
                             {Py_NewRef(first), Py_NewRef(b), Py_NewRef(c), Py_NewRef(d),
                              Py_NewRef(found.get())}});
    }
    // The object that a weak reference was to is dead.
    void forget(PyObject *first) {
        for (std::size_t i = 0; i < count(); ++i)
            if (slots_[i].kept[0] == first) return put(slots_[i], {});
    }
    int traverse(visitproc visit, void *arg) const {
        for (std::size_t i = 0; i < count(); ++i)
            for (PyObject *part : slots_[i].kept) Py_VISIT(part);
        return 0;
    }
    void clear() {
        const std::size_t slots = count();
        Slot *old = slots_;
        slots_ = nullptr;  // first, for what follows may run any code
        for (std::size_t i = 0; i < slots; ++i)
            for (PyObject *part : old[i].kept) Py_XDECREF(part);
        PyMem_Free(old);
    }

   private:
    enum { FOUND = 4 };
    struct Slot {
        PyObject *key[4];   // addresses
        PyObject *kept[5];  // references: what keeps the four, and what was found
    };

    Slot &of(PyObject *a, PyObject *b, PyObject *c, PyObject *d) {
        const auto bits = [](PyObject *x) { return reinterpret_cast<std::uintptr_t>(x) >> 4; };
        const std::uintptr_t mixed = ((bits(a) * 31 + bits(b)) * 31 + bits(c)) * 31 + bits(d);
        return slots_[(mixed ^ mixed >> 5) % SLOTS];
    }
    static void put(Slot &slot, const Slot &next) {
        const Slot old = slot;
        slot = next;
        for (PyObject *part : old.kept) Py_XDECREF(part);  // last, for this may run any code
    }

    std::size_t count() const { return slots_ == nullptr ? 0 : SLOTS; }

    // Made when the first is kept: most operators of a process are never called, and the garbage
    // collector goes over the slots of all.
    Slot *slots_;
};
#endif

using Cache = CacheOf<32>;

}  // namespace promoarray
