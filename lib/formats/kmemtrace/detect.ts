import { areFeatures } from './features.js'
import * as Layout from './layout.js'

/** The maximum number of bytes examined to distinguish the layouts. */
export const WINDOW = 4096

/** A multiple of the size of an all-zero record in every layout: this many zero bytes fit all layouts alike. */
export const ZERO_GROUP = 96

/** The result of `locateRecords`. */
interface Located {
  readonly found: Layout.KmemtraceLayout | 'short' | 'bad'
  /** The position of the first significant bytes; all bytes before them are zero. */
  readonly pos: number
}

/**
 * Finds the layout of records after any number of all-zero ones. See `detectLayout` for the parameters and the result.
 */
export function locateRecords(
  layouts: readonly Layout.KmemtraceLayout[],
  bytes: Uint8Array,
  pos: number,
  end: number,
  ended: boolean,
): Located {
  if (layouts.length > 1) {
    while (end - pos >= ZERO_GROUP && Layout.isZero(bytes, pos, pos + ZERO_GROUP)) pos += ZERO_GROUP
  }
  return { found: detectLayout(layouts, bytes, pos, end, ended), pos }
}

/**
 * A record with more than this number of bytes beyond its required ones is taken for invalid, because no feature was
 * ever defined.
 */
const MAX_EXTRA = 1024
/** A bound above the number of CPUs that Linux can be built for. */
const MAX_CPU = 0xffff
/**
 * The high word of a time of 146 years in nanoseconds. 64-bit kernel addresses, which could stand in its place, are
 * larger.
 */
const MAX_TIME_HIGH = 0x3fff_ffff

/** How well bytes match the records of one layout. */
interface Reading {
  readonly layout: Layout.KmemtraceLayout
  /** The position of the first record that is invalid or incomplete. */
  readonly at: number
  /** Whether the record there is invalid. */
  readonly failed: boolean
  /** The numbers of records with known event and type ids, and of unusual ones. */
  readonly known: number
  readonly odd: number
  /** Whether the first record other than all-zero ones has known ids. */
  readonly begins: boolean
}

/**
 * The layout of the records that begin at `pos`, or `short` if more bytes are needed. The result does not depend on the
 * number of available bytes if they suffice.
 *
 * @param layouts the candidates, the preferred ones first
 * @param end one past the last available byte
 * @param ended no more bytes will come
 */
export function detectLayout(
  layouts: readonly Layout.KmemtraceLayout[],
  bytes: Uint8Array,
  pos: number,
  end: number,
  ended: boolean,
): Layout.KmemtraceLayout | 'short' | 'bad' {
  if (layouts.length === 1) return layouts[0]
  const stop = Math.min(end, pos + WINDOW)
  const isAll = ended || stop === pos + WINDOW
  const read = (lenient: boolean) => layouts.map((layout) => readAs(layout, bytes, pos, stop, lenient))
  const found = decide(read(false), pos, isAll)
  // If no layout yields features whose sizes add up, the bytes after records may be of another format.
  return found === 'bad' ? decide(read(true), pos, isAll) : found
}

/** @param isAll whether no more bytes will be examined */
function decide(readings: readonly Reading[], pos: number, isAll: boolean): Layout.KmemtraceLayout | 'short' | 'bad' {
  const alive = readings.filter((reading) => !reading.failed)
  if (alive.length > 0 && !isAll) {
    // The last remaining layout is chosen once it has matched further than any other, because more bytes cannot change
    // that.
    const [only] = alive
    const furthest = readings.every((reading) => reading === only || reading.at < only.at)
    return alive.length === 1 && furthest ? only.layout : 'short'
  }
  const best = bestOf(readings)
  return best.failed && best.at === pos ? 'bad' : best.layout
}

/** Whether bytes are the beginning of a stream, by its records: there is no header and no magic number. */
export function sniff(head: Uint8Array): boolean {
  const best = bestOf(Layout.LAYOUTS.map((layout) => readAs(layout, head, 0, head.length)))
  return !best.failed && best.begins && best.known > best.odd
}

/**
 * Compares readings: the furthest one is best, then the one with fewer unknown ids, then the one of the preferred
 * layout.
 */
function bestOf(readings: readonly Reading[]): Reading {
  const reach = (reading: Reading) => (reading.failed ? reading.at : Infinity)
  return readings.reduce((best, one) => {
    if (reach(one) !== reach(best)) return reach(one) > reach(best) ? one : best
    return one.odd < best.odd ? one : best
  })
}

/** @param lenient accept bytes after a record that are not features */
function readAs(layout: Layout.KmemtraceLayout, bytes: Uint8Array, pos: number, end: number, lenient = false): Reading {
  const core = Layout.coreSize(layout)
  let at = pos
  let known = 0
  let odd = 0
  let begins = false
  let failed = false
  while (end - at >= Layout.HEAD) {
    const fit = fitOf(layout, bytes, at, end, lenient)
    if (fit === Fit.short) {
      // The beginning of a record shows whether it is a common one: with known ids and without features, which no trace
      // has.
      const size = sizeAt(layout, bytes, at)
      if (size > 0 && !(isNamed(bytes, at) && size === mandatorySize(layout, bytes, at))) odd++
      break
    }
    if (fit === Fit.none) {
      failed = true
      break
    }
    if (fit === Fit.zero) {
      at += core
      continue
    }
    if (fit === Fit.odd) odd++
    else {
      begins ||= odd === 0
      known++
    }
    at += sizeAt(layout, bytes, at)
  }
  return { layout, at, failed, known, odd, begins }
}

/** How well bytes match one record. */
const Fit = { none: 0, short: 1, zero: 2, odd: 3, known: 4 } as const

function fitOf(
  layout: Layout.KmemtraceLayout,
  bytes: Uint8Array,
  at: number,
  end: number,
  lenient: boolean,
): (typeof Fit)[keyof typeof Fit] {
  const size = sizeAt(layout, bytes, at)
  const core = Layout.coreSize(layout)
  if (size < core) {
    if (bytes.subarray(at, Math.min(end, at + core)).some((byte) => byte !== 0)) return Fit.none
    return end - at < core ? Fit.short : Fit.zero
  }
  const mandatory = mandatorySize(layout, bytes, at)
  if (size < mandatory || size > mandatory + MAX_EXTRA) return Fit.none
  if (end - at < size) return Fit.short
  const little = layout.byteOrder === 'little'
  if (layout.layout === 'ftrace') {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const time = Layout.callSiteAt(layout) - 8
    const high = view.getUint32(at + time + (little ? 4 : 0), little)
    if (view.getUint32(at + Layout.HEAD, little) > MAX_CPU || high > MAX_TIME_HIGH) return Fit.none
  }
  if (!isNamed(bytes, at)) return Fit.odd
  if (areFeatures(bytes, at + mandatory, at + size, little)) return Fit.known
  return lenient ? Fit.odd : Fit.none
}

/** Whether a record has event and type ids that are known. */
function isNamed(bytes: Uint8Array, at: number): boolean {
  return bytes[at] <= Layout.EventId.free && bytes[at + 1] < Layout.TYPES
}

function mandatorySize(layout: Layout.KmemtraceLayout, bytes: Uint8Array, at: number): number {
  return bytes[at] === Layout.EventId.alloc ? Layout.allocSize(layout) : Layout.coreSize(layout)
}

function sizeAt({ byteOrder }: Layout.KmemtraceLayout, bytes: Uint8Array, at: number): number {
  const first = bytes[at + 2]
  const second = bytes[at + 3]
  return byteOrder === 'little' ? first | (second << 8) : (first << 8) | second
}
