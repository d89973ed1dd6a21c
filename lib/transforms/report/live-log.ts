import { HI, LO, WORD, wide } from '../../bytes/u64.js'
import { BlockEffect } from '../../blocks/block-effect.js'
import { siteOfBlock, UNNAMED } from '../../blocks/block-sites.js'
import { LiveSet } from '../../blocks/live-set.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import type { TimeUnit, TraceHeader } from '../../event/header.js'
import { OwnFrames } from '../../names/own-frames.js'
import type { Suppression } from '../../names/suppression.js'
import { MAX_STACKS } from '../profile/collector.js'
import { ownTree } from '../profile/own-stacks.js'
import type { Frame } from '../profile/profile.js'
import { stacksOf } from '../profile/stacks.js'
import { SuppressedSites } from '../statistics/suppress.js'
import { HAS_SITE, SiteKeys } from '../statistics/site-keys.js'

const { began: BEGAN, ended: ENDED, reused: REUSED } = BlockEffect
const { size: HAS_SIZE, time: HAS_TIME } = FieldBit
const { 'process-end': PROCESS_END } = Kind

/** The number of entries of a piece, and of all pieces: with times, 28 bytes each. */
const PIECE = 65_536
const MOST_ENTRIES = 16_777_216
/** Words of a live block: its site, and its size. */
const WIDTH = 3

/** The begins and ends of blocks, in order. */
interface Piece {
  count: number
  readonly event: Float64Array
  /** The row of the site; for an end, its complement. */
  readonly site: Int32Array
  readonly size: Float64Array
  /** The latest time until then, since the first one. */
  readonly time: Float64Array
}

/**
 * A moment. `event` means the moment after the event with this number, from 1; 0 is before the first event. `time`
 * means the moment before the first later event.
 */
export type LogMoment = { readonly event: number } | { readonly time: number }

/** Figures by site, at a moment or between two moments, as plain data: columns of equal length. */
export interface LiveSites {
  /** The number of the last event before the moment, and before the earlier one of two. */
  event: number
  fromEvent?: number
  frames: Frame[]
  /** The stacks as a tree whose root is node 0, without wrappers of allocation at the inner ends. */
  parents: number[]
  nodeFrames: number[]
  /** Whether rules exclude the leaks of a site; absent without rules. */
  suppressed?: boolean[]
  /** Each site's node, and its whole stack as frames, the innermost first. */
  node: number[]
  stack: number[][]
  /** Live at the moment. */
  liveBytes: number[]
  liveBlocks: number[]
  /** Live at the earlier moment; zeros if there is none. */
  beforeBytes: number[]
  beforeBlocks: number[]
  /** Blocks that began, and blocks that ended, between the two moments. A resized block counts as both. */
  bornBytes: number[]
  bornBlocks: number[]
  endedBytes: number[]
  endedBlocks: number[]
}

/**
 * Records the site of every block's begin and end in a stream, so that the live set at any moment is known without
 * another pass. Memory: 28 bytes for each allocation and each free, and 12 for each live block.
 */
export class LiveLog {
  private readonly pieces: Piece[] = []
  private readonly liveSet = new LiveSet(WIDTH)
  private readonly keys = new SiteKeys({ rows: MAX_STACKS })
  private header: TraceHeader | undefined
  private entries = 0
  private highest = 0
  private unit: TimeUnit | undefined
  /** Whether the times of the trace are used; the first of them, and the time before it. */
  private isTimed = true
  private first: bigint | undefined
  private before = 0
  private latest = 0
  /** The number of events so far. */
  events = 0

  /** @param rules exclude leaks: sites for which they hold are marked */
  constructor(private readonly rules?: readonly Suppression[]) {}

  /** Takes the events of a batch. @throws RangeError if there are too many, or there is no memory */
  add(batch: EventBatch): void {
    if (batch.count === 0) return
    if (batch.header !== this.header) this.beginTrace(batch.header)
    this.liveSet.followParts(batch, this.events, (from, to) => this.addRows(batch, from, to))
    this.events += batch.count
  }

