"""The way of one operation: operands, plan, executable, array; and what watches it on the way."""

from promoarray.errors import of_compiled

try:  # all that is imported from it anywhere, so that one place says where it is out of date
    from promoarray.core._fast_path import ArraySlots as ArraySlots
    from promoarray.core._fast_path import FastOperator as FastOperator
    from promoarray.core._fast_path import begin as begin
except ImportError as error:
    raise of_compiled(error) from None
