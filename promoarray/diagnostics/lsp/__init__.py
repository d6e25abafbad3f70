"""``promoarray lsp``: findings of saved recordings in an editor, at their lines."""
