"""``promoarray align`` on runs that are written down by hand, without a framework."""

from __future__ import annotations

import io
import json
import math
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promoarray.cli import main
from promoarray.core.call_site import Site
from promoarray.diagnostics.align.graph import Graph, read
from promoarray.diagnostics.align.pairing import Pairing
from promoarray.diagnostics.align.report import Aligned
from promoarray.diagnostics.align.rounding import measured, note
from promoarray.diagnostics.align.search import find
from promoarray.diagnostics.align.weights import Packed, proposed
from promoarray.diagnostics.record.tape import Tape, TapeAsked

DRAW = np.random.default_rng(0)


class Written:
    """A tape that is written down by hand: ``y = run(3, "add", x + 1, x, 1.0)``."""

    def __init__(self, path: Path, framework: str) -> None:
        self.tape, self.framework = Tape(TapeAsked(str(path))), framework
        self.for_shapes = False

    def __call__(
        self, line: int, operation: str, result: Any, *operands: Any, name: str = "", **options: Any
    ) -> Any:
        def said(x: Any) -> Any:
            if isinstance(x, float):
                return {"number": repr(x)}
            return {"value": self.tape.value(x, x.dtype.name)} if hasattr(x, "dtype") else x

        row = {
            "name": name or operation,
            "operation": operation,
            "framework": self.framework,
            "operands": [*map(said, operands)],
            "keywords": {key: said(x) for key, x in options.items()},
            "results": [self.tape.value(result, result.dtype.name)],
            "written": [],
            "for_shapes": self.for_shapes,
        }
        site = Site(f"{self.framework}.py", line, 0, f"line {line}", operation)
        self.tape.put(row, (site, site))
        return result


def graphs(folder: Path, *programs: Callable[[Written], None]) -> list[Graph]:
    """The runs of a program of PyTorch and of one of JAX."""
    made = []
    for name, program in zip(("torch", "jax"), programs, strict=True):
        run = Written(folder / f"{name}.zip", name)
        program(run)
        run.tape.write()
        made.append(read(str(folder / f"{name}.zip")))
    return made


def test_an_option_is_told_where_the_values_are_too_near_to_show_it(tmp_path: Path) -> None:
    x = (DRAW.normal(size=(4, 8)) * 1e-3).astype("float32")
    y = (x * 0.5 * (1 + np.vectorize(math.erf)(x / 2**0.5))).astype("float32")

    def first(run: Written) -> None:
        run(2, "exp", np.exp(run(1, "", y, x, name="gelu")), y)

    def second(run: Written, **options: Any) -> None:
        run(2, "exp", np.exp(run(1, "", y, x, name="nn.gelu", **options)), y)

    found = find(Pairing(*graphs(tmp_path, first, second)))
    assert found is not None
    assert (found.kind, found.second.place.line) == ("option", 1)
    assert "approximate is False in the first, True in the second" in found.cause
    assert find(Pairing(*graphs(tmp_path, first, second)), {(0, 0): y}) is None  # taken out
    clean = graphs(tmp_path, first, lambda run: second(run, approximate=False))
    assert find(Pairing(*clean)) is None


@pytest.mark.parametrize("off", [0.0, 3e-7])
def test_rounding_that_a_quotient_magnifies_is_no_difference(off: float, tmp_path: Path) -> None:
    """An optimizer's first step has the signs of gradients, of the least of them, too."""
    m = DRAW.normal(size=(64, 64)).astype("float32")
    m[0] *= 1e-7

    def program(run: Written, other: Any = m) -> None:
        g = run(1, "tanh", np.tanh(other), other)
        root = run(2, "sqrt", np.sqrt(run(1, "square", g * g, g)), g * g)
        run(3, "divide", g / root, g, root)

    other, moved = (m + (DRAW.normal(size=m.shape) * x).astype("float32") for x in (off, 3e-7))
    first, second = graphs(tmp_path, program, lambda run: program(run, other))
    _, again = graphs(tmp_path, program, lambda run: program(run, moved))
    assert find(Pairing(first, note(second, measured(second, again)))) is None


