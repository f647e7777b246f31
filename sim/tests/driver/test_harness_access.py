"""The harness's register access on a lane that does not do its part."""

import subprocess

from support import harness_access


def test_a_snapshot_that_never_ends_is_an_error(tmp_path):
    program = harness_access.program(tmp_path)
    done = subprocess.run([program, "--stuck"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "the snapshot of queue 3 does not end\n")
