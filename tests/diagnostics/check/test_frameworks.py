"""``pa.check`` of what PyTorch, Paddle and JAX compute."""

from __future__ import annotations

import random
import warnings
from fractions import Fraction
from typing import Any

import pytest
from checked_program import HEADS, checked, require

from promoarray.diagnostics.check.meant import SHARE

LOSSES = {
    # framework, program, kind, line, what is said of it
    "a counter in bfloat16": (
        "torch",
        "step = torch.zeros((), dtype=torch.bfloat16)\nfor _ in range(300):\n    step += 1\n",
        ("absorbed", 4, "all 44 updates change nothing: 256.0 and 1 give 256.0 (in 44 of 300"),
    ),
    "positions in bfloat16": (
        "torch",
        "t = torch.arange(4096)\np = t.type_as(torch.ones(1, dtype=torch.bfloat16))\n",
        ("digits-lost", 3, "3,328 of 4,096 values change: 257 becomes 256.0, first at [257]"),
    ),
    "identifiers in a tensor made by its class": (
        "torch",
        "ids = torch.FloatTensor([16777217, 3])\n",
        ("digits-lost", 2, "1 of 2 values changes: 16777217 becomes 16777216.0, first at [0]"),
    ),
    "unsigned difference": (
        "torch",
        "a = torch.tensor([1, 2], dtype=torch.uint8)\nb = a - 2\n",
        ("integer-wrap", 3, "1 of 2 elements wraps: 1 - 2 is -1, and uint8 has 255"),
    ),
    "a Python number minus an unsigned array": (
        "torch",
        "a = torch.tensor([1, 2], dtype=torch.uint8)\nb = 1 - a\n",
        ("integer-wrap", 3, "1 of 2 elements wraps: 1 - 2 is -1, and uint8 has 255, first at [1]"),
    ),
    "a cast of what is too large": (
        "torch",
        "x = torch.tensor([3e9, 1.0])\ny = x.to(torch.int32)\n",
        ("cast-out-of-range", 3, "3000000000.0 becomes -2147483648, first at [0]"),
    ),
    "a store of what is too large": (
        "torch",
        "x = torch.zeros(2, dtype=torch.int8)\nx[:] = torch.tensor([300, 1])\n",
        ("cast-out-of-range", 3, "300 becomes 44"),
    ),
    "half that overflows": (
        "torch",
        "x = torch.full((2,), 300.0, dtype=torch.float16)\ny = x * x\nz = y - y\n",
        ("overflow", 3, "all 2 elements overflow: 300.0 * 300.0 is 90000.0, and gives inf"),
    ),
    "a NaN of two infinities": (
        "torch",
        "x = torch.tensor([float('inf')])\ny = x - x\nz = y + 1\n",
        ("nan-born", 3, "becomes NaN: inf - inf"),
    ),
    "a softmax without an element left": (
        "torch",
        "x = torch.zeros(1, 3).masked_fill(torch.ones(1, 3) > 0, float('-inf'))\n"
        "y = torch.softmax(x, -1)\n",
        ("nan-born", 3, "all 3 elements become NaN"),
    ),
    "a gradient of a root at zero": (
        "torch",
        "x = torch.zeros(3, requires_grad=True)\ny = (x * 0).sqrt().sum()\ny.backward()\n",
        ("overflow", 3, "in the gradient: "),
    ),
    "products that vanish": (
        "torch",
        "x = torch.full((4,), 1e-5, dtype=torch.float16)\ny = x * x\n",
        ("underflow", 3, "all 4 results underflow"),
    ),
    "identifiers and a float": (
        "torch",
        "ids = torch.tensor([2**24 + 1, 5])\ny = ids * torch.ones(2)\n",
        ("digits-lost", 3, "16777217 becomes 16777216"),
    ),
    "a wider mask": (
        "torch",
        "x = torch.ones(1000, dtype=torch.bfloat16)\ny = x * torch.ones(1000)\n",
        ("implicit-widening", 3, "bfloat16 data becomes float32: 2 kB more"),
    ),
    "weights that no longer move": (
        "torch",
        "w = torch.ones(8, dtype=torch.bfloat16, requires_grad=True)\n"
        "o = torch.optim.SGD([w], 1e-4)\nfor _ in range(4):\n    w.sum().backward()\n"
        "    o.step()\n    o.zero_grad()\n",
        ("absorbed", 6, "all 24 updates change nothing"),
    ),
    "powers in a jitted function": (
        "jax",
        "f = jax.jit(lambda n: 256 ** n)\ny = f(jnp.arange(1, 5))\n",
        ("integer-wrap", 3, "1 of 4 elements wraps: 256 ** 4 is 4294967296, and int32 has 0"),
    ),
    "seconds that come into JAX": (
        "jax",
        "import numpy as np\ntimes = 1.7e9 + np.arange(200) / 200\nx = jnp.asarray(times)\n",
        ("digits-lost", 5, "200 different values become 1"),
    ),
    "identifiers that come into JAX": (
        "jax",
        "import numpy as np\nx = jnp.asarray(np.array([2**32 + 7, 5]))\n",
        ("cast-out-of-range", 4, "4294967303 becomes 7"),
    ),
    "a counter in a scan": (
        "jax",
        "def f(c, _):\n    return c + jnp.bfloat16(1), None\n"
        "c, _ = jax.lax.scan(f, jnp.bfloat16(0), None, length=300)\n",
        ("absorbed", 4, "all 44 updates change nothing: 256.0 and 1.0 give 256.0"),
    ),
    "a counter in a scan from what is recorded": (
        "jax",
        "f = lambda c, x: (c + x, c)\n"
        "c = jax.lax.scan(f, jnp.zeros((), jnp.bfloat16), jnp.ones(300, jnp.bfloat16))\n",
        ("absorbed", 3, "all 44 updates change nothing: 256.0 and 1.0 give 256.0"),
    ),
    "tensors of a list that are added to each other": (
        "torch",
        "p, q = torch.tensor([[200], [100]], dtype=torch.uint8)\n"
        "torch._foreach_add_([p, q], [q, p])\n",
        ("integer-wrap", 3, "all 2 elements wrap: 200 + 100 is 300"),
    ),
    "a division in what is differentiated": (
        "jax",
        "f = lambda x: (x / (x - x)).sum()\ng = jax.grad(f)(jnp.ones(3))\n",
        ("overflow", 3, "a division by zero"),
    ),
    "the gradient of a norm at zero": (
        "jax",
        "def norm(x):\n    return jnp.sqrt((x * x).sum())\ng = jax.grad(norm)(jnp.zeros(4))\n",
        ("overflow", 4, "in the gradient: the element overflows: sqrt gives inf"),
    ),
    "the gradient of what where replaces": (
        "jax",
        "f = jax.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0).sum())\n"
        "v, g = jax.value_and_grad(f)(jnp.zeros(2))\n",
        ("nan-born", 3, "in the gradient: all 2 elements become NaN: log"),
    ),
    "a counter of Paddle's": (
        "paddle",
        "c = paddle.zeros([], dtype='bfloat16')\nfor _ in range(300):\n    c += 1\n",
        ("absorbed", 4, "all 44 updates change nothing"),
    ),
    "the gradient of a root at zero in Paddle": (
        "paddle",
        "x = paddle.zeros([3])\nx.stop_gradient = False\ny = (x * 0).sqrt().sum()\ny.backward()\n",
        ("overflow", 4, "in the gradient: all 3 elements overflow: sqrt gives inf"),
    ),
    "paddle.grad of what where replaces": (
        "paddle",
        "x = paddle.zeros([2])\nx.stop_gradient = False\n"
        "y = paddle.where(x > 0, paddle.log(x), x * 0).sum()\ng = paddle.grad([y], [x])\n",
        ("nan-born", 4, "in the gradient: all 2 elements become NaN: log"),
    ),
    "bytes of Paddle's": (
        "paddle",
        "x = paddle.to_tensor([200, 100], dtype='uint8')\ny = x + x\n",
        ("integer-wrap", 3, "1 of 2 elements wraps: 200 + 200 is 400, and uint8 has 144"),
    ),
}

