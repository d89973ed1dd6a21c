import { formatFrame, shortFrame } from '../../event/frame.js'
import type { TimeUnit } from '../../event/header.js'
import type { Amount, Site, Thread } from '../../transforms/statistics/result.js'
import type { OwnFrames } from '../../names/own-frames.js'
import { rowLabels, type RowSource } from '../../names/row-labels.js'
import { FRAMES, type SITE_GROUPS } from '../defaults.js'
import { bytes, counted, grouped, labelledLines, visible, type Column, type Table } from './columns.js'

/** The options for names of sites in tables. */
export interface SiteNames {
  readonly own: OwnFrames
  /** The subjects of rows. Default: `site`. */
  readonly by?: (typeof SITE_GROUPS)[number]
  /** The number of columns of the output. */
  readonly columns: number
  /** The number of frames of a stack that are shown, whether they fit or not. */
  readonly depth?: number | undefined
  /** Whole names and paths, whether they fit or not. */
  readonly full?: boolean
  /** A row is a frame, with its callers below. */
  readonly tree?: boolean
}

/**
 * A site in one line, with all that is known of it: `parse at a.c:12`, `malloc < parse < main`, `0xffffffff81012345`,
 * `./app [0x1189]`. It comes in pieces, because a stack may be long.
 */
export function* siteNamePieces(site: Site): Generator<string> {
  const row = rowOf(site)
  if ('text' in row) yield visible(row.text)
  else for (const [i, frame] of row.stack.entries()) yield `${i > 0 ? ' < ' : ''}${visible(shortFrame(frame))}`
}

/** The names of the sites of one table, in a number of columns. */
export function siteLabels(sites: readonly Site[], names: SiteNames, width: number): string[] {
  const { own, depth, full = false } = names
  const options = { own, full, frames: depth ?? FRAMES, escape: visible }
  return rowLabels(sites.map(rowOf), { ...options, width: full || depth !== undefined ? Infinity : width })
}

/** A table whose last column names sites. @param below makes the lines below a row, for a width */
export function labelledSites(
  table: Table,
  sites: readonly Site[],
  names: SiteNames,
  below?: (row: number, width: number) => readonly string[],
): string[] {
  const { by = 'site', columns } = names
  const label = by === 'thread' ? 'site' : by
  return labelledLines(table, label, columns, (width) => siteLabels(sites, names, width), below)
}

function rowOf(site: Site): RowSource {
  const { rest, callSite, module, stack, function: name = '', file, line } = site
  // What sites were added up by may be a place.
  if ('inclusive' in site && /^(?:in|at) /.test(name)) return { stack: [name] }
  if (rest !== undefined) return { text: restName(rest) }
  if (callSite !== undefined) {
    const address = `0x${callSite.toString(16)}`
    return { text: module === undefined ? address : `${module} [${address}]` }
  }
  if (module !== undefined) return { text: module }
  if (stack !== undefined) return { stack }
  const lineText = line === undefined ? '' : `line ${line}`
  const text = file === undefined ? lineText : `${file}${line === undefined ? '' : `:${line}`}`
  if (name === '') return { text }
  if (file === undefined && text !== '') return { text: `${name} at ${text}` }
  const place = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
  return { stack: [formatFrame({ function: name, ...place })] }
}

/** A thread's number, as the signed integer that some formats use. */
export function threadName({ rest, thread }: Pick<Thread, 'rest' | 'thread'>): string {
  if (rest !== undefined) return restName(rest)
  return thread === undefined ? restName('none') : String(BigInt.asIntN(64, thread))
}

/** The columns that name threads, with what they are called and their processes if any has these. */
export function threadColumns(threads: readonly Thread[]): Column<Thread>[] {
  return [
    [' thread', threadName],
    threads.some(({ name }) => name !== undefined) && [' name', ({ name = '' }) => visible(name)],
    threads.some(({ process }) => process !== undefined) && ['process', ({ process = '' }) => String(process)],
  ]
}

/** The names of rows that are not a single site or thread. */
function restName(rest: 'others' | 'none'): string {
  return rest === 'others' ? '(others)' : '(unknown)'
}

/** `5 blocks, 107 bytes` */
export function amount({ blocks: n, bytes: size }: Amount, what?: string): string {
  return `${what === undefined ? blocks(n) : `${grouped(n)} ${what}`}, ${bytes(size)}`
}

/** `1 block`, `5 blocks` */
export function blocks(n: number): string {
  return counted(n, 'block')
}

/** The name of a unit of time, or a placeholder for none. */
export function unitName(unit: TimeUnit | undefined): string {
  return unit ?? 'units of time'
}
