import type { Global, Globals, KernelExports } from './load.js'

/**
 * The exports of kernel/live.ts, and of every kernel that contains the live set. kernel/live/follow.ts and keys.ts
 * document them.
 */
export interface LiveExports
  extends
    KernelExports,
    Globals<'SPACES' | 'INTENTS' | 'ENDS' | 'BEGINS' | 'EFFECTS' | 'ENDED' | 'BEGUN' | 'live' | 'numbers'>,
    Globals<'isSeeded' | 'goneCount'> {
  seed(low: number, high: number): void
  /** For each block that ended with its process, in order: the row of that end, and the number of the block. */
  readonly gone: Global
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
