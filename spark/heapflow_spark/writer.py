"""Rows as traces."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from . import commands
from .files import HIDDEN
from .tables import events_of


@dataclass
class Written(WriterCommitMessage):
    """The file that a task wrote, if it had rows."""

    name: str | None


class TraceWriter(DataSourceArrowWriter):
    """Writes events as traces, one file for each task that has any.

    The files have their names when all of them are complete.
    """

    def __init__(self, folder: str, to: str, flags: tuple[str, ...], overwrite: bool):
        if commands.is_remote(folder):
            raise ValueError(f"traces are written to a folder that all workers share, not to {folder}")
        self.folder = os.path.abspath(folder.removeprefix("file://"))
        self.temporary = os.path.join(self.folder, f"_temporary-{uuid.uuid4().hex}")
        self.ending = to
        self.command = ("hf-convert", "-", "-", "--from", "arrow", "--to", to, *flags)
        self.overwrite = overwrite

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Written:
        batches = (events_of(batch) for batch in iterator if batch.num_rows > 0)
        first = next(batches, None)
        if first is None:
            return Written(None)
        context = TaskContext.get()
        assert context is not None
        os.makedirs(self.temporary, exist_ok=True)
        name = f"part-{context.partitionId():05}-{context.taskAttemptId()}.{self.ending}"
        with commands.writing(os.path.join(self.temporary, name), self.command) as sink:
            with pa.ipc.new_stream(sink, first.schema) as stream:
                stream.write_batch(first)
                for batch in batches:
                    stream.write_batch(batch)
        return Written(name)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        os.makedirs(self.folder, exist_ok=True)
        old = [entry.path for entry in os.scandir(self.folder) if entry.is_file() and not entry.name.startswith(HIDDEN)]
        job = uuid.uuid4().hex[:8]
        for message in messages:
            if isinstance(message, Written) and message.name is not None:
                stem, ending = os.path.splitext(message.name)
                os.replace(os.path.join(self.temporary, message.name), os.path.join(self.folder, f"{stem}-{job}{ending}"))
        # The new files have names of their own, and are there before the old ones go.
        if self.overwrite:
            for path in old:
                os.remove(path)
        self._clear()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._clear()

    def _clear(self) -> None:
        shutil.rmtree(self.temporary, ignore_errors=True)
