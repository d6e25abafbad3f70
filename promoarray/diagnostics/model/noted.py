"""Records that a report counts besides places at which policies differ."""

from __future__ import annotations

from typing import NamedTuple

from promoarray.core.call_site import Site


class Call(NamedTuple):
    """A call that a framework's own function does not take, though promoarray's does.

    It changes no dtype here; the code has to be written otherwise where it is ported.

    Attributes
    ----------
    site : Site
    policy : str
        Of that framework.
    reason : str
    """

    site: Site
    policy: str
    reason: str


class Unanswered(NamedTuple):
    """A call of which a policy has no answer, as its framework was not asked.

    Attributes
    ----------
    name : str
        The function.
    why : str
    program : Site
        The program's line.
    policy : str
    """

    name: str
    why: str
    program: Site
    policy: str


class Decided(NamedTuple):
    """A place where a program reads a dtype and may branch on it, so that policies part unseen.

    The run goes the way that its own dtype decides; a policy that has another dtype there may go
    another way, which no report of this run can follow.

    Attributes
    ----------
    site, program : Site
    run : tuple of str
        The dtypes that decided.
    policy : str
        One that has others.
    other : tuple of str
        Those.
    """

    site: Site
    program: Site
    run: tuple[str, ...]
    policy: str
    other: tuple[str, ...]
