import { shortFrame } from '../../event/frame.js'
import type { TimeUnit } from '../../event/header.js'
import type { Amount, Site, ThreadStatistics } from '../../transforms/statistics/result.js'
import { FRAMES } from '../defaults.js'
import { bytes, grouped, visible } from './columns.js'

/**
 * A site in one line: `parse at a.c:12`, `malloc < parse < main`, `0xffffffff81012345`, `./app [0x1189]`.
 * @param frames how many frames of a stack are shown, the innermost first
 */
export function siteName(site: Site, frames = FRAMES): string {
  if (site.rest !== undefined) return restName(site.rest)
  if (site.callSite !== undefined) {
    const address = `0x${site.callSite.toString(16)}`
    return site.module === undefined ? address : `${visible(site.module)} [${address}]`
  }
  if (site.module !== undefined) return visible(site.module)
  if (site.stack !== undefined) {
    const shown = site.stack
      .slice(0, frames)
      .map((frame) => visible(shortFrame(frame)))
      .join(' < ')
    return site.stack.length > frames ? `${shown} < ...` : shown
  }
  const place = site.file === undefined ? '' : `${visible(site.file)}${site.line === undefined ? '' : `:${site.line}`}`
  const line = site.file === undefined && site.line !== undefined ? `line ${site.line}` : place
  const name = visible(site.function ?? '')
  return name === '' || line === '' ? name + line : `${name} at ${line}`
}

/** A thread's number, as the signed integer that some formats use. */
export function threadName({ rest, thread }: Pick<ThreadStatistics, 'rest' | 'thread'>): string {
  if (rest !== undefined) return restName(rest)
  return thread === undefined ? restName('none') : String(BigInt.asIntN(64, thread))
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
  return `${grouped(n)} ${n === 1 ? 'block' : 'blocks'}`
}

/** The name of a unit of time, or a placeholder for none. */
export function unitName(unit: TimeUnit | undefined): string {
  return unit ?? 'units of time'
}
