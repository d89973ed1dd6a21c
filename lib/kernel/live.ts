import type { Global, KernelExports } from './load.js'

/**
 * What kernel/live.ts exports, and every kernel that has the live set in it; kernel/live/follow.ts says what each of
 * these is.
 */
export interface LiveExports extends KernelExports {
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
  clear(): number
  find(low: number, high: number, isIndex: boolean): number
  follow(rows: number): number
}
