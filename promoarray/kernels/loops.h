// Which loop makes a cast. Nothing here knows Python or memory layouts: a loop goes over
// contiguous, aligned elements in native byte order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cast.h"

namespace promoarray {

// The integers that a loop makes from floats, as bounds to compare floats with.
struct Range {
    double low, high;              // inside: low < x < high
    float single_low, single_high;
    u64 above, below, nan;
};

// What the loop of one cast needs to know. It depends on types and rule alone.
struct Work {
    Type source, target;
    Rule rule;
    Edges edge;         // of the target
    Edges single_edge;  // of float32
    ScaleEdges<Float32> scale32;
    ScaleEdges<Float64> scale64;
    Range range;
    // The results for all codes of a source of 8 bits or less, each as wide as the target.
    alignas(64) unsigned char table[256 * 8];
};

using Loop = void (*)(const void *source, void *target, std::size_t n, const Work &work);

// Bytes of one element, or of one part of a complex one.
inline std::size_t size_of(Type t) { return t.bits <= 8 ? 1 : (std::size_t)t.bits / 8; }

// The loop that casts n elements of `source` to `target`, and what it needs. Types are real: a
// complex number counts as its parts. `tuned` false takes the definition for every element.
Loop choose_loop(Type source, Type target, Rule rule, std::size_t n, bool tuned, Work &work);

// The families it chooses from. Sources have 16 bits or more, or are integers of 8, and of fewer if
// the target has 32 or more; nullptr is for what a family does not do.
Loop integer_loop(Type source, Type target);     // integers.cpp: to integers and bools
Loop wide_float_loop(Type source, Type target);  // integers.cpp: to float32 and float64
Loop float_loop(Type source, Work &work);        // floats.cpp: to floats; from small ones, too
Loop truncating_loop(Type source, Work &work);   // truncation.cpp: from floats to integers
Loop table_loop(Work &work);                     // tables.cpp: from 8 bits and fewer

// What is not a cast: bools of both parts to one, and floats to complex numbers.
void either_part(const std::uint8_t *parts, std::uint8_t *target, std::size_t n);
void with_zero_parts(const void *real, void *target, std::size_t n, std::size_t size);

}  // namespace promoarray