WITHIN = [
    # framework, what adds and multiplies integers inside, and the exact result that wraps
    ("torch", "torch.einsum('i,i', b, b)", 62500),
    ("torch", "torch.kron(b, b)", 40000),
    ("torch", "torch.tensordot(b, b, dims=1)", 62500),
    (
        "torch",
        "torch.linalg.matrix_power(torch.tensor([[100, 0], [0, 1]], dtype=torch.int8), 2)",
        10000,
    ),
    ("torch", "torch.linalg.multi_dot([b.view(1, 2), b.view(2, 1), b.view(1, 2)])", 12500000),
    ("torch", "torch.addmm(b.view(1, 2), b.view(1, 2), torch.eye(2, dtype=torch.uint8))", 400),
    ("torch", "torch.addmv(b, torch.eye(2, dtype=torch.uint8), b, beta=2)", 600),
    ("torch", "torch.addcmul(b, b, b, value=2)", 80200),
    ("torch", "b.index_add(0, torch.tensor([0, 0]), b)", 550),
    ("torch", "b.clone().index_add_(0, torch.tensor([0, 0]), b)", 550),
    ("torch", "b.scatter_add(0, torch.tensor([0, 0]), b)", 550),
    ("torch", "torch.cumsum(w, 0)", 2**63),
    ("torch", "torch.sum(b, dtype=torch.uint8)", 350),
    ("torch", "torch.nn.functional.linear(b, b)", 62500),
    ("torch", "torch.ger(b, b)", 40000),
    ("torch", "b.add_(b)", 400),
    ("torch", "b.mul_(b)", 40000),
    ("torch", "torch.add(b, b, out=b)", 400),
    ("torch", "torch.add(input=b, other=b)", 400),
    ("torch", "torch.cumsum(input=w, dim=0)", 2**63),
    ("paddle", "paddle.add(x=w, y=w)", 2**63),
    ("torch", "torch.prod(w)", 2**124),
    ("torch", "torch.einsum('i,i', w, w // 2**60)", 2**65),
    ("torch", "torch.dot(w, w // 2**60)", 2**65),
    ("jax", "jnp.einsum('i,i', b, b)", 62500),
    ("jax", "jnp.kron(b, b)", 40000),
    ("jax", "jnp.inner(b, b)", 62500),
    ("jax", "jnp.linalg.matrix_power(jnp.array([[100, 0], [0, 1]], jnp.int8), 2)", 10000),
    ("jax", "jnp.cumsum(b, dtype=jnp.uint8)", 350),
    ("jax", "jnp.ptp(jnp.array([-100, 100], jnp.int8))", 200),
    ("jax", "jax.lax.reduce_sum(b, (0,))", 350),
    ("jax", "jax.lax.reduce(b, jnp.uint8(1), jax.lax.mul, (0,))", 30000),
    ("jax", "jax.lax.reduce(b, jnp.uint8(0), jax.lax.max, (0,))", None),
    ("jax", "jax.lax.cumsum(b, reverse=True)", 350),
    ("jax", "jax.lax.integer_pow(b[:1], 3)", 8000000),
    ("jax", "jax.lax.dot(b, b)", 62500),
    ("jax", "jax.ops.segment_sum(b, jnp.array([0, 0]), 1)", 350),
    ("jax", "jax.ops.segment_sum(b, jnp.array([0, 1]), 2)", None),
    ("jax", "b.at[jnp.array([0, 0])].add(b)", 550),
    ("jax", "b.at[0].set(b[1]).at[1].add(100)", None),
    ("paddle", "paddle.cumsum(w)", 2**63),
    ("paddle", "paddle.kron(w // 2**40, w // 2**40)", None),
]

