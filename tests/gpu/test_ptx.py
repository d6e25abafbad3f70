"""The PTX interpreter: what it refuses, flushes and shares, on PTX written by hand.

That instructions compute what they should is seen by every kernel: its bits are the CPU's.
"""

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


def test_flushing_is_done_where_it_is_written_and_nowhere_else():
    tiny = np.full(N, 1e-40, np.float32)
    assert run("add.f32 %z, %x, %y;", tiny, tiny)[0] == 2 * tiny[0]
    assert run("add.ftz.f32 %z, %x, %y;", tiny, tiny)[0] == 0
    assert run("mul.ftz.f32 %z, %x, 0f4E800000;", tiny, tiny)[0] == 0
    smallest = np.full(N, 2.0**-126, np.float32)
    assert run("mul.ftz.f32 %z, %x, 0f3F000000;", smallest, smallest)[0] == 0
    assert run("neg.ftz.f32 %z, %x;", tiny, tiny).view(np.uint32)[0] == 0x80000000


def test_rounding_down_and_up():
    x, y = np.full(N, 1, np.float32), np.full(N, 2.0**-30, np.float32)
    one = np.float32(1)
    after = np.nextafter(one, np.float32(2))
    for mode, sign, want in (("rm", 1, one), ("rp", 1, after), ("rz", -1, -one), ("rz", 1, one)):
        got = run(f"fma.{mode}.f32 %z, %x, 0f3F800000, %y;", sign * x, sign * y)
        assert got[0] == want


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
        ("cvt.rn.satfinite.e2m3x2.f32 %rs1, %x, %y;", "e2m3x2"),
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
