"""Writes the events of a Parquet file, argv[1], as other programs write them, into the folder argv[2].

pyarrow, polars and DuckDB each write what they write by default, and what their options change.
"""

import sys
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

source, folder = sys.argv[1], Path(sys.argv[2])
events = pq.read_table(source)
events.validate(full=True)
names = events.column_names
integers = [n for n in names if pa.types.is_integer(events[n].type)]
texts = [n for n in names if pa.types.is_string(events[n].type) or pa.types.is_binary(events[n].type)]
stack = "stack.list.element"


def write(name, table=events, **options):
    pq.write_table(table, folder / f"pyarrow-{name}.parquet", **options)


def cast(change):
    fields = [pa.field(f.name, change(f), f.nullable) for f in events.schema]
    return pa.table({f.name: events[f.name].cast(f.type) for f in fields}, schema=pa.schema(fields, events.schema.metadata))


write("default")
for codec in ["none", "gzip", "brotli", "lz4", "zstd"]:
    write(codec, compression=codec)
write("plain", use_dictionary=False)
write("v2", data_page_version="2.0", version="2.6", compression="zstd")
write("small", data_page_size=1, max_rows_per_page=2, write_batch_size=1, row_group_size=4, write_page_checksum=True)
write("small-plain", data_page_size=1, write_batch_size=1, use_dictionary=False, compression="none")
write("small-v2", data_page_size=1, write_batch_size=1, use_dictionary=False, data_page_version="2.0")
write("legacy-list", use_compliant_nested_type=False, version="1.0")
write("indexed", write_page_index=True)
write(
    "deltas",
    use_dictionary=False,
    column_encoding={n: "DELTA_BINARY_PACKED" for n in integers} | {n: "DELTA_BYTE_ARRAY" for n in texts + [stack]},
)
write(
    "lengths",
    use_dictionary=False,
    data_page_version="2.0",
    column_encoding={n: "BYTE_STREAM_SPLIT" for n in integers} | {n: "DELTA_LENGTH_BYTE_ARRAY" for n in texts + [stack]},
)
signed = {pa.uint64(): pa.int64(), pa.uint32(): pa.int64()}
fields = [pa.field(f.name, signed.get(f.type, f.type), f.nullable) for f in events.schema]
write("signed", events.cast(pa.schema(fields, events.schema.metadata), safe=False))
larger = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
write("large", cast(lambda f: pa.large_list(pa.large_string()) if f.name == "stack" else larger.get(f.type, f.type)))

frame = polars.from_arrow(events)
frame.write_parquet(folder / "polars-default.parquet")
frame.write_parquet(folder / "polars-snappy.parquet", compression="snappy", row_group_size=3, data_page_size=1)
frame.write_parquet(folder / "polars-plain.parquet", compression="uncompressed", statistics=False)

duckdb.sql(f"copy events to '{folder}/duckdb-default.parquet' (format parquet)")
duckdb.sql(f"copy events to '{folder}/duckdb-v2.parquet' (format parquet, parquet_version v2, codec zstd)")
duckdb.sql(f"copy events to '{folder}/duckdb-lz4.parquet' (format parquet, codec lz4_raw, dictionary_size_limit 1)")
