"""Parts of a trace: casts, which of them are meant, what is done about one, and when."""
