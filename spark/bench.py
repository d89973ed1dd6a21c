"""Measures how fast a cluster on this machine reads traces, with one worker and with two.

    HEAPFLOW_BIN=... python bench.py TRACE [COPIES [TABLE...]]

TABLE is `events` or `blocks`; without one, both are measured. Prints a line of Markdown for each: table, workers,
columns, traces, events, seconds, events per second. Events are those of the traces, whatever the table is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from heapflow_spark import register, unsigned
from heapflow_spark.commands import find


def count(trace: Path) -> dict[str, int]:
    """How many rows each table of a trace has."""
    figures = json.loads(subprocess.run([find("hf-stats"), "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
    blocks = subprocess.run([find("hf-blocks"), "--to", "ndjson", trace], stdout=subprocess.PIPE, check=True).stdout
    return {"events": figures["events"], "blocks": blocks.count(b"\n")}


def measure(workers: int, folder: str, table: str, columns: str) -> tuple[int, float]:
    """The number of rows, and the seconds that a sum by function takes. The first run warms up."""
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
            options = {"table": table, "partitionBytes": 1, "columns": columns}
            read = spark.read.format("heapflow").options(**options).load(folder)
            begin = time.monotonic()
            rows = read.groupBy("function").agg(F.count("*").alias("n"), F.sum(unsigned("size")).alias("bytes")).collect()
            seconds.append(time.monotonic() - begin)
        return sum(row.n for row in rows), min(seconds[1:])
    finally:
        spark.stop()


def main() -> None:
    trace, copies = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 16
    tables = sys.argv[3:] or ["events", "blocks"]
    os.environ["PYSPARK_PYTHON"] = sys.executable
    expected = count(trace)
    events = copies * expected["events"]
    with tempfile.TemporaryDirectory() as folder:
        for n in range(copies):
            shutil.copyfile(trace, Path(folder) / f"{n:04}-{trace.name}")
        print("| table | workers | columns | traces | events | seconds | events/s |\n|---|--:|---|--:|--:|--:|--:|")
        for table in tables:
            for columns in ("", "function,size"):
                for workers in (1, 2):
                    rows, seconds = measure(workers, folder, table, columns)
                    if rows != copies * expected[table]:
                        raise RuntimeError(f"{rows} rows of {table}, not {copies * expected[table]}")
                    line = (table, workers, columns or "all", copies, f"{events:,}", f"{seconds:.1f}", f"{events / seconds:,.0f}")
                    print(f"| {' | '.join(map(str, line))} |", flush=True)


if __name__ == "__main__":
    main()
