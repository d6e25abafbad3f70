"""The command ``promoarray bisect``: which lines and rules change a program's final value."""