  private addRows(batch: EventBatch, from: number, to: number): void {
    const { liveSet, keys } = this
    const { effects, ended, begun, gone, words } = liveSet
    let next = 0
    const { mask, kind, size, time } = batch
    const timed = this.isTimed ? HAS_TIME : 0
    const hasSites = (batch.columns & HAS_SITE) !== 0
    if (hasSites) keys.begin(batch)
    for (let i = from, row = 0; i < to; i++, row++) {
      const fields = mask[i]
      if ((fields & timed) !== 0) this.noteTime(time.words[2 * i + LO], time.words[2 * i + HI])
      const event = this.events + i + 1
      if (kind[i] === PROCESS_END) for (; gone[next] === row; next += 2) this.end(event, words, gone[next + 1] * WIDTH)
      const effect = effects[row]
      if ((effect & (BEGAN | ENDED)) === 0) continue
      const old = ended[row] * WIDTH
      const before = ~words[old]
      if ((effect & ENDED) !== 0) this.end(event, words, old)
      if ((effect & BEGAN) === 0) continue
      const at = begun[row] * WIDTH
      if ((effect & REUSED) !== 0) this.end(event, words, at)
      const named = hasSites && (fields & HAS_SITE) !== 0 ? keys.row(batch, i) : UNNAMED
      const site = siteOfBlock(named, (effect & ENDED) !== 0, before)
      words[at + 1] = (fields & HAS_SIZE) !== 0 ? size.words[2 * i + LO] : 0
      words[at + 2] = (fields & HAS_SIZE) !== 0 ? size.words[2 * i + HI] : 0
      this.highest = Math.max(this.highest, begun[row])
      this.push(event, site, words[at + 1] + words[at + 2] * WORD)
      words[at] = ~site
    }
  }

  /** Several traces come one after the other; only times in the unit of the first one are used. */
  private beginTrace(header: TraceHeader): void {
    if (this.header !== undefined) this.endTrace()
    else this.unit = header.timeUnit
    this.header = header
    this.isTimed = header.timeUnit === this.unit
    this.first = undefined
    this.before = this.latest
  }

  /** Notes the end of a block, if it is live. The complement of its site says that it is. */
  private end(event: number, words: Uint32Array, at: number): void {
    const site = ~words[at]
    if (site < 0) return
    this.push(event, ~site, words[at + 1] + words[at + 2] * WORD)
    words[at] = 0
  }

  private noteTime(lo: number, hi: number): void {
    const time = wide(lo, hi)
    this.first ??= time
    const since = this.before + Number(time - this.first)
    if (since > this.latest) this.latest = since
  }

  private push(event: number, site: number, size: number): void {
    let piece = this.pieces.at(-1)
    if (piece === undefined || piece.count === PIECE) {
      if (this.entries === MOST_ENTRIES)
        throw new RangeError(`the trace has more than ${MOST_ENTRIES} allocations and frees`)
      piece = {
        count: 0,
        event: new Float64Array(PIECE),
        site: new Int32Array(PIECE),
        size: new Float64Array(PIECE),
        time: new Float64Array(PIECE),
      }
      this.pieces.push(piece)
    }
    const n = piece.count++
    this.entries++
    piece.event[n] = event
    piece.site[n] = site
    piece.size[n] = size
    piece.time[n] = this.latest
  }

  /** No block outlives its trace. */
  private endTrace(): void {
    const { words } = this.liveSet
    for (let block = 1; block <= this.highest; block++) this.end(this.events + 1, words, block * WIDTH)
    this.highest = 0
    this.liveSet.clear()
  }

