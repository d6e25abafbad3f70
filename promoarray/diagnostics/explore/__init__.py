"""``promoarray explore``: one page with every policy's promotion matrix, differences and casts."""
