"""Edits of a program: the casts and numbers to write, valid for every pass through their line."""
