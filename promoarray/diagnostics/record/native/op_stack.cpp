#include "op_stack.h"

#include <cstdint>
#include <utility>

namespace promoarray {
namespace {

constexpr std::size_t MOST_BEGUN = 1 << 12;  // those that an exception stopped are forgotten then
constexpr std::size_t MOST_HELD = 1 << 16;   // no recursion goes so deep: these are of dead frames

}  // namespace

// References are let go of once no lock is held, as that may run any code.

void Operations::begin(const Place &place, Begun &&begun) {
    decltype(begun_) stopped;
    Begun old;
    const Guard guard(lock_);
    if (begun_.size() >= MOST_BEGUN) stopped.swap(begun_);
    Begun &slot = begun_[place];
    old = std::move(slot);
    slot = std::move(begun);
}

bool Operations::take(const Place &place, Begun *begun) {
    const Guard guard(lock_);
    const auto found = begun_.find(place);
    if (found == begun_.end()) return false;
    *begun = std::move(found->second);
    begun_.erase(found);
    return true;
}

void Operations::forget_begun() {
    decltype(begun_) old;
    const Guard guard(lock_);
    old.swap(begun_);
}

void Operations::hold(const Place &place, PyObject *x) {
    decltype(held_) dead;
    Ref old = Ref::to(x);
    const Guard guard(lock_);
    if (held_.size() >= MOST_HELD) dead.swap(held_);
    std::swap(held_.try_emplace(place, nullptr).first->second, old);
}

Ref Operations::take_held(const Place &place) {
    Ref found(nullptr);
    const Guard guard(lock_);
    const auto at = held_.find(place);
    if (at == held_.end()) return found;
    found = std::move(at->second);
    held_.erase(at);
    return found;
}

std::vector<std::pair<Place, Ref>> Operations::held() {
    std::vector<std::pair<Place, Ref>> all;
    const Guard guard(lock_);
    for (const auto &[place, x] : held_) all.emplace_back(place, Ref::to(x.get()));
    return all;
}

int Operations::traverse(visitproc visit, void *arg) const {
    for (const auto &[place, begun] : begun_) {
        Py_VISIT(begun.callee.get());
        Py_VISIT(begun.owner.get());
        for (const auto *values : {&begun.operands, &begun.names, &begun.named})
            for (const Ref &x : *values) Py_VISIT(x.get());
    }
    for (const auto &[place, x] : held_) Py_VISIT(x.get());
    return 0;
}

std::size_t Operations::Hash::operator()(const Place &place) const {
    return (reinterpret_cast<std::uintptr_t>(place.frame) >> 4) * 31 + static_cast<std::size_t>(place.number);
}

}  // namespace promoarray
