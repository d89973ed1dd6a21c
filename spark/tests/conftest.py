"""A cluster on this machine, with two workers, and traces for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "test" / "fixtures"
# How often each trace is there. 28 make more than 200 traces.
COPIES = int(os.environ.get("HEAPFLOW_SPARK_COPIES", "28"))


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the commands of this checkout, which must be built."""
    folder = tmp_path_factory.mktemp("bin")
    scripts = sorted((ROOT / "dist" / "bin").glob("*.js"))
    assert scripts, "run npm run build first"
    for script in scripts:
        command = folder / script.stem
        command.write_text(f'#!/bin/sh\nexec node "{script}" "$@"\n')
        command.chmod(0o755)
    os.environ["HEAPFLOW_BIN"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def spark(commands: Path):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .appName("heapflow-spark-tests")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.HEAPFLOW_BIN", str(commands))
        .config("spark.executorEnv.PYTHONPATH", str(ROOT / "spark"))
        .config("spark.executor.memory", "1g")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    from heapflow_spark import register

    register(session)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def traces(commands: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces of several formats: fixtures, repeated and split.

    The names of equal ones are the same after the first `-`.
    """
    folder = tmp_path_factory.mktemp("traces")
    sources = [
        "mtrc/small64.mtrc.gz", "mtrc/small32.mtrc.gz", "mtrc/cxx64.mtrc", "heaptrack/cxx.heaptrack.gz",
        "glibc-mtrace/cxx-small.mtrace", "valgrind/cxx.log", "tracepoints/perf-ns-pidtid.txt.gz",
    ]  # fmt: skip
    for n in range(COPIES):
        for source in sources:
            path = FIXTURES / source
            shutil.copyfile(path, folder / f"{n:03}-{path.name}")
    for source, parts in (("small64.mtrc.gz", "part64-{}.arrows"), ("small32.mtrc.gz", "part32-{}.ndjson.gz")):
        whole = FIXTURES / "mtrc" / source
        run(commands, "hf-split", "--by", "shard", "--shards", "8", "-o", folder / f"000-{parts}", whole)
    return folder


@pytest.fixture(scope="session")
def statistics(commands: Path, traces: Path) -> dict[Path, dict]:
    """What hf-stats says of each of these traces. It reads one of those that are equal."""
    found: dict[str, dict] = {}
    names = {path: path.name.split("-", 1)[1] for path in sorted(traces.iterdir())}
    for path, name in names.items():
        if name not in found:
            found[name] = json.loads(run(commands, "hf-stats", "--json", path))
    return {path: found[name] for path, name in names.items()}


def run(commands: Path, *arguments: str | Path, status: int = 0) -> str:
    """What a command writes to standard output."""
    done = subprocess.run([commands / arguments[0], *arguments[1:]], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout
