"""The commands of heapflow as processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa
from pyarrow import fs

HOME = "HEAPFLOW_BIN"
"""The environment variable with the folder of the commands, if they are not in PATH."""

PIECE = 1 << 18
"""How much of a remote file is read at a time, in bytes."""

MAX_MESSAGES = 1 << 16
"""How much of what a command prints to standard error is kept, in bytes, from its end."""

BAD_TRACE = 1
"""The exit status of a command whose input is damaged. Others are faults of the machine or of the call."""


class Failed(Exception):
    """A command ended with an error."""

    def __init__(self, status: int, messages: list[str]):
        super().__init__(messages[-1] if messages else f"exit status {status}")
        self.status = status
        self.messages = messages


def find(command: str) -> str:
    """The path of a command. Raises FileNotFoundError, which says what to do, if there is none."""
    path = shutil.which(command, path=os.environ.get(HOME)) or shutil.which(command)
    if path is None:
        raise FileNotFoundError(
            f"{command} is not in PATH on {os.uname().nodename}: install heapflow with npm there, or set {HOME}"
        )
    return path


def is_remote(file: str) -> bool:
    """Whether a file is named by a URI, such as `s3://bucket/app.mtrc`, rather than by a path."""
    return "://" in file and not file.startswith("file://")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """Opens a file so that a process can read it: itself, or a pipe that a thread fills."""
    if not is_remote(file):
        with open(file.removeprefix("file://"), "rb") as source:
            yield source
        return
    system, path = fs.FileSystem.from_uri(file)
    with system.open_input_stream(path) as source:
        reads, writes = os.pipe()
        faults: list[BaseException] = []

        def copy() -> None:
            try:
                with os.fdopen(writes, "wb") as sink:
                    while piece := source.read(PIECE):
                        sink.write(piece)
            except BrokenPipeError:
                pass  # The command has read enough, or failed: its exit status says which.
            except BaseException as fault:
                # The command sees the end of its input, and may take the trace for a whole one.
                faults.append(fault)

        thread = threading.Thread(target=copy, daemon=True)
        thread.start()
        try:
            with os.fdopen(reads, "rb") as pipe:
                yield pipe
        finally:
            thread.join()
            if faults:
                raise faults[0]


def _messages(errors: BinaryIO) -> list[str]:
    """The last of what a command printed: its error is at the end."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - MAX_MESSAGES))
    return errors.read().decode("utf-8", "replace").splitlines()


def read(file: str, command: tuple[str, ...], warn: list[str]) -> Iterator[pa.RecordBatch]:
    """The record batches that a command makes of a file.

    What it prints to standard error without failing is added to `warn` at the end.

    Raises Failed after all batches before the fault.
    """
    with _opened(file) as source, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [find(command[0]), *command[1:]], stdin=source, stdout=subprocess.PIPE, stderr=errors
        )
        assert process.stdout is not None
        try:
            try:
                with pa.ipc.open_stream(process.stdout) as reader:
                    yield from reader
            except (pa.ArrowInvalid, OSError) as fault:
                # A command that failed before or within a batch: its own message says more.
                if process.wait() == 0:
                    raise Failed(BAD_TRACE, [f"{command[0]}: {fault}"]) from fault
            status = process.wait()
            if status != 0:
                raise Failed(status, _messages(errors))
            warn.extend(_messages(errors))
        finally:
            process.stdout.close()
            if process.poll() is None:
                process.kill()
                process.wait()


@contextmanager
def writing(file: str, command: tuple[str, ...]) -> Iterator[BinaryIO]:
    """A stream into a command whose standard output is a file. Raises Failed if the command fails."""
    with open(file, "wb") as sink, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [find(command[0]), *command[1:]], stdin=subprocess.PIPE, stdout=sink, stderr=errors
        )
        assert process.stdin is not None
        try:
            yield process.stdin
            process.stdin.close()
            if process.wait() != 0:
                raise Failed(process.returncode, _messages(errors))
        except BrokenPipeError as fault:
            raise Failed(process.wait(), _messages(errors)) from fault
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