def test_a_difference_that_a_small_part_hides_is_told_where_rounding_was_measured(
    tmp_path: Path,
) -> None:
    """An update that lacks a factor moves a weight by a hundredth, and the loss by less."""
    w = DRAW.normal(size=(32, 32)).astype("float32")
    step = (DRAW.normal(size=w.shape) * 1e-2).astype("float32")

    def program(run: Written, factor: float = 0.5) -> None:
        update = run(1, "multiply", step * np.float32(factor), step, factor)
        after = run(2, "subtract", w - update, w, update)
        run(3, "sum", np.square(after).sum(), after)

    graph, again = graphs(tmp_path, program, lambda run: program(run, 0.5 + 1e-6))
    _, other = graphs(tmp_path, program, lambda run: program(run, 0.45))
    found = find(Pairing(note(graph, measured(graph, again)), other))
    assert found is not None
    assert found.second.place.line == 1
    assert found.numbers == (0.5, 0.45)


W = {name: DRAW.normal(size=(8, 8)).astype("float32") for name in "qkv"}
OTHER = {name: DRAW.normal(size=(8, 8)).astype("float32") for name in "qkv"}
X = DRAW.normal(size=(5, 8)).astype("float32")


def heads(run: Written, order: str, weights: dict[str, Any]) -> None:
    """Scores of queries and keys, and values, which are computed in some order."""
    made = {}
    for line, name in enumerate(order, 1):
        run(line, "", weights[name], name="randn")
        made[name] = run(line, "matmul", X @ weights[name], X, weights[name])
    turned = run(4, "transpose", made["k"].T.copy(), made["k"])
    scores = run(4, "matmul", made["q"] @ turned, made["q"], turned)
    run(6, "matmul", scores @ made["v"], scores, made["v"])


def test_weights_are_paired_by_what_they_are_for(tmp_path: Path) -> None:
    pair = (lambda run: heads(run, "qkv", W)), (lambda run: heads(run, "vkq", OTHER))
    copied, alone, _ = proposed(*graphs(tmp_path, *pair), {})
    pairs = {each.names for each in copied}
    assert pairs == {
        ("torch.py:1#0", "jax.py:3#0"),
        ("torch.py:2#0", "jax.py:2#0"),
        ("torch.py:3#0", "jax.py:1#0"),
    }
    assert not alone
    assert not any(each.alike for each in copied)


def test_the_branches_of_a_gated_layer_are_told_apart(tmp_path: Path) -> None:
    """An activation stands in one of them, whichever is computed first."""

    def program(run: Written, order: str) -> None:
        made = {}
        for line, name in enumerate(order, 1):
            weight = OTHER[name] if run.framework == "jax" else W[name]
            run(line, "", weight, name="randn")
            made[name] = run(line, "matmul", X @ weight, X, weight)
        gate = run(5, "", np.tanh(made["q"]), made["q"], name="silu")
        both = run(6, "multiply", gate * made["k"], gate, made["k"])
        run(7, "matmul", both @ W["v"], both, W["v"])

    pair = (lambda run: program(run, "qk")), (lambda run: program(run, "kq"))
    copied, _, _ = proposed(*graphs(tmp_path, *pair), {})
    assert {each.names for each in copied} == {
        ("torch.py:1#0", "jax.py:2#0"),
        ("torch.py:2#0", "jax.py:1#0"),
    }
    assert not any(each.alike for each in copied)


def test_kernels_whose_axes_may_be_exchanged_keep_those_of_the_others(tmp_path: Path) -> None:
    """As of squeeze and excitation, beside kernels of another layer; a depthwise one is one."""
    sizes = (6, 4, 1, 1), (4, 6, 1, 1), (4, 1, 3, 3), (4, 3, 3, 3)
    given = DRAW.normal(size=(2, 3, 1, 1)).astype("float32")

    def program(run: Written, first: bool) -> None:
        x = given
        for line, shape in enumerate(sizes if first else sizes[::-1], 1):
            weight = DRAW.normal(size=shape).astype("float32")
            run(line, "", weight, name="randn")
            made = DRAW.normal(size=(2, shape[0], 1, 1)).astype("float32")
            name = "conv2d" if first or shape[1] > 1 else "depthwise_conv2d"
            x = run(line, "", made, x, weight, name=name)

    pair = (lambda run: program(run, True)), (lambda run: program(run, False))
    copied, alone, _ = proposed(*graphs(tmp_path, *pair), {})
    assert not alone
    assert not any(each.turned for each in copied)


