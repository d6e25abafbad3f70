"""The exit statuses of commands that look for something, as linters have them.

A signal that ended the program that was looked at is told as shells tell it: 128 + its number.
"""

NOTHING = 0
"""Nothing was found that counts."""

FINDINGS = 1
"""Something was found that counts."""

USAGE = 2
"""Wrong arguments, or a file that cannot be read or written."""

FAILED = 3
"""The program failed, computed nothing, or promoarray failed: the answer is about a part of it."""

INCOMPLETE = 4
"""Nothing was found, and not all of the program was examined."""

SIGNAL = 128
"""What is added to a signal's number."""


class UsageError(ValueError):
    """Wrong arguments of a command; the message is all the user needs."""
