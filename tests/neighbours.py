"""How pytest-xdist deals tests out: neighbours together, in a thousand units or so.

By ``--dist loadgroup`` alone each test is a unit by itself, and with every test that ends xdist
counts what is left of all units that a worker ever had, which goes with the square of the tests:
here a unit is forgotten when it is done. Besides, neighbours use the same things, which a module
makes once in each process.
"""

from __future__ import annotations

from functools import cached_property

from xdist.scheduler import LoadGroupScheduling

UNITS = 1000
"""Fewer tests than that are units of one, as slow ones are: the last to end is waited for."""


class Neighbours(LoadGroupScheduling):
    """Groups as they are marked, and all else by a few tests of one file."""

    def _split_scope(self, nodeid: str) -> str:
        group = super()._split_scope(nodeid)
        return self._units[nodeid] if group == nodeid else group

    def _pending_of(self, workload: dict[str, dict[str, bool]]) -> int:
        for unit in [unit for unit, tests in workload.items() if all(tests.values())]:
            del workload[unit]
        return super()._pending_of(workload)

    @cached_property
    def _units(self) -> dict[str, str]:
        """The unit of every test."""
        tests = next(iter(self.registered_collections.values()))
        together = 1 + len(tests) // UNITS
        files: dict[str, int] = {}
        units = {}
        for nodeid in tests:
            file = nodeid.partition("::")[0]
            files[file] = count = files.get(file, 0) + 1
            units[nodeid] = f"{file} {count // together}"
        return units
