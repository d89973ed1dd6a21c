"""Events: the rows of traces of any format."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from conftest import FIXTURES, run
from heapflow_spark import unsigned
from pyspark.sql import functions as F

SMALL = FIXTURES / "mtrc" / "small64.mtrc.gz"


def load(spark, path, **options):
    return spark.read.format("heapflow").options(**options).load(str(path))


def events_of(commands, path):
    """The events of a trace as the commands give them."""
    lines = map(json.loads, run(commands, "hf-convert", path, "-", "--to", "ndjson").splitlines())
    return [line for line in lines if line["kind"] not in ("header", "end")]


def test_every_field_of_every_event(spark, commands):
    rows = load(spark, SMALL).collect()
    events = events_of(commands, SMALL)
    assert len(rows) == len(events) == 2798
    for row, event in zip(rows, events):
        fields = {name: value for name, value in row.asDict().items() if value is not None and name != "file"}
        if "sourceFile" in fields:
            fields["file"] = fields.pop("sourceFile")
        for name in ("address", "oldAddress", "callSite"):
            if name in fields:
                fields[name] = hex(fields[name] % 2**64)
        assert fields == event
    assert {row.file for row in rows} == {str(SMALL)}


def test_no_bit_of_an_address_is_lost(spark, tmp_path):
    trace = tmp_path / "kernel.ndjson"
    last = 2**64 - 1
    trace.write_text(
        '{"kind":"header","format":"ndjson"}\n'
        f'{{"kind":"alloc","address":"{last:#x}","size":{last}}}\n'
        '{"kind":"alloc","address":"0xffff888000000000","size":8}\n'
        '{"kind":"end","events":2}\n'
    )
    rows = load(spark, trace).select(
        F.lower(F.hex("address")).alias("hex"), unsigned("address").alias("address"), unsigned("size").alias("size")
    )
    assert [(row.hex, int(row.address), int(row.size)) for row in rows.collect()] == [
        ("f" * 16, last, last),
        ("ffff888000000000", 0xFFFF888000000000, 8),
    ]


def test_counts_of_all_kinds_over_many_traces(spark, traces, statistics):
    events = load(spark, traces, partitionBytes=200_000)
    found = {str(path): {} for path in statistics}
    for row in events.groupBy("file", "kind").count().collect():
        found[row.file][row.kind] = row["count"]
    assert found == {str(path): figures["kinds"] for path, figures in statistics.items()}


def test_filters_select_before_the_rows_reach_spark(spark, commands, traces):
    events = load(spark, traces)
    allocs = events.where((F.col("kind") == "alloc") & F.col("file").endswith("003-small64.mtrc.gz"))
    assert allocs.count() == 1252
    kinds = events.where(F.col("kind").isin("free", "realloc") & F.col("file").contains("/003-small64"))
    assert {row.kind: row["count"] for row in kinds.groupBy("kind").count().collect()} == {"free": 1233, "realloc": 306}
    assert events.where(F.col("file") == "no such file").count() == 0
    assert events.where((F.col("kind") == "no such kind") & F.col("file").contains("/003-")).count() == 0
    assert events.where((F.col("kind") == "free") & (F.col("kind") == "alloc") & F.col("file").contains("/003-")).count() == 0


def test_without_filters_of_its_own(spark):
    from heapflow_spark import HeapflowDataSource, register

    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    try:
        spark.dataSource.register(HeapflowDataSource)
        assert load(spark, SMALL).where("kind = 'alloc'").count() == 1252
    finally:
        register(spark)


def test_columns(spark):
    assert load(spark, SMALL, columns="kind, size").columns == ["kind", "size"]
    whole = load(spark, SMALL).agg(F.count("size"), F.sum("size")).first()
    assert load(spark, SMALL, columns="size").agg(F.count("size"), F.sum("size")).first() == whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "leaks"}, "leaks is not one of events"),
        ({"mode": "LENIENT"}, "LENIENT is not one of PERMISSIVE, FAILFAST"),
        ({"columns": "kind,weight"}, "weight not among file, kind"),
        ({"partitionBytes": "many"}, "many is not a number of bytes"),
    ],
)
def test_wrong_options_are_refused(spark, options, message):
    with pytest.raises(Exception, match=message):
        load(spark, SMALL, **options).count()


def test_no_such_trace(spark, tmp_path):
    with pytest.raises(Exception, match="no traces are named"):
        load(spark, tmp_path / "*.mtrc").count()


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A whole trace, a truncated one, and a file that is no trace."""
    folder = tmp_path_factory.mktemp("damaged")
    shutil.copyfile(SMALL, folder / "whole.mtrc.gz")
    content = gzip.decompress(SMALL.read_bytes())
    (folder / "truncated.mtrc").write_bytes(content[: len(content) // 2])
    (folder / "text.mtrc").write_text("this is no trace\n" * 10)
    return folder


def test_a_damaged_trace_loses_only_its_own_rest(spark, damaged):
    counts = {
        Path(row.file).name: row["count"] for row in load(spark, damaged).groupBy("file").count().collect()
    }
    assert counts["whole.mtrc.gz"] == 2798
    assert 1000 < counts["truncated.mtrc"] < 2000
    assert "text.mtrc" not in counts


def test_damage_is_in_the_table_of_problems(spark, damaged):
    rows = {Path(row.file).name: row for row in load(spark, damaged, table="problems").collect()}
    assert set(rows) == {"truncated.mtrc", "text.mtrc"}
    assert (rows["truncated.mtrc"].severity, rows["truncated.mtrc"].status) == ("error", 1)
    assert "mtrc: byte" in rows["truncated.mtrc"].message
    assert rows["truncated.mtrc"].rows == load(spark, damaged / "truncated.mtrc").count()
    assert "unrecognized format" in rows["text.mtrc"].message


def test_failfast_names_the_file(spark, damaged):
    with pytest.raises(Exception, match=r"truncated\.mtrc: .*mtrc: byte"):
        load(spark, damaged / "truncated.mtrc", mode="FAILFAST").count()


def test_a_compact_trace_has_several_tasks(spark, commands, tmp_path):
    path = tmp_path / "git.hfc"
    run(commands, "compact-encode", "--checkpoint", "50000", FIXTURES / "replay" / "git.txt.gz", "-o", path)
    events = load(spark, path, partitionEvents=120_000)
    assert events.rdd.getNumPartitions() == 3
    whole = load(spark, path)
    assert whole.rdd.getNumPartitions() == 1
    assert events.count() == whole.count() == 304_104
    assert events.exceptAll(whole).count() == 0
    frees = events.where("kind = 'free'")
    assert frees.count() == whole.where("kind = 'free'").count() > 100_000
