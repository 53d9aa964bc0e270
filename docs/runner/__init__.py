"""Runs the documentation: every block of every page does what the page says.

`markdown` finds the blocks of a page, `page` goes through them in order, `shell`, `interpreter` and
`bodies` carry out one kind each, `expected` compares what came out with what the page shows,
`words` checks commands and paths in running text. `docs/run.py` is the program.
"""