def test_weights_that_a_user_names_are_those(tmp_path: Path) -> None:
    """Where two are used alike, as in two heads of a shape, their order may be wrong."""

    def program(run: Written, weights: list[Any]) -> None:
        for line, x in enumerate(weights, 1):
            run(line, "", x, name="randn")
            run(line, "matmul", X @ x, X, x)

    theirs, mine = [*W.values()][:2], [*OTHER.values()][:2]
    pair = graphs(tmp_path, lambda run: program(run, theirs), lambda run: program(run, mine))
    copied, _, _ = proposed(*pair, {})
    assert all(each.alike for each in copied)
    asked = {"jax.py:1#0": "torch.py:2#0", "jax.py:2#0": "torch.py:1#0"}
    copied, alone, _ = proposed(*pair, asked)
    assert {each.names[::-1] for each in copied} == {*asked.items()}
    assert not alone
    for wrong in ({"jax.py:9#0": "torch.py:1#0"}, {"jax.py:1#0": "torch.py:9#0"}):
        with pytest.raises(ValueError, match=r"no (jax|torch)\.py:9#0; write (jax|torch)\.py:1#0"):
            proposed(*pair, wrong)


def packed_heads(run: Written, weight: Any) -> None:
    """The same of one array of three weights; PyTorch has the outputs first."""
    turned = run.framework == "torch"
    made = X @ (weight.T if turned else weight)
    run(1, "", weight, name="randn")
    run(2, "" if turned else "matmul", made, X, weight, name="linear" if turned else "")
    q, k, v = (run(3, "split", x.copy(), made) for x in np.split(made, 3, -1))
    scores = run(4, "matmul", q @ k.T, q, run(4, "transpose", k.T.copy(), k))
    run(6, "matmul", scores @ v, scores, v)
    run(7, "", weight * np.float32(0.5), weight, name="step")


def test_a_weight_of_which_a_row_is_written_is_drawn(tmp_path: Path) -> None:
    """As the row of a padding index, which is zero: what was drawn at first is not used."""
    x, y = DRAW.normal(size=(2, 8, 3)).astype("float32")

    def first(run: Written) -> None:
        run(1, "", x, name="randn")
        row = run(2, "", x[0], x, name="__getitem__")
        padded = x.copy()
        padded[0] = 0
        run(2, "", padded[0], row, name="zero_")
        names = [run.tape.value(each, "float32") for each in (x, padded)]
        run.tape.calls[-1]["written"] = [names]
        run.tape.calls[-1]["results"].append(names[1])
        run(3, "matmul", X @ padded, X, padded)

    def second(run: Written) -> None:
        run(1, "", y, name="randn")
        run(3, "matmul", X @ y, X, y)

    (each,), alone, _ = proposed(*graphs(tmp_path, first, second), {})
    assert not alone
    assert not each.values[0].any()
    assert np.array_equal(each.values[1:], x[1:])


def test_what_memory_held_before_links_no_calls(tmp_path: Path) -> None:
    """A draw writes over an array that was never filled; the other run reads zeros there."""
    zeros, drawn = np.zeros(8, "float32"), DRAW.normal(size=8).astype("float32")

    def first(run: Written) -> None:
        run(1, "", drawn, run(1, "", zeros, name="zero_"), name="uniform_")
        run(2, "matmul", X @ W["q"], X, W["q"])

    def second(run: Written) -> None:
        run(1, "", zeros, name="create_parameter")
        run(2, "matmul", X @ W["q"], X, W["q"])
        run(3, "", np.full(1, 0.81, "float32"), zeros, name="adamw_")

    assert find(Pairing(*graphs(tmp_path, first, second))) is None


