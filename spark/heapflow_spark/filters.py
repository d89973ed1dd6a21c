"""Filters that the reader takes over: files that are not opened, and flags for hf-filter."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql.datasource import EqualTo, Filter, In, StringContains, StringEndsWith, StringStartsWith

from .tables import FILE

FLAGS = {"kind": "--kind", "thread": "--thread", "process": "--process"}
"""Columns of events that hf-filter selects by, with its flags."""

KINDS = frozenset(
    (
        "alloc", "free", "realloc", "existing", "reserve", "heap-create", "heap-destroy", "thread-create",
        "thread-destroy", "comment", "lost", "other", "process-end",
    )
)  # fmt: skip
"""The kinds that hf-filter knows. No event has any other."""


def file_test(one: Filter) -> Callable[[str], bool] | None:
    """Whether a file may have rows that a filter lets pass; None if the filter is not about the file."""
    if getattr(one, "attribute", None) != (FILE,):
        return None
    if isinstance(one, EqualTo):
        return lambda name: name == one.value
    if isinstance(one, In):
        return lambda name: name in one.value
    if isinstance(one, StringStartsWith):
        return lambda name: name.startswith(one.value)
    if isinstance(one, StringEndsWith):
        return lambda name: name.endswith(one.value)
    if isinstance(one, StringContains):
        return lambda name: one.value in name
    return None


def flags(one: Filter) -> list[str] | None:
    """The flags of hf-filter that let all these events pass, and hardly any others; None if there are none."""
    if not isinstance(one, (EqualTo, In)) or len(one.attribute) != 1 or one.attribute[0] not in FLAGS:
        return None
    values = list(one.value) if isinstance(one, In) else [one.value]
    if any(value is None or (one.attribute[0] == "kind" and value not in KINDS) for value in values):
        return None
    return [text for value in values for text in (FLAGS[one.attribute[0]], _text(value))]


def _text(value: object) -> str:
    # A negative number stands for the unsigned one with the same bits.
    return str(value + (1 << 64)) if isinstance(value, int) and value < 0 else str(value)
