"""Prints millions of lines, long lines, escapes for the terminal and bytes that are not text."""

import sys

out = sys.stdout.buffer
for _ in range(300):
    out.write(b"record 0.1 finished\n" * 10_000)
out.write(b"x" * 20_000_000 + b"\n")
out.write(b"\x1b[2J\x1b]0;finished\x07\x1b[31m\xff\xfe\xe2\x80\xae0.1 drocer\n")
out.flush()
print("refused the end of the flood")
