"""Prints the rows of an Arrow stream, argv[2], as lines of JSON without nulls, read by the program argv[1]."""

import json
import sys

program, path = sys.argv[1:]
if program == "pyarrow":
    import pyarrow as pa

    with pa.ipc.open_stream(path) as reader:
        table = reader.read_all()
    table.validate(full=True)
    rows = table.to_pylist()
elif program == "polars":
    import polars

    rows = polars.read_ipc_stream(path).to_dicts()
else:
    import duckdb
    import pyarrow as pa

    stream = pa.ipc.open_stream(path)
    found = duckdb.sql("select * from stream")
    rows = [dict(zip(found.columns, row)) for row in found.fetchall()]
for row in rows:
    print(json.dumps({name: v.hex() if isinstance(v, bytes) else v for name, v in row.items() if v is not None}))
