"""Running a program under each policy in turn, and what its globals are in the end.

A policy that refuses a line would stop the program there. So that every policy can be compared to
the end, the cast that the refusal's message proposes is applied, and the place noted; with
``autocast=False`` the first refusal stops the program as it would stop the user's.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, html_table
from promoarray.core.call_site import Site, current_site
from promoarray.core.observers import Observer, ProposedCasts, observing
from promoarray.core.proposed_casts import accepted_casts, remarks
from promoarray.core.refusals import spelled
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS, Form
from promoarray.parray import PArray
from promoarray.promotion.in_force import policy as in_force
from promoarray.promotion.in_force import process_default, set_policy
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(eq=False)
class AutoCast(Observer):
    """Applies the casts that a refusal proposes, so that the program goes on.

    Attributes
    ----------
    recovered : dict
        From each place and operation refused to the cast applied, in words.
    """

    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)

    def on_refusal(
        self,
        name: str,
        form: Form,
        policy: Policy,
        seen: tuple[Operand, ...],
        refusal: Refusal,
    ) -> ProposedCasts | None:
        """Cast operands as the error message would have said, if there are such casts."""
        casts, _ = accepted_casts(policy, name, seen, form) or ({}, None)
        if casts:
            self.recovered[current_site(), spelled(name, seen, form)] = _worded(policy, seen, casts)
        return casts


def _worded(policy: Policy, seen: tuple[Operand, ...], casts: ProposedCasts) -> str:
    """Casts of operands in words, "x1 to float32", and remarks on them."""
    said = " and ".join(f"x{index + 1} to {target.name}" for index, target in casts.items())
    lost = remarks(policy, seen, casts)
    return f"{said} ({lost})" if lost else said


@dataclass
class Outcome:
    """How a program ended under one policy.

    Attributes
    ----------
    policy : Policy
    values : dict
        The globals asked for, as text.
    recovered : dict
        From each place and operation refused to the cast applied there, in words.
    error : str
        What stopped it, or "".
    site : str
        The line of the program where it stopped.
    output : str
        What it printed.
    """

    policy: Policy
    values: dict[str, str] = field(default_factory=dict)
    recovered: dict[tuple[Site, str], str] = field(default_factory=dict)
    error: str = ""
    site: str = ""
    output: str = ""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know, a line each: the refusals, and what stopped the program."""
        lines = [f"{site}: {said}, cast {cast}" for (site, said), cast in self.recovered.items()]
        return lines + ([f"stopped at {self.site}", self.error] if self.error else [])

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as data."""
        return {
            "policy": self.policy.name,
            "values": self.values,
            "refusals": [
                {"file": site.file, "line": site.line, "refused": said, "cast": cast}
                for (site, said), cast in self.recovered.items()
            ],
            "error": self.error or None,
            "stopped_at": self.site or None,
            "output": self.output,
        }


@contextlib.contextmanager
def everywhere(policy: Policy) -> Iterator[None]:
    """Put a policy in force here and in the threads that a program starts."""
    before = process_default()
    set_policy(policy)
    try:
        with in_force(policy):
            yield
    finally:
        set_policy(before)


def execute(script: Path, argv: list[str]) -> tuple[str | None, dict[str, Any]]:
    """Run a script as ``python script argv`` would; return its traceback, if any, and globals."""
    ended: dict[str, Any] = {}
    with _as_main(script, argv):
        try:
            _run(script, ended)
        except SystemExit as stop:
            return (None if stop.code in (None, 0) else f"exit status {stop.code}"), ended
        except Exception as error:
            return "".join(traceback.format_exception(_from_script(script, error))), ended
    return None, ended


def _run(script: Path, namespace: dict[str, Any]) -> None:
    """Run a script in a module of its own, whose globals stay at hand however it ends."""
    main = ModuleType("__main__")
    main.__dict__.update(__file__=str(script), __builtins__=builtins)
    sys.modules["__main__"] = main
    try:
        exec(compile(script.read_bytes(), str(script), "exec"), main.__dict__)
    finally:
        namespace.update(main.__dict__)


def _from_script(script: Path, error: Exception) -> Exception:
    """The error without the frames that only ran the script."""
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != str(script):
        frame = frame.tb_next
    return error.with_traceback(frame or error.__traceback__)


@contextlib.contextmanager
def _as_main(script: Path, argv: list[str]) -> Iterator[None]:
    """Set up what a script sees of the process, and undo it: its own imports, too.

    A module that the script imports makes its arrays under the policy of that run.
    """
    folder = str(script.resolve().parent)
    before = sys.argv, sys.path[:], dict(sys.modules)
    sys.argv, sys.path[:0] = [str(script), *argv], [folder]
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before[:2]
        for name, module in list(sys.modules.items()):
            if name not in before[2] and (getattr(module, "__file__", None) or "").startswith(
                folder
            ):
                del sys.modules[name]
        sys.modules["__main__"] = before[2]["__main__"]


def outcome_under(
    policy: Policy, script: Path, argv: list[str], show: list[str] | None, *, autocast: bool = True
) -> Outcome:
    """Run a script under one policy."""
    outcome, printed, casts = Outcome(policy), io.StringIO(), AutoCast()
    ended: dict[str, Any] = {}
    casting = observing(casts, everywhere=True) if autocast else contextlib.nullcontext()
    with (
        _as_main(script, argv),
        everywhere(policy),
        casting,
        contextlib.redirect_stdout(printed),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # the first run has shown them
        try:
            _run(script, ended)
        except SystemExit as stop:
            outcome.error = "" if stop.code in (None, 0) else f"exit status {stop.code}"
        except Exception as error:
            outcome.error = _error(error)
            outcome.site = _line_in(script, error)
    outcome.values = {} if outcome.error else _globals(ended, show)
    outcome.recovered = dict(casts.recovered)  # to which a thread left behind may add
    outcome.output = printed.getvalue()
    return outcome


def _error(error: Exception) -> str:
    """An error in words; a refusal with the cast to write, but not what other policies give."""
    if not (isinstance(error, PromotionError) and error.policy and error.operation in OPERATIONS):
        return f"{type(error).__name__}: {error}"
    asked = error.operation, error.operands, Form(error.form)
    casts, _ = accepted_casts(error.policy, *asked) or ({}, None)
    refused = f"{spelled(*asked)}: {error.reason}"
    return f"{refused}; cast {_worded(error.policy, error.operands, casts)}" if casts else refused


def _line_in(script: Path, error: Exception) -> str:
    """The line of the program that an error came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(script)]
    return f"{script.name}:{frames[-1].lineno}: {frames[-1].line}" if frames else script.name


