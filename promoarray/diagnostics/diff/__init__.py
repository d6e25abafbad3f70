"""The command ``promoarray diff``: what changes in a program from one policy to another."""
