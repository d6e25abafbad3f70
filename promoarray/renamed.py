"""The modules and classes of 0.1.0 by their new names, for the pickles that it wrote.

A pickle names the module and the class of what it holds. The modules lie ready where Python looks
first: were one imported, it would become an attribute of the package, and ``promoarray.array`` is a
function there. It stays for one release.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from promoarray.errors import quoted

MODULES = {
    "_cast_report": ("diagnostics.cast_report",),
    "_escape": ("core.escape",),
    "_escape_report": ("diagnostics.model.noted",),
    "_explanation": ("diagnostics.explain.report",),
    "_factors": ("linalg.decompositions", "linalg.systems"),
    "_pickling": ("parray",),
    "_report": ("diagnostics.report",),
    "_shadow": ("diagnostics.model.divergence", "renamed"),
    "_sites": ("core.call_site",),
    "_trace": ("diagnostics.trace",),
    "array": ("parray",),
    "data_types": ("functions.data_types",),
    "policies.casting": ("promotion.cast_rules",),
    "policies.findings": ("promotion.properties_report",),
    "policies.plans": ("promotion.plan", "promotion.type_rules"),
    "policies.policy": ("promotion.policy", "promotion.source"),
    "policies.registry": ("promotion.registry", "promotion.in_force"),
    "policies.rules": ("promotion.rules",),
    "policies.scalars": ("promotion.scalars",),
    "policies.showing": ("diagnostics.policy_tables",),
    "sets": ("functions.sets",),
}
"""From a module to those that have its classes now."""

NAMES = {
    ("_shadow", "Parting"): "Divergence",
    ("policies.findings", "Answers"): "OperationCoverage",
    ("policies.findings", "Finding"): "PropertyResult",
    ("policies.findings", "Report"): "PropertiesReport",
    ("policies.plans", "By"): "TypeRule",
    ("policies.plans", "Detour"): "Decomposition",
    ("policies.showing", "Shown"): "PolicyTable",
}
"""From a class to its name now, where that changed."""


class Shadow:
    """What a shadow run had found, as 0.1.0 kept it; ``Report`` takes it over."""

    partings: dict[Any, Any]
    escapes: Any
    operations: int


class OldModule(ModuleType):
    """A module of 0.1.0: its names are looked up where they are now."""

    def __getattr__(self, name: str) -> Any:
        module = self.__name__.removeprefix("promoarray.")
        if not name.startswith("__"):
            wanted = NAMES.get((module, name), name)
            for now in MODULES[module]:
                home = import_module(f"promoarray.{now}")
                if hasattr(home, wanted):
                    return getattr(home, wanted)
        raise AttributeError(f"module {self.__name__!r} has no attribute {quoted(name)}")


for name in MODULES:
    sys.modules[f"promoarray.{name}"] = OldModule(f"promoarray.{name}")
