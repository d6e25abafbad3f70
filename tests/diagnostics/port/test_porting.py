"""Programs ported: which casts are written, and that the program ends alike afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest
from ported import ported, text

START = "import promoarray as xp\nx = xp.asarray([1, 2, 250], dtype=xp.uint8)\n"


def write(tmp_path: Path, source: str) -> Path:
    path = tmp_path / "program.py"
    path.write_bytes(source.encode())
    return path


def lines(tmp_path: Path, source: str, *to: str, run: str = "numpy@2") -> list[str]:
    """The lines after START of a ported program, all of whose runs agree."""
    done = ported(write(tmp_path, START + source), run, *to)
    assert done.agrees, (done.checked, done.left)
    return (text(done) or START + source).removeprefix(START).splitlines()


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("y = x / 2", "torch", "y = xp.astype(x, xp.float64) / 2"),
        ("y = (x + 1) / 2", "torch", "y = xp.astype(x + 1, xp.float64) / 2"),
        ("y = (x / 2)", "torch", "y = (xp.astype(x, xp.float64) / 2)"),
        ("y = xp.sum(x)", "torch", "y = xp.astype(xp.sum(x), xp.uint64)"),
        ("y = xp.sqrt(x / 4)", "torch", "y = xp.sqrt(xp.astype(x, xp.float64) / 4)"),
        # Paddle has no kernel of ``where`` for uint8.
        ("y = xp.where(x > 1, x, 0)", "paddle@3.3", "x > 1, xp.astype(x, xp.int64), 0), xp.uint8)"),
        ("n = 0\ny = xp.where(x > 1, x, n)", "paddle@3.3", "xp.astype(x, xp.int64), n), xp.uint8)"),
        ("y = xp.asarray([1.5])", "torch", "y = xp.asarray([1.5], dtype=xp.float64)"),
        ("y = xp.asarray([1.5],)", "torch", "y = xp.asarray([1.5], dtype=xp.float64,)"),
        ("y = xp.arange(3)", "jax@x32", None),
        ("y = xp.mean(x, axis=0)", "torch", "y = xp.mean(xp.astype(x, xp.float64), axis=0)"),
        ("y = x.sum()", "torch", "y = xp.astype(x.sum(), xp.uint64)"),
        ("y = x * 0.5 * x", "torch", "y = xp.astype(x, xp.float64) * 0.5 * x"),
        ("y = f'{float(x[0] / 2)}'", "torch", "y = f'{float(xp.astype(x[0], xp.float64) / 2)}'"),
        ("def f(a):\n\treturn-a/2\ny = f(x)", "torch", "\treturn xp.astype(-a, xp.float64)/2"),
        ("y = [a / 2 for a in (x, x)]", "torch", "[xp.astype(a, xp.float64) / 2 for a in (x, x)]"),
        ("y = (x  # here\n  / 2)", "torch", "y = (xp.astype(x, xp.float64)  # here"),
        ("y = (lambda a: a / 2)(x)", "torch", "y = (lambda a: xp.astype(a, xp.float64) / 2)(x)"),
        ("é = 'é'; y = x / 2", "torch", "é = 'é'; y = xp.astype(x, xp.float64) / 2"),
        ("y = (z := x) / 2", "torch", "y = xp.astype((z := x), xp.float64) / 2"),
    ],
)  # fmt: skip
def test_a_line_gets_its_cast(tmp_path: Path, source: str, to: str, expected: str | None) -> None:
    done = ported(write(tmp_path, START + source), "numpy@2", to)
    if expected is None:
        assert not done.agrees
        assert "has no int64" in done.left[0].why
        return
    assert done.agrees, (done.checked, done.left)
    assert any(expected in line for line in text(done).splitlines()), text(done)


def test_one_edit_holds_for_several_policies(tmp_path: Path) -> None:
    source = "s = xp.sum(xp.astype(x, xp.uint16))\nt = s / 3"
    first, second = lines(tmp_path, source, "torch", "paddle@3.3", "aclnn@8.5")
    # Paddle has no kernel of ``sum`` for uint64 either.
    assert first == "s = xp.astype(xp.sum(xp.astype(xp.astype(x, xp.uint16), xp.int64)), xp.uint64)"
    assert second == "t = xp.astype(s, xp.float64) / 3"


def test_a_function_passed_with_several_dtypes_casts_those_that_need_it(tmp_path: Path) -> None:
    source = (
        "def half(a):\n    return a / 2\n"
        "y = half(x)\nz = half(xp.ones(1, dtype=xp.float32))\nw = half(xp.astype(x, xp.int16))"
    )
    _, line, *_ = lines(tmp_path, source, "torch")
    others = "xp.float64 if a.dtype in (xp.int16, xp.uint8) else a.dtype"
    assert line == f"    return xp.astype(a, {others}) / 2"


def test_what_is_a_number_in_one_pass_and_an_array_in_another_is_cast_where_it_is_an_array(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import promoarray as xp\n"
        "a = xp.asarray([1.0, 2.0], dtype=xp.float64)\n"
        "def g(x, y):\n    return x * y\n"
        "u, v = g(a, 0.3), g(a, xp.asarray([3.0, 4.0], dtype=xp.float32))\n"
    )
    done = ported(path, "numpy@2", "tensorflow")
    assert done.agrees
    (edit,) = done.edits
    assert edit.text == 'x * (xp.astype(y, xp.float64) if hasattr(y, "dtype") else y)'


def test_an_operand_without_a_name_is_not_cast_by_its_dtype(tmp_path: Path) -> None:
    source = (
        "def half(a):\n    return (a + a) / 2\ny = half(x)\nz = half(xp.ones(2, dtype=xp.float32))"
    )
    done = ported(write(tmp_path, START + source), "numpy@2", "torch")
    assert not done.agrees
    assert [left.why for left in done.left] == [
        "it is passed with several dtypes; give its operand a name first"
    ]
    assert [each.name for each in done.checked[1].unequal] == ["y"]


def test_one_cast_where_a_name_gets_its_value_takes_the_place_of_several(tmp_path: Path) -> None:
    source = "def f(a):\n    b = a[1:]\n    return b * 0.5 + b * 0.25 + 1 / (b + 1.5)\ny = f(x)"
    _, first, second, _ = lines(tmp_path, source, "torch")
    assert first == "    b = xp.astype(a[1:], xp.float64)"
    assert second == "    return b * 0.5 + b * 0.25 + 1 / (b + 1.5)"


def test_a_name_that_is_an_integer_elsewhere_keeps_its_dtype(tmp_path: Path) -> None:
    source = "def f(a):\n    b = a[1:]\n    return b * 0.5, b * 0.25, b + b\ny = f(x)"
    assert "    b = a[1:]" in lines(tmp_path, source, "torch")


def test_a_cast_that_turns_out_not_to_be_needed_is_not_written(tmp_path: Path) -> None:
    (line,) = lines(tmp_path, "y = xp.sqrt(xp.sum(x))", "torch")
    assert line == "y = xp.sqrt(xp.astype(xp.sum(x), xp.float64))"


def test_numbers_are_cast_where_a_policy_computes_with_others(tmp_path: Path) -> None:
    source = "a = xp.asarray([1.0, 3.0, 7.0], dtype=xp.bfloat16)\nb = a * 0.3\nc = a / 0.3"
    _, product, quotient = lines(tmp_path, source, "torch")
    assert product == "b = a * xp.asarray([0.3], dtype=xp.bfloat16)"
    assert quotient == "c = a / xp.asarray([0.3], dtype=xp.bfloat16)"


def test_beside_a_lone_number_that_jax_holds_weakly_arrays_are_cast(tmp_path: Path) -> None:
    source = "s = xp.asarray(1.5)\nt = xp.asarray(2.5)\ny = xp.ones(2, dtype=xp.float32) * s"
    first, second, third = lines(tmp_path, source, "jax@x64")
    assert (first, second) == ("s = xp.asarray(1.5)", "t = xp.asarray(2.5)")
    assert third == "y = xp.astype(xp.ones(2, dtype=xp.float32), xp.float64) * s"


def test_a_cast_of_which_policies_make_other_values_goes_by_way_of_another(tmp_path: Path) -> None:
    source = "f = xp.asarray([-1.0, 300.0])\ny = xp.astype(f, xp.uint8)\nz = f.astype(xp.uint8)"
    _, first, second = lines(tmp_path, source, "jax@x64")
    assert first == "y = xp.astype(xp.astype(f, xp.int64), xp.uint8)"
    assert second == "z = xp.astype(f, xp.int64).astype(xp.uint8)"


def test_values_that_no_cast_gives_are_told(tmp_path: Path) -> None:
    source = "f = xp.asarray([500.0, 1.0])\ny = xp.astype(f, xp.float8_e4m3fn)"
    done = ported(write(tmp_path, START + source), "numpy@2", "torch")
    assert not done.agrees
    (different,) = done.checked[1].unequal
    assert (different.name, different.dtype) == ("y", False)
    assert different.words == (
        "float8_e4m3fn [2]; 1 of 2 elements differ; first at [0]: 448.0 instead of nan; "
        "0 NaN instead of 1"
    )
    assert "no cast gives the same values" in done.left[0].why


def test_a_lossy_cast_is_told(tmp_path: Path) -> None:
    source = "u = xp.asarray([1, 2], dtype=xp.uint64)\ny = u < xp.asarray([2, 2])"
    done = ported(write(tmp_path, START + source), "numpy@2", "paddle@3.3")
    assert done.agrees
    (edit,) = done.edits
    assert edit.lossy == (
        "x1 to float64 keeps integers up to 2**53, larger ones are rounded; "
        "x2 to float64 keeps integers up to 2**53, larger ones are rounded"
    )


def test_an_element_is_assigned_what_the_policy_takes(tmp_path: Path) -> None:
    source = "w = xp.zeros(3, dtype=xp.int8)\nw[0] = xp.asarray(1.5)\nw[1:] = x[1:]\nw += x[0]"
    done = ported(write(tmp_path, START + source), "torch", "numpy@2", "array_api")
    assert [each.policy for each in done.checked] == ["torch", "numpy@2", "array_api"]
    assert (done.agrees, done.left) == (True, ())


def test_what_the_source_does_not_show_is_left_with_its_reason(tmp_path: Path) -> None:
    source = 'y = sum([x / 2, x])\nprint(f"{x / 3=}")\n'
    done = ported(write(tmp_path, START + source), "numpy@2", "torch")
    whys = {left.why for left in done.left}
    assert "its source is printed: f'{...=}'" in whys


def test_what_varies_from_run_to_run_is_not_compared(tmp_path: Path) -> None:
    source = "import time\nt = time.perf_counter_ns()\nprint(t)\ny = x / 2"
    done = ported(write(tmp_path, START + source), "numpy@2", "torch")
    assert done.agrees
    assert done.varying == ("t",)
    assert not done.prints


def test_containers_and_objects_are_compared_too(tmp_path: Path) -> None:
    source = (
        "class Model:\n    def __init__(self):\n        self.layers = [{'w': x / 2}]\n"
        "model = Model()\nmodel.self = model"
    )
    path = write(tmp_path, START + source)
    done = ported(path, "numpy@2", "torch")
    assert done.agrees
    assert "model.layers[0]['w']" in done.final


def test_the_name_of_promoarray_is_that_of_the_place(tmp_path: Path) -> None:
    source = (
        "import promoarray as pa\n"
        "def f(a, pa):\n    return a / pa\ny = f(x, 2)\n"
        "def g(a):\n    import promoarray\n    return a / 2\nz = g(x)\n"
    )
    found = lines(tmp_path, source, "torch")
    assert "    return xp.astype(a, xp.float64) / pa" in found
    assert "    return promoarray.astype(a, promoarray.float64) / 2" in found


def test_a_file_without_a_name_for_promoarray_imports_it(tmp_path: Path) -> None:
    source = (
        '"""Doc."""\nfrom __future__ import annotations\n\nfrom promoarray import asarray, int8\n'
        "pa = 1\ny = asarray([1], dtype=int8) / 2\n"
    )
    path = write(tmp_path, source)
    done = ported(path, "numpy@2", "torch")
    assert done.agrees, done
    assert text(done).splitlines()[1:6] == [
        "from __future__ import annotations",
        "import promoarray",
        "",
        "from promoarray import asarray, int8",
        "pa = 1",
    ]


@pytest.mark.parametrize("to", ["jax@x64", "paddle@3.3", "aclnn@8.5"])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("w -= step * 0.5", "w = xp.astype(w - step * 0.5, xp.float32)"),
        ("w *= (step + 1)  # grow", "w = xp.astype(w * (step + 1), xp.float32)  # grow"),
        ("o.w -= step; w = o.w", "o.w = xp.astype(o.w - step, xp.float32); w = o.w"),
    ],
)
def test_where_an_assignment_makes_a_new_array_its_result_is_cast(
    tmp_path: Path, source: str, expected: str, to: str
) -> None:
    start = "class O:\n    w = xp.ones(2, dtype=xp.float32)\no = O(); w = O.w\n"
    start += "step = xp.asarray([0.1, 0.3], dtype=xp.float64)\n"
    assert expected in "\n".join(lines(tmp_path, start + source, to))


def test_an_array_that_others_hold_is_not_rebound(tmp_path: Path) -> None:
    source = "w = xp.ones(2, dtype=xp.float32)\nheld = w\nw -= xp.asarray([0.1], dtype=xp.float64)"
    done = ported(write(tmp_path, START + source), "numpy@2", "jax@x64")
    assert "w -= " in (text(done) or source)
    assert not done.agrees
