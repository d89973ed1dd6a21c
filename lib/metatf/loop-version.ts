/**
 * The version of what compiled modules and heapflow expect of each other: the loops and their cursors, `RecordLayout`,
 * the columns of batches, and the functions that modules import. To be raised with each change there that an older
 * module would not know of.
 */
export const LOOP_VERSION = 1

/** Compiled loops, of either form. */
export interface Versioned {
  /** `LOOP_VERSION` of the heapflow that compiled them. */
  readonly version: number
}

/** @throws Error if loops were compiled by a heapflow that expected something else of them */
export function checkVersion({ version }: Versioned): void {
  if (version === LOOP_VERSION) return
  throw new Error('this reader and writer was compiled by another version of heapflow: run metatf-compile again')
}
