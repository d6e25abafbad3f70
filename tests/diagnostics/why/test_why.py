"""``promoarray why``: where the dtypes came from at which a program stops, and what to write."""

import json
import subprocess
import sys

import pytest

from promoarray import cli

TORCH = "import torch\nimport torch.nn.functional as F\n"
PADDLE = "import paddle\n"
NUMPY = "import numpy as np\n"
JAX = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n"

STOPS = {
    # name: framework, program, what is said of the origin, what is to be written
    "a mask of the default dtype": (
        "torch",
        TORCH + "layer = torch.nn.Linear(4, 2).to(torch.bfloat16)\n"
        "x = torch.ones(3, 4, dtype=torch.bfloat16)\nmask = torch.ones(3, 1)\n"
        "x = x * mask\nlayer(x)\n",
        "mask  float32  torch.ones(3, 1), program.py:5: the default dtype of Python floats",
        "mask = torch.ones(3, 1, dtype=torch.bfloat16)",
    ),
    "autocast beside a cast": (
        "torch",
        TORCH + "q_proj, k_proj = torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)\n"
        "x = torch.rand(4, 8)\nwith torch.autocast('cpu', dtype=torch.bfloat16):\n"
        "    q = q_proj(x).float()\n    k = k_proj(x)\nscores = q @ k.T\n",
        "autocast runs linear in bfloat16",
        "k = k_proj(x).to(torch.float32)",
    ),
    "what was cast on purpose stays": (
        "torch",
        TORCH + "weight = torch.rand(8, 8).to(torch.float8_e4m3fn)\n"
        "up = torch.rand(8, 8, dtype=torch.bfloat16)\nmerged = weight + up\n",
        "weight  float8_e4m3fn (8, 8)  torch.rand(8, 8).to(torch.float8_e4m3fn), program.py:3",
        "merged = weight.to(torch.bfloat16) + up",
    ),
    "a target in place": (
        "torch",
        TORCH + "t = torch.rand(2).long()\ngain = torch.ones(6)\nt.clamp_(0, gain[3] - 1)\n",
        "float32  torch.ones(6), program.py:4: the default dtype of Python floats",
        "t.clamp_(0, (gain[3] - 1).to(torch.int64))",  # others may read fractions of gain
    ),
    "a mean of integers": (
        "torch",
        TORCH + "x = torch.arange(3)\nx.mean()\n",
        "x  int64 (3,)  torch.arange(3), program.py:3: the default dtype of Python integers",
        "x = torch.arange(3, dtype=torch.float32)",
    ),
    "a number beyond the range": (
        "torch",
        TORCH + "x = torch.zeros(3, dtype=torch.float16)\nx.masked_fill(x == 0, -1e9)\n",
        "-1000000000.0  does not fit float16, whose range is -65504 to 65504",
        "x.masked_fill(x == 0, torch.finfo(torch.float16).min)",
    ),
    "a module that checks what it is given": (
        "torch",
        TORCH + "import numpy as np\nx = torch.from_numpy(np.ones((1, 3, 4)))\n"
        "lstm = torch.nn.LSTM(4, 2)\nlstm(x)\n",
        "x  float64 (1, 3, 4)  np.ones((1, 3, 4)), program.py:4: the default dtype of",
        "x = torch.from_numpy(np.ones((1, 3, 4), dtype=np.float32))",
    ),
    "what is written into": (
        "torch",
        TORCH + "w = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)\n"
        "(w * w).sum().backward()\nm = torch.zeros(2)\nm.lerp_(w.grad, 0.1)\n",
        "w.grad  bfloat16 (2,)",
        "m.lerp_(w.grad.to(torch.float32), 0.1)",
    ),
    "what would lose its fractions under Paddle": (
        "paddle",
        PADDLE + "count = paddle.ones([2], dtype='int64')\n"
        "rate = paddle.to_tensor([0.1, 0.2])\ncount * rate\n",
        "rate  float32 (2,)  paddle.to_tensor([0.1, 0.2]), program.py:3: the default dtype",
        "count.astype(paddle.float32) * rate",
    ),
    "a cast that goes": (
        "torch",
        TORCH + "w = torch.ones(2, 2)\nx = torch.ones(2, dtype=w.dtype)\nx @ w.double()\n",
        "w.double()  float64 (2, 2)  w.double(), program.py:5: cast there",
        "x @ w",
    ),
    "an array that is weak": (
        "jax",
        JAX + "a = jnp.ones(3, dtype=jnp.bfloat16)\nb = jnp.full(3, 2.0)\nlax.add(a, b)\n",
        "b  weak float (3,)  jnp.full(3, 2.0), program.py:5: the default dtype of Python floats",
        "b = jnp.full(3, 2.0, dtype=jnp.bfloat16)",
    ),
    "the carry of a scan": (
        "jax",
        JAX + "import numpy as np\nstart = np.zeros((), np.int32)\n"
        "lax.scan(lambda n, x: (n + x, x), start, jnp.ones(3))\n",
        "given back  float32 ()  n + x, program.py:6: int32 + float32 is float32",
        "lax.scan(lambda n, x: (n + x, x), start.astype(jnp.float32), jnp.ones(3))",
    ),
    "an index of floats under Paddle": (
        "paddle",
        PADDLE + "y = paddle.ones([3])\ni = paddle.arange(3) / 1\npaddle.gather(y, i)\n",
        "i  float32 (3,)  paddle.arange(3) / 1, program.py:3: int64 / Python int is float32",
        "i = (paddle.arange(3) / 1).astype(paddle.int64)",
    ),
    "a sum in place of integers": (
        "numpy",
        NUMPY + "a = np.arange(3)\na += 0.5\n",
        "a  int64 (3,)  np.arange(3), program.py:2: the default dtype of Python integers",
        "a = np.arange(3, dtype=np.float64)",
    ),
    "an error that a launcher prints before it exits": (
        "numpy",
        NUMPY + "def main():\n    a = np.arange(3)\n    a += 0.5\n"
        "import sys\ntry: main()\nexcept Exception as e:\n    print(e)\n    sys.exit(1)\n",
        "a  int64 (3,)  np.arange(3), program.py:3: the default dtype of Python integers",
        "a = np.arange(3, dtype=np.float64)",
    ),
    "an error that a program ends itself for": (
        "numpy",
        NUMPY
        + "a = np.arange(3)\ntry:\n    a += 0.5\nexcept TypeError:\n    raise SystemExit(1)\n",
        "a  int64 (3,)  np.arange(3), program.py:2: the default dtype of Python integers",
        "a = np.arange(3, dtype=np.float64)",
    ),
    "an error that a program of PyTorch ends itself for": (
        "torch",
        TORCH + "x = torch.ones(2, 2)\ntry:\n    x @ x.double()\nexcept RuntimeError:\n"
        "    raise SystemExit('failed') from None\n",
        "x  float32 (2, 2)  torch.ones(2, 2), program.py:3: the default dtype of Python floats",
        "x = torch.ones(2, 2, dtype=torch.float64)",
    ),
    "an out= of integers": (
        "numpy",
        NUMPY + "out = np.zeros(3, dtype=int)\nnp.add(np.ones(3), 1.5, out=out)\n",
        "out  int64 (3,)  np.zeros(3, dtype=int), program.py:2: the dtype that it names",
        "out = np.zeros(3, dtype=np.float64)",
    ),
    "a total that is kept": (
        "numpy",
        NUMPY + "class Meter:\n    total = np.zeros(2, dtype=np.int32)\n\n"
        "meter = Meter()\nmeter.total += np.ones((2, 2)).mean(axis=0)\n",
        "meter.total  int32 (2,)  np.zeros(2, dtype=np.int32), program.py:3: the dtype that it",
        "meter.total = meter.total + np.ones((2, 2)).mean(axis=0)",
    ),
    "a mask of floats as an index": (
        "numpy",
        NUMPY + "x = np.array([0.2, 0.9])\nx[(x > 0.3).astype(float)]\n",
        "(x > 0.3).astype(float)  float64 (2,)  (x > 0.3).astype(float), program.py:3: cast there",
        "x[(x > 0.3).astype(np.bool_)]",
    ),
    "indices of floats": (
        "numpy",
        NUMPY + "x = np.arange(5)\ni = np.arange(4) / 2\nx[i]\n",
        "i  float64 (4,)  np.arange(4) / 2, program.py:3: int64 / Python int is float64",
        "i = (np.arange(4) / 2).astype(np.int64)",
    ),
    "a number beyond a narrow integer": (
        "numpy",
        NUMPY + "img = np.zeros((2, 2), np.uint8)\nout = img + 300\n",
        "300  does not fit uint8, whose range is 0 to 255",
        "out = img.astype(np.int64) + 300",
    ),
    "a number that divides in place": (
        "numpy",
        NUMPY + "frames = np.zeros((2, 3), np.uint8)\nframes /= 255\n",
        "frames  uint8 (2, 3)  np.zeros((2, 3), np.uint8), program.py:2: the dtype that it names",
        "frames = frames / 255",
    ),
    "what is stored": (
        "torch",
        TORCH + "fc = torch.nn.Linear(4, 4)\nx = torch.ones(3, 4, dtype=torch.bfloat16)\n"
        "out = torch.zeros_like(x)\nout[x[:, 0] > 0] = fc(x.float())\n",
        "operand 3  float32 (3, 4)  fc(x.float()), program.py:6",
        "out[x[:, 0] > 0] = fc(x.float()).to(torch.bfloat16)",
    ),
    "what a loop yields": (
        "torch",
        TORCH + "import numpy as np\nfrom torch.utils.data import DataLoader\n"
        "net = torch.nn.Linear(4, 2)\nfor x in DataLoader([np.ones(4), np.ones(4)]):\n"
        "    out = net(x)\n    loss = out.sum()\n",
        "x  float64 (1, 4)  for x in DataLoader([np.ones(4), np.ones(4)]):, program.py:6, in",
        "out = net(x.to(torch.float32))",
    ),
    "what a list holds": (
        "jax",
        JAX + "start = jnp.ones(3), jnp.zeros((), jnp.int32)\n"
        "lax.scan(lambda s, _: ((s[0], s[1] + 1.0), None), start, None, length=2)\n",
        "start[1]  int32 ()  jnp.zeros((), jnp.int32), program.py:4: the dtype that it names",
        "start = jnp.ones(3), jnp.zeros((), jnp.float32)",
    ),
    "bits of floats": (
        "numpy",
        NUMPY + "x = np.array([1.0, 2.0])\nx & 1\n",
        "x  float64 (2,)  np.array([1.0, 2.0]), program.py:2: the default dtype of Python floats",
        "x = np.array([1.0, 2.0], dtype=np.int64)",
    ),
    "texts beside numbers": (
        "numpy",
        NUMPY + 'ages = np.array(["3", "4"])\nages + 1\n',
        "ages  <U1 (2,)  np.array(['3', '4']), program.py:2",
        "ages.astype(np.int64) + 1",
    ),
    "a day beside floats": (
        "numpy",
        NUMPY + "t = np.array(['2020-01-01'], dtype='datetime64[D]')\nn = np.ones(1)\nt + n\n",
        "n  float64 (1,)  np.ones(1), program.py:3: the default dtype of Python floats",
        "n = np.ones(1, dtype=np.int64)",
    ),
    "a method": (
        "numpy",
        NUMPY + "n = np.array([1.0, 2.0])\nnp.arange(2).repeat(n)\n",
        "n  float64 (2,)  np.array([1.0, 2.0]), program.py:2: the default dtype of Python floats",
        "n = np.array([1.0, 2.0], dtype=np.int64)",
    ),
    "a Python float for a length": (
        "numpy",
        NUMPY + "half = 10 / 2\nnp.zeros((2, half))\n",
        "half  Python float 5.0  10 / 2, program.py:2: an integer is asked for",
        "np.zeros((2, int(half)))",
    ),
    "a Python float in a slice": (
        "numpy",
        NUMPY + "x = np.arange(10)\nx[:len(x) / 2]\n",
        "Python float 5.0  an integer is asked for",
        "x[:len(x) // 2]",
    ),
    "a number stored": (
        "numpy",
        NUMPY + "a = np.zeros(3, np.uint8)\na[0] = -1\n",
        "-1  does not fit uint8, whose range is 0 to 255",
        "a = np.zeros(3, np.int64)",
    ),
    "a scalar type, called": (
        "jax",
        JAX + "lax.fori_loop(0, 5, lambda i, s: s + jnp.sqrt(i), jnp.int32(0))\n",
        "operand 1  int32 ()  jnp.int32(0), program.py:4: the dtype that it names",
        "lax.fori_loop(0, 5, lambda i, s: s + jnp.sqrt(i), jnp.int32(0).astype(jnp.float32))",
    ),
    "a branch of a function that is traced": (
        "jax",
        JAX + "@jax.jit\ndef f(g):\n    n = jnp.sum(g)\n"
        "    return lax.cond(n > 1, lambda g: g * jnp.float32(n), lambda g: g, g)\n"
        "f(jnp.ones(3, jnp.bfloat16))\n",
        "g  bfloat16 (3,)  jnp.ones(3, jnp.bfloat16), program.py:8: the dtype that it names",
        "return lax.cond(n > 1, lambda g: g * jnp.float32(n), lambda g: g, g.astype(jnp.float32))",
    ),
    "branches that make arrays": (
        "jax",
        JAX + "lax.cond(True, lambda: jnp.zeros(3), lambda: jnp.arange(3))\n",
        "given back  int32 (3,)  jnp.arange(3), program.py:4: the default dtype of Python integers",
        "lax.cond(True, lambda: jnp.zeros(3), lambda: jnp.arange(3, dtype=jnp.float32))",
    ),
    "branches that give numbers": (
        "jax",
        JAX + "x = jnp.ones(3, jnp.bfloat16)\nlax.cond(True, lambda v: v.sum(), lambda v: 0, x)\n",
        "given back  weak int ()  0, program.py:5",
        "lax.cond(True, lambda v: v.sum(), lambda v: jnp.asarray(0, dtype=jnp.bfloat16), x)",
    ),
    "branches that give two kinds of numbers": (
        "jax",
        JAX + "lax.cond(jnp.array(True), lambda v: 0, lambda v: 0.5, 1.0)\n",
        "given back  weak float ()  0.5, program.py:4",
        "lax.cond(jnp.array(True), lambda v: 0.0, lambda v: 0.5, 1.0)",
    ),
    "what branches refer to": (
        "jax",
        JAX + "import numpy as np\na, b = np.r_[1, 2], np.r_[0.5, 1.5]\n\n@jax.jit\n"
        "def f(p, a, b):\n    return lax.cond(p, lambda: a, lambda: b)\n\nf(True, a, b)\n",
        "    int64  np.r_[1, 2], program.py:5: the default dtype of Python integers",
        "a, b = np.r_[1, 2].astype(np.float32), np.r_[0.5, 1.5]",
    ),
    "a loop's body that casts": (
        "jax",
        JAX + "def halve(u):\n    return (u / 2).astype(jnp.float16)\n\n"
        "lax.while_loop(lambda u: u > 5, halve, jnp.asarray(9, jnp.float32))\n",
        "given back  float16 ()  (u / 2).astype(jnp.float16), program.py:5: cast there",
        "return (u / 2).astype(jnp.float32)",
    ),
    "a loop's body that returns in two places": (
        "jax",
        JAX + "def halve(u):\n    if u.ndim:\n        return u\n"
        "    return (u / 2).astype(jnp.float16)\n\n"
        "lax.while_loop(lambda u: u > 5, halve, jnp.asarray(9, jnp.float32))\n",
        "given back  float16 ()  (u / 2).astype(jnp.float16), program.py:7: cast there",
        "return (u / 2).astype(jnp.float32)",
    ),
    "a number that lax takes for int32": (
        "jax",
        JAX + "x = jnp.ones(3, jnp.bfloat16)\nlax.max(x, 0)\n",
        "Python int 0  bfloat16 is asked for",
        "lax.max(x, jnp.asarray(0, dtype=jnp.bfloat16))",
    ),
    "a tangent": (
        "jax",
        JAX + "x = jnp.ones(3, jnp.float16)\njax.jvp(jnp.sin, (x,), (jnp.ones(3),))\n",
        "operand 2  float32 (3,)  jnp.ones(3), program.py:5: the default dtype of Python floats",
        "jax.jvp(jnp.sin, (x,), (jnp.ones(3, dtype=jnp.float16),))",
    ),
    "a cotangent": (
        "jax",
        JAX + "_, pull = jax.vjp(jnp.sin, jnp.ones(3, jnp.bfloat16))\ng = jnp.ones(3)\npull(g)\n",
        "g  float32 (3,)  jnp.ones(3), program.py:5: the default dtype of Python floats",
        "g = jnp.ones(3, dtype=jnp.bfloat16)",
    ),
    "indices that are unpacked": (
        "jax",
        JAX + "grid = jnp.zeros((4, 4))\nrow, column = jnp.array([1.0, 2.0])\ngrid[row, column]\n",
        "row, column  float32  jnp.array([1.0, 2.0]), program.py:5: the default dtype of",
        "row, column = jnp.array([1.0, 2.0], dtype=jnp.int32)",
    ),
    "a Python int that is differentiated": (
        "jax",
        JAX + "at = 2\njax.grad(jnp.tanh)(at)\n",
        "at  Python int 2  2, program.py:4: a float is asked for",
        "jax.grad(jnp.tanh)(float(at))",
    ),
    "what NumPy made, which JAX narrows": (
        "jax",
        JAX + "import numpy as np\np = {'w': np.ones(2), 'n': {'b': np.zeros(2, int)}}\n"
        "jax.grad(lambda p: (p['w'] + p['n']['b']).sum())(p)\n",
        "p['n']['b']  int32 (2,)  jax.grad(lambda p: (p['w'] + p['n']['b']).sum())(p), program",
        "p = {'w': np.ones(2), 'n': {'b': np.zeros(2, np.float32)}}",
    ),
    "into a tensor, beside NumPy": (
        "torch",
        TORCH + "import numpy as np\nlabels = np.array([2, 0], dtype=np.int32)\n"
        "target = torch.ones(2, dtype=torch.long) * -100\n"
        "target[[0, 1]] = torch.from_numpy(labels)\n",
        "int32 (2,)  np.array([2, 0], dtype=np.int32), program.py:4: the dtype that it names",
        "target[[0, 1]] = torch.from_numpy(labels).to(torch.int64)",
    ),
    "a dtype that is asked for, and not given": (
        "numpy",
        NUMPY + "rng = np.random.default_rng(0)\nx = rng.integers(5, size=3, dtype=np.float32)\n",
        "float32  asked for there; it runs with int64",
        "x = rng.integers(5, size=3, dtype=np.int64)",
    ),
    "a dtype that a variable asks of random numbers": (
        "jax",
        JAX + "def init(key, dtype):\n    return jax.random.normal(key, (2,), dtype)\n"
        "init(jax.random.key(0), int)\n",
        "dtype  int64  asked for there; it runs with float32",
        "return jax.random.normal(key, (2,), jnp.float32)",
    ),
    "operands that are made in two lines": (
        "torch",
        TORCH + "x = torch.ones(3, 4, dtype=torch.bfloat16)\nw = torch.zeros(2, 4)\n"
        "b = torch.zeros(2)\ntorch.nn.functional.linear(x, w, b)\n",
        "b  float32 (2,)  torch.zeros(2), program.py:5: the default dtype of Python floats",
        "w = torch.zeros(2, 4, dtype=torch.bfloat16)\n"
        "  write  program.py:5  b = torch.zeros(2, dtype=torch.bfloat16)",
    ),
    "an array that stands in a tuple": (
        "jax",
        JAX + "s = jnp.ones(4)\n"
        "jax.lax.fori_loop(0, 3, lambda i, x: (x[0] + x[1], x[1]), (jnp.zeros(4, int), s))\n",
        "int32 (4,)  jnp.zeros(4, int), program.py:5: int64 asked for, which the framework narrows",
        "jax.lax.fori_loop(0, 3, lambda i, x: (x[0] + x[1], x[1]), "
        "(jnp.zeros(4, int).astype(jnp.float32), s))",
    ),
    "an array of a named tuple": (
        "jax",
        JAX + "from typing import NamedTuple\nclass P(NamedTuple):\n    mu: jax.Array\n"
        "p = P(mu=jnp.array(1))\njax.grad(lambda p, x: p.mu * x)(p, jnp.array(2.0))\n",
        "p.mu  weak int ()  jnp.array(1), program.py:7: the default dtype of Python integers",
        "p = P(mu=jnp.array(1, dtype=jnp.float32))",
    ),
    "a number in the place of a cotangent": (
        "jax",
        JAX + "y, back = jax.vjp(jnp.sum, jnp.ones(3, jnp.float16))\nback(1.0)\n",
        "Python float 1.0  float16 is asked for",
        "back(jnp.asarray(1.0, dtype=jnp.float16))",
    ),
    "two numbers at once": (
        "jax",
        JAX + "x = jnp.linspace(0, 300, 5)\njax.lax.clamp(0, x, 255)\n",
        "Python int 0  a float is asked for",
        "jax.lax.clamp(0.0, x, 255.0)",
    ),
    "lax, which promotes nothing": (
        "jax",
        JAX + "a = jnp.ones(3, dtype=jnp.bfloat16)\nb = jnp.ones(3) * 2\nlax.add(a, b)\n",
        "b  float32 (3,)  jnp.ones(3) * 2, program.py:5",
        "b = jnp.ones(3, dtype=jnp.bfloat16) * 2",
    ),
}


