"""The packets of the capture that the project ships."""

import os
import sys
from functools import cache

from vermilion.commands import run_command

sys.path.insert(0, os.fspath(run_command.DEFAULT_CAPTURE.parent))
import describe


@cache
def packets():
    return list(describe.read(run_command.DEFAULT_CAPTURE))
