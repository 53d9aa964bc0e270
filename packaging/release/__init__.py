"""Builds the packages of a release from a built program: `python3 -m release --help`.

`parts` finds the libraries that are in the program. `licences` and `sbom` describe them. `tree`
lays out the files, and `archive` and `deb` write them with the same bytes for the same input.
"""