@pytest.fixture
def why(tmp_path, monkeypatch, capfd):
    """Run the command over a program; return its status and what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")

    def run(text, *options):
        (tmp_path / "program.py").write_text(text)
        status = cli.main(["why", *options, "program.py"])
        return status, capfd.readouterr().out

    return run


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_is_explained_and_mended(why, stop):
    framework, text, origin, edit = STOPS[stop]
    pytest.importorskip(framework)
    status, said = why(text)
    assert status == 1
    assert origin in said
    assert f"  {edit}\n         checked: with it, the program runs to its end" in said


@pytest.mark.parametrize("framework", ["torch", "jax", "paddle"])
def test_numpy_refuses_beside_a_framework(why, framework):
    pytest.importorskip(framework)
    text = f"import {framework}\n" + NUMPY + "n = np.zeros(3, int)\nn += np.linspace(0, 1, 3)\n"
    status, said = why(text)
    assert status == 1
    assert "\n  numpy 2." in said
    assert " refuses add(int64, float64): Cannot cast ufunc" in said
    assert "checked: with it, the program runs to its end" in said


def test_numpys_generators_go_on_as_they_would(why):
    """A call that is tried again draws no numbers, and writes nothing."""
    text = NUMPY + (
        "np.random.seed(0)\na = np.zeros(3, int)\n"
        "try:\n    a += np.random.rand(3)\nexcept TypeError:\n    pass\n"
        "try:\n    np.random.rand(2.0)\nexcept TypeError:\n    pass\n"
        "rng = np.random.default_rng(0)\n"
        "try:\n    rng.integers(5, size=2.0)\nexcept TypeError:\n    pass\n"
        "print(a.tolist(), np.random.rand(), rng.random())\n"
    )
    bare = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout
    assert why(text) == (0, bare + "The program ran to its end: nothing stopped it.\n")


def test_lines_and_values_of_numpy(why):
    text = NUMPY + "x = np.float32(2)\ny = x * np.arange(3)\n"
    _, said = why(text, "--value", "y", "--line", "program.py:3")
    assert "y  float64  x * np.arange(3), program.py:3: float32 * int64 is float64" in said


_OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", "==", "<")


def test_an_error_after_which_the_program_went_on_stopped_nothing(why):
    text = NUMPY + "import sys\ndef main():\n    try:\n        a = np.arange(3)\n        a += 0.5\n"
    text += "    except Exception:\n        sys.exit(1)\n"
    text += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    assert why(text) == (0, "The program ran to its end: nothing stopped it.\n")


def test_a_line_of_many_operations_is_told_in_part(why):
    every = ", ".join(f"a.astype(np.{name}{n})" for name in ("int", "float") for n in (16, 32, 64))
    text = NUMPY + f"a = np.ones(3, np.int8)\ny = [{every}, {every}, *[abs(a)] * 3]\n"
    every = ", ".join(f"a {op} 1" for op in _OPERATORS)
    text += f"z = [{every}]\n"
    _, said = why(text, "--line", "program.py:3", "--line", "program.py:4")
    assert said.count("a.astype(np.int16)  int16") == 1
    assert said.splitlines()[-1] == "8 more are not shown; --json has all."


def test_a_line_that_stops_twice_is_mended_once(why):
    text = NUMPY + "x, n = np.full(3, 2.0), np.arange(3)\nnp.bitwise_or(n[x.astype(float)], x)\n"
    status, said = why(text)
    assert status == 1
    assert "write  program.py:3  np.bitwise_or(n[x.astype(np.int64)], x)" in said
    assert "with it, __getitem__ runs; the line then stops at bitwise_or: ufunc" in said


def test_a_second_stop_is_better_than_fractions_that_are_given_up(why):
    """What makes integers of floats would run to the end."""
    pytest.importorskip("jax")
    text = JAX + (
        "x = jnp.linspace(0, 300, 5)\ny = jax.lax.clamp(0, x, 255)\njax.lax.add(y, jnp.arange(5))\n"
    )
    status, said = why(text)
    assert status == 1
    assert "write  program.py:5  y = jax.lax.clamp(0.0, x, 255.0)" in said
    assert "with it, the line runs; the program stops later" in said


def test_values_that_containers_hold(why):
    text = NUMPY + (
        "from typing import NamedTuple\nclass Ends(NamedTuple):\n    low: object\n"
        "    high: object\n"
        "kept = {'both': Ends(np.zeros(2), np.ones(2, np.int8)), 'no': 'text'}\n"
    )
    _, said = why(text, "--value", "kept", "--value", "lost")
    assert "kept['both'].low  float64  np.zeros(2), program.py:6: the default dtype" in said
    assert "kept['both'].high  int8  np.ones(2, np.int8), program.py:6: the dtype that" in said
    assert "lost: not from what was recorded\n" in said
    assert "--value takes kept['both'].low, kept['both'].high\n" in said


def test_large_containers_and_odd_classes_end(why):
    text = NUMPY + (
        "a = [[[0.0] * 1000] * 1000] * 30\nclass T(tuple):\n    _fields = 5\nt = T((1,))\n"
        "x = np.arange(3) * 2\n"
    )
    assert "x  int64  np.arange(3) * 2, program.py:6" in why(text, "--value", "x")[1]


def test_values_that_a_module_holds(why):
    pytest.importorskip("torch")
    odd = "class Odd(torch.nn.Linear):\n    def state_dict(self): return {}\nodd = Odd(2, 2)\n"
    assert why(TORCH + odd, "--value", "odd")[0] == 0
    _, said = why(TORCH + "layer = torch.nn.Linear(2, 2).half()\n", "--value", "layer.weight")
    assert "layer.weight  float16  torch.nn.Linear(2, 2).half(), program.py:3" in said


def test_the_answer_as_data(why):
    pytest.importorskip("torch")
    _, text, _, edit = STOPS["a mean of integers"]
    found = json.loads(why(text, "--json")[1])
    assert found["edit"]["changes"] == [{"line": 3, "write": edit}]
    assert found["stopped"]["operands"][0]["origin"][0]["line"] == 3


def test_a_stop_for_something_else_has_no_edit(why):
    pytest.importorskip("torch")
    status, said = why(TORCH + "a = torch.ones(2)\nb = torch.ones(3)\na + b\n")
    assert status == 3
    assert "No other dtype of its arrays that was tried makes this call run." in said
    assert "write" not in said


def test_trying_other_dtypes_changes_nothing_of_the_program(why):
    """The operands of a call that is tried again, and the random numbers, stay as they are."""
    pytest.importorskip("torch")
    text = TORCH + (
        "torch.manual_seed(0)\nx = torch.arange(3)\n"
        "try:\n    x.add_(torch.rand(3))\nexcept RuntimeError:\n    pass\n"
        "print(x.tolist(), torch.rand(1).item())\n"
    )
    bare = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout
    status, said = why(text)
    assert (status, said) == (0, bare + "The program ran to its end: nothing stopped it.\n")


def test_functions_that_jax_traces_are_traced_again_at_the_end_alone(why):
    pytest.importorskip("jax")
    text = JAX + (
        "traced = []\n\ndef step(n, x):\n    traced.append(1)\n    return n + x, x\n\n"
        "try:\n    lax.scan(step, jnp.zeros((), jnp.int32), jnp.ones(3))\n"
        "except TypeError:\n    print(len(traced))\n"
    )
    assert why(text) == (0, "1\nThe program ran to its end: nothing stopped it.\n")


def test_values_and_lines_are_answered_too(why):
    pytest.importorskip("torch")
    text = (
        TORCH + "x = torch.ones(3, dtype=torch.bfloat16)\ny = x * torch.ones(3)\nloss = y.sum()\n"
    )
    asked = "--value", "loss", "--line", "program.py:4", "--value", "other"
    status, said = why(text, *asked)
    assert status == 0
    assert "other: not from what was recorded\n" in said
    assert "loss  float32  y.sum(), program.py:5\n" in said
    assert "x * torch.ones(3), program.py:4: bfloat16 * float32 is float32" in said


def test_text_of_the_program_is_escaped(why):
    pytest.importorskip("torch")
    text = TORCH + "x = torch.arange(3)\nx.mean()  # \x1b[2J\n"
    assert "\x1b" not in why(text)[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--line", "3"], "--line takes FILE:N, not '3'"),
        (["--framework", "promoarray"], "it r"),
    ],
)
def test_what_cannot_be_asked_is_refused(tmp_path, capsys, options, message):
    path = tmp_path / "program.py"
    path.write_text("")
    assert cli.main(["why", *options, str(path)]) == 2
    assert message in capsys.readouterr().err
