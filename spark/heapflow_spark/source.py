"""The data source, and its options."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from .reader import (
    EventReader,
    FilteringEventReader,
    FilteringProblemReader,
    FilteringTableReader,
    ProblemReader,
    TableReader,
)
from .tables import TABLES
from .writer import TraceWriter

PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
"""What allows data sources in Python to take over filters. Spark's default is false."""

MODES = ("PERMISSIVE", "FAILFAST")

PARTITION_BYTES = 128 << 20
"""How many bytes of files a task reads, unless a single one is larger."""

PARTITION_EVENTS = 4 << 20
"""How many events of a compact trace with checkpoints a task reads at least."""


class HeapflowDataSource(DataSource):
    """Traces of heap allocations: `spark.read.format("heapflow")` and `df.write.format("heapflow")`.

    Options for reading:

    - `path`: a file, a folder or a pattern, on every worker at the same place, or a URI that pyarrow knows
    - `table`: `events` (the default), `blocks`, `spans` or `problems`
    - `mode`: `PERMISSIVE` (the default) gives the rows of a damaged trace up to the fault, and `problems` has the
      fault; `FAILFAST` ends with an error that names the file
    - `columns`: the names of columns, with commas; the table has no others then
    - `partitionBytes`: how many bytes of files a task reads, 128 MiB by default; only compact traces are divided
    - `partitionEvents`: how many events of a compact trace with checkpoints a task reads at least, 4,194,304 by default

    Options for writing:

    - `path`: a folder that all workers share
    - `to`: the format of the traces, as `hf-convert --to` takes it
    - `flags`: more flags for hf-convert, with spaces between them
    """

    readers: dict[str, type[TableReader]] = {
        "events": EventReader,
        "blocks": TableReader,
        "spans": TableReader,
        "problems": ProblemReader,
    }

    @classmethod
    def name(cls) -> str:
        return "heapflow"

    def schema(self) -> StructType:
        table = TABLES[self._choice("table", TABLES, "events")].schema
        names = [name.strip() for name in self.options.get("columns", "").split(",") if name.strip() != ""]
        unknown = [name for name in names if name not in table.names]
        if unknown:
            raise ValueError(f"columns: {', '.join(unknown)} not among {', '.join(table.names)}")
        return StructType([field for field in table if not names or field.name in names])

    def reader(self, schema: StructType) -> TableReader:
        name = self._choice("table", TABLES, "events")
        mode = self._choice("mode", MODES, "PERMISSIVE", str.upper)
        return self.readers[name](
            self._path(),
            TABLES[name],
            schema,
            self._number("partitionBytes", PARTITION_BYTES, "bytes"),
            self._number("partitionEvents", PARTITION_EVENTS, "events"),
            mode == "FAILFAST",
        )

    def writer(self, schema: StructType, overwrite: bool) -> TraceWriter:
        known = TABLES["events"].schema.names
        unknown = [name for name in schema.names if name not in known]
        if "kind" not in schema.names or unknown:
            raise ValueError(f"a trace is written from events: `kind` and some of {', '.join(known)}, not {unknown}")
        to = self.options.get("to")
        if to is None:
            raise ValueError('the format of the traces is missing: .option("to", "hatf")')
        return TraceWriter(self._path(), to, tuple(self.options.get("flags", "").split()), overwrite)

    def _path(self) -> str:
        path = self.options.get("path")
        if path is None:
            raise ValueError('the traces are missing: .load("traces/*.mtrc.gz")')
        return path

    def _choice(self, option, values, default, normal=str):
        value = normal(self.options.get(option, default))
        if value not in values:
            raise ValueError(f"{option}: {value} is not one of {', '.join(values)}")
        return value

    def _number(self, option: str, default: int, of: str) -> int:
        text = self.options.get(option, str(default))
        if not text.isdecimal() or int(text) == 0:
            raise ValueError(f"{option}: {text} is not a number of {of}")
        return int(text)


class FilteringDataSource(HeapflowDataSource):
    """`HeapflowDataSource` for sessions that allow data sources in Python to take over filters."""

    readers = {
        "events": FilteringEventReader,
        "blocks": FilteringTableReader,
        "spans": FilteringTableReader,
        "problems": FilteringProblemReader,
    }


def register(spark: SparkSession) -> None:
    """Makes `heapflow` known to a session as a format for reading and writing.

    Filters on files and on the kind, the thread and the process of events are taken over, for which
    `spark.sql.python.filterPushdown.enabled` is set. (`spark.dataSource.register(HeapflowDataSource)` leaves them to
    Spark.)
    """
    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(FilteringDataSource)
