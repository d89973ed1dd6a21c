"""Heap-allocation traces of any format as tables of Apache Spark.

    from heapflow_spark import register
    register(spark)
    events = spark.read.format("heapflow").load("traces/*.mtrc.gz")

The commands of heapflow (a package of npm) do the reading and writing: each worker needs them in its PATH.
"""

from .source import HeapflowDataSource, register
from .tables import TABLES, unsigned

__all__ = ["HeapflowDataSource", "TABLES", "register", "unsigned"]
