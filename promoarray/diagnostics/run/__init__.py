"""Running a user's program in a process of its own, which reports what it found."""
