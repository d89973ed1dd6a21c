/** The counts for each site, by the rows of the statistics, and the results of `findSparse`. */
import { GROWN, MOVED, REALLOCS, SHRUNK, SITE_BYTES, SPARSE_BYTES, SPARSE_PAGES } from '../../lib/kernel/layouts/report'
import { GROWING, GrowingTable } from '../shared/grow'

export const siteTable = changetype<GrowingTable>(memory.data(GROWING))

/** Makes room for this many rows. @returns whether there is memory */
export function makeSites(sites: u32): bool {
  return siteTable.reserve(<u64>sites * SITE_BYTES)
}

/** Counts a realloc of a block, which now belongs to this site. */
export function siteResizes(site: u32, before: u64, size: u64, isMoved: bool): void {
  const row = siteTable.at + <usize>site * SITE_BYTES
  store<u64>(row, load<u64>(row, REALLOCS) + 1, REALLOCS)
  if (size > before) store<u64>(row, load<u64>(row, GROWN) + 1, GROWN)
  else if (size < before) store<u64>(row, load<u64>(row, SHRUNK) + 1, SHRUNK)
  if (isMoved) store<u64>(row, load<u64>(row, MOVED) + 1, MOVED)
}

/** Adds the share of a block of the site in nearly empty pages, and in their bytes that are not live. */
export function siteKeeps(site: u32, pages: f64, bytes: f64): void {
  const row = siteTable.at + <usize>site * SITE_BYTES
  store<f64>(row, load<f64>(row, SPARSE_PAGES) + pages, SPARSE_PAGES)
  store<f64>(row, load<f64>(row, SPARSE_BYTES) + bytes, SPARSE_BYTES)
}