ARRAYS = {
    "torch": "b = torch.tensor([200, 150], dtype=torch.uint8)\nw = torch.tensor([2**62, 2**62])\n",
    "jax": "b = jnp.array([200, 150], jnp.uint8)\n",
    "paddle": "w = paddle.to_tensor([2**62, 2**62])\n",
}


@pytest.mark.parametrize(("framework", "text", "exact"), WITHIN)
def test_what_wraps_inside_of_functions(tmp_path, framework, text, exact) -> None:
    report = checked(tmp_path, framework, f"{ARRAYS[framework]}r = {text}\n")
    if exact is None:
        assert not report.told
        return
    assert [each.place.kind for each in report.told] == ["integer-wrap"], str(report)
    loss = report.told[0].place.loss
    assert loss.example.exact == str(exact)
    assert not report.unread


def test_lists_that_are_written_over(tmp_path) -> None:
    text = """x = torch.ones(3, requires_grad=True)
(x * 1e6).sum().backward()
torch.nn.utils.clip_grad_norm_([x], 1.0)
out = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
torch.max(torch.eye(2), 0, out=out)
y = torch.add(input=x.detach(), other=1, out=torch.zeros(3))
"""
    report = checked(tmp_path, "torch", text)
    assert not report.told


def test_a_nan_that_was_there_is_not_born_in_the_gradient(tmp_path) -> None:
    text = """w = torch.full((4, 4), float("nan"), requires_grad=True)
(torch.ones(2, 4) @ w).square().sum().backward()
"""
    assert not checked(tmp_path, "torch", text).told


