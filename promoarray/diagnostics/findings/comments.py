"""Comments that have findings ignored: ``# promoarray: ignore[torch, refuse]``.

They are read with ``tokenize``, so that strings do not count. One holds for the line that it ends,
and at the end of a statement's first or last line for the whole statement; of a compound one for
its head.
"""

from __future__ import annotations

import difflib
import io
import linecache
import os
import re
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from promoarray.diagnostics.findings.finding import Finding
from promoarray.diagnostics.model.kinds import NAMES
from promoarray.errors import UnknownPolicyError, quoted
from promoarray.promotion.registry import as_policy, families


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that has findings ignored.

    Attributes
    ----------
    file : str
    line : int
    text : str
    first, last : int
        The lines that it holds for.
    kinds, policies, unknown : tuple of str
        The names in its brackets.
    """

    file: str
    line: int
    text: str
    first: int
    last: int
    kinds: tuple[str, ...]
    policies: tuple[str, ...]
    unknown: tuple[str, ...]

    def covers(self, finding: Finding) -> bool:
        """Whether it holds for a finding: for its line, its kind and its policy."""
        return (
            not self.unknown  # what was meant is not known
            and self.first <= finding.place.line <= self.last
            and (not self.kinds or any(name in finding.names for name in self.kinds))
            and (not self.policies or any(_is(finding.policy, name) for name in self.policies))
            and os.path.realpath(self.file) == os.path.realpath(finding.place.file)
        )

    def about(self, policies: Collection[str]) -> bool:
        """Whether it is about a comparison with these policies."""
        return not self.policies or any(_is(p, name) for p in policies for name in self.policies)


class Notice(NamedTuple):
    """What a reader of a report should know of a line."""

    file: str
    line: int
    text: str


def comments_in(files: Collection[str]) -> list[Comment]:
    """Return the comments of some files, each file by whatever name once."""
    by_path = {os.path.realpath(f): f for f in sorted(files) if not f.startswith("<")}
    texts = {file: "".join(linecache.getlines(file)) for file in sorted(by_path.values())}
    # Not every file is taken apart: most have none.
    return [
        each for file, text in texts.items() if "promoarray:" in text for each in _read(file, text)
    ]


def told(
    comments: Collection[Comment], used: Collection[Comment], policies: Collection[str]
) -> list[Notice]:
    """Return what is wrong with comments: names that nothing has, and those that ignore nothing."""
    notices = []
    for each in comments:
        for name in each.unknown:
            meant = difflib.get_close_matches(name, [*NAMES, *families()], n=1)
            near = f" Did you mean: {meant[0]}?" if meant else ""
            names = ", ".join(NAMES)
            what = f"names {quoted(name)}, which is neither a policy nor one of {names}."
            notices.append(Notice(each.file, each.line, f"{each.text} {what}{near}"))
        if each not in used and not each.unknown and each.about(policies):
            notices.append(Notice(each.file, each.line, f"unused ignore: {each.text}"))
    return notices


_IGNORE = re.compile(r"#\s*promoarray:\s*ignore(?![\w-])\s*(?:\[([^\]]*)(\]?))?")
_OUTSIDE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def _read(file: str, text: str) -> Iterator[Comment]:
    """Yield the comments of a file, statement by statement."""
    begun, waiting = 0, list[tokenize.TokenInfo]()
    for token in _tokens(text):
        line = token.start[0]
        if token.type == tokenize.COMMENT and _IGNORE.search(token.string):
            waiting.append(token)
        elif token.type == tokenize.NEWLINE:
            yield from (_comment(file, each, begun, line) for each in waiting)
            begun, waiting = 0, []
        elif token.type not in _OUTSIDE and not begun:
            # Those before it stand on lines of their own.
            yield from (_comment(file, each, 0, 0) for each in waiting)
            begun, waiting = line, []
    yield from (_comment(file, each, 0, 0) for each in waiting)  # what cannot be read on


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a text, as far as it can be read."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _comment(file: str, token: tokenize.TokenInfo, first: int, last: int) -> Comment:
    line, match = token.start[0], _IGNORE.search(token.string)
    assert match is not None
    if not first or line not in (first, last):
        first = last = line
    names, closed = match[1], match[2]
    words = [] if names is None else [word.strip() for word in names.split(",")]
    kinds = tuple(word for word in words if word in NAMES)
    policies = tuple(word for word in words if word not in NAMES and _known(word))
    unknown = tuple(word for word in words if word not in (*kinds, *policies))
    if names is not None and not closed:
        kinds, policies, unknown = (), (), (f"[{names}",)
    return Comment(file, line, match[0].strip(), first, last, kinds, policies, unknown)


def _known(name: str) -> bool:
    try:
        as_policy(name)
    except UnknownPolicyError:
        return False
    return True


def _is(policy: str, name: str) -> bool:
    """Whether a policy is of a family, or that of a name."""
    return name in (policy, policy.partition("@")[0]) or (
        "@" in name and as_policy(name).name == policy
    )
