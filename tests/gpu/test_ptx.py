"""The PTX interpreter, on PTX written by hand: it needs neither CuPy nor NVRTC."""

from __future__ import annotations

import numpy as np
import ptx
import pytest
from ptx import Module, Unsupported, launch

N = 256
"""Threads of every launch here: each has one element."""


def module(body: str, kind: str = "b32", more: str = "") -> Module:
    """A kernel ``k(x, y, out)`` over elements of a type, between its loads and its store."""
    size = int(kind[1:]) // 8
    return Module(f"""
.version 9.0
.target sm_90
.address_size 64
{more}
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1, .param .u64 k_param_2)
{{
    .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
    .reg .{kind} %x, %y, %z;
    .reg .f32 %f<9>; .reg .f64 %fd<9>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd1, %r4, {size};
    ld.param.u64 %rd2, [k_param_0];
    ld.param.u64 %rd3, [k_param_1];
    ld.param.u64 %rd4, [k_param_2];
    add.s64 %rd5, %rd2, %rd1;
    add.s64 %rd6, %rd3, %rd1;
    add.s64 %rd7, %rd4, %rd1;
    ld.global.{kind} %x, [%rd5];
    ld.global.{kind} %y, [%rd6];
    {body}
    st.global.{kind} [%rd7], %z;
    ret;
}}
""")


