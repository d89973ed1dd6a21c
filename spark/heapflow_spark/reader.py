"""Traces as rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from . import commands, filters
from .files import File, Files, divide, find, parts
from .tables import Table, rows_of


WARNING = ": warning: "
"""What the commands put before a warning."""


class DamagedTrace(Exception):
    """A trace cannot be read to its end, and `mode` is FAILFAST."""


class TableReader(DataSourceReader):
    """Reads a table: each task runs the table's command on its files, and gives Spark the batches."""

    def __init__(self, path: str, table: Table, schema: StructType, partition_bytes: int, partition_events: int, fails_fast: bool):
        self.files: list[File] = find(path)
        self.table = table
        self.schema = schema
        self.partition_bytes = partition_bytes
        self.partition_events = partition_events
        self.fails_fast = fails_fast
        self.flags: list[str] = []

    def partitions(self) -> list[Files]:
        # A load of which filters leave no file still needs a partition.
        return divide(self.files, self.partition_bytes) or [Files(())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Files)
        yield pa.RecordBatch.from_pylist([], schema=to_arrow_schema(self.schema, timezone="UTC"))
        for file in partition.names:
            yield from self.rows(file, partition.events)

    def rows(self, file: str, events: tuple[int, int] | None = None) -> Iterator[pa.RecordBatch]:
        """The rows of a trace, or of a part of it; of a damaged one, those before the fault."""
        try:
            command = self.command if events is None else self.part_command(file, events)
            for batch in commands.read(file, command, []):
                yield rows_of(batch, self.schema, file)
        except commands.Failed as fault:
            if self.fails_fast:
                raise DamagedTrace(f"{file}: {fault}") from fault
            if fault.status != commands.BAD_TRACE:
                # Spark repeats the task, perhaps on another machine.
                raise RuntimeError(f"{self.command[0]} failed with status {fault.status} on {file}: {fault}") from fault

    @property
    def command(self) -> tuple[str, ...]:
        """What reads a trace: the table's command."""
        return self.table.command

    def part_command(self, file: str, events: tuple[int, int]) -> tuple[str, ...]:
        """What reads some events of a compact trace, and no more of the file than it must."""
        first, last = events
        path = os.path.abspath(file.removeprefix("file://"))
        return ("hf-filter", "--arrow", *self.flags, "--events", f"{first}..{last}", path)


class EventReader(TableReader):
    """Reads events, of which hf-filter selects some if there are flags for it. A compact trace may have many tasks."""

    def partitions(self) -> list[Files]:
        divided = {file.name: parts(file, self.partition_events) for file in self.files}
        whole = divide([file for file in self.files if not divided[file.name]], self.partition_bytes)
        return [*whole, *(part for found in divided.values() for part in found)] or [Files(())]

    @property
    def command(self) -> tuple[str, ...]:
        return ("hf-filter", "--arrow", *self.flags) if self.flags else self.table.command


class ProblemReader(TableReader):
    """Reads what is wrong with traces: a row for each that cannot be read to its end, and for each warning."""

    def rows(self, file: str, events: tuple[int, int] | None = None) -> Iterator[pa.RecordBatch]:
        count = 0
        messages: list[str] = []
        status = 0
        found: list[tuple[str, str]] = []
        try:
            for batch in commands.read(file, self.command, messages):
                count += batch.num_rows
            found = [("warning", message) for message in messages]
        except commands.Failed as fault:
            status = fault.status
            *before, last = fault.messages or [str(fault)]
            if WARNING in last:
                before, last = [*before, last], f"{self.command[0]} ended with status {status}"
            found = [*(("warning", message) for message in before), ("error", last)]
        rows = [
            {"severity": severity, "message": message, "status": status, "rows": count} for severity, message in found
        ]
        types = [("severity", pa.string()), ("message", pa.string()), ("status", pa.int32()), ("rows", pa.int64())]
        yield rows_of(pa.RecordBatch.from_pylist(rows, schema=pa.schema(types)), self.schema, file)


class FilteringTableReader(TableReader):
    """A reader that takes over filters. Spark refuses one that could where its configuration does not allow it."""

    def pushFilters(self, pushed: list[Filter]) -> Iterable[Filter]:
        """Leaves out files that do not pass. All rows of a file have the same name, so Spark need not test them."""
        for one in pushed:
            test = filters.file_test(one)
            if test is None:
                yield one
            else:
                self.files = [file for file in self.files if test(file.name)]


class FilteringProblemReader(FilteringTableReader, ProblemReader):
    """`ProblemReader`, with filters on files."""


class FilteringEventReader(FilteringTableReader, EventReader):
    """`EventReader`, with filters on files, and filters on events that hf-filter knows."""

    def pushFilters(self, pushed: list[Filter]) -> Iterable[Filter]:
        taken: set[str] = set()
        for one in super().pushFilters(pushed):
            flags = filters.flags(one)
            # Two sets of values for one flag would be joined, and not met.
            if flags is None or flags[0] in taken:
                yield one
            else:
                taken.add(flags[0])
                self.flags += flags
                # hf-filter also keeps events that say that the recorder lost others, of no thread in particular.
                if flags[0] != filters.FLAGS["kind"]:
                    yield one
