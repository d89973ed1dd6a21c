"""What a cluster must endure."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

from heapflow_spark import unsigned
from pyspark.sql import functions as F


def sums(spark, traces):
    rows = (
        spark.read.format("heapflow").option("partitionBytes", "40000").load(str(traces))
        .groupBy("function", "kind").agg(F.count("*").alias("n"), F.sum(unsigned("size")).alias("bytes"))
    )  # fmt: skip
    return {(row.function, row.kind): (row.n, row.bytes) for row in rows.collect()}


def executors(spark) -> list[int]:
    """The processes that execute tasks."""
    application = spark.sparkContext.applicationId
    found = subprocess.run(
        ["pgrep", "-f", f"CoarseGrainedExecutorBackend.*{application}"], capture_output=True, text=True
    )
    return [int(line) for line in found.stdout.split()]


def while_an_executor_is_killed(spark, collect):
    """The result of a job during which one of the processes that execute tasks is killed."""
    result: dict = {}
    job = threading.Thread(target=lambda: result.update(collect()))
    tracker = spark.sparkContext.statusTracker()
    job.start()
    while job.is_alive() and not any(
        (stage := tracker.getStageInfo(n)) and stage.numCompletedTasks > 0 for n in tracker.getActiveStageIds()
    ):
        time.sleep(0.05)
    victims = executors(spark)
    assert len(victims) >= 1 and job.is_alive()
    os.kill(victims[0], signal.SIGKILL)
    job.join(300)
    return result


def test_an_executor_that_is_killed_changes_nothing(spark, traces):
    some = traces / "00*"
    expected = sums(spark, some)
    assert len(expected) > 20
    assert while_an_executor_is_killed(spark, lambda: sums(spark, some)) == expected