def run(body: str, x: np.ndarray, y: np.ndarray, more: str = "") -> np.ndarray:
    """The third array after the kernel has run over the first two."""
    kind = {"f": "f", "i": "b", "u": "b"}[x.dtype.kind] + str(8 * x.dtype.itemsize)
    out = np.zeros_like(x)
    launch(module(body, kind, more), "k", [x, y, out], blocks=N // 32, threads=32)
    return out


def integers(dtype: type, seed: int = 0) -> np.ndarray:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    found = rng.integers(info.min, info.max, N, dtype, endpoint=True)
    found[:4] = [0, 1, info.max, info.min]
    found[4:40] = rng.integers(0, 70, 36)
    return found


def floats(dtype: type, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = (rng.standard_normal(N) * np.exp2(rng.integers(-30, 30, N))).astype(dtype)
    found[:6] = [0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).smallest_subnormal]
    return found


@pytest.mark.parametrize(
    ("instruction", "function"),
    [
        ("add.s32", np.add),
        ("sub.s32", np.subtract),
        ("mul.lo.s32", np.multiply),
        ("and.b32", np.bitwise_and),
        ("or.b32", np.bitwise_or),
        ("xor.b32", np.bitwise_xor),
        ("min.s32", np.minimum),
        ("max.s32", np.maximum),
    ],
)
def test_arithmetic_of_integers_wraps(instruction, function):
    x, y = integers(np.int32), integers(np.int32, 1)
    np.testing.assert_array_equal(run(f"{instruction} %z, %x, %y;", x, y), function(x, y))


def test_shifts_by_the_width_or_more_are_defined():
    x, by = integers(np.uint32), np.arange(N, dtype=np.uint32)
    want = [int(a) << int(b) & 0xFFFFFFFF for a, b in zip(x, by, strict=True)]
    np.testing.assert_array_equal(run("shl.b32 %z, %x, %y;", x, by), want)
    want = [int(a) >> int(b) for a, b in zip(x, by, strict=True)]
    np.testing.assert_array_equal(run("shr.u32 %z, %x, %y;", x, by), want)
    signed = x.view(np.int32)
    want = [int(a) >> int(b) for a, b in zip(signed, by, strict=True)]
    np.testing.assert_array_equal(run("shr.s32 %z, %x, %y;", x, by).view(np.int32), want)


def test_division_is_towards_zero():
    x, y = integers(np.int32), integers(np.int32, 1)
    y[y == 0] = 3
    pairs = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    quotient = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    got = run("div.s32 %z, %x, %y;", x, y).tolist()
    assert got == [(q + 2**31) % 2**32 - 2**31 for q in quotient]
    rest = [a - q * b for (a, b), q in zip(pairs, quotient, strict=True)]
    assert run("rem.s32 %z, %x, %y;", x, y).tolist() == rest


def test_halves_of_products_and_carries():
    x, y = integers(np.uint32), integers(np.uint32, 1)
    wide = x.astype(np.uint64) * y
    np.testing.assert_array_equal(run("mul.hi.u32 %z, %x, %y;", x, y), wide >> np.uint64(32))
    x, y = integers(np.uint64), integers(np.uint64, 1)
    want = [int(a) * int(b) >> 64 for a, b in zip(x, y, strict=True)]
    assert run("mul.hi.u64 %z, %x, %y;", x, y).tolist() == want
    # The product again, from 32-bit pieces and their carries.
    body = """
    { .reg .u32 %r0, %r1, %r2, %r3, %al, %ah, %bl, %bh;
    mov.b64 {%al, %ah}, %x;
    mov.b64 {%bl, %bh}, %y;
    mul.lo.u32 %r0, %al, %bl;
    mul.hi.u32 %r1, %al, %bl;
    mad.lo.cc.u32 %r1, %al, %bh, %r1;
    madc.hi.u32 %r2, %al, %bh, 0;
    mad.lo.cc.u32 %r1, %ah, %bl, %r1;
    madc.hi.cc.u32 %r2, %ah, %bl, %r2;
    addc.u32 %r3, 0, 0;
    mad.lo.cc.u32 %r2, %ah, %bh, %r2;
    madc.hi.u32 %r3, %ah, %bh, %r3;
    mov.b64 %z, {%r2, %r3}; }
    """
    assert run(body, x, y).tolist() == want


def test_counting_and_moving_bits():
    x, y = integers(np.uint32), integers(np.uint32, 1)
    assert run("clz.b32 %z, %x;", x, y).tolist() == [32 - int(a).bit_length() for a in x]
    assert run("popc.b32 %z, %x;", x, y).tolist() == [int(a).bit_count() for a in x]
    want = [(int(a) >> 5) & 0x7FF for a in x]
    assert run("bfe.u32 %z, %x, 5, 11;", x, y).tolist() == want
    want = [(int(b) & ~0xFF0) | (int(a) & 0xFF) << 4 for a, b in zip(x, y, strict=True)]
    assert run("bfi.b32 %z, %x, %y, 4, 8;", x, y).tolist() == want
    want = [(int(b) << 32 | int(a)) >> 7 & 0xFFFFFFFF for a, b in zip(x, y, strict=True)]
    assert run("shf.r.wrap.b32 %z, %x, %y, 7;", x, y).tolist() == want
    want = [int.from_bytes(int(a).to_bytes(4, "little"), "big") for a in x]
    assert run("prmt.b32 %z, %x, 0, 0x0123;", x, y).tolist() == want


def test_flushing_is_done_where_it_is_written_and_nowhere_else():
    tiny = np.full(N, 1e-40, np.float32)
    assert run("add.f32 %z, %x, %y;", tiny, tiny)[0] == 2 * tiny[0]
    assert run("add.ftz.f32 %z, %x, %y;", tiny, tiny)[0] == 0
    assert run("mul.ftz.f32 %z, %x, 0f4E800000;", tiny, tiny)[0] == 0
    smallest = np.full(N, 2.0**-126, np.float32)
    assert run("mul.ftz.f32 %z, %x, 0f3F000000;", smallest, smallest)[0] == 0
    assert run("neg.ftz.f32 %z, %x;", tiny, tiny).view(np.uint32)[0] == 0x80000000


def test_a_product_and_a_sum_are_rounded_once():
    rng = np.random.default_rng(0)
    for dtype, kind in ((np.float32, "f32"), (np.float64, "f64")):
        x = (1 + rng.random(N)).astype(dtype)
        y = (1 + rng.random(N)).astype(dtype)
        body = f"mul.{kind} %z, %x, %y; neg.{kind} %z, %z; fma.rn.{kind} %z, %x, %y, %z;"
        from fractions import Fraction as F

        want = [F(float(a)) * F(float(b)) - F(float(a * b)) for a, b in zip(x, y, strict=True)]
        assert [F(float(z)) for z in run(body, x, y)] == want


def test_rounding_down_and_up():
    x, y = np.full(N, 1, np.float32), np.full(N, 2.0**-30, np.float32)
    one = np.float32(1)
    after = np.nextafter(one, np.float32(2))
    for mode, sign, want in (("rm", 1, one), ("rp", 1, after), ("rz", -1, -one), ("rz", 1, one)):
        got = run(f"fma.{mode}.f32 %z, %x, 0f3F800000, %y;", sign * x, sign * y)
        assert got[0] == want


def test_comparisons_know_nan():
    x, y = floats(np.float32), floats(np.float32, 1)
    x[10:20] = y[10:20]
    unordered = np.isnan(x) | np.isnan(y)
    for name, function in (("lt", np.less), ("ge", np.greater_equal), ("eq", np.equal)):
        body = "setp.{}.f32 %p1, %x, %y; selp.f32 %z, 0f3F800000, 0f00000000, %p1;"
        np.testing.assert_array_equal(run(body.format(name), x, y), function(x, y))
        want = function(x, y) | unordered
        np.testing.assert_array_equal(run(body.format(name + "u"), x, y), want)
    body = "setp.ne.f32 %p1, %x, %y; selp.f32 %z, 0f3F800000, 0f00000000, %p1;"
    np.testing.assert_array_equal(run(body, x, y), (x != y) & ~unordered)
    body = "set.lt.u32.f32 %r9, %x, %y; mov.b32 %z, %r9;"
    want = np.where(x < y, np.uint32(0xFFFFFFFF), np.uint32(0))
    np.testing.assert_array_equal(run(body, x, y).view(np.uint32), want)


def test_conversions_to_integers_saturate():
    x = np.resize(np.array([1.9, -1.9, 3e9, -3e9, np.inf, -np.inf, np.nan, 300], np.float32), N)
    got = run("cvt.rzi.s32.f32 %r9, %x; mov.b32 %z, %r9;", x, x).view(np.int32)[:8]
    assert got.tolist() == [1, -1, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 300]
    got = run("cvt.rzi.u32.f32 %r9, %x; mov.b32 %z, %r9;", x, x).view(np.uint32)[:8]
    assert got.tolist() == [1, 0, 3 * 10**9, 0, 2**32 - 1, 0, 0, 300]
    wide = x.astype(np.float64)
    got = run("cvt.rzi.u64.f64 %rd9, %x; mov.b64 %z, %rd9;", wide, wide).view(np.uint64)[:8]
    assert got.tolist() == [1, 0, 3 * 10**9, 0, 2**64 - 1, 0, 2**63, 300]


def test_conversions_among_floats_and_from_integers():
    x = floats(np.float64)
    x[6:9] = [1e-40, 1e39, 2.0**-150]
    with np.errstate(all="ignore"):
        want = x.astype(np.float32)
        got = run("cvt.rn.f32.f64 %f1, %x; cvt.f64.f32 %z, %f1;", x, x)
    np.testing.assert_array_equal(got, want)
    assert run("cvt.rn.ftz.f32.f64 %f1, %x; cvt.f64.f32 %z, %f1;", x, x)[6] == 0
    n = integers(np.uint64)
    got = run("cvt.rn.f32.u64 %f1, %x; mov.b32 %r9, %f1; cvt.u64.u32 %z, %r9;", n, n)
    np.testing.assert_array_equal(got.astype(np.uint32).view(np.float32), n.astype(np.float32))


def test_threads_part_and_meet_again():
    # Each thread counts down from its own x, and adds y each time.
    body = """
    mov.u32 %z, 0;
    and.b32 %r9, %x, 15;
$again:
    setp.eq.s32 %p1, %r9, 0;
    @%p1 bra $done;
    add.s32 %z, %z, %y;
    sub.s32 %r9, %r9, 1;
    bra.uni $again;
$done:
    add.s32 %z, %z, 1;
    """
    x, y = integers(np.uint32), integers(np.uint32, 1)
    np.testing.assert_array_equal(run(body, x, y), (x & np.uint32(15)) * y + np.uint32(1))


def test_guards_hold_for_their_threads_only():
    body = "setp.lt.s32 %p1, %x, 0; mov.u32 %z, 7; @%p1 mov.u32 %z, 1; @!%p1 add.s32 %z, %z, %y;"
    x, y = integers(np.int32), integers(np.int32, 1)
    want = np.where(x < 0, 1, 7 + y.astype(np.int64)).astype(np.int32)
    np.testing.assert_array_equal(run(body, x, y), want)


def test_local_memory_constants_and_calls():
    more = """
.global .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
.func (.param .b32 func_retval0) doubled(.param .b32 doubled_param_0)
{
    .local .align 8 .b8 depot[8];
    .reg .b32 %r<4>; .reg .b64 %SP;
    mov.u64 %SP, depot;
    ld.param.b32 %r1, [doubled_param_0];
    st.local.u32 [%SP+4], %r1;
    ld.local.u32 %r2, [%SP+4];
    shl.b32 %r3, %r2, 1;
    st.param.b32 [func_retval0], %r3;
    ret;
}
"""
    body = """
    and.b32 %r9, %x, 3;
    mul.wide.u32 %rd9, %r9, 4;
    mov.u64 %rd10, table;
    add.s64 %rd11, %rd10, %rd9;
    ld.global.nc.u32 %r10, [%rd11];
    setp.gt.u32 %p1, %r9, 1;
    mov.u32 %z, %r10;
    @%p1 bra $end;
    {
    .param .b32 param0;
    st.param.b32 [param0], %r10;
    .param .b32 retval0;
    call.uni (retval0), doubled, (param0);
    ld.param.b32 %z, [retval0];
    }
$end:
    """
    x = integers(np.uint32)
    low = x & np.uint32(3)
    want = np.where(low > 1, low + 1, 2 * (low + 1))
    np.testing.assert_array_equal(run(body, x, x, more), want)


def test_vectors_go_to_and_from_memory():
    code = Module("""
.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd1, %r1, 16;
    ld.param.u64 %rd2, [k_param_0];
    ld.param.u64 %rd3, [k_param_1];
    add.s64 %rd4, %rd2, %rd1;
    add.s64 %rd5, %rd3, %rd1;
    ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd4];
    st.global.v4.u32 [%rd5], {%r5, %r4, %r3, %r2};
    ret;
}
""")
    x, out = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    launch(code, "k", [x, out], blocks=1, threads=16)
    np.testing.assert_array_equal(out, x.reshape(-1, 4)[:, ::-1].reshape(-1))
    with pytest.raises(IndexError, match="misaligned"):
        launch(code, "k", [x, out], blocks=1, threads=16, offset=4)
    with pytest.raises(IndexError, match="out of bounds"):
        launch(code, "k", [x, out], blocks=1, threads=17)


def test_threads_of_a_block_share_memory():
    body = """
    .shared .align 4 .b8 all[128];
    mov.u64 %rd8, all;
    mul.wide.u32 %rd9, %r3, 4;
    add.s64 %rd10, %rd8, %rd9;
    st.shared.b32 [%rd10], %x;
    bar.sync 0;
    sub.s64 %rd11, %rd8, %rd9;
    ld.shared.b32 %z, [%rd11+124];
    """
    x = integers(np.uint32)
    want = x.reshape(-1, 32)[:, ::-1].reshape(-1)
    np.testing.assert_array_equal(run(body, x, x), want)
    with pytest.raises(Unsupported, match="not all threads"):
        run("setp.eq.s32 %p1, %r3, 0; @%p1 bar.sync 0; mov.u32 %z, 1;", x, x)


def test_what_is_not_known_is_refused():
    x = integers(np.uint32)
    for body, what in (
        ("cvt.rn.satfinite.e4m3x2.f32 %rs1, %x, %y;", "e4m3x2"),
        ("bar.red.popc.u32 %r5, 0, 1;", "bar"),
        ("tex.1d.v4.f32.s32 %z, %x;", "tex"),
        ("add.sat.s32 %z, %x, %y;", "add.sat"),
        ("add.rn.f16x2 %z, %x, %y;", "f16x2"),
        ("mov.u32 %z, %laneid;", "laneid"),
    ):
        with pytest.raises(Unsupported, match=what):
            run(body, x, x)


def test_arguments_must_be_those_of_the_kernel():
    x = integers(np.uint32)
    with pytest.raises(TypeError, match="takes other arguments"):
        launch(module("mov.u32 %z, 1;"), "k", [x, x], blocks=1)
    with pytest.raises(KeyError, match="nothing"):
        launch(module("mov.u32 %z, 1;"), "nothing", [x, x, x], blocks=1)


def test_what_is_read_only_is_left_alone():
    x, y = integers(np.uint32), integers(np.uint32, 1)
    out = np.zeros(N, np.uint32)
    out.flags.writeable = False
    launch(module("mov.u32 %z, 1;"), "k", [x, y, out], blocks=8, threads=32)
    assert not out.any()


def test_strided_arrays_are_cupys():
    memory = np.arange(24, dtype=np.int64)
    view = memory.reshape(4, 6)[::-2, 1:]
    record = np.frombuffer(ptx.Strided(view, memory).record(1000), np.int64)
    assert record.tolist() == [1000 + 8 * 19, 10, 2, 5, -96, 8]
    assert np.frombuffer(ptx.indexer((2, 5)), np.int64).tolist() == [10, 2, 5, 0, 0]