@pytest.mark.parametrize(("framework", "text", "found"), LOSSES.values(), ids=LOSSES)
def test_losses(tmp_path, framework, text, found) -> None:
    kind, line, words = found
    report = checked(tmp_path, framework, text)
    told = {(each.place.kind, each.place.program.line): each.words for each in report.told}
    assert words in told.get((kind, line), ""), str(report)


STILL = {
    # what stands still, however it is written down; the line at which it does
    "two lines": ("torch", "    t = e + 1\n    e = t\n", 4),
    "a method": ("torch", "    e = e.add(1)\n", 4),
    "a function": ("torch", "    e = torch.add(e, x, alpha=0.001)\n", 4),
    "a buffer": ("torch", "    b.count = b.count + 1\n", 4),
    "an average": ("torch", "    e = 0.999 * e + 0.001 * x\n", 4),
    "an average in place": ("torch", "    e.mul_(0.9999).add_(x, alpha=0.001)\n", 4),
    "an average that is copied": ("torch", "    e.copy_(e * 0.999 + x * 0.001)\n", 4),
    "lerp": ("torch", "    e = torch.lerp(e, x, 0.001)\n", 4),
    "a copy": ("torch", "    e.copy_(e - 0.1, True)\n", 4),
    "a store": ("torch", "    e[:] = e - 0.1\n", 4),
    "many at once": ("torch", "    torch._foreach_add_([e, x], [x, e], alpha=0.001)\n", 4),
    "many averages": ("torch", "    torch._foreach_lerp_([e], [x], 0.001)\n", 4),
    "a function of JAX's": ("jax", "    e = jnp.add(e, 1)\n", 5),
    "an average of JAX's": ("jax", "    e = 0.999 * e + 0.001 * x\n", 5),
    "two lines of Paddle's": ("paddle", "    t = e + 1\n    e = t\n", 4),
}
STILL_AT = {
    "torch": "e, x, b = (torch.full((3,), n, dtype=torch.bfloat16) for n in (256., 260., 1.))\n"
    "b.count = e.clone()\n",
    "jax": "e, x = (jnp.full((3,), n, jnp.bfloat16) for n in (256., 257.))\n",
    "paddle": "e = paddle.full([3], 256., dtype='bfloat16')\n",
}


@pytest.mark.parametrize(("framework", "body", "line"), STILL.values(), ids=STILL)
def test_what_stands_still(tmp_path, framework, body, line) -> None:
    report = checked(tmp_path, framework, f"{STILL_AT[framework]}for _ in range(20):\n{body}")
    found = {(each.place.kind, each.place.program.line) for each in report.told}
    assert found == {("absorbed", line + (framework == "torch"))}, str(report)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (2,)])
@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_a_counter_of_any_shape_stands_still(tmp_path, framework, shape) -> None:
    made = {
        "torch": f"n = torch.zeros({shape}, dtype=torch.bfloat16)\n",
        "paddle": f"n = paddle.full({list(shape)}, 2.0**24 - 50)\n",
    }
    add = {"torch": "n += 1", "paddle": "n.add_(paddle.ones_like(n))"}
    text = f"{made[framework]}for _ in range(900):\n    {add[framework]}\n"
    report = checked(tmp_path, framework, text)
    assert [each.place.kind for each in report.told] == ["absorbed"], str(report)


def test_weights_that_have_converged_are_no_loss(tmp_path) -> None:
    text = """torch.manual_seed(0)
x = torch.randn(64, 3, dtype=torch.{dtype})
y = x @ torch.tensor([1.0, -2.0, 0.5], dtype=torch.{dtype})
w = torch.zeros(3, dtype=torch.{dtype}, requires_grad=True)
opt = torch.optim.SGD([w], lr={lr})
for _ in range(600):
    opt.zero_grad()
    ((x @ w - y) ** 2).mean().backward()
    opt.step()
"""
    report = checked(tmp_path, "torch", text.format(dtype="float32", lr=0.05))
    assert not report.told, str(report)
    report = checked(tmp_path, "torch", text.format(dtype="bfloat16", lr=0.0005))
    assert [each.place.kind for each in report.told] == ["absorbed"], str(report)


