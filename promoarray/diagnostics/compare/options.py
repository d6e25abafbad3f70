"""Edits of the program's calls for what a library makes, each checked by a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os.path import realpath
from typing import NamedTuple

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.attempt import Edit, Mended, remade
from promoarray.diagnostics.edits.library import distribution_of
from promoarray.diagnostics.findings.causes import shared_causes
from promoarray.diagnostics.findings.results import Results
from promoarray.diagnostics.model.divergence import DEFAULT_DTYPE, Divergence
from promoarray.diagnostics.model.flow import DEFAULT, Flow, RecordedOperation
from promoarray.diagnostics.run.attempts import Attempts
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.why.origin import Origins
from promoarray.dtypes import BY_CODE, DType


class _Root(NamedTuple):
    """Where a policy differs."""

    policy: str
    operation: str
    site: tuple[str, int]
    program: tuple[str, int]

    def moved(self, edit: Edit) -> _Root:
        """Return it with the lines of the edited program."""
        return self._replace(site=_moved(self.site, edit), program=_moved(self.program, edit))


def mend(
    report: Results, before: Ended, attempts: Attempts, read: Callable[[Ended], Results]
) -> None:
    """Find calls of the program that take the dtype of what a library makes as an option: after the
    edit a policy agrees at the library's line, and differs nowhere else than ``before``. ``read``
    returns the report of an edited run."""
    known, wanting = _roots(report.found), [*_wanting(report)]
    flows = attempts.flows() if wanting else []
    for place in wanting:
        at = place.program, place.site
        if any(at == (each.program, each.site) for each in report.mended):
            continue
        for edit, ended in attempts.of(_edits(place, flows)):
            if ended.status != before.status or ended.bugs:
                continue
            moved = {each.moved(edit): each for each in known}
            left = _roots(read(ended).found)
            gone = {moved[key] for key in moved.keys() - left}
            here = {each.policy for each in gone & _roots([place])}
            if here and left <= moved.keys():
                report.mended.append(Mended(*at, tuple(sorted(here)), edit))
                break


def _wanting(report: Results) -> Iterator[Divergence]:
    """Places of libraries at which policies differ, and for which there is no edit."""
    shared = shared_causes(report)
    for place in report.roots:
        own = shared.leaves_root(place) or place.name == DEFAULT_DTYPE
        edited = any(answer.fix is not None for answer in place.answers.values())
        if own and not edited and place.site != place.program and distribution_of(place.site):
            yield place


def _roots(places: Iterable[Divergence]) -> set[_Root]:
    return {
        _Root(policy, each.name, _at(each.site), _at(each.program))
        for each in places
        for policy, answer in each.answers.items()
        if answer.origin == "root"
    }


def _at(site: Site) -> tuple[str, int]:
    """Its line, by one name of the file: of one that is edited Python has the whole path."""
    return realpath(site.file), site.line


def _moved(at: tuple[str, int], edit: Edit) -> tuple[str, int]:
    file, line = at
    return (file, edit.moved(line)) if realpath(edit.file) == file else at


def _edits(place: Divergence, flows: Iterable[Flow]) -> Iterator[Edit]:
    """Options after which a library may do there what all policies do alike."""
    name = "" if place.name == DEFAULT_DTYPE else place.name
    met: set[str] = set()
    for flow in flows:
        origins = Origins(flow)
        for each in flow.operations:
            if (each.name, each.place[:2]) != (name, (place.site, place.program)):
                continue
            for made, dtype in _remade(each, origins):
                for edit in remade(made, dtype, place.framework, by_option=True):
                    if edit.text not in met:
                        met.add(edit.text)
                        yield edit


def _remade(each: RecordedOperation, origins: Origins) -> Iterator[tuple[RecordedOperation, str]]:
    """What came into being on the way to an operation, with a dtype that it has there: that which
    is the default, or a wider one of those that meet."""
    if each.kind == DEFAULT:
        yield each, BY_CODE[each.results[0]].name
    met = [BY_CODE[code] for code in (*each.results, *(x.code for x in each.operands if x.code))]
    for given, sources in zip(each.operands, each.sources, strict=True):
        own = BY_CODE[given.code] if given.code and sources else None
        ways = [origins.of(source, "") for source in sorted(sources)[:1]]
        for dtype in dict.fromkeys(x.name for x in met if own and _is_wider(x, own)):
            for step in (x for way in ways for x in reversed(way) if x.ends):
                yield step.made, dtype


def _is_wider(dtype: DType, own: DType) -> bool:
    return not dtype.weak and dtype.kind.category > own.kind.category
