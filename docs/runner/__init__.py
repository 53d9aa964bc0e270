"""Runs the documentation: executes the blocks of every page and compares the results.

`markdown` finds the blocks of a page, and `page` runs them in order. `shell`, `interpreter` and
`bodies` run one kind of block each, in the `sandbox` of the page. `expected` compares the output
with the page. `references` checks commands and paths in running text. `docs/run.py` is the program.
"""