@pytest.mark.parametrize("optimizer", ["AdamW([w, v], 1e-4", "SGD([w, v], 1e-4"])
def test_weights_of_a_list_that_no_longer_move(tmp_path, optimizer) -> None:
    text = """w, v = (torch.nn.Parameter(torch.full((3,), 256., dtype=torch.{dtype})) for _ in "12")
opt = torch.optim.{optimizer}, foreach=True)
for _ in range(9):
    (w + v).sum().backward()
    opt.step()
    opt.zero_grad()
"""
    for dtype, kinds in ("bfloat16", ["absorbed"]), ("float32", []):
        given = text.format(dtype=dtype, optimizer=optimizer)
        report = checked(tmp_path, "torch", given)
        assert [each.place.kind for each in report.told] == kinds, str(report)
        assert not report.unread


def test_what_updates_all_tensors_at_once_is_named(tmp_path) -> None:
    text = """w = torch.nn.Parameter(torch.full((3,), 256., dtype=torch.bfloat16))
opt = torch.optim.AdamW([w], 1e-4, fused=True)
w.sum().backward()
opt.step()
"""
    report = checked(tmp_path, "torch", text)
    assert "_fused_adamw_" in str(report)


def test_gradients_of_paddle_that_are_finite(tmp_path) -> None:
    text = """net = paddle.nn.Linear(8, 8)
opt = paddle.optimizer.Adam(parameters=net.parameters())
for _ in range(3):
    loss = ((net(paddle.randn([16, 8])) - 1) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
    report = checked(tmp_path, "paddle", text)
    assert not report.told
    assert not report.unread


def test_what_follows_from_a_gradient_that_is_lost_is_not_told(tmp_path) -> None:
    text = """x = paddle.zeros([3])
