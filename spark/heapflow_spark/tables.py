"""The tables, their columns, and how the columns of Arrow streams become those of Spark."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

TEXT, LONG, INTEGER, TEXTS = StringType(), LongType(), IntegerType(), ArrayType(StringType())

FILE = "file"
"""The column of every table with the name of the trace that the row is from."""

RENAMED = {"file": "sourceFile"}
"""What the columns of the commands are called here, if not the same: `file` is the name of the trace."""


@dataclass(frozen=True)
class Table:
    """A table that the data source has."""

    schema: StructType
    """All of its columns, `file` first. 64-bit integers without a sign are `bigint` with the same bits."""
    command: tuple[str, ...]
    """What reads a trace from standard input and writes the rows to standard output, as an Arrow stream."""


def _schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in {FILE: TEXT, **columns}.items()])


EVENTS = Table(
    _schema(
        kind=TEXT, api=TEXT, process=LONG, thread=LONG, cpu=INTEGER, node=INTEGER, sequence=INTEGER, time=LONG,
        endTime=LONG, heap=LONG, index=LONG, address=LONG, oldAddress=LONG, size=LONG, count=LONG, elementSize=LONG,
        alignment=LONG, usable=LONG, present=LONG, gfpFlags=LONG, callSite=LONG, outcome=TEXT, function=TEXT,
        sourceFile=TEXT, line=LONG, type=TEXT, stack=TEXTS, text=TEXT, attributes=BinaryType(), code=LONG,
        fields=TEXT, module=TEXT,
    ),
    ("hf-convert", "-", "-", "--to", "arrow"),
)  # fmt: skip

_BLOCKS = _schema(
    trace=LONG, birth=LONG, since=LONG, until=LONG, ending=TEXT, process=LONG, thread=LONG, endThread=LONG, api=TEXT,
    endApi=TEXT, address=LONG, firstSize=LONG, size=LONG, reallocs=LONG, time=LONG, sinceTime=LONG, endTime=LONG,
    timeUnit=TEXT, lifetimeEvents=LONG, lifetimeBytes=LONG, lifetime=LONG, temporary=LONG, temporaryMemray=LONG,
    peakEvent=LONG, peakSize=LONG, site=TEXT, frame=TEXT, stack=TEXTS, function=TEXT, sourceFile=TEXT, line=LONG,
    module=TEXT, callSite=LONG, type=TEXT, stackId=LONG,
)  # fmt: skip

BLOCKS = Table(_BLOCKS, ("hf-blocks", "--full-stacks", "--to", "arrow"))
SPANS = Table(_BLOCKS, ("hf-blocks", "--spans", "--full-stacks", "--to", "arrow"))

PROBLEMS = Table(
    _schema(severity=TEXT, message=TEXT, status=INTEGER, rows=LONG),
    EVENTS.command,
)

TABLES = {"events": EVENTS, "blocks": BLOCKS, "spans": SPANS, "problems": PROBLEMS}
"""The tables by the value of the option `table`."""


def unsigned(column: Column | str) -> Column:
    """A `bigint` with the bits of a 64-bit integer without a sign, as `decimal(20,0)` with its value."""
    bits = F.col(column) if isinstance(column, str) else column
    value = bits.cast("decimal(20,0)")
    return F.when(bits < 0, value + F.lit(str(1 << 64)).cast("decimal(20,0)")).otherwise(value)


def rows_of(batch: pa.RecordBatch, schema: StructType, file: str) -> pa.RecordBatch:
    """A batch of a command as rows of a table: the columns that `schema` has, in its order.

    A column that the command does not give is null.
    """
    target = to_arrow_schema(schema, timezone="UTC")
    given = {RENAMED.get(name, name): column for name, column in zip(batch.schema.names, batch.columns)}
    columns = []
    for field in target:
        if field.name == FILE:
            columns.append(pa.repeat(pa.scalar(file, field.type), batch.num_rows))
        elif field.name in given:
            columns.append(_as(given[field.name], field.type))
        else:
            columns.append(pa.nulls(batch.num_rows, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=target)


def _as(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    if column.type == pa.uint64() and wanted == pa.int64():
        return column.view(wanted)
    return column.cast(wanted)


def events_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as events for the commands: without the name of the trace, and with the names that commands know."""
    own = {name: known for known, name in RENAMED.items()}
    kept = [field.name for field in batch.schema if field.name != FILE]
    return pa.RecordBatch.from_arrays([batch.column(name) for name in kept], names=[own.get(name, name) for name in kept])
