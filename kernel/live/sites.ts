/**
 * The site of each live block. A block that begins has the site that its event names, or none. A block that a realloc
 * resizes, moved or not, gets the site that the realloc names; if it names none, the block keeps its site. A realloc
 * that fails changes no site. A realloc of an unknown block begins a block.
 *
 * lib/blocks/block-sites.ts is the same for views that do not count in kernels.
 */
import { DONE } from '../../lib/kernel/layouts/live'
import { NONE } from '../../lib/kernel/layouts/owners'

/**
 * Per row, the row of the site that its event names; -1 for none. After `siteOf`, the row of the site of the block that
 * it begins.
 */
export const SITES: usize = memory.data(16576)

/**
 * The row of the site of the block that an event begins or resizes.
 * @param effect of the event on the live set
 * @param before the address of the row of the block that it ends
 */
export function siteOf(row: usize, effect: u32, before: usize): u32 {
  const named = load<i32>(SITES + (row << 2))
  if (named >= 0) return <u32>named
  const site = (effect & DONE) != 0 ? load<u32>(before) : NONE
  store<u32>(SITES + (row << 2), site)
  return site
}