x.stop_gradient = False
h = x * 2
y = paddle.sqrt(h)
(y + h * 3).sum().backward()
"""
    report = checked(tmp_path, "paddle", text)
    assert [(x.place.kind, x.place.program.line) for x in report.told] == [("overflow", 5)]


def test_casts_of_what_is_copied(tmp_path) -> None:
    text = "x = torch.zeros(2, dtype=torch.int8)\nx.copy_(torch.tensor([300, 1]))\n"
    report = checked(tmp_path, "torch", text)
    assert [each.place.kind for each in report.told] == ["cast-out-of-range"]


@pytest.mark.parametrize(("share", "told"), [(0.6, True), (0.05, False), (0.0, False)])
def test_updates_of_many_elements(tmp_path, share, told) -> None:
    text = (
        "w = torch.ones(20000, dtype=torch.bfloat16)\n"
        "u, k = torch.zeros(20000, dtype=torch.bfloat16), torch.arange(20000) % 100\n"
        f"u[k < {100 * share}] = 1e-4\nu[k >= 90] = 1.0\n"
        "for _ in range(6):\n    w += u\n"
    )
    report = checked(tmp_path, "torch", text)
    assert [each.place.kind for each in report.told] == ["absorbed"] * told, str(report)
    if told:  # the first pass is not known to be one of several
        assert report.told[0].place.count == 5 * share * 20000


def test_what_is_made_anew_is_no_accumulator(tmp_path) -> None:
    text = (
        "w = torch.ones(8, requires_grad=True)\nopt = torch.optim.Adam([w], 0.1)\n"
        "for _ in range(8):\n    (w * 3).sum().backward()\n    opt.step()\n    opt.zero_grad()\n"
    )
    assert not checked(tmp_path, "torch", text)


LONG_LOOPS = {
    # a loop of thousands of steps: what is lost in a late one, the steps looked at, what is made
    "scan": (
        "x = jnp.full(5000, 0.7)\n"
        "made = jax.lax.scan(lambda c, x: (c * 0.9999, jnp.log(c - x)), jnp.float32(1), x)\n",
        "become NaN: log(-",
        "lax.scan but for steps 1 to 1,024 and 3,",
    ),
    "scan in reverse": (
        "made = jax.lax.scan(lambda c, x: (c + x, c / x), jnp.float32(0), jnp.arange(3000.0),\n"
        "    reverse=True)\n",
        "a division by zero",
        "lax.scan but for steps 1 to 1,024 and 2,",
    ),
    "map": (
        "made = jax.lax.map(lambda x: jnp.sqrt(x), jnp.arange(1500.0, -2, -1))[None]\n",
        "the element becomes NaN: sqrt(-1.0)",
        "lax.map but for steps 1 to 1,024 and 1,",
    ),
    "fori_loop": (
        "made = jax.lax.fori_loop(5, 4000, lambda i, x: jnp.sqrt(x * x - 0.001), 1.3)[None]\n",
        "becomes NaN: sqrt(-",
        "lax.fori_loop but for steps 1 to 1,024 and ",
    ),
    "while_loop": (
        "made = jax.lax.while_loop(lambda s: s[1] < 5000, lambda s: (s[0] * 1.03, s[1] + 1),\n"
        "    (jnp.float32(1), 0))\n",
        "and gives inf",
        "lax.while_loop but for steps 1 to 1,024 and 2,",
    ),
}


@pytest.mark.parametrize(("text", "lost", "looked_at"), LONG_LOOPS.values(), ids=LONG_LOOPS)
def test_long_loops_of_jax(tmp_path, text, lost, looked_at) -> None:
    require("jax")
    import numpy as np

    plain: dict[str, Any] = {}
    exec(HEADS["jax"] + text, plain)
    names: dict[str, Any] = {}
    report = checked(tmp_path, "jax", text, names)
    for made, bare in zip(names["made"], plain["made"], strict=True):
        assert np.array_equal(made, bare, equal_nan=True)
        assert made.dtype == bare.dtype
        assert made.weak_type == bare.weak_type
    (told,) = report.told
    assert lost in told.words
    assert looked_at in report.unread


def test_loops_without_steps_and_under_vmap(tmp_path) -> None:
    text = (
        "c, ys = jax.lax.scan(lambda c, x: (c, c), 1.0, jnp.zeros((0,)))\n"
        "f = lambda w: jax.lax.fori_loop(0, 3000, lambda i, x: x * w, w)\n"
        "z = jax.vmap(f)(jnp.ones(3))\n"
        "g = jax.grad(lambda w: jax.lax.scan(lambda c, x: (c * w, c), 1.0, None, 700)[0])(1.001)\n"
    )
    report = checked(tmp_path, "jax", text)
    assert not report.told
    assert "__mul__" in report.unread


REFUSED = {
    "scan": "jax.lax.scan(lambda c, x: (c + 1.0, x), jnp.int32(0), jnp.ones(3))\n",
    "while_loop": "jax.lax.while_loop(lambda c: c < 5, lambda c: c + 1.0, jnp.int32(0))\n",
    "fori_loop": "jax.lax.fori_loop(0, 5, lambda i, c: c + 1.5, jnp.int32(0))\n",
    "cond": "jax.lax.cond(True, lambda x: x, lambda x: x.astype(jnp.int32), jnp.ones(3))\n",
    "switch": "jax.lax.switch(0, [lambda x: x, lambda x: x + 1.0], jnp.int32(1))\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_dtypes_that_jax_refuses(tmp_path, text) -> None:
    require("jax")
    with pytest.raises(TypeError, match=r"equal (output )?types"):
        checked(tmp_path, "jax", text)


def test_loops_that_jax_refuses(tmp_path) -> None:
    text = "jax.lax.scan(lambda c, x: (c, x), 0.0, (jnp.ones(3), jnp.ones(4)))\n"
    with pytest.raises(ValueError, match="different leading axis sizes"):
        checked(tmp_path, "jax", text)
    text = "jax.lax.scan(lambda c, x: (c, x), 0.0, jnp.ones(3), length=2)\n"
    with pytest.raises(ValueError, match="length"):
        checked(tmp_path, "jax", text)
    with pytest.raises(ValueError, match="different leading axis sizes"):
        checked(tmp_path, "jax", "jax.lax.map(lambda x: x, (jnp.ones(3), jnp.ones(4)))\n")


GRADIENTS_OF_LOOPS = {
    # the lines at which a gradient is lost, in a long loop or beside it
    "in a scan": ("jax.lax.scan(lambda c, x: (jnp.sqrt(c * v / v - w), x), w, None, 1500)[0]", 5),
    "in a fori_loop": ("jax.lax.fori_loop(0, 1500, lambda i, c: jnp.sqrt(c * v / v - w), w)", 5),
    "in a map": ("jax.lax.map(lambda x: jnp.sqrt(x * v), jnp.zeros(1500)).sum()", 5),
    "behind a scan": (
        "jax.lax.scan(lambda c, x: (c * 0.99 + v, x), jnp.float32(1), None, 1500)[0]",
        6,
    ),
}


@pytest.mark.parametrize(("loop", "line"), GRADIENTS_OF_LOOPS.values(), ids=GRADIENTS_OF_LOOPS)
def test_gradients_through_long_loops(tmp_path, loop, line) -> None:
    behind = "jnp.sqrt(c - c)" if line == 6 else "c * 1"
    text = f"def f(w):\n    v = w * 2 + 1\n    c = {loop}\n    return {behind} + jnp.sin(v)\n"
    report = checked(tmp_path, "jax", text + "g = jax.grad(f)(jnp.float32(0))\n")
    told = {each.place.program.line for each in report.told if each.place.backward}
    assert told == {line}, str(report)


# -- gradients of 16 bits that vanish, held against Fractions --------------------------------------

FACTORS = [1.0, 0.5, 2.0, 0.25, 2.0**-10, 2.0**-14, 3 * 2.0**-12, -1.5, 0.0, 2.0**-7, 7.0]
LEAST = {"float16": 2.0**-14, "bfloat16": 2.0**-126}


def some_numbers(draw: random.Random, dtype: str, count: int) -> list[float]:
    scale = 1.0 if dtype == "float16" else 2.0**-70
    return [draw.choice(FACTORS) * draw.choice([1.0, scale]) for _ in range(count)]


def exact_gradients(
    kind: str, x: list[float], y: list[float], g: list[float]
) -> list[Fraction | None]:
    """What each operand is given, exactly; None of a division by zero."""
    if kind == "*":
        return [Fraction(a) * Fraction(b) for a, b in zip(g, y, strict=True)]
    if kind == "/":
        return [Fraction(a) / Fraction(b) if b else None for a, b in zip(g, y, strict=True)]
    return [Fraction(g[0]) / len(x) for _ in x]


@pytest.mark.parametrize("dtype", LEAST)
@pytest.mark.parametrize("kind", ["*", "/", "mean"])
def test_they_vanish_where_fractions_say_so(tmp_path: Any, dtype: str, kind: str) -> None:
    draw, least = random.Random(3), LEAST[dtype]
    for _ in range(12):
        x, y, g = ([1.0] * 8, some_numbers(draw, dtype, 8), some_numbers(draw, dtype, 8))
        if kind == "/":
            y = [each or 1.0 for each in y]
        line = "x.mean()" if kind == "mean" else f"x {kind} y"
        text = "\n".join(
            [
                f"x = torch.tensor({x}, dtype=torch.{dtype}, requires_grad=True)",
                f"y = torch.tensor({y}, dtype=torch.{dtype})",
                f"g = torch.tensor({g}, dtype=torch.{dtype})",
                f"z = {line}",
                f"z.backward({'g[0]' if kind == 'mean' else 'g'})",
                "",
            ]
        )
        report = checked(tmp_path, "torch", text)
        names: dict[str, Any] = {}
        exec(HEADS["torch"] + text, names)
        made = [float(each) for each in names["x"].grad]
        pairs = zip(exact_gradients(kind, x, y, g), made, strict=True)
        lost = sum(abs(m) < least and e != Fraction(m) for e, m in pairs if e is not None)
        found = [t.place for t in report.told if t.place.kind == "underflow" and t.place.backward]
        forward = any(t.place.kind == "underflow" and not t.place.backward for t in report.told)
        if not forward:
            wanted = lost if lost >= SHARE * len(x) else 0
            assert sum(each.count for each in found) == wanted, text


UNSCALED = {
    "a mean of many": "(x @ w).relu().mean()",
    "a product of matrices": "(x @ w).float().sum() * 1e-7",
    "a layer": "torch.nn.functional.linear(x, w.T).float().sum() * 1e-7",
    "a number": "((x @ w).float() * 1e-7).sum()",
}


@pytest.mark.parametrize("line", UNSCALED.values(), ids=UNSCALED)
def test_a_loss_that_is_not_scaled(tmp_path: Any, line: str) -> None:
    text = f"""w = torch.full((64, 64), 0.5, dtype=torch.float16, requires_grad=True)
