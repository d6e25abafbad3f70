"""Findings of a comparison as a linter has them: one finding at a time, known, ignored or new."""