  /** The live set at a moment, by site; with an earlier moment, also what changed between the two. */
  at(to: LogMoment, from?: LogMoment): LiveSites {
    const size = this.keys.size
    const columns = () => ({ bytes: new Float64Array(size), blocks: new Float64Array(size) })
    const [before, born, ended] = [columns(), columns(), columns()]
    let isBefore = from !== undefined
    let [event, fromEvent] = [0, 0]
    scan: for (const piece of this.pieces) {
      const { count, site, size: sizes } = piece
      for (let n = 0; n < count; n++) {
        if (isBefore && isLater(piece, n, from as LogMoment)) isBefore = false
        if (isLater(piece, n, to)) break scan
        event = piece.event[n]
        if (isBefore) fromEvent = event
        const row = site[n]
        const bytes = sizes[n]
        if (isBefore) {
          const at = row < 0 ? ~row : row
          const sign = row < 0 ? -1 : 1
          before.bytes[at] = before.bytes[at] + sign * bytes
          before.blocks[at] = before.blocks[at] + sign
        } else {
          const to = row < 0 ? ended : born
          const at = row < 0 ? ~row : row
          to.bytes[at] = to.bytes[at] + bytes
          to.blocks[at] = to.blocks[at] + 1
        }
      }
    }
    const rows = Array.from({ length: size }, (_, row) => row).filter(
      (row) => before.blocks[row] !== 0 || born.blocks[row] > 0 || ended.blocks[row] > 0,
    )
    // Without an earlier moment, only the live set matters.
    const shown = from === undefined ? rows.filter((row) => born.blocks[row] !== ended.blocks[row]) : rows
    const column = (of: (row: number) => number) => shown.map(of)
    const live = (figure: 'bytes' | 'blocks') => (row: number) =>
      before[figure][row] + born[figure][row] - ended[figure][row]
    return {
      event: 'event' in to ? Math.min(to.event, this.events) : event,
      ...(from !== undefined && { fromEvent: 'event' in from ? from.event : fromEvent }),
      ...this.stacksOf(shown),
      liveBytes: column(live('bytes')),
      liveBlocks: column(live('blocks')),
      beforeBytes: column((row) => before.bytes[row]),
      beforeBlocks: column((row) => before.blocks[row]),
      bornBytes: column((row) => born.bytes[row]),
      bornBlocks: column((row) => born.blocks[row]),
      endedBytes: column((row) => ended.bytes[row]),
      endedBlocks: column((row) => ended.blocks[row]),
    }
  }

  private stacksOf(
    rows: readonly number[],
  ): Pick<LiveSites, 'frames' | 'parents' | 'nodeFrames' | 'node' | 'stack' | 'suppressed'> {
    const used = new Set(rows)
    const { keys } = this
    const sites = {
      keys,
      size: keys.size,
      isUsed: (row: number) => used.has(row),
      owners: (site: number) => ({ site }),
    }
    const { frames, tree, rows: all } = stacksOf(sites, { name: () => ({}) })
    const nodes = new Map([...all()].map(({ row, node }) => [row, node]))
    const nodeOf = (row: number) => nodes.get(row) ?? 0
    const own = ownTree({ tree, frames }, nodes.values(), new OwnFrames())
    const stack = (node: number) => {
      const stackFrames: number[] = []
      for (let at = node; at > 0; at = tree.parents[at]) stackFrames.push(tree.frames[at])
      return stackFrames
    }
    const stacks = rows.map((row) => stack(nodeOf(row)))
    const suppressing = this.rules && new SuppressedSites(this.rules)
    return {
      ...(suppressing !== undefined && { suppressed: rows.map((row) => suppressing.find(keys.site(row)) >= 0) }),
      frames: frames.map(({ name, file, line }) => ({
        name,
        ...(file !== undefined && { file }),
        ...(line !== undefined && { line }),
      })),
      parents: [...own.tree.parents],
      nodeFrames: [...own.tree.frames],
      node: rows.map((row) => own.nodeOf(nodeOf(row))),
      stack: stacks,
    }
  }
}

/** Whether an entry is after a moment. */
function isLater({ event, time }: Piece, n: number, moment: LogMoment): boolean {
  return 'event' in moment ? event[n] > moment.event : time[n] > moment.time
}