x = torch.full((500, 64), 0.01, dtype=torch.float16)
loss = {line}
loss.backward()
"""
    report = checked(tmp_path, "torch", text)
    assert {(t.place.kind, t.place.program.line, t.place.backward) for t in report.told} == {
        ("underflow", 4, True)
    }, str(report)
    scaled = text.replace("loss.backward()", "(loss.float() * 1024).backward()")
    assert not [t for t in checked(tmp_path, "torch", scaled).told if t.place.backward]


def test_zeros_of_masks_do_not_vanish(tmp_path: Any) -> None:
    text = """w = torch.linspace(-1, 1, 64).half().requires_grad_()
mask = (torch.arange(64) % 2).half()
(torch.relu(w) * mask).sum().backward()
w.float().pow(2).mul(2.0**-20).half().float().sum().backward()
"""
    report = checked(tmp_path, "torch", text)
    assert not [t for t in report.told if t.place.backward and t.place.program.line == 4]


def test_what_a_loaders_worker_does_with_storages_warns_of_nothing(tmp_path: Any) -> None:
    text = "x = torch.ones(4)\ny = x.new(x._typed_storage()._new_shared(4)).resize_(2, 2)\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not checked(tmp_path, "torch", text).told
    assert not caught


COMPILED = """from functools import partial
import numpy as np
class Model:
    def __init__(self, k):
        self.k = k
    @partial(jax.jit, static_argnums=0)
    def __call__(self, x, power=2):
        return self.k * x**power
