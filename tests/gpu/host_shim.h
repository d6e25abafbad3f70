// Lets the host's compiler take the text that CuPy hands to NVRTC: one thread after another.
#pragma once
#include <math.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

using std::isfinite;
using std::isinf;
using std::isnan;
using std::max;
using std::min;
using std::ptrdiff_t;
using std::signbit;
using std::size_t;

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct HostIndex {
    unsigned x, y, z;
};
static HostIndex threadIdx, blockIdx, blockDim, gridDim;

// What CuPy's headers name.
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __float_as_int(float x) { int y; memcpy(&y, &x, 4); return y; }
static inline float __int_as_float(int x) { float y; memcpy(&y, &x, 4); return y; }
static inline long long __double_as_longlong(double x) { long long y; memcpy(&y, &x, 8); return y; }
static inline double __longlong_as_double(long long x) { double y; memcpy(&y, &x, 8); return y; }
template <class T> static inline T atomicAdd(T *at, T value) { T old = *at; *at += value; return old; }
template <class T> static inline T atomicCAS(T *at, T compare, T value) {
    T old = *at;
    if (old == compare) *at = value;
    return old;
}

template <class... Arguments, size_t... numbers>
static void host_call(void (*kernel)(Arguments...), void **given, std::index_sequence<numbers...>) {
    kernel(*static_cast<std::remove_const_t<Arguments> *>(given[numbers])...);
}

// The kernel's own parameter types say what lies at each address.
template <class... Arguments>
static void host_launch(void (*kernel)(Arguments...), void **given, unsigned blocks, unsigned threads) {
    gridDim = {blocks, 1, 1};
    blockDim = {threads, 1, 1};
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
            host_call(kernel, given, std::index_sequence_for<Arguments...>{});
        }
    }
}