def test_what_is_read_as_data_comes_from_outside(tmp_path: Path) -> None:
    """As a gradient does: ``p.data.add_(p.grad.data)``."""
    gradient = DRAW.normal(size=8).astype("float32")

    def program(run: Written) -> None:
        run(1, "", gradient, gradient, name="data")

    graph, _ = graphs(tmp_path, program, program)
    (node,) = graph.nodes
    assert [x.maker for x in node.operands] == [None]


def test_casts_of_what_was_not_read_and_complex_numbers_are_no_error(tmp_path: Path) -> None:
    x = DRAW.normal(size=4).astype("complex64")

    def program(run: Written, fill: float = 1.0) -> None:
        run(1, "", X[0].astype("float16"), name="half")
        run(2, "where", np.where([True, False, True, False], x, np.complex64(fill)), x, fill)

    found = find(Pairing(*graphs(tmp_path, program, lambda run: program(run, 2.0))))
    assert found is not None
    assert found.second.place.line == 2


def test_a_pass_for_shapes_alone_departs_nowhere(tmp_path: Path) -> None:
    """As Flax's ``init`` runs a model on inputs of another sort."""

    def first(run: Written) -> None:
        run(2, "matmul", X @ W["q"], X, W["q"])

    def second(run: Written) -> None:
        zeros = np.zeros((3, 8), "float32")
        run.for_shapes = True
        run(1, "sin", np.sin(run(1, "matmul", zeros @ W["q"], zeros, W["q"]) + 1), zeros)
        run.for_shapes = False
        run(2, "matmul", X @ W["q"], X, W["q"])

    assert find(Pairing(*graphs(tmp_path, first, second))) is None

    def faulty(run: Written) -> None:  # which does the same both times
        for run.for_shapes in (True, False):
            run(2, "matmul", X @ W["q"] * 2, X, W["q"])

    found = find(Pairing(*graphs(tmp_path, first, faulty)))
    assert found is not None
    assert not found.second.for_shapes


def apart_heads(run: Written, weights: dict[str, Any]) -> None:
    heads(run, "qkv", weights)
    for x in weights.values():
        run(7, "", x * np.float32(0.5), x, name="step")


def test_weights_that_the_first_has_side_by_side(tmp_path: Path) -> None:
    """Each is copied, and what is made of the whole, such as its gradient, is paired by parts."""
    whole = DRAW.normal(size=(24, 8)).astype("float32")
    pair = [lambda run: packed_heads(run, whole), lambda run: apart_heads(run, W)]
    copied, alone, _ = proposed(*graphs(tmp_path, *pair), {})
    assert not alone
    pair[1] = lambda run: apart_heads(
        run, {n: x.values for n, x in zip("qkv", copied, strict=True)}
    )
    aligned = Pairing(*graphs(tmp_path, *pair), packed={each.packed for each in copied})
    assert find(aligned) is None
    updated = [node.results[0] for node in aligned.second.nodes if node.place.line == 7]
    assert len(updated) == len([x for x in updated if x in aligned.pairs]) == 3


def test_weights_that_the_second_has_side_by_side(tmp_path: Path) -> None:
    whole = DRAW.normal(size=(8, 24)).astype("float32")
    pair = [lambda run: apart_heads(run, W), lambda run: packed_heads(run, whole)]
    copied, alone, _ = proposed(*graphs(tmp_path, *pair), {})
    (each,) = copied
    assert not alone
    pair[1] = lambda run: packed_heads(run, each.values)
    aligned = Pairing(*graphs(tmp_path, *pair), packed={each.packed})
    assert find(aligned) is None
    (updated,) = [node.results[0] for node in aligned.second.nodes if node.place.line == 7]
    assert updated in aligned.pairs


