"""Reports for readers and tools, of one list of findings: text, HTML, SARIF, GitHub, JSON."""
