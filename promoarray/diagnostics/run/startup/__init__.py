"""The folder that stands first in PYTHONPATH of programs that a command starts."""
