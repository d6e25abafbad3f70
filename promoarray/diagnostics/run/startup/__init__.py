"""The folder that stands first in PYTHONPATH of recorded programs; it is no package."""
