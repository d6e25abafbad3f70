"""Every framework's rules, one file or folder per framework, and what a policy is written in.

A framework's file holds all that promoarray knows of it:

* its **promotion table**, a ``Table`` or ``Lattice`` in the order of the vendor's page, or a
  function of two dtypes (``promote``);
* its **operation rules**, by operation or family: what each takes, computes in and returns
  (``OPERATIONS``; ``FUNCTIONS`` where a function differs from its operator);
* what it does beside promotion: Python numbers it **stores**, arrays it **refuses** where nothing
  promotes, kernels of its own (``Stored``, ``Policy.refuses``, ``Policy.kernels``);
* its **cast rule**: what a value becomes that the target cannot hold, and the bugs of shipped
  versions as named quirks (``CASTS``);
* its **sources**: documents, source files and recorded answers, in the docstring and in the
  ``Policy``, which ``pa.explain`` quotes.

``EDITIONS`` names its editions, the default one first, and ``edition(edition)`` returns the
``Policy`` of one: the registry finds both, so that no list elsewhere names a framework. A folder's
``__init__`` holds only that; its files import each other, never the ``__init__``. A file that
begins with an underscore is of several families. What several frameworks share otherwise is
in ``promoarray.promotion``: ``default_rules``, ``linalg_rules``, ``type_steps``, ``ranks``,
``cast_quirks`` and ``cast_transforms``, ``stored``, ``scalars``, ``variants``.

To add a framework (``docs/contributing.md`` does it for an example):

1. Record what it answers: write ``conformance/oracles/<framework>.py`` and keep its answers in
   ``conformance/golden``, whose first line names the policy they are of.
2. Write ``policies/<framework>.py``: the table, ``OPERATIONS``, ``CASTS``, a ``Policy``,
   ``EDITIONS`` and ``edition``. Start from ``array_api.py``, the shortest.
3. ``policy.check()`` proves or refutes what should hold of the table, and
   ``python conformance/check.py`` compares the policy with the recorded answers. A departure is
   listed with its reason in ``conformance/departures.toml``. ``conformance/differential.py`` asks
   both sides random programs, which find what no table asks.
4. Add ``tests/policies/test_<framework>.py`` and the page ``docs/frameworks/<framework>.md``; run
   ``conformance/cast_tables.py``, which writes ``docs/casts.md``.

A policy from outside promoarray needs none of this: see ``register`` and the entry-point group
``promoarray.policies``.
"""

from promoarray.promotion.in_force import get_policy, set_policy
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, list_policies, register
from promoarray.promotion.rules import Lattice, PromotionRule, Table
from promoarray.promotion.source import Source

Rule = PromotionRule
"""The former name of ``PromotionRule``."""

__all__ = ["Lattice", "Operand", "Plan", "Policy", "PromotionRule", "Rank", "Refusal", "Rule"]
__all__ += ["Source", "Table", "as_policy", "get_policy", "list_policies", "register", "set_policy"]
