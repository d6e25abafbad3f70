// Sorting rows of integers: by counting each value where few lie between the least and the largest,
// else digit by digit, the lowest first. How long it takes hardly depends on what is sorted: rows that
// quicksorts are done with sooner, in order already or of a few values, are looked for before.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "arguments.h"
#include "module.h"
#include "unlocked.h"

namespace promoarray {
namespace {


constexpr int DIGIT = 10;         // bits of a digit at most: the lines it writes to stay in the cache
constexpr u64 COUNTED = 1 << 16;  // values that are counted at most: counts of 512 KiB
constexpr u64 SPARSE = 4;         // and as many as that for each element at most

int bits_of(u64 number) {
    int bits = 0;
    for (; number != 0; number >>= 1) ++bits;
    return bits;
}

// Memory for words, taken when it is asked for.
template <typename Word> class Scratch {
   public:
    explicit Scratch(size_t n) : n_(n) {}
    Word *get() {
        if (words_ == nullptr) words_.reset(new Word[n_]);
        return words_.get();
    }

   private:
    size_t n_;
    std::unique_ptr<Word[]> words_;
};

template <typename Integer> struct Range {
    Integer least, greatest;

    Range(const Integer *x, size_t n) : least(x[0]), greatest(x[0]) {
        for (size_t i = 1; i < n; ++i) {
            least = std::min(least, x[i]);
            greatest = std::max(greatest, x[i]);
        }
    }
    std::make_unsigned_t<Integer> span() const {
        using Word = std::make_unsigned_t<Integer>;
        return (Word)((Word)greatest - (Word)least);
    }
};

// --- By counting ---------------------------------------------------------------------------------

// So many of one value from `to` on; as long as there is room, more are written than there are, and
// what comes next goes over them.
template <typename Word> Word *repeat(Word value, size_t count, Word *to, const Word *end) {
    constexpr size_t at_once = 16 / sizeof(Word);
    Word *const after = to + count;
    if ((size_t)(end - after) < at_once) {
        while (to != after) *to++ = value;
        return after;
    }
    Word some[at_once];
    std::fill_n(some, at_once, value);
    do std::memcpy(to, some, sizeof some);
    while ((to += at_once) < after);
    return after;
}

template <typename Word>
void sort_by_counts(const Word *x, size_t n, Word least, size_t span, Word *to) {
    std::vector<size_t> counts(span + 1);
    for (size_t i = 0; i < n; ++i) ++counts[(Word)(x[i] - least)];
    const Word *const end = to + n;
    for (size_t i = 0; i <= span; ++i)
        if (counts[i] != 0) to = repeat((Word)(least + i), counts[i], to, end);
}

// --- By comparing --------------------------------------------------------------------------------

// Whether a row consists of the few values of a sample, and is sorted for that.
template <typename Integer>
bool sort_few(const Integer *x, size_t n, Integer least, Integer greatest, Integer *to) {
    constexpr size_t few = 4, sampled = 16;
    std::array<Integer, sampled + 2> values{least, greatest};
    for (size_t i = 0; i < sampled; ++i) values[2 + i] = x[i * (n / sampled)];
    std::sort(values.begin(), values.end());
    const auto last = std::unique(values.begin(), values.end());
    const size_t found = (size_t)(last - values.begin());
    if (found > few) return false;
    std::array<size_t, few> counts;
    for (size_t i = 0; i < found; ++i) counts[i] = (size_t)std::count(x, x + n, values[i]);
    if (std::accumulate(counts.begin(), counts.begin() + found, (size_t)0) != n) return false;
    for (size_t i = 0; i < found; ++i) to = std::fill_n(to, counts[i], values[i]);
    return true;
}

// --- By digits -----------------------------------------------------------------------------------

int passes_over(int bits) { return (bits + DIGIT - 1) / DIGIT; }

// Words in the order of one digit of them, less `least`; those where it is the same stay in order.
template <typename Word>
void sort_by_digit(const Word *x, size_t n, Word least, int low, int bits, Word *to) {
    const Word mask = (Word)((1u << bits) - 1);
    std::array<size_t, 1 << DIGIT> places{};
    for (size_t i = 0; i < n; ++i) ++places[(Word)(x[i] - least) >> low & mask];
    size_t place = 0;
    for (size_t i = 0; i <= mask; ++i) place += std::exchange(places[i], place);
    for (size_t i = 0; i < n; ++i) to[places[(Word)(x[i] - least) >> low & mask]++] = x[i];
}

// The same of `bits` bits from `low` on. Passes go to and fro between `other` and `to`, so that the
// last one ends in `to`; the first one reads x.
template <typename Word>
void sort_by_digits(const Word *x, size_t n, Word least, int low, int bits, Word *other, Word *to) {
    const int passes = passes_over(bits);
    for (int done = 0, pass = passes; pass != 0; --pass) {
        const int digit = (bits - done + pass - 1) / pass;
        Word *const target = pass % 2 == 1 ? to : other;
        sort_by_digit(x, n, least, low + done, digit, target);
        x = target;
        done += digit;
    }
}

// --- Rows ----------------------------------------------------------------------------------------

template <typename Integer>
void sort_row(const Integer *x, size_t n, Scratch<std::make_unsigned_t<Integer>> &other,
              Integer *result) {
    using Word = std::make_unsigned_t<Integer>;
    if (std::is_sorted(x, x + n)) {
        std::copy_n(x, n, result);
        return;
    }
    const Range<Integer> range(x, n);
    const Word least = (Word)range.least, span = range.span();
    const auto *words = reinterpret_cast<const Word *>(x);
    auto *to = reinterpret_cast<Word *>(result);
    if (span < COUNTED && span / SPARSE < n) sort_by_counts(words, n, least, span, to);
    else if (!sort_few(x, n, range.least, range.greatest, result))
        sort_by_digits(words, n, least, 0, bits_of(span), other.get(), to);
}

template <typename Integer>
void sort_rows(const char *source, char *target, size_t rows, size_t n) {
    Scratch<std::make_unsigned_t<Integer>> other(n);
    const auto *x = reinterpret_cast<const Integer *>(source);
    auto *to = reinterpret_cast<Integer *>(target);
    for (size_t row = 0; row < rows; ++row) sort_row(x + row * n, n, other, to + row * n);
}

// Words are a key, or as many bits of it as there is room for, above the index it stands at.
template <typename Key>
void order_rows(const char *source, char *target, size_t rows, size_t n) {
    const int low = bits_of(n - 1), room = 64 - low;
    const u64 index = ((u64)1 << low) - 1;
    Scratch<u64> other(n);
    for (size_t row = 0; row < rows; ++row) {
        const auto *keys = reinterpret_cast<const Key *>(source) + row * n;
        auto *to = reinterpret_cast<u64 *>(target) + row * n;
        for (size_t i = 0; i < n; ++i) to[i] = i;
        if (std::is_sorted(keys, keys + n)) continue;
        const Range<Key> range(keys, n);
        for (int done = 0, all = bits_of(range.span()); done < all; done += room) {
            const int bits = std::min(all - done, room);
            u64 *const from = passes_over(bits) % 2 == 0 ? to : other.get();
            for (size_t i = 0; i < n; ++i)
                from[i] = (u64)(Key)(keys[to[i]] - range.least) >> done << low | to[i];
            sort_by_digits<u64>(from, n, 0, low, bits, other.get(), to);
            for (size_t i = 0; i < n; ++i) to[i] &= index;
        }
    }
}

// --- What Python hands over ----------------------------------------------------------------------

using Rows = void (*)(const char *, char *, size_t, size_t);

template <typename... Integers> Rows sorts(size_t item) {
    Rows found = nullptr;
    ((item == sizeof(Integers) ? (void)(found = sort_rows<Integers>) : void()), ...);
    return found;
}

template <typename... Keys> Rows orders(size_t item) {
    Rows found = nullptr;
    ((item == sizeof(Keys) ? (void)(found = order_rows<Keys>) : void()), ...);
    return found;
}

void check(const Array &array, size_t item) {
    if (array.item() != item || !array.native() || !array.aligned(item))
        refuse(std::string(array.name()) + " must be integers, of " + std::to_string(8 * item) +
               " bits, aligned and in native byte order");
}

void run(Rows loop, const Array &given, const Array &out, size_t item) {
    if (loop == nullptr) refuse(std::string(given.name()) + " must be integers of up to 64 bits");
    check(given, given.item());
    check(out, item);
    bool same = given.ndim() == out.ndim() && given.ndim() > 0;
    for (int i = 0; same && i < given.ndim(); ++i) same = given.shape(i) == out.shape(i);
    if (!same) refuse(std::string(given.name()) + " and result must have one shape, of rows");
    check_apart(given, out);
    if (given.empty()) return;
    const size_t n = (size_t)given.shape(given.ndim() - 1);
    const Unlocked unlocked;
    loop(given.data(), out.data(), given.count() / n, n);
}

constexpr int FLAGS = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;

}  // namespace

void sort_integers(nb::handle source, nb::handle result, bool with_sign) {
    using namespace std;
    const Array given(source, "source", FLAGS), out(result, "result", FLAGS | PyBUF_WRITABLE);
    run(with_sign ? sorts<int8_t, int16_t, int32_t, int64_t>(given.item())
                  : sorts<uint8_t, uint16_t, uint32_t, uint64_t>(given.item()),
        given, out, given.item());
}

void order_integers(nb::handle keys, nb::handle result) {
    using namespace std;
    const Array given(keys, "keys", FLAGS), out(result, "result", FLAGS | PyBUF_WRITABLE);
    run(orders<uint8_t, uint16_t, uint32_t, uint64_t>(given.item()), given, out, sizeof(u64));
}

}  // namespace promoarray
