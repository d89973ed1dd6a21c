"""Measures how fast a cluster on this machine reads events, with one worker and with two.

    HEAPFLOW_BIN=... python bench.py TRACE [COPIES]

Prints a line of Markdown for each: workers, traces, events, seconds, events per second.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from heapflow_spark import register, unsigned


def measure(workers: int, folder: str, columns: str) -> tuple[int, float]:
    """The number of events, and the seconds that a sum by function takes. The first run warms up."""
    spark = (
        SparkSession.builder.master(f"local-cluster[{workers},1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.HEAPFLOW_BIN", os.environ["HEAPFLOW_BIN"])
        .config("spark.executorEnv.PYTHONPATH", str(Path(__file__).parent))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    try:
        seconds = []
        for _ in range(3):
            events = spark.read.format("heapflow").options(partitionBytes=1, columns=columns).load(folder)
            begin = time.monotonic()
            rows = events.groupBy("function").agg(F.count("*").alias("n"), F.sum(unsigned("size")).alias("bytes")).collect()
            seconds.append(time.monotonic() - begin)
        return sum(row.n for row in rows), min(seconds[1:])
    finally:
        spark.stop()


def main() -> None:
    trace, copies = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 16
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        for n in range(copies):
            shutil.copyfile(trace, Path(folder) / f"{n:04}-{trace.name}")
        print("| workers | columns | traces | events | seconds | events/s |\n|--:|---|--:|--:|--:|--:|")
        for columns in ("", "function,size"):
            for workers in (1, 2):
                events, seconds = measure(workers, folder, columns)
                name = columns or "all"
                print(f"| {workers} | {name} | {copies} | {events:,} | {seconds:.1f} | {events / seconds:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
