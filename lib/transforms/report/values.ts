/** An integer: a number if a double represents it exactly, otherwise decimal digits. */
export type Integer = number | string

/** A value as JSON, with its integers as `Integer`. */
export type Plain<T> = T extends bigint
  ? Integer
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T

/** Moments of the trace, in order. */
export interface Moments {
  /** The number of the last event of each, from 1. */
  event: number[]
  /**
   * The time since the beginning, in the unit of the first header; null where it is not known. Absent if events have no
   * time. Several traces come one after the other. It falls only where time runs backwards.
   */
  time?: (Integer | null)[]
}
