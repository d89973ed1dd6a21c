"""Where readers can begin in a compact trace: its index, as lib/formats/compact/README.md specifies it."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

MAGIC = b"\x89HFC\r\n\x1a\n\x01\x00"
END = 33
"""The length of the end section: type, length, totals of 24 bytes, checksum."""

HEAD = 5
CHECKSUM = 4
ENTRY = 40
TAIL = 12
MAX_INDEX = 1 << 26


def places(path: str) -> tuple[list[int], int] | None:
    """The numbers of events before each place of a compact trace, in their order, and the number of all its events.

    None if it is no such trace, if it has no index, or if its files were concatenated and one has none. The checksum is
    left to the command that reads the trace, which falls back to its start.
    """
    try:
        with open(path, "rb") as file:
            return _places(file, os.fstat(file.fileno()).st_size)
    except (OSError, struct.error):
        return None


def _places(file: BinaryIO, size: int) -> tuple[list[int], int] | None:
    files: list[tuple[list[int], int]] = []
    while size > 0:
        found = _last(file, size)
        if found is None:
            return None
        size, befores, events = found
        files.insert(0, (befores, events))
    starts: list[int] = []
    total = 0
    for befores, events in files:
        starts += [total + before for before in befores]
        total += events
    return starts, total


def _last(file: BinaryIO, end: int) -> tuple[int, list[int], int] | None:
    """Where the last file before an offset begins, its places, and the number of its events."""
    if end < END + HEAD + TAIL + CHECKSUM + len(MAGIC):
        return None
    file.seek(end - END - CHECKSUM - 4)
    tail = file.read(CHECKSUM + 4 + END)
    (length,) = struct.unpack_from("<I", tail)
    if tail[8:9] != b"E" or struct.unpack_from("<I", tail, 9) != (24,):
        return None
    (events,) = struct.unpack_from("<Q", tail, 8 + HEAD + 16)
    at = end - END - length
    body = length - HEAD - CHECKSUM
    if at < len(MAGIC) or length > MAX_INDEX or body < TAIL or (body - TAIL) % ENTRY != 0:
        return None
    file.seek(at)
    index = file.read(length)
    if index[:1] != b"i" or struct.unpack_from("<I", index, 1) != (body,):
        return None
    (offset,) = struct.unpack_from("<Q", index, length - CHECKSUM - TAIL)
    begin = at - offset
    if begin < 0:
        return None
    file.seek(begin)
    if file.read(len(MAGIC)) != MAGIC:
        return None
    befores = [struct.unpack_from("<Q", index, HEAD + i * ENTRY + 32)[0] for i in range((body - TAIL) // ENTRY)]
    return begin, befores, events
