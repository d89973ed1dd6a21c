/**
 * The live blocks of each site in the order of their births, for the best level. The site of a block is a hash of its
 * class and the two symbols before its birth: it stands for the place in the program.
 */

import { blockAt } from '../block'

/** The newest and the oldest block of each site, by the site's lower bits. */
const NEWEST: usize = memory.data(262_144)
const OLDEST: usize = memory.data(262_144)

export function resetSites(): void {
  memory.fill(NEWEST, 0, 262_144)
  memory.fill(OLDEST, 0, 262_144)
}

function head(heads: usize, site: u32): usize {
  return heads + ((<usize>(site & 0xffff)) << 2)
}

export function newestOfSite(site: u32): u32 {
  return load<u32>(head(NEWEST, site))
}

export function oldestOfSite(site: u32): u32 {
  return load<u32>(head(OLDEST, site))
}

/** Adds a new block. */
export function linkSite(n: u32, site: u32): void {
  const block = blockAt(n)
  block.site = site
  const before = newestOfSite(site)
  block.siteYounger = 0
  block.siteOlder = before
  if (before != 0) blockAt(before).siteYounger = n
  else store<u32>(head(OLDEST, site), n)
  store<u32>(head(NEWEST, site), n)
}

/** Removes a block. */
export function unlinkSite(n: u32): void {
  const block = blockAt(n)
  if (block.siteYounger != 0) blockAt(block.siteYounger).siteOlder = block.siteOlder
  else store<u32>(head(NEWEST, block.site), block.siteOlder)
  if (block.siteOlder != 0) blockAt(block.siteOlder).siteYounger = block.siteYounger
  else store<u32>(head(OLDEST, block.site), block.siteYounger)
}
