import type { Global, KernelExports } from './load.js'

/**
 * The exports of kernel/live.ts, and of every kernel that contains the live set. kernel/live/follow.ts and keys.ts
 * document them.
 */
export interface LiveExports extends KernelExports {
  readonly SPACES: Global
  readonly INTENTS: Global
  readonly ENDS: Global
  readonly BEGINS: Global
  readonly EFFECTS: Global
  readonly ENDED: Global
  readonly BEGUN: Global
  readonly live: Global
  readonly numbers: Global
  readonly isSeeded: Global
  seed(low: number, high: number): void
  /** For each block that ended with its process, in order: the row of that end, and the number of the block. */
  readonly gone: Global
  readonly goneCount: Global
  watch(): number
  clear(): number
  find(low: number, high: number, isIndex: boolean): number
  intend(rows: number): void
  follow(rows: number): number
}

/** The exports of kernel/live.ts alone. */
export interface ListedLiveExports extends LiveExports {
  readonly listed: Global
  list(slot: number, rows: number): number
}
