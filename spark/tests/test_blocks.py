"""Blocks: the rows of hf-blocks, of traces of any format."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from conftest import FIXTURES, run
from heapflow_spark import unsigned
from heapflow_spark.tables import TABLES
from pyspark.sql import Window
from pyspark.sql import functions as F
from test_cluster import while_an_executor_is_killed

SMALL = FIXTURES / "mtrc" / "small64.mtrc.gz"


def load(spark, path, table="blocks", **options):
    return spark.read.format("heapflow").options(table=table, **options).load(str(path))


def live(blocks) -> dict:
    """Blocks and bytes that are live at the end of their traces, by site."""
    sums = (
        blocks.where("ending = 'live'").groupBy("site")
        .agg(F.count("*").alias("blocks"), F.sum(unsigned("size")).alias("bytes"))
    )  # fmt: skip
    return {row.site: (row.blocks, int(row.bytes)) for row in sums.collect()}


def site_of(site: dict) -> str | None:
    """The column `site`, from a site of hf-stats."""
    if "stack" in site:
        return " < ".join(site["stack"])
    if "callSite" in site:
        address = hex(int(site["callSite"], 0))
        return f"{site['module']} [{address}]" if "module" in site else address
    name, file, line = (site.get(part) for part in ("function", "file", "line"))
    place = f"{file}:{line}" if file and line else file or (f"line {line}" if line else None)
    return " at ".join(part for part in (name, place) if part) or None


def added_up(statistics, figure: str) -> dict:
    """Blocks and bytes of a figure of hf-stats by site, over traces."""
    total: dict = {}
    for trace in statistics:
        for site in trace["sites"]:
            if site[figure]["blocks"] > 0:
                blocks, size = total.get(site_of(site), (0, 0))
                total[site_of(site)] = (blocks + site[figure]["blocks"], size + int(site[figure]["bytes"]))
    return total


def test_sums_by_site_over_many_traces_are_those_of_hf_stats(spark, traces, statistics):
    expected = added_up(statistics.values(), "leaked")
    assert len(expected) > 20
    assert live(load(spark, traces, partitionBytes=200_000)) == expected


def test_an_executor_that_is_killed_changes_nothing(spark, traces, statistics):
    blocks = load(spark, traces, partitionBytes=40_000)
    assert while_an_executor_is_killed(spark, lambda: live(blocks)) == added_up(statistics.values(), "leaked")


def test_spans_have_the_sites_of_all_allocations_and_of_the_peaks(spark, traces, statistics):
    some = [figures for path, figures in statistics.items() if path.name.startswith("000-")]
    spans = load(spark, traces / "000-*", "spans", partitionBytes=40_000)
    peak = F.col("peakEvent") == F.max("peakEvent").over(Window.partitionBy("file"))
    sums = (
        spans.withColumn("peak", F.when(peak, unsigned("peakSize"))).groupBy("site")
        .agg(
            F.count("*").alias("blocks"), F.sum(unsigned("size")).alias("bytes"),
            F.count("peak").alias("peakBlocks"), F.sum("peak").alias("peakBytes"),
        )
    ).collect()  # fmt: skip
    assert {row.site: (row.blocks, int(row.bytes)) for row in sums} == added_up(some, "allocated")
    at_peak = {row.site: (row.peakBlocks, int(row.peakBytes)) for row in sums if row.peakBlocks > 0}
    assert len(at_peak) > 20
    assert at_peak == added_up(some, "atPeak")


def test_peak_and_lifetimes_of_each_trace(spark, commands):
    for trace in (SMALL, FIXTURES / "heaptrack" / "cxx.heaptrack.gz"):
        expected = json.loads(run(commands, "hf-stats", "--json", trace))
        blocks = load(spark, trace)
        peak = blocks.groupBy("peakEvent").agg(F.count("*").alias("blocks"), F.sum(unsigned("peakSize")).alias("bytes"))
        top = peak.orderBy(F.desc_nulls_last("peakEvent")).first()
        assert (top.peakEvent, top.blocks, int(top.bytes)) == tuple(
            expected["peakBytes"][name] for name in ("event", "blocks", "bytes")
        )
        if not expected["identified"]:
            # The file does not say which block is freed.
            assert blocks.agg(F.count("lifetimeEvents"), F.count("temporary")).first() == (0, 0)
            continue
        lived = blocks.agg(F.count("lifetimeEvents").alias("n"), F.sum("lifetimeEvents").alias("sum")).first()
        lifetimes = expected["lifetimes"]["events"]
        assert (lived.n, lived.sum) == (lifetimes["count"], lifetimes["sum"])


def test_every_column_of_every_block(spark, commands):
    rows = load(spark, SMALL).collect()
    lines = [json.loads(line) for line in run(commands, "hf-blocks", "--full-stacks", SMALL).splitlines()]
    assert len(rows) == len(lines) == 1252
    for row, line in zip(rows, lines):
        fields = {name: value for name, value in row.asDict().items() if value is not None and name != "file"}
        if "sourceFile" in fields:
            fields["file"] = fields.pop("sourceFile")
        for name in ("address", "callSite"):
            if name in fields:
                fields[name] = hex(fields[name] % 2**64)
        assert fields == line
    names = run(commands, "hf-blocks", "--full-stacks", "--to", "csv", SMALL).splitlines()[0].split(",")
    for table in ("blocks", "spans"):
        assert TABLES[table].schema.names[1:] == ["sourceFile" if name == "file" else name for name in names]


def test_filters_and_columns(spark, traces):
    one = load(spark, traces, columns="file,size").where(F.col("file").endswith("/003-small64.mtrc.gz"))
    assert one.columns == ["file", "size"]
    assert one.count() == 1252
    # What a block is depends on all events, so these filters are left to Spark.
    assert load(spark, SMALL).where("thread = 0 and ending = 'free'").count() == 1233


def test_a_damaged_trace_loses_only_its_own_rest(spark, commands, tmp_path):
    shutil.copyfile(SMALL, tmp_path / "whole.mtrc.gz")
    content = gzip.decompress(SMALL.read_bytes())
    (tmp_path / "cut.mtrc").write_bytes(content[: len(content) // 2])
    found = {Path(row.file).name: row["count"] for row in load(spark, tmp_path).groupBy("file").count().collect()}
    rows = run(commands, "hf-blocks", tmp_path / "cut.mtrc", status=1).splitlines()
    assert found == {"whole.mtrc.gz": 1252, "cut.mtrc": len(rows)}
    (problem,) = load(spark, tmp_path, "problems").collect()
    assert (Path(problem.file).name, problem.severity, problem.status) == ("cut.mtrc", "error", 1)
    with pytest.raises(Exception, match=r"cut\.mtrc: .*mtrc: byte"):
        load(spark, tmp_path / "cut.mtrc", mode="FAILFAST").count()