@pytest.mark.parametrize("turned", [False, True])
def test_what_a_compiled_function_drew_is_copied(turned: bool, tmp_path: Path) -> None:
    """No call made it, and a product takes it; the inputs that both have stay."""
    ours, theirs = DRAW.normal(size=(2, 8, 3)).astype("float32")

    def first(run: Written) -> None:
        run(1, "", ours, name="randn")
        run(2, "matmul", X @ ours, X, ours)

    def second(run: Written) -> None:
        w = theirs
        if turned:
            w = run(1, "transpose", theirs, np.ascontiguousarray(theirs.T), name="T")
        run(2, "", X @ w, X, w, name="lax.dot_general")

    copied, alone, _ = proposed(*graphs(tmp_path, first, second), {})
    (each,) = copied
    assert each.names == ("torch.py:1#0", "jax.py:2@1")
    assert each.turned is turned
    assert not alone


@pytest.mark.parametrize(
    ("sized", "doubt", "layout"), [(False, True, (0, 1)), (True, False, (1, 0))]
)
def test_a_square_weight_that_is_turned_is_judged_by_the_others(
    sized: bool, doubt: bool, layout: tuple[int, ...], tmp_path: Path
) -> None:
    """Its own use may be the fault: of no other weight, its layout is not examined."""
    wide = {name: DRAW.normal(size=(8, 3)).astype("float32") for name in ("torch", "jax")}

    def program(run: Written, w: Any, turned: bool) -> None:
        torch = run.framework == "torch"
        run(1, "", w, name="randn" if torch else "random.normal")
        if torch:
            y = run(2, "", X @ w.T, X, w, name="linear")
        else:
            right = run(2, "transpose", w.T.copy(), w, name="T") if turned else w
            y = run(2, "matmul", X @ right, X, right)
        if sized:
            last = wide[run.framework]
            last = last.T.copy() if torch else last
            run(3, "", last, name="randn" if torch else "random.normal")
            if torch:
                run(4, "", y @ last.T, y, last, name="linear")
            else:
                run(4, "matmul", y @ last, y, last)

    pair = (lambda run: program(run, W["q"], False)), (lambda run: program(run, W["k"], True))
    copied, _, _ = proposed(*graphs(tmp_path, *pair), {})
    square = next(each for each in copied if each.second.shape == (8, 8))
    assert (square.doubt, square.layout) == (doubt, layout)


def attention(run: Written, scale: float | None = 0.25, dtype: str = "float32") -> None:
    """A product, a scale, and shares, after two operations that need no order."""
    draw = np.random.default_rng(0)
    x, w = draw.normal(size=(2, 6, 16, 16)).astype("float32")
    first = run(1, "tanh", np.tanh(x), x)
    second = run(2, "sin", np.sin(w), w)
    scores = run(3, "matmul", first @ second, first, second)
    if scale is not None:
        scores = run(4, "multiply", (scores * np.float32(scale)).astype(dtype), scores, scale)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    run(5, "softmax", powers / powers.sum(-1, keepdims=True), scores)


def departure(tmp_path: Path, **how: Any) -> Any:
    for name, options in (("torch", {}), ("jax", how)):
        run = Written(tmp_path / f"{name}.zip", name)
        attention(run, **options)
        run.tape.write()
    return find(Pairing(read(str(tmp_path / "torch.zip")), read(str(tmp_path / "jax.zip"))))


def test_a_number_in_which_differences_cancel_proves_nothing(tmp_path: Path) -> None:
    """A loss is right within rounding, by chance, and what it is the mean of is not."""
    x = DRAW.normal(size=(64, 64)).astype("float32")
    other = x + np.where(DRAW.random(x.shape) < 0.5, -1e-3, 1e-3).astype("float32")

    def program(run: Written, other: Any, off: float = 0.0) -> None:
        y = run(2, "tanh", np.tanh(other), run(1, "sin", np.sin(x), x))
        run(3, "mean", np.asarray(np.tanh(x).mean() * (1 + off), "float32"), y)

    pair = (lambda run: program(run, x)), (lambda run: program(run, other, 4e-6))
    found = find(Pairing(*graphs(tmp_path, *pair)))
    assert found is not None
    assert found.second.place.line == 2


