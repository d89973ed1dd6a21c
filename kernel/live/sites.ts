/**
 * Which site a live block is of. A block that begins is of the site that its event names, or of none. One that a
 * realloc resizes, moved or not, is of the site that the realloc names; if that names none, the block keeps its site.
 * A realloc that fails, or is of an unknown block, resizes none: a failed one changes no site, and one of an unknown
 * block begins one.
 *
 * lib/blocks/block-sites.ts is the same for views that do not count in kernels.
 */
import { DONE } from '../../lib/kernel/layouts/live'
import { NONE } from '../../lib/kernel/layouts/owners'

/**
 * Per row, the row of the site that its event names; -1 for none. After `siteOf`, that of the site of the block that it
 * begins.
 */
export const SITES: usize = memory.data(16576)

/**
 * The row of the site of the block that an event begins or resizes.
 * @param effect of the event on the live set
 * @param before where the row of the block that it ends is
 */
// @ts-ignore: decorator
@inline
export function siteOf(row: usize, effect: u32, before: usize): u32 {
  const named = load<i32>(SITES + (row << 2))
  if (named >= 0) return <u32>named
  const site = (effect & DONE) != 0 ? load<u32>(before) : NONE
  store<u32>(SITES + (row << 2), site)
  return site
}
