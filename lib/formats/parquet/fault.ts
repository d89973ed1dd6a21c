/** A fault of a Parquet file: the words that follow the position in a message. */
export class ParquetFault extends Error {
  /** The number of requested values before the fault. */
  good = 0

  /** Sets the number of values before the fault. */
  after(good: number): this {
    this.good = good
    return this
  }
}

/** The part of a Parquet file that exceeds a memory limit. */
export class ParquetLimit extends ParquetFault {}
