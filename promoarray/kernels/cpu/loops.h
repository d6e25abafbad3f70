// Which loop makes a cast. Nothing here knows Python or memory layouts: a loop goes over
// contiguous, aligned elements in native byte order.
//
// The loops are compiled once for each x86-64 level that CMake names, in a namespace of that level,
// and versions.cpp takes the highest that the machine has; elsewhere there is one version. What
// they share is here. It has no functions but those that are always inlined: of any other the
// linker would keep one version, whichever it meets first, for machines of every level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../cast.h"
#include "../branch_free.h"  // which needs it

namespace promoarray {

// The integers that a loop makes from floats, as bounds to compare floats with.
struct Range {
    double low, high;              // inside: low < x < high
    float single_low, single_high;
    u64 above, below, nan;
    int first, last, far;  // of a target that floats are packed to
};

// What is done to codes besides a cast, for what frameworks do that no mode says. At most one of these
// is taken; all are about real types.
struct Replacement {
    u64 first, last;  // codes of the source, as unsigned integers
    u64 code;         // what they become
};
enum class Way {
    by_mode, to_nearest_integer, towards_zero, upper_half, shifted_too_far, through_int64,
};
constexpr int most_replacements = 8;
struct Adjustment {
    // The results for all codes of a source of 16 bits or fewer, each as wide as the target.
    const unsigned char *table;  // or nullptr
    int replacements;
    Replacement replacement[most_replacements];
    Way way;
};

struct Work;
using Loop = void (*)(const void *source, void *target, std::size_t n, const Work &work);

// What the loop of one cast needs to know. It depends on types and mode alone.
struct Work {
    Type source, target;
    CastMode mode;
    Edges edge;         // of the target
    Edges single_edge;  // of float32
    ScaleEdges<Float32> scale32;
    ScaleEdges<Float64> scale64;
    Range range;
    // The loops that follow one another where no single one leads from source to target.
    int stages;
    Loop stage[4];
    Adjustment adjustment;
    Loop adjusted;  // the cast before replacements
    // The results for all codes of a source of 8 bits or less, each as wide as the target; and where
    // a loop looks them up, here or in the table of the adjustment.
    alignas(64) unsigned char table[256 * 8];
    const void *look_up;
};

// Bytes of one element, or of one part of a complex one.
PROMOARRAY_CAST std::size_t size_of(Type t) { return t.bits <= 8 ? 1 : (std::size_t)t.bits / 8; }

// What both parts of a complex number are; any other type itself.
PROMOARRAY_CAST Type part_of(Type t) {
    if (t.kind == Kind::complex) t.kind = Kind::real;
    return t;
}

// Floating-point exceptions as NumPy numbers them.
constexpr int DIVIDED_BY_ZERO = 1, OVERFLOWN = 2, UNDERFLOWN = 4, INVALID = 8;
constexpr int ALL_EXCEPTIONS = DIVIDED_BY_ZERO | OVERFLOWN | UNDERFLOWN | INVALID;

// An operation element by element, on contiguous and aligned elements of one type.
struct Operation {
    void (*run)(const void *const *operands, void *out, std::size_t n);  // nullptr: there is none
    int operands;
    bool tests;  // the results are bools, whatever the type
    int told;    // the floating-point exceptions of the machine's that are the operation's
};

// One version of them all.
struct Loops {
    int level;
    // The loop that casts elements of `source` to `target`, and what it needs; nullptr where no
    // loop does what an adjustment wants. Types are real: a complex number counts as its parts.
    // `tuned` false takes the definition for every element.
    Loop (*choose)(Type source, Type target, CastMode mode, bool tuned, const Adjustment &adjustment,
                   Work &work);
    // The loop of an operation on numbers of one type.
    Operation (*operation)(const char *name, Type type);
    // What is not a cast: bools of both parts to one, and floats to complex numbers.
    void (*either_part)(const std::uint8_t *parts, std::uint8_t *target, std::size_t n);
    // Every other element of 1, 2, 4 or 8 bytes: the real parts of complex numbers.
    void (*every_other)(const void *source, void *target, std::size_t n, std::size_t size);
    void (*with_zero_parts)(const void *real, void *target, std::size_t n, std::size_t size);
};

namespace level1 { extern const Loops loops; }
namespace level3 { extern const Loops loops; }
namespace level4 { extern const Loops loops; }

}  // namespace promoarray