def _globals(ended: dict[str, Any], show: list[str] | None) -> dict[str, str]:
    """What a program's globals ended as: those asked for, else its arrays and floats."""
    names = show if show is not None else [n for n, v in ended.items() if _worth_showing(n, v)]
    return {name: _brief(ended[name]) if name in ended else "not set" for name in names}


def _worth_showing(name: str, value: Any) -> bool:
    return not name.startswith("_") and isinstance(value, (PArray, float))


def _brief(value: Any) -> str:
    if isinstance(value, PArray):
        shape = "x".join(map(str, value.shape))
        return f"{value.dtype} [{shape}]" if shape else f"{value.item():.6g} ({value.dtype})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


_RECOVERED = "refused; cast applied to go on"


@dataclass(frozen=True, repr=False)
class Outcomes(Printable):
    """How a program ended under each policy, side by side.

    Attributes
    ----------
    every : tuple of Outcome
    """

    every: tuple[Outcome, ...]

    @property
    def headline(self) -> str:
        """What was run."""
        return "Actual runs under each policy"

    @property
    def names(self) -> list[str]:
        """The globals that are shown."""
        return list(dict.fromkeys(name for o in self.every for name in o.values))

    def to_dict(self) -> dict[str, Any]:
        """Return the outcomes as data."""
        return {"outcomes": [outcome.to_dict() for outcome in self.every]}

    def __rich__(self) -> RenderableType:
        from rich.table import Table
        from rich.text import Text

        names = self.names
        table = Table("actual run under", *names, _RECOVERED, show_lines=True)
        for o in self.every:
            remarks = Text("\n".join(o.remarks), style="red" if o.error else "")
            table.add_row(o.policy.name, *(o.values.get(n, "") for n in names), remarks)
        return table

    def html(self) -> str:
        """Return the outcomes as a part of a page; "" if there are none."""
        if not self.every:
            return ""
        names = self.names
        rows = (
            (o.policy.name, *(o.values.get(n, "") for n in names), "\n".join(o.remarks))
            for o in self.every
        )
        table = html_table(("policy", *names, _RECOVERED), rows).replace("\n", "<br>")
        return f"<h2>{escape(self.headline)}</h2>{table}"
