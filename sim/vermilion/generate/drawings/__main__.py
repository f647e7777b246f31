"""`python -m vermilion.generate.drawings`: writes the drawings, or with `--check` names those that are stale."""

import sys

from vermilion.generate import committed

from . import files

if __name__ == "__main__":
    sys.exit(committed.run("drawings", files, sys.argv[1:]))
