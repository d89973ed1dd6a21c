"""Events written as traces."""

from __future__ import annotations

import pytest
from conftest import FIXTURES, run
from pyspark.sql import functions as F

SMALL = FIXTURES / "mtrc" / "small64.mtrc.gz"


def load(spark, path):
    return spark.read.format("heapflow").load(str(path))


def lines(commands, path):
    return run(commands, "hf-convert", path, "-", "--to", "ndjson").splitlines()[1:]


def test_what_is_written_is_read_again(spark, commands, tmp_path):
    load(spark, SMALL).write.format("heapflow").option("to", "ndjson").mode("append").save(str(tmp_path / "out"))
    (part,) = (tmp_path / "out").iterdir()
    assert lines(commands, part) == lines(commands, SMALL)


def test_a_file_for_each_task_and_append(spark, tmp_path):
    out = tmp_path / "out"
    events = load(spark, SMALL).repartition(3, "thread", "address")
    for _ in range(2):
        events.write.format("heapflow").option("to", "replay").mode("append").save(str(out))
    assert sorted(path.suffix for path in out.iterdir()) == [".replay"] * 6
    load(spark, SMALL).write.format("heapflow").option("to", "hatf").mode("overwrite").save(str(out))
    assert [path.suffix for path in out.iterdir()] == [".hatf"]


def test_kernel_addresses_come_back(spark, commands, tmp_path):
    trace = tmp_path / "kernel.ndjson"
    trace.write_text(
        '{"kind":"header","format":"ndjson"}\n{"kind":"alloc","address":"0xffff888000000000","size":8}\n'
        '{"kind":"end","events":1}\n'
    )
    load(spark, trace).write.format("heapflow").option("to", "ndjson").mode("append").save(str(tmp_path / "out"))
    (part,) = (tmp_path / "out").iterdir()
    assert lines(commands, part) == lines(commands, trace)


def test_a_failed_task_leaves_nothing(spark, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Exception, match="not representable|cannot represent"):
        load(spark, SMALL).write.format("heapflow").options(to="replay", flags="--strict").mode("append").save(str(out))
    assert not out.exists() or list(out.iterdir()) == []


def test_what_is_no_event_is_refused(spark, tmp_path):
    rows = load(spark, SMALL).groupBy("kind").agg(F.sum("size").alias("bytes"))
    with pytest.raises(Exception, match="a trace is written from events"):
        rows.write.format("heapflow").option("to", "hatf").mode("append").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="the format of the traces is missing"):
        load(spark, SMALL).write.format("heapflow").mode("append").save(str(tmp_path / "out"))
