"""Which files are found, and how they are divided."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import FIXTURES, run
from heapflow_spark import commands, reader
from heapflow_spark.files import File, divide, find, parts
from heapflow_spark.places import places
from heapflow_spark.tables import TABLES


@pytest.fixture
def commands_folder(request) -> Path:
    return request.getfixturevalue("commands")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.mtrc", "app[1].mtrc", "_SUCCESS", ".part.crc", "day1/b.mtrc", "_temporary-1/c.mtrc"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"12345")
    return tmp_path


@pytest.mark.parametrize("scheme", ["", "file://", "mock"])
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("", ["a.mtrc", "app[1].mtrc"]),
        ("/*.mtrc", ["a.mtrc", "app[1].mtrc"]),
        ("/*/*.mtrc", ["day1/b.mtrc"]),
        ("/**/*.mtrc", ["a.mtrc", "app[1].mtrc", "day1/b.mtrc"]),
        ("/day?/b.mtrc", ["day1/b.mtrc"]),
        ("/a.mtrc", ["a.mtrc"]),
    ],
)
def test_patterns(folder, scheme, pattern, names, monkeypatch):
    if scheme == "mock":
        # The same files as a remote file system has them.
        monkeypatch.setattr("heapflow_spark.files.is_remote", lambda path: True)
        scheme = "file://"
    found = find(f"{scheme}{folder}{pattern}")
    assert [file.name.removeprefix("file://").removeprefix(f"{folder}/") for file in found] == names
    assert {file.size for file in found} == {5}


def test_a_name_that_looks_like_a_pattern(folder):
    assert [file.name for file in find(f"{folder}/app[1].mtrc")] == [f"{folder}/app[1].mtrc"]


def test_division():
    files = [File("empty", 0), File("a", 60), File("b", 40), File("c", 1), File("large", 500), File("d", 1)]
    assert [group.names for group in divide(files, 100)] == [("empty", "a", "b"), ("c",), ("large",), ("d",)]
    assert divide([], 100) == []


def test_a_compact_trace_is_divided_at_its_places(commands_folder, tmp_path):
    path = tmp_path / "git.hfc"
    run(commands_folder, "compact-encode", "--checkpoint", "50000", FIXTURES / "replay" / "git.txt.gz", "-o", path)
    found = places(str(path))
    assert found is not None
    starts, total = found
    assert starts == list(range(0, total, 50_000)) and total == 304_104
    file = File(str(path), path.stat().st_size)
    assert [part.events for part in parts(file, 120_000)] == [(1, 150_000), (150_001, 300_000), (300_001, total)]
    assert parts(file, total) == []
    # Concatenated files, and what is no such file.
    twice = tmp_path / "twice.hfc"
    twice.write_bytes(path.read_bytes() * 2)
    assert places(str(twice)) == (starts + [total + start for start in starts], 2 * total)
    twice.write_bytes(path.read_bytes()[:-1])
    assert places(str(twice)) is None
    assert places(str(FIXTURES / "replay" / "git.txt.gz")) is None
    assert places(str(tmp_path / "none")) is None


def test_a_remote_file_that_breaks_off_is_an_error(tmp_path, monkeypatch):
    class Broken:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        pieces = iter([b'{"kind":"alloc","address":"0x10","size":1}\n'])

        def read(self, _):
            for piece in self.pieces:
                return piece
            raise ConnectionError("connection reset")

    class System:
        def open_input_stream(self, _):
            return Broken()

    class FileSystem:
        @staticmethod
        def from_uri(uri):
            return System(), uri

    monkeypatch.setattr(commands.fs, "FileSystem", FileSystem)
    with pytest.raises(ConnectionError, match="connection reset"):
        list(commands.read("s3://bucket/x", ("cat",), []))


@pytest.mark.parametrize(
    ("script", "mode", "expected"),
    [("exit 127", False, RuntimeError), ("kill -9 $$", False, RuntimeError), ("exit 127", True, reader.DamagedTrace)],
)
def test_a_command_that_cannot_run_is_an_error_in_every_mode(tmp_path, script, mode, expected, monkeypatch):
    (tmp_path / "hf-convert").write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(tmp_path / "hf-convert", 0o755)
    monkeypatch.setenv(commands.HOME, str(tmp_path))
    trace = tmp_path / "trace"
    trace.write_text("x")
    table = TABLES["events"]
    with pytest.raises(expected):
        list(reader.EventReader(str(trace), table, table.schema, 100, 100, mode).rows(str(trace)))


def test_a_killed_command_is_an_error_among_the_problems(tmp_path, monkeypatch):
    (tmp_path / "hf-convert").write_text("#!/bin/sh\necho 'hf-convert: warning: odd' >&2\nkill -9 $$\n")
    os.chmod(tmp_path / "hf-convert", 0o755)
    monkeypatch.setenv(commands.HOME, str(tmp_path))
    table = TABLES["problems"]
    trace = tmp_path / "trace"
    trace.write_text("x")
    (batch,) = reader.ProblemReader(str(trace), table, table.schema, 100, 100, False).rows(str(trace))
    assert batch.column("severity").to_pylist() == ["warning", "error"]
