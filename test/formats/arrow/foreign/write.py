"""Writes the events of an Arrow stream, argv[1], as other programs write them, into the folder argv[2].

pyarrow and polars each write what they write by default, and what their options change.
"""

import sys
from pathlib import Path

import polars
import pyarrow as pa
import pyarrow.compute as pc

source, folder = sys.argv[1], Path(sys.argv[2])
with pa.ipc.open_stream(source) as reader:
    events = reader.read_all()
events.validate(full=True)


def plain(column, strings=pa.string(), lists=pa.list_):
    """A column without dictionaries."""
    if pa.types.is_dictionary(column.type):
        return pa.chunked_array([pa.array(column.to_pylist(), strings)])
    if pa.types.is_list(column.type):
        return pa.chunked_array([pa.array(column.to_pylist(), lists(strings))])
    return column


def write(name, table, options=None, file=False, rows=None):
    new = pa.ipc.new_file if file else pa.ipc.new_stream
    with new(folder / name, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)


def mapped(change, table=events):
    return pa.table({name: change(table[name]) for name in table.column_names}, metadata=table.schema.metadata)


texts = mapped(plain)
write("pyarrow-rewritten.arrows", events.unify_dictionaries())
write("pyarrow-strings.arrows", texts, rows=3)
write("pyarrow-large.arrows", mapped(lambda column: plain(column, pa.large_string(), pa.large_list)))
write("pyarrow-views.arrows", mapped(lambda column: plain(column, pa.string_view())))
write("pyarrow-lz4.arrows", texts, pa.ipc.IpcWriteOptions(compression="lz4"))
write("pyarrow-zstd.arrows", texts, pa.ipc.IpcWriteOptions(compression="zstd"))
write("pyarrow-file.arrow", texts, file=True)


def narrow(column):
    """Integers of the fewest bits that hold them, and dictionaries with other indices."""
    if pa.types.is_string(column.type):
        return column.dictionary_encode().cast(pa.dictionary(pa.int64(), pa.string()))
    if pa.types.is_integer(column.type):
        for kind in (pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64()):
            try:
                return column.cast(kind)
            except pa.ArrowInvalid:
                pass
    return column


narrowed = mapped(narrow, texts)
present = [name for name in narrowed.column_names if narrowed[name].null_count < len(narrowed)]
write("pyarrow-narrow.arrows", narrowed.select(sorted(present, reverse=True)))

# The dictionaries of all names grow from batch to batch.
growing = mapped(lambda column: column.dictionary_encode() if pa.types.is_string(column.type) else column, texts)
with pa.ipc.new_stream(
    folder / "pyarrow-deltas.arrows", growing.schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
) as writer:
    for batch in growing.to_batches(max_chunksize=2):
        columns = []
        for column in batch.columns:
            if pa.types.is_dictionary(column.type) and len(column):
                used = pc.max(column.indices).as_py()
                values = column.dictionary.slice(0, 0 if used is None else used + 1)
                column = pa.DictionaryArray.from_arrays(column.indices, values)
            columns.append(column)
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))

frame = polars.read_ipc_stream(source)
frame.write_ipc_stream(folder / "polars.arrows")
frame.write_ipc_stream(folder / "polars-zstd.arrows", compression="zstd")
frame.write_ipc_stream(folder / "polars-lz4.arrows", compression="lz4")
frame.with_columns(polars.col(polars.Categorical).cast(polars.String)).write_ipc_stream(folder / "polars-strings.arrows")
