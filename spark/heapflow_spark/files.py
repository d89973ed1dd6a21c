"""Which files a load reads, and how they are divided among tasks."""

from __future__ import annotations

import fnmatch
import glob
import os
from dataclasses import dataclass

from pyarrow import fs
from pyspark.sql.datasource import InputPartition

from .commands import is_remote

HIDDEN = ("_", ".")
"""Names that Spark and Hadoop take for hidden begin with one of these."""


@dataclass(frozen=True)
class File:
    """A trace."""

    name: str
    size: int


@dataclass
class Files(InputPartition):
    """The traces that a task reads, one after the other."""

    names: tuple[str, ...]

    def __init__(self, names: tuple[str, ...]):
        super().__init__(names)
        self.names = names


def find(path: str) -> list[File]:
    """The files that a path, a pattern or a folder names, sorted by name. Hidden ones are left out.

    Raises FileNotFoundError if there are none.
    """
    found = _remote(path) if is_remote(path) else _local(path.removeprefix("file://"))
    if not found:
        raise FileNotFoundError(f"no traces are named {path}")
    return sorted(found, key=lambda file: file.name)


def _local(path: str) -> list[File]:
    if os.path.isdir(path):
        path = os.path.join(glob.escape(path), "*")
    names = [name for name in glob.glob(path, recursive=True) if os.path.isfile(name)]
    return [File(name, os.path.getsize(name)) for name in names if not os.path.basename(name).startswith(HIDDEN)]


def _remote(path: str) -> list[File]:
    scheme, rest = path.split("://", 1)
    fixed = rest[: min([rest.index(sign) for sign in "*?[" if sign in rest], default=len(rest))]
    is_pattern = fixed != rest
    folder = fixed.rpartition("/")[0] if is_pattern else rest
    system, base = fs.FileSystem.from_uri(f"{scheme}://{folder}")
    info = system.get_file_info(base)
    if info.type == fs.FileType.File:
        return [File(path, info.size)]
    entries = system.get_file_info(fs.FileSelector(base, recursive=is_pattern, allow_not_found=True))
    wanted = base + rest[len(folder) :] if is_pattern else base.rstrip("/") + "/*"
    return [
        File(f"{scheme}://{folder}{entry.path[len(base):]}", entry.size)
        for entry in entries
        if entry.type == fs.FileType.File
        and fnmatch.fnmatchcase(entry.path, wanted)
        and not entry.base_name.startswith(HIDDEN)
    ]


def divide(files: list[File], most: int) -> list[Files]:
    """Groups of files for tasks: files that follow each other, with at most `most` bytes, or a single larger one."""
    groups: list[list[str]] = []
    size = most
    for file in files:
        if size + file.size > most:
            groups.append([])
            size = 0
        groups[-1].append(file.name)
        size += file.size
    return [Files(tuple(names)) for names in groups]
