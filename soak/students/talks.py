"""A student's program that prints a few lines and ends with 0."""

for number in range(20):
    print("word", number, "é" * number)