@partial(jax.jit, static_argnames=("n", "mode"))
def repeated(x, n, *, mode="sum", scale=1.0):
    for _ in range(n):
        x = x * scale + 1
    return {"sum": x.sum(), "all": x}[mode]
@jax.jit
def step(state, batch):
    off = lambda w: ((batch["x"] @ w - batch["y"]) ** 2).mean()
    loss, grad = jax.value_and_grad(off)(state["w"])
    count = state["count"] + 1
    new = {"w": state["w"] - 0.1 * grad, "count": count}
    return jax.lax.cond(count % 2 == 0, lambda: new, lambda: new | {"w": new["w"] * 1.0}), loss
@partial(jax.jit, donate_argnums=0)
def donated(x):
    return x + jnp.arange(3.0)
@jax.jit
def by_value(x):
    return x * 2 if x.sum() > 0 else x
made = [Model(3)(jnp.ones(2)), Model(3)(jnp.ones(2), power=3), Model(2)(2.0)]
made += [repeated(jnp.ones(2), 3), repeated(jnp.ones(2), n=2, mode="all", scale=0.5)]
made += [repeated(np.ones(2, np.float32), 2, scale=np.float32(2)), donated(jnp.ones(3))]
state = {"w": jnp.zeros(2), "count": 0}
for n in range(4):
    state, loss = step(state, {"x": jnp.eye(2) + n, "y": jnp.ones(2)})
made += [state["w"], state["count"], loss]
made += [jax.vmap(jax.jit(jnp.sin))(jnp.ones(2)), jax.grad(jax.jit(lambda x: x**3))(2.0)]
key = jax.random.key(0)
made += [jax.jit(lambda k: jax.random.normal(k, (3,)))(key), jax.jit(lambda: jnp.ones(2))()]
"""


def test_what_compiled_functions_are_given_and_give(tmp_path: Any) -> None:
    require("jax")
    import numpy as np

    plain: dict[str, Any] = {}
    names: dict[str, Any] = {}
    exec(HEADS["jax"] + COMPILED, plain)
    assert not checked(tmp_path, "jax", COMPILED, names).told
    for made, bare in zip(names["made"], plain["made"], strict=True):
        assert np.allclose(made, bare, rtol=1e-6)
        assert (made.dtype, made.weak_type) == (bare.dtype, bare.weak_type)
    with pytest.raises(Exception, match="traced array"):
        exec(HEADS["jax"] + COMPILED + "by_value(jnp.ones(2))\n", plain)
    report = checked(tmp_path, "jax", COMPILED + "by_value(jnp.ones(2))\n", names)
    # Those under vmap and grad, and what JAX refuses to trace.
    assert "3 calls of what jax.jit compiles ran eagerly" in str(report)


def test_of_calls_that_set_a_flag_some_are_looked_at_and_all_counted(tmp_path: Any) -> None:
    report = checked(
        tmp_path,
        "jax",
        """\
@jax.jit
def step(n, x):
    n = n + 1
    return n, jnp.log(x)
n = jnp.zeros((), jnp.bfloat16)
for k in range(700):
    n, y = step(n, 3.0 if k < 600 else -1.0)
""",
    )
    counts = [(each.place.kind, each.place.count) for each in report.told]
    assert counts == [("absorbed", 700 - 256), ("nan-born", 100)]
    assert "about 700 passes" in str(report)
    (ran,) = (int(line.split()[0]) for line in report.eagerly)
    assert ran < 64 + 64 + 8
