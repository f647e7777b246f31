"""Archives that depend on nothing but names, contents and a time."""

import gzip
import os
import tarfile
from pathlib import Path


def tar(root: Path, target: Path, epoch: int, top: str = "", packed: bool = True) -> Path:
    """Writes all below `root` to a tar archive, in the order of names, without owners; `top` is put before each name.

    packed: by gzip, without a name or a time of its own.
    """
    with target.open("wb") as out:
        stream = gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=epoch) if packed else out
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path in sorted(root.rglob("*")):
                entry = archive.gettarinfo(path, os.path.join(top, path.relative_to(root)))
                entry.uid = entry.gid = 0
                entry.uname = entry.gname = ""
                entry.mtime = epoch
                entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
                if entry.isreg():
                    with path.open("rb") as file:
                        archive.addfile(entry, file)
                else:
                    archive.addfile(entry)
        if packed:
            stream.close()
    return target
