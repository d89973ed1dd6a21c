"""Which files a load reads, and how they are divided among tasks."""

from __future__ import annotations

import fnmatch
import glob
import os
from dataclasses import dataclass

from pyarrow import fs
from pyspark.sql.datasource import InputPartition

from .commands import is_remote
from .places import places

HIDDEN = ("_", ".")
"""Names that Spark and Hadoop take for hidden begin with one of these. Folders are hidden in the same way."""

SIGNS = "*?["
"""What makes a path a pattern."""


@dataclass(frozen=True)
class File:
    """A trace."""

    name: str
    size: int


@dataclass
class Files(InputPartition):
    """The traces that a task reads, one after the other; or the part of one from one event to another, from 1."""

    names: tuple[str, ...]
    events: tuple[int, int] | None

    def __init__(self, names: tuple[str, ...], events: tuple[int, int] | None = None):
        super().__init__(names)
        self.names = names
        self.events = events


def find(path: str) -> list[File]:
    """The files that a path, a pattern or a folder names, sorted by name. Hidden ones are left out.

    Raises FileNotFoundError if there are none.
    """
    found = _remote(path) if is_remote(path) else _local(path.removeprefix("file://"))
    if not found:
        raise FileNotFoundError(f"no traces are named {path}")
    return sorted(found, key=lambda file: file.name)


def _local(path: str) -> list[File]:
    if os.path.isfile(path):
        return [File(path, os.path.getsize(path))]
    pattern = os.path.join(glob.escape(path), "*") if os.path.isdir(path) else path
    fixed = len(_folder_of(pattern))
    names = [name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name)]
    return [File(name, os.path.getsize(name)) for name in names if not _is_hidden(name[fixed:])]


def _remote(path: str) -> list[File]:
    scheme, rest = path.split("://", 1)
    is_pattern = any(sign in rest for sign in SIGNS)
    folder = _folder_of(rest).rstrip("/") if is_pattern else rest
    system, base = fs.FileSystem.from_uri(f"{scheme}://{folder}")
    info = system.get_file_info(base)
    if info.type == fs.FileType.File:
        return [File(path, info.size)]
    wanted = rest[len(folder) :].strip("/") if is_pattern else "*"
    entries = system.get_file_info(fs.FileSelector(base, recursive="/" in wanted or "**" in wanted, allow_not_found=True))
    found = []
    for entry in entries:
        name = entry.path[len(base) :].strip("/")
        if entry.type == fs.FileType.File and _matches(name, wanted) and not _is_hidden(name):
            found.append(File(f"{scheme}://{folder}/{name}", entry.size))
    return found


def _folder_of(pattern: str) -> str:
    """The part of a pattern before its first component with a sign, with a slash at the end unless it is empty."""
    first = min((pattern.index(sign) for sign in SIGNS if sign in pattern), default=len(pattern))
    return pattern[: pattern.rfind("/", 0, first) + 1]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(HIDDEN) for part in name.split("/"))


def _matches(name: str, pattern: str) -> bool:
    """Whether the components of a name fit those of a pattern, of which `**` fits any number."""

    def fits(names: list[str], patterns: list[str]) -> bool:
        if not patterns:
            return not names
        if patterns[0] == "**":
            return any(fits(names[n:], patterns[1:]) for n in range(len(names) + 1))
        return bool(names) and fnmatch.fnmatchcase(names[0], patterns[0]) and fits(names[1:], patterns[1:])

    return fits(name.split("/"), pattern.split("/"))


def divide(files: list[File], most: int) -> list[Files]:
    """Groups of files for tasks: files that follow each other, with at most `most` bytes, or a single larger one."""
    groups: list[list[str]] = []
    size = 0
    for file in files:
        if not groups or size + file.size > most:
            groups.append([])
            size = 0
        groups[-1].append(file.name)
        size += file.size
    return [Files(tuple(names)) for names in groups]


def parts(file: File, most: int) -> list[Files]:
    """Parts of a compact trace with an index that begin at its places, with at least `most` events except for the last.

    There are none if the trace has no index, or fewer events than two parts.
    """
    found = None if is_remote(file.name) else places(file.name.removeprefix("file://"))
    if found is None:
        return []
    starts, total = found
    begins = [0]
    for start in starts:
        if start - begins[-1] >= most and total > start:
            begins.append(start)
    if len(begins) == 1:
        return []
    return [Files((file.name,), (begin + 1, end)) for begin, end in zip(begins, [*begins[1:], total])]
