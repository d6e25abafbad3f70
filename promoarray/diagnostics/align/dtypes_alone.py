"""Two runs of which one has no values: their operations are paired in order, and their dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from promoarray.core.call_site import Site
from promoarray.diagnostics.align.departure import DTYPE, Departure
from promoarray.diagnostics.align.graph import Graph, Node, Place, Value
from promoarray.diagnostics.align.report import Aligned
from promoarray.diagnostics.model.flow import COMPARED
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.dtypes import BY_CODE, BY_NAME, INEXACT


def aligned(first: RecordedReport, second: RecordedReport, why: str, most: int) -> Aligned:
    """Return where the dtypes of two runs part first, each difference without what follows of it.

    Between frameworks the width of an integer is no difference, as elsewhere in ``align``.

    Parameters
    ----------
    why : str
        What has no values, in words.
    most : int
        So many differences are told.
    """
    graphs = theirs, mine = _graph(first), _graph(second)
    found = Aligned(theirs, mine, [], [], (), what="operations")
    a, b = ([node.name for node in graph.nodes] for graph in graphs)
    same = theirs.framework == mine.framework
    for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks():
        for n in range(block.size):
            pair = theirs.nodes[block.a + n], mine.nodes[block.b + n]
            found.paired += 1
            departure = _departure(*pair, same)
            if departure is not None and len(found.departures) < most:
                found.departures.append(departure)
    found.open.append(f"values, as {why}: dtypes alone were compared, of operations in their order")
    return found


def _departure(first: Node, second: Node, same: bool) -> Departure | None:
    """The difference of two operations of one name, if what they are given does not have it."""
    given = [x.dtype for x in first.operands], [x.dtype for x in second.operands]
    for y, x in zip(first.results, second.results, strict=False):
        tells = same or any(BY_NAME[each.dtype].kind in INEXACT for each in (x, y))
        if x.dtype == y.dtype or given[0] != given[1] or not tells:
            continue
        mixed = " and ".join(dict.fromkeys(given[1])) or "no arrays"
        cause = f"{mixed} give {x.dtype}; the first program has {y.dtype} there"
        return Departure(DTYPE, first, second, cause)
    return None


def _graph(report: RecordedReport) -> Graph:
    framework = report.framework.partition(" ")[0] or report.run.name.partition("@")[0]
    nodes = [*_nodes(report, framework)]
    return Graph(nodes, {}, [{}] * len(nodes), framework, 0, [])


def _nodes(report: RecordedReport, framework: str) -> Iterator[Node]:
    def values(codes: list[str]) -> list[Value]:
        dtypes = [BY_CODE[code] for code in codes if code]
        names = (report.run.strong(x).name if x.weak else x.name for x in dtypes)
        return [Value("", name, (), None) for name in names]

    for flow in report.flows:
        for number, each in enumerate(flow.operations):
            if each.kind in COMPARED:
                given, made = values([x.code for x in each.operands]), values([*each.results])
                at = _place(each.place.program), _place(each.place.site)
                yield Node(
                    number, each.name or each.kind, "", *at, given, made, framework=framework
                )


def _place(site: Site) -> Place:
    return Place(site.file, site.line, site.text, site.expression)
