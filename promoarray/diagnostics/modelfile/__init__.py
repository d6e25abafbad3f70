"""Model files, and files of weights: graphs that are compared as programs are."""
