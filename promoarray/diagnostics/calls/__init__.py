"""Functions of the frameworks by name: what they compute, and which were asked."""
