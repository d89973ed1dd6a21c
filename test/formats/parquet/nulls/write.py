"""Writes files with columns without values, and with row groups without rows, as programs write them of tables."""

import sys
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
KINDS = ["alloc", "free", "alloc"]
ADDRESSES = pa.array([16, 16, 32], pa.uint64())
FIELDS = ["function", "stack", "attributes", "fields", "api", "size", "line", "outcome"]

table = pa.table({"kind": KINDS, "address": ADDRESSES})
with pq.ParquetWriter(OUT / "empty-group.parquet", table.schema) as writer:
    for part in [table.slice(0, 0), table.slice(0, 2), table.slice(0, 0), table.slice(2), table.slice(0, 0)]:
        writer.write_table(part)
pq.write_table(table.slice(0, 0), OUT / "no-rows.parquet")
with pq.ParquetWriter(OUT / "no-groups.parquet", table.schema):
    pass


def nulls(kind):
    return pa.table({"kind": KINDS, "address": ADDRESSES, **{name: pa.nulls(3, kind) for name in FIELDS}})


pq.write_table(nulls(pa.null()), OUT / "pyarrow-null.parquet")
pq.write_table(nulls(pa.int32()), OUT / "pyarrow-int32.parquet", data_page_version="2.0")
pq.write_table(nulls(pa.float64()), OUT / "pyarrow-float64.parquet")
pq.write_table(nulls(pa.string()), OUT / "pyarrow-string.parquet", row_group_size=1)
pl.DataFrame(
    {"kind": KINDS, "address": pl.Series([16, 16, 32], dtype=pl.UInt64), **{name: [None] * 3 for name in FIELDS}}
).write_parquet(OUT / "polars-null.parquet")
duckdb.sql(
    f"copy (select kind, address::ubigint as address, {', '.join(f'null as {name}' for name in FIELDS)} from "
    f"(values ('alloc', 16), ('free', 16), ('alloc', 32)) as t(kind, address)) "
    f"to '{OUT / 'duckdb-null.parquet'}' (format parquet)"
)
# Lists that are all empty.
stacks = {"kind": KINDS, "address": ADDRESSES, "stack": pa.array([[], [], []], pa.list_(pa.null()))}
pq.write_table(pa.table(stacks), OUT / "lists-pyarrow.parquet")
pl.DataFrame(
    {"kind": KINDS, "address": pl.Series([16, 16, 32], dtype=pl.UInt64), "stack": [[], [], []]}
).write_parquet(OUT / "lists-polars.parquet")
duckdb.sql(
    f"copy (select kind, address::ubigint as address, [] as stack from "
    f"(values ('alloc', 16), ('free', 16), ('alloc', 32)) as t(kind, address)) "
    f"to '{OUT / 'lists-duckdb.parquet'}' (format parquet)"
)
# Values of a type that a field cannot have, in the third row.
for name, values in {
    "function": pa.array([None, None, 1], pa.int32()),
    "size": pa.array([None, None, "8"]),
    "stack": pa.array([[], None, [1]], pa.list_(pa.int32())),
    "attributes": pa.array([None, None, 1.5]),
}.items():
    pq.write_table(pa.table({"kind": KINDS, "address": ADDRESSES, name: values}), OUT / f"wrong-{name}.parquet")
