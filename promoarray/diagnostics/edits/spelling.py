"""Casts in each framework's own words."""

from __future__ import annotations

from typing import NamedTuple

from promoarray.dtypes import DType


class Spelling(NamedTuple):
    """The words of a framework."""

    module: str  # what a program imports to have the namespace
    # what the namespace is called where it is imported in no such way; the first that is
    # free
    namespaces: tuple[str, ...]
    cast: str  # the cast of an array, with ``{ns}``, ``{x}`` and ``{dtype}``
    maker: str = "asarray"  # the function that makes an array of a Python number
    # what the dtype of truth values is called, in every version of the framework
    boolean: str = "bool"
    # an array made of a Python number, and the cast of an array, whichever it is given; if
    # empty, ``maker`` takes both
    either: str = ""
    # the functions that make arrays and take a dtype; if empty, all do
    typed: frozenset[str] = frozenset()
    # whether ``int(x)`` of a 0-d array is a number that a person would write there
    scalars: bool = False
    # what makes a dtype the default of the framework's modules; empty if nothing does
    default: str = ""

    def default_of(self, dtype: DType) -> str:
        """Write what makes a dtype that of the parameters of modules; "" if nothing does."""
        return self.default.format(dtype.name)

    def dtype_of(self, dtype: DType, name: str) -> str:
        """Write a dtype."""
        return f"{name}.{self.boolean if dtype.name == 'bool' else dtype.name}"

    def template(self, how: str) -> str:
        """Return the text of a cast, with ``{ns}``, ``{x}`` and ``{dtype}``."""
        match how:
            case "asarray" | "row":
                x = "[{x}]" if how == "row" else "{x}"
                return f"{{ns}}.{self.maker}({x}, dtype={{dtype}})"
            case "wrapped":
                return self.cast.replace("{x}", f"{{ns}}.{self.maker}({{x}})")
            case "either":
                return self.either or self.template("asarray")
            case "guarded":  # a number has no dtype
                return f'({self.cast} if hasattr({{x}}, "dtype") else {{x}})'
            case "clip":
                return "{x}.clip({dtype})" if self.cast[:3] == "{x}" else "{ns}.clip({x}, {dtype})"
            case "astype" | "result" | "target":
                return self.cast
        return f"{how}({{x}})"  # one of Python's types


_TYPED = frozenset(
    (
        *("array", "asarray", "asanyarray", "arange", "full", "zeros", "ones", "empty"),
        *("eye", "identity", "tri", "linspace", "logspace", "geomspace", "randint", "integers"),
        *("loadtxt", "genfromtxt"),
    )
)
"""NumPy's functions that take a dtype: windows and most of those that draw numbers do not."""

OWN = Spelling("promoarray", ("pa", "promoarray"), "{ns}.astype({x}, {dtype})")
SPELLINGS = {
    "": OWN,
    # ``tensor`` would copy, off its graph, what is a tensor in other passes; so does ``to_tensor``.
    "torch": Spelling(
        *("torch", ("torch",), "{x}.to({dtype})", "as_tensor"),
        default="torch.set_default_dtype(torch.{})",
    ),
    "paddle": Spelling(
        *("paddle", ("paddle",), "{x}.astype({dtype})", "to_tensor"),
        default='paddle.set_default_dtype("{}")',
        either=(
            "({x}.astype({dtype}) if {ns}.is_tensor({x}) else {ns}.to_tensor({x}, dtype={dtype}))"
        ),
    ),
    "jax": Spelling("jax.numpy", ("jnp",), "{x}.astype({dtype})", boolean="bool_"),
    "numpy": Spelling(
        *("numpy", ("np",), "{x}.astype({dtype})"), boolean="bool_", typed=_TYPED, scalars=True
    ),
}
"""From the framework of a program that was recorded, "" of promoarray's own, to its words."""
