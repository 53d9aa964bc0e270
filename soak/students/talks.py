"""Says a few words and ends well."""

for number in range(20):
    print("word", number, "é" * number)
