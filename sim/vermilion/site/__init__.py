"""The documentation's site: pages of `docs` and pages made from sources, built by MkDocs into files that a browser opens from disk.

`stage.py` copies the pages into one folder and mends their links; `reference.py` makes pages from sources; `build.py` runs MkDocs.
"""
