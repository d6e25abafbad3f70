"""One model of a program: recorded operations, the policies' answers, findings, verdicts."""