def test_a_cast_inside_of_what_the_first_has_as_one_function(tmp_path: Path) -> None:
    x = DRAW.normal(size=(4, 8)).astype("float32")
    powers = np.exp(x - x.max(-1, keepdims=True))
    total = powers.sum(-1, keepdims=True)

    def first(run: Written) -> None:
        y = run(1, "", powers / total, x, name="softmax", axis=-1)
        run(9, "tanh", np.tanh(y), y)

    def second(run: Written) -> None:
        most = run(1, "max", x.max(-1, keepdims=True), x)
        made = run(2, "exp", powers, run(2, "subtract", x - most, x, most))
        half = run(3, "", made.astype("float16"), made, name="astype")
        made = run(4, "", half.astype("float32"), half, name="astype")
        y = run(5, "divide", made / total, made, run(5, "sum", total, made))
        run(9, "tanh", np.tanh(y), y)

    found = find(Pairing(*graphs(tmp_path, first, second)))
    assert found is not None
    assert (found.kind, found.second.place.line) == ("dtype", 3)


def test_a_cast_that_hides_another_fault_is_told(tmp_path: Path) -> None:
    x = DRAW.normal(size=(4, 8)).astype("float32")
    small = np.tanh(x) * np.float32(0.1)

    def program(run: Written, factor: float, *casts: str) -> None:
        a = run(1, "", small, x, name="small")
        b = run(2, "multiply", a * np.float32(factor), a, factor) if factor != 1 else a
        c = run(3, "square", b * b, b)
        for dtype in casts:
            c = run(4, "", c.astype(dtype), c, name="astype")
        z = run(5, "add", x + c, x, c)
        run(6, "exp", np.exp(z), z)

    first, second = graphs(tmp_path, lambda run: program(run, 0.5), lambda r: program(r, 1))
    found = find(Pairing(first, second))
    assert found is not None
    assert found.second.place.line < 4
    for casts, line in (((), ("float16",)), 4), ((("float16",), ()), 5):
        first, second = graphs(
            tmp_path,
            lambda run, x=casts[0]: program(run, 0.5, *x),
            lambda run, x=casts[1]: program(run, 1, *x),
        )
        found = find(Pairing(first, second))
        assert found is not None
        assert (found.kind, found.second.place.line) == ("dtype", line)
        assert "nothing of" in found.cause
    first, second = graphs(
        tmp_path, lambda run: program(run, 0.5, "float16"), lambda run: program(run, 1, "float16")
    )
    found = find(Pairing(first, second))
    assert found is None or found.kind != "dtype"


E = {name: DRAW.normal(size=(8, 8)).astype("float32") for name in ("q", "k", "v", "out")}


def attended(x: Any) -> Any:
    """What ``multi_head_attention_forward`` gives: two heads of four."""
    by_heads = lambda w: (x @ E[w]).reshape(5, 1, 2, 4).transpose(1, 2, 0, 3)  # noqa: E731
    scores = by_heads("q") @ by_heads("k").swapaxes(-1, -2) / 2
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    made = powers / powers.sum(-1, keepdims=True) @ by_heads("v")
    return made.transpose(2, 0, 1, 3).reshape(5, 1, 8) @ E["out"]


