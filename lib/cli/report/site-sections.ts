import type { Site, SiteStatistics, Statistics } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { grouped, share, tableLines, visible } from './columns.js'

/** How many frames of a stack are shown, the innermost first. */
const FRAMES = 6

/** Tables of the sites with the most bytes, leaks, temporary blocks and waste; none where no event tells its site. */
export function siteSections(statistics: Statistics, top: number): string[][] {
  const { sites } = statistics
  if (top === 0 || sites.every(({ rest }) => rest === 'none')) return []
  return [allocations(statistics, top), leaks(statistics, top), temporaries(sites, top), overheads(sites, top)]
}

function allocations({ sites, allocated }: Statistics, top: number): string[] {
  return tableLines({
    title: `Sites with the most bytes allocated, of ${grouped(sites.length)}`,
    heads: ['bytes', 'share', 'allocations', 'mean', 'most live', ' site'],
    rows: sites
      .slice(0, top)
      .map((site) => [
        grouped(site.allocated.bytes),
        share(site.allocated.bytes, allocated.bytes),
        grouped(site.allocated.blocks),
        grouped(site.allocated.bytes / BigInt(site.allocated.blocks)),
        grouped(site.peakBytes),
        siteName(site),
      ]),
  })
}

function leaks({ sites, leaked }: Statistics, top: number): string[] {
  const leaking = sites
    .filter((site) => site.leaked.blocks > 0)
    .toSorted((a, b) => descending(a.leaked.bytes, b.leaked.bytes))
  if (leaking.length === 0) return []
  return tableLines({
    title: `Sites with the most bytes live at the end, of ${grouped(leaking.length)}`,
    heads: ['bytes', 'share', 'blocks', 'of allocations', ' site'],
    rows: leaking
      .slice(0, top)
      .map((site) => [
        grouped(site.leaked.bytes),
        share(site.leaked.bytes, leaked.bytes),
        grouped(site.leaked.blocks),
        share(site.leaked.blocks, site.allocated.blocks),
        siteName(site),
      ]),
  })
}

function temporaries(sites: readonly SiteStatistics[], top: number): string[] {
  const some = sites.filter((site) => site.temporary > 0).toSorted((a, b) => b.temporary - a.temporary)
  if (some.length === 0) return []
  return tableLines({
    title: `Sites with the most blocks freed at once, of ${grouped(some.length)}`,
    heads: ['blocks', 'of allocations', ' site'],
    rows: some
      .slice(0, top)
      .map((site) => [grouped(site.temporary), share(site.temporary, site.allocated.blocks), siteName(site)]),
  })
}

function overheads(sites: readonly SiteStatistics[], top: number): string[] {
  const some = sites.flatMap(({ overhead, ...site }) => (overhead === undefined ? [] : [{ ...site, overhead }]))
  if (some.length === 0) return []
  some.sort((a, b) => descending(a.overhead.wasted, b.overhead.wasted))
  const hasCpus = some[0]?.crossCpuFrees !== undefined
  return tableLines({
    title: `Sites with the most bytes wasted, of ${grouped(some.length)}`,
    heads: ['requested', 'allocated', 'wasted', 'share', 'hits', ...(hasCpus ? ['other CPU'] : []), ' site'],
    rows: some
      .slice(0, top)
      .map(({ overhead, crossCpuFrees = 0, ...site }) => [
        grouped(overhead.requested),
        grouped(overhead.allocated),
        grouped(overhead.wasted),
        share(overhead.wasted, overhead.allocated),
        grouped(overhead.hits),
        ...(hasCpus ? [grouped(crossCpuFrees)] : []),
        siteName(site),
      ]),
  })
}

/** A site in one line: `parse at a.c:12`, `malloc < parse < main`, `0xffffffff81012345`. */
export function siteName(site: Site): string {
  if (site.rest !== undefined) return site.rest === 'others' ? '(others)' : '(not told)'
  if (site.callSite !== undefined) return `0x${site.callSite.toString(16)}`
  if (site.stack !== undefined) {
    const frames = site.stack.slice(0, FRAMES).map(visible).join(' < ')
    return site.stack.length > FRAMES ? `${frames} < ...` : frames
  }
  const place = site.file === undefined ? '' : `${visible(site.file)}${site.line === undefined ? '' : `:${site.line}`}`
  const line = site.file === undefined && site.line !== undefined ? `line ${site.line}` : place
  const name = visible(site.function ?? '')
  return name === '' || line === '' ? name + line : `${name} at ${line}`
}
