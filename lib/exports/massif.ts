import { frameText } from '../transforms/profile/frames.js'
import type { Profile, Sample } from '../transforms/profile/profile.js'
import type { Peak } from '../transforms/statistics/result.js'
import { joinTimeline } from '../transforms/statistics/timeline.js'
import { ownValues } from './tree.js'
import { textBytes } from '../event/strings.js'
import { NANOSECONDS, notesOf, type ExportOptions } from './writer.js'

/** massif itself keeps at most 100 snapshots, including one at the beginning and one at the peak. */
const MAX_PARTS = 98
/** Branches of less than a hundredth are left out. */
const HUNDREDTH = 100n
const ROOT_TEXT = '(heap allocation functions) malloc/new/new[], --alloc-fns, etc.'

const MILLISECOND = 1_000_000n
/** Shorter traces are shown over the bytes that were allocated: milliseconds are too coarse for them. */
const SHORT = 100n * MILLISECOND

/** A moment with its live bytes. */
interface Snapshot {
  readonly time: bigint
  readonly bytes: bigint
  readonly tree: 'empty' | 'detailed' | 'peak'
  /** The moment of the tree. */
  readonly bytesOf?: (sample: Sample) => bigint
}

/**
 * A file of valgrind's massif: the level of live bytes in at most 100 snapshots, and which stacks held them at the peak
 * and at the end.
 * @see https://valgrind.org/docs/manual/ms-manual.html
 */
export function massif(profile: Profile, options: ExportOptions = {}): Iterable<Uint8Array> {
  return textBytes(pieces(profile, options))
}

function* pieces(profile: Profile, { name = 'heap' }: ExportOptions): Generator<string> {
  const { unit, snapshots } = snapshotsOf(profile)
  for (const note of notesOf(profile)) yield `desc: ${plain(note)}\n`
  yield `cmd: ${plain(profile.command ?? name)}\ntime_unit: ${unit}\n`
  for (const [number, { time, bytes, tree, bytesOf }] of snapshots.entries()) {
    yield `#-----------\nsnapshot=${number}\n#-----------\n`
    yield `time=${time}\nmem_heap_B=${bytes}\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=${tree}\n`
    if (bytesOf !== undefined) yield* heapTree(profile, bytesOf, bytes)
  }
}

function snapshotsOf(profile: Profile): { unit: 'ms' | 'B'; snapshots: Snapshot[] } {
  const { time, timeline, peakBytes, leaked } = profile.statistics
  const scale = time?.unit === undefined ? 0n : NANOSECONDS[time.unit]
  const isTimed = time !== undefined && scale * time.span >= SHORT
  const since = ({ event, time: moment }: Pick<Peak, 'event' | 'time'>) =>
    moment === undefined ? 0n : (profile.elapsed({ event, time: moment }) * scale) / MILLISECOND
  const peakOf = ({ atPeak }: Sample) => atPeak.bytes
  const parts = joinTimeline(timeline, MAX_PARTS)
  let allocated = 0n
  const all = parts.map((part, p): Snapshot & { event: number } => {
    allocated += part.allocated.bytes
    const isEnd = p === parts.length - 1 && part.live.bytes === leaked.bytes
    return {
      event: part.event,
      time: isTimed ? since(part) : allocated,
      bytes: part.live.bytes,
      ...(isEnd ? { tree: 'detailed', bytesOf: ({ leaked: { bytes } }) => bytes } : { tree: 'empty' }),
    }
  })
  const peak = { event: peakBytes.event, time: isTimed ? since(peakBytes) : peakBytes.allocatedBytes }
  const before = all.findIndex(({ event }) => event >= peak.event)
  const snapshots: Snapshot[] = [
    { time: 0n, bytes: 0n, tree: 'empty' },
    ...all.slice(0, Math.max(0, before)),
    ...(peak.event > 0 ? [{ ...peak, bytes: peakBytes.bytes, tree: 'peak' as const, bytesOf: peakOf }] : []),
    ...all.slice(Math.max(0, before)),
  ]
  // Clocks of several threads may go back, and some moments have no time; the times of massif only rise.
  let latest = 0n
  return {
    unit: isTimed ? 'ms' : 'B',
    snapshots: snapshots.map((one) => ({ ...one, time: (latest = one.time > latest ? one.time : latest) })),
  }
}

/** Blocks of one frame and those that called it: where each of their stacks continues, and their bytes. */
interface Branch {
  readonly nodes: number[]
  readonly bytes: bigint[]
  total: bigint
}

/** The live bytes by stack, from the innermost frame outwards. */
function heapTree(profile: Profile, bytesOf: (sample: Sample) => bigint, total: bigint): string[] {
  const { tree, frames } = profile
  const least = total / HUNDREDTH
  const lines: string[] = []
  const values = ownValues(profile, bytesOf)
  const root: Branch = { nodes: [], bytes: [], total }
  values.forEach((bytes, node) => {
    root.nodes.push(node)
    root.bytes.push(bytes)
  })

  const write = ({ nodes, bytes, total: own }: Branch, depth: number, text: string) => {
    const branches = new Map<number, Branch>()
    for (const [n, node] of nodes.entries()) {
      const frame = tree.frames[node]
      if (frame < 0) continue
      let branch = branches.get(frame)
      if (branch === undefined) branches.set(frame, (branch = { nodes: [], bytes: [], total: 0n }))
      branch.nodes.push(tree.parents[node])
      branch.bytes.push(bytes[n])
      branch.total += bytes[n]
    }
    const all = [...branches].toSorted(([, a], [, b]) => (a.total < b.total ? 1 : a.total > b.total ? -1 : 0))
    const large = all.filter(([, branch]) => branch.total > least)
    const small = all.slice(large.length)
    const count = large.length + (small.length > 0 ? 1 : 0)
    const indent = ' '.repeat(depth)
    lines.push(`${indent}n${count}: ${own} ${text}\n`)
    for (const [frame, branch] of large) {
      const name = plain(frameText(frames[frame]))
      write(branch, depth + 1, `0x${(frame + 1).toString(16)}: ${name}`)
    }
    if (small.length === 0) return
    const rest = small.reduce((sum, [, branch]) => sum + branch.total, 0n)
    const places = small.length === 1 ? 'place' : 'places'
    lines.push(`${indent} n0: ${rest} in ${small.length} ${places}, all below massif's threshold (1.00%)\n`)
  }
  write(root, 0, ROOT_TEXT)
  return lines
}

const UNFIT = /[\p{Cc}#]+/gu

/** Text for one line, in which `#` would begin a comment. */
function plain(text: string): string {
  return text.replaceAll(UNFIT, '_')
}
