import { widened } from '../bytes/widened.js'
import { BlockEffect } from './block-effect.js'
import { NONE } from './bounded-keys.js'
import type { LiveSet } from './live-set.js'

/** The effects of events on blocks, as in `LiveSet`. */
export type Followed = Readonly<Pick<LiveSet, 'effects' | 'ended' | 'begun'>>

/** The event names no site. */
export const UNNAMED = -1

/**
 * The number of the site of a block that begins or is resized: kernel/live/sites.ts has the rule for the views that
 * count in kernels, and describes reallocs that fail or move their block.
 * @param named the number of the site that the event names, or `UNNAMED`
 * @param isResized whether the event resizes a block @param before the number of that block's site
 */
export function siteOfBlock(named: number, isResized: boolean, before: number): number {
  if (named !== UNNAMED) return named
  return isResized ? before : NONE
}

/** The number of the site of each live block, by the block's number: 4 bytes each. */
export class BlockSites {
  private sites = new Int32Array(64)

  /**
   * Notes the site of the block that a row begins or resizes.
   * @param named as for `siteOfBlock`
   * @param live the live set, which has followed the row
   * @returns the number of the site
   */
  begin(named: number, { effects, ended, begun }: Followed, row: number): number {
    const site = siteOfBlock(named, (effects[row] & BlockEffect.ended) !== 0, this.sites[ended[row]])
    const block = begun[row]
    if (block >= this.sites.length) this.sites = widened(this.sites, 2 * block)
    return (this.sites[block] = site)
  }
}
