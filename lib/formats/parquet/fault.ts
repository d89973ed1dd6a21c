/** What is wrong with a Parquet file, in words that follow the position. */
export class ParquetFault extends Error {
  /** How many of the values that were asked for are before the fault. */
  good = 0

  /** Sets the number of values before the fault. */
  after(good: number): this {
    this.good = good
    return this
  }
}

/** A part of a Parquet file that is larger than memory is given for. */
export class ParquetLimit extends ParquetFault {}
