"""Programs of other frameworks, unmodified: each of their operations is put to every policy."""
