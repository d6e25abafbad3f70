// Hash tables whose entries lie in one row, for look-ups that each operation of a program makes.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace promoarray {

// From addresses, numbers, or pairs of these to values that can be moved and made of nothing. An
// entry stands at its key's place or in the row behind it; what is found stays until the next change.
template <typename Key, typename Value>
class FlatMap {
   public:
    struct Slot {
        Key key{};
        Value value{};
        bool used = false;
    };

    std::size_t size() const { return size_; }

    Value *find(const Key &key) {
        if (size_ == 0) return nullptr;
        Slot &slot = slots_[place_of(key)];
        return slot.used ? &slot.value : nullptr;
    }

    // The value of a key, made if there is none.
    Value &operator[](const Key &key) {
        if (2 * size_ >= mask_) grow();
        Slot &slot = slots_[place_of(key)];
        if (!slot.used) {
            slot.key = key;
            slot.used = true;
            ++size_;
        }
        return slot.value;
    }

    // Take a value out; one made of nothing if there is none.
    Value take(const Key &key) {
        if (size_ == 0) return {};
        std::size_t gap = place_of(key);
        if (!slots_[gap].used) return {};
        Value found = std::exchange(slots_[gap].value, Value{});
        // What stands behind the gap moves up, unless that were before its own place.
        for (std::size_t at = next(gap); slots_[at].used; at = next(at)) {
            const std::size_t own = first_of(slots_[at].key);
            if (((at - own) & mask_) < ((at - gap) & mask_)) continue;
            slots_[gap].key = slots_[at].key;
            slots_[gap].value = std::exchange(slots_[at].value, Value{});
            gap = at;
        }
        slots_[gap].used = false;
        --size_;
        return found;
    }

    void swap(FlatMap &other) {
        slots_.swap(other.slots_);
        std::swap(mask_, other.mask_);
        std::swap(size_, other.size_);
    }

    // All places: where nothing stands is a value made of nothing.
    const std::vector<Slot> &slots() const { return slots_; }

   private:
    static std::uint64_t word(PyObject *object) { return reinterpret_cast<std::uintptr_t>(object); }
    static std::uint64_t word(PyTypeObject *type) { return reinterpret_cast<std::uintptr_t>(type); }
    static std::uint64_t word(long number) { return static_cast<std::uint64_t>(number); }
    template <typename First, typename Second>
    static std::uint64_t word(const std::pair<First, Second> &both) {
        return word(both.first) * 31 + word(both.second);
    }

    // The high bits of a product, which all bits of the key move.
    std::size_t first_of(const Key &key) const {
        return static_cast<std::size_t>(word(key) * 0x9E3779B97F4A7C15u >> 32) & mask_;
    }
    std::size_t next(std::size_t at) const { return (at + 1) & mask_; }

    // Where a key is, or would be.
    std::size_t place_of(const Key &key) const {
        std::size_t at = first_of(key);
        while (slots_[at].used && slots_[at].key != key) at = next(at);
        return at;
    }

    void grow() {
        std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (Slot &slot : old)
            if (slot.used) slots_[place_of(slot.key)] = std::move(slot);
    }

    std::vector<Slot> slots_;  // a power of two of them, or none
    std::size_t mask_ = 0, size_ = 0;
};

}  // namespace promoarray
