"""Does nothing. The run has no result."""

print("refused nothing")
