"""Blocks: the rows of hf-blocks, of traces of any format."""

from __future__ import annotations

import json

from conftest import FIXTURES, run
from heapflow_spark.tables import TABLES

SMALL = FIXTURES / "mtrc" / "small64.mtrc.gz"


def load(spark, path, table="blocks", **options):
    return spark.read.format("heapflow").options(table=table, **options).load(str(path))


def test_every_column_of_every_block(spark, commands):
    rows = load(spark, SMALL).collect()
    lines = [json.loads(line) for line in run(commands, "hf-blocks", SMALL).splitlines()]
    assert len(rows) == len(lines) == 1252
    for row, line in zip(rows, lines):
        fields = {name: value for name, value in row.asDict().items() if value is not None and name != "file"}
        if "sourceFile" in fields:
            fields["file"] = fields.pop("sourceFile")
        for name in ("address", "callSite"):
            if name in fields:
                fields[name] = hex(fields[name] % 2**64)
        assert fields == line
    names = run(commands, "hf-blocks", "--to", "csv", SMALL).splitlines()[0].split(",")
    for table in ("blocks", "spans"):
        assert TABLES[table].schema.names[1:] == ["sourceFile" if name == "file" else name for name in names]
