"""Comments that have findings ignored."""

from __future__ import annotations

import linecache
from pathlib import Path
from textwrap import dedent

import pytest
from diagnostics.findings.programs import HALF, START, Command, write

from promoarray.diagnostics.findings.classify import Selected, comments_in

COVERED = {
    "x = 1  # promoarray: ignore": [(1, 1)],
    "x = 1  #promoarray:ignore": [(1, 1)],
    "x = 1  # type: ignore  # promoarray: ignore": [(1, 1)],
    "x = 1  # promoarray: ignored": [],
    "x = 1  # promoarray: ignore-file": [],
    "x = '# promoarray: ignore'": [],
    "x = f'''{1}\n# promoarray: ignore\n'''": [],
    "x = f(  # promoarray: ignore\n    1,\n    2,\n)": [(1, 4)],
    "x = f(\n    1,\n    2,\n)  # promoarray: ignore": [(1, 4)],
    "x = f(\n    1,  # promoarray: ignore\n    2,\n)": [(2, 2)],
    "if f(  # promoarray: ignore\n    1\n):\n    y = 2": [(1, 3)],
    "if f(\n    1\n):  # promoarray: ignore\n    y = 2": [(1, 3)],
    "if x: y = f(\n    1\n)  # promoarray: ignore": [(1, 3)],
    "@f(  # promoarray: ignore\n    1\n)\ndef g(\n    x\n):\n    pass": [(1, 3)],
    "@f(1)\ndef g(  # promoarray: ignore\n    x=2\n):\n    pass": [(2, 4)],
    "# promoarray: ignore\nx = 1": [(1, 1)],
    "if x:\n    y = 1\n# promoarray: ignore": [(3, 3)],
    "x = 1  # promoarray: ignore\ny = (": [(1, 1)],
    "x = (1,  # promoarray: ignore\n": [(1, 1)],
    'x = (1,  # promoarray: ignore\n  "': [(1, 1)],
    "x = \\\n    1  # promoarray: ignore": [(1, 2)],
}


@pytest.mark.parametrize("source", COVERED)
def test_the_lines_that_a_comment_holds_for(tmp_path: Path, source: str) -> None:
    found = comments_in([write(tmp_path, source)])
    assert [(each.first, each.last) for each in found] == COVERED[source]


def names(tmp_path: Path, comment: str) -> Selected:
    script = write(tmp_path, f"x = 1  {comment}\n")
    linecache.checkcache()
    (found,) = comments_in([script])
    return found.names


def test_the_names_in_brackets(tmp_path: Path) -> None:
    found = names(tmp_path, "# promoarray: ignore[torch@2.13, refuse , onnx] since it is exact")
    assert (found.policies, found.kinds, found.unknown) == (("torch@2.13", "onnx"), ("refuse",), ())
    for wrong in ("[]", "[torhc]", "[torch refuse]", "[torch", "[torch, any]", "[ torch,]"):
        assert names(tmp_path, f"# promoarray: ignore{wrong}").unknown


IGNORES = {
    "": "torch onnx",
    "[torch]": "torch",
    "[torch@2.13, onnx]": "torch onnx",
    "[torch@2.11]": "",
    "[root]": "torch onnx",
    "[dtype, bits]": "torch",
    "[refuse]": "onnx",
    "[torch, refuse]": "",
    "[onnx@25, refuse]": "onnx",
    "[torch, onyx]": "",
}


@pytest.mark.parametrize("brackets", IGNORES)
def test_what_is_ignored_does_not_fail(compare: Command, tmp_path: Path, brackets: str) -> None:
    script = write(tmp_path, START + f"y = x * 1.5  # promoarray: ignore{brackets}\n")
    data = compare(script, "--json", policies="torch,onnx").data
    states = {each["policy"].partition("@")[0]: each["state"] for each in data["findings"]}
    ignored = [policy for policy, state in states.items() if state == "ignored"]
    assert ignored == IGNORES[brackets].split()
    assert data["exit_code"] == int(len(ignored) < 2)
    (notice,) = data["notices"] or [None]
    assert (notice is not None) == (not ignored and brackets != "[torch@2.11]")


def test_the_report_counts_what_is_ignored(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF.replace("2\n", "2  # promoarray: ignore\n") + "z = x * 1.5\n")
    ran = compare(script)
    assert ran.status == 1
    assert "x / 2" not in ran.out
    assert "x * 1.5" in ran.out
    assert "1 finding not shown: 1 ignored." in ran.out
    write(tmp_path, HALF.replace("2\n", "2  # promoarray: ignore\n"))
    ran = compare(script)
    assert (ran.status, ran.out) == (0, "1 finding not shown: 1 ignored.\n")


def test_the_others_of_a_place_are_still_shown(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF.replace("2\n", "2  # promoarray: ignore[torch]\n"))
    ran = compare(script, policies="torch,onnx")
    assert ran.status == 1
    assert "onnx@25" in ran.out
    assert "torch@2.13" not in ran.out


def test_comments_that_ignore_nothing_are_told(compare_program: Command, tmp_path: Path) -> None:
    write(tmp_path, "z = 1  # promoarray: ignore[bits]\n", "part.py")
    program = """\
        import promoarray as xp
        import part
        x = xp.asarray([1, 2], dtype=xp.int8)
        y = x / 2  # promoarray: ignore[dtype]
        z = x + x  # promoarray: ignore[torch]
        u = x + x  # promoarray: ignore[jax]
        v = x + x  # promoarray: ignore[paddel]
        """
    ran = compare_program(write(tmp_path, program))
    assert ran.status == 0
    assert ran.out.splitlines()[1:] == [
        "part.py:1: unused ignore: # promoarray: ignore[bits]",
        "program.py:5: unused ignore: # promoarray: ignore[torch]",
        "program.py:7: # promoarray: ignore[paddel] names 'paddel', which is neither a policy nor "
        "one of root, dtype, refuse, bits, escape, signature, decision. Did you mean: paddle?",
    ]


@pytest.mark.slow
def test_the_file_of_a_module_that_is_run_is_read(compare_program: Command, tmp_path: Path) -> None:
    write(tmp_path, START + "y = x + x  # promoarray: ignore\n", "package/__main__.py")
    ran = compare_program("-mpackage")
    assert ran.status == 0
    assert "package/__main__.py:3: unused ignore: # promoarray: ignore" in ran.out


def test_nothing_is_unused_where_the_program_did_not_end(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, START + "1 / 0\ny = x / 2  # promoarray: ignore\n")
    assert "unused" not in compare(script).out


def test_values_and_data_that_leaves_are_ignored_too(compare: Command, tmp_path: Path) -> None:
    program = """\
        import numpy as np
        import promoarray as xp
        x = xp.asarray([500.0, 1.0], dtype=xp.float32)
        y = xp.astype(x, xp.float8_e4m3fn)  # promoarray: ignore[bits]
        z = np.asarray(  # promoarray: ignore[escape]
            x
        )
        """
    script = write(tmp_path, program)
    assert compare(script, "--fail-on", "any").status == 0
    write(tmp_path, dedent(program).replace("  # promoarray", " # "))
    assert compare(script, "--fail-on", "bits").status == 1
    assert compare(script, "--fail-on", "escape").status == 1


def test_a_line_of_a_library_is_ignored_where_it_is_called(
    compare: Command, tmp_path: Path
) -> None:
    program = "y = xp.extras.mse_loss(x, xp.asarray([1.5, 2.0]))  # promoarray: ignore\n"
    data = compare(write(tmp_path, START + program), "--json", policies="onnx").data
    assert data["findings"]
    assert {each["state"] for each in data["findings"]} == {"ignored"}
