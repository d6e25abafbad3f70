"""What a comparison found as a linter has it: one finding at a time, known, ignored or new."""