@pytest.mark.parametrize("scale", [0.5, None])
def test_attention_that_one_program_has_as_a_function(scale: float | None, tmp_path: Path) -> None:
    x, packed = X[:, None], np.concatenate([E[name].T for name in "qkv"])

    def first(run: Written) -> None:
        given = x, x, x, 8, 2, packed, None, None, None, False, 0.0, E["out"].T.copy(), None
        y = run(1, "", attended(x), *given, name="multi_head_attention_forward", training=True)
        run(2, "tanh", np.tanh(y), y)

    def second(run: Written) -> None:
        made = [run(1, "matmul", x @ E[name], x, E[name]) for name in "qkv"]
        split = [y.reshape(5, 1, 2, 4).transpose(1, 2, 0, 3).copy() for y in made]
        q, k, v = (run(2, "transpose", z, y) for y, z in zip(made, split, strict=True))
        scores = run(3, "matmul", q @ k.swapaxes(-1, -2), q, k)
        if scale is not None:
            scores = run(4, "multiply", scores * np.float32(scale), scores, scale)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        shares = run(5, "", powers / powers.sum(-1, keepdims=True), scores, name="softmax", axis=-1)
        y = run(6, "matmul", shares @ v, shares, v)
        y = run(7, "reshape", y.transpose(2, 0, 1, 3).reshape(5, 1, 8), y)
        y = run(8, "matmul", y @ E["out"], y, E["out"])
        run(9, "tanh", np.tanh(y), y)

    pair = graphs(tmp_path, first, second)
    found = find(Pairing(*pair, packed={Packed(True, packed.shape, 0, 3)}))
    if scale is not None:
        assert found is None
        return
    assert found is not None
    assert found.second.place.line == 3
    assert found.cause.startswith("a step less: the first has scaled")


def test_the_report_is_as_its_schema_has_it(tmp_path: Path, capsys: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert main(["align", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    found = departure(tmp_path, scale=0.5)
    report = Aligned(
        *(read(str(tmp_path / f"{name}.zip")) for name in ("torch", "jax")), [], [], ()
    )
    jsonschema.validate(report.to_dict(), schema)
    report.departures.append(found)
    jsonschema.validate(report.to_dict(), schema)
    assert report.to_dict().keys() == schema["properties"].keys()


def test_what_is_the_same_departs_nowhere(tmp_path: Path) -> None:
    assert departure(tmp_path) is None


def test_a_number_that_is_another_is_told_with_both(tmp_path: Path) -> None:
    found = departure(tmp_path, scale=0.5)
    assert (found.second.place.line, found.numbers) == (4, (0.25, 0.5))


def test_a_missing_scale_is_told_where_it_is_missing(tmp_path: Path) -> None:
    found = departure(tmp_path, scale=None)
    assert (found.second.place.line, found.first.place.line) == (3, 4)
    assert found.cause.startswith("a step less")


def test_a_dtype_is_told_before_its_values(tmp_path: Path) -> None:
    found = departure(tmp_path, dtype="float64")
    assert (found.second.place.line, found.kind) == (4, "dtype")


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_tape_is_an_error(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.zip").write_bytes(text)
    with pytest.raises(ValueError, match=r"run\.zip"):
        read(str(tmp_path / "run.zip"))


def members_of(folder: Path) -> dict[str, bytes]:
    """The parts of a tape of the program above."""
    run = Written(folder / "run.zip", "torch")
    attention(run)
    run.tape.write()
    with zipfile.ZipFile(folder / "run.zip") as archive:
        return {each: archive.read(each) for each in archive.namelist()}


def packed(path: Path, members: dict[str, bytes]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    return str(path)


def test_values_in_a_tape_are_never_unpickled(tmp_path: Path) -> None:
    members = members_of(tmp_path)
    kept = io.BytesIO()
    np.save(kept, np.array([object()]), allow_pickle=True)
    members[next(each for each in members if each.endswith(".npy"))] = kept.getvalue()
    with pytest.raises(ValueError, match="Python objects"):
        read(packed(tmp_path / "run.zip", members))


def test_a_damaged_tape_is_an_error(tmp_path: Path) -> None:
    """Whatever bytes of a part or of the file are changed: a size that is claimed costs nothing."""
    members, draw, unread = members_of(tmp_path), random.Random(0), 0
    for _ in range(200):
        name = draw.choice([*members])
        data = bytearray(members[name])
        for _ in range(draw.choice([1, 2, 20])):
            data[draw.randrange(min(len(data), 400))] = draw.randrange(256)
        path = packed(tmp_path / "m.zip", members | {name: bytes(data)})
        if draw.random() < 0.3:
            whole = Path(path).read_bytes()
            Path(path).write_bytes(whole[: draw.randrange(len(whole))])
        try:
            find(Pairing(read(path), read(str(tmp_path / "run.zip"))))
        except ValueError:
            unread += 1
    assert 20 < unread < 200
