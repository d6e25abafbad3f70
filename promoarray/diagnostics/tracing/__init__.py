"""What a trace is made of: casts, which of them are meant, what is done about one, and when."""
