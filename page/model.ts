import { FrameLabels } from '../lib/names/frame-labels.js'
import { namedFrameText } from '../lib/names/named-frame.js'
import type { Integer, Moments, ReportData, TreeMetric } from '../lib/transforms/report/result.js'
import { toNumber } from './parts/format.js'
import { visible } from './parts/text.js'
import { topDown, type FlameTree } from './flame/tree.js'

/** The place of a part in its whole trace. */
export interface PartOfTrace {
  /** The number in the whole trace of an event of the part. */
  numberOf(event: number): number
  /** The time of the first event of the whole trace. */
  readonly first?: Integer | undefined
  /** The part is one of the run: events before it are those of the live set when it begins. */
  readonly hasOlder?: boolean
}

/** The unit of the x axis of charts. */
export type Axis = 'event' | 'time'

/** The name of each figure of the tree, and its unit. */
export const METRICS: Readonly<Record<TreeMetric, { title: string; unit: 'bytes' | 'blocks' }>> = {
  allocatedBytes: { title: 'Allocated bytes', unit: 'bytes' },
  allocatedBlocks: { title: 'Allocations', unit: 'blocks' },
  peakBytes: { title: 'Live bytes at the peak', unit: 'bytes' },
  peakBlocks: { title: 'Live blocks at the peak', unit: 'blocks' },
  endBytes: { title: 'Live bytes at the end', unit: 'bytes' },
  endBlocks: { title: 'Live blocks at the end', unit: 'blocks' },
  temporaryBlocks: { title: 'Temporary allocations', unit: 'blocks' },
  foreignFrees: { title: 'Blocks freed by another thread', unit: 'blocks' },
}

/** A run with fewer different times is shown by events at first. */
const FEW_TIMES = 8

/** Whether the text of a frame may have a path, which labels show in short. */
function hasPath({ name, file }: ReportData['frames'][number]): boolean {
  return file !== undefined || /[/[+"]| (?:at|in) /.test(name)
}

/** The data of a report, and what several views derive from it. */
export class Model {
  private readonly trees = new Map<TreeMetric, FlameTree>()
  private readonly labels = new Map<number, string>()
  private readonly texts: string[] = []
  private readonly stackTexts: string[] = []
  private frameLabels: FrameLabels | undefined
  /** The offset that converts times of this report to times of the whole trace. */
  readonly timeOffset: number

  /** @param part where this is the report of a part of a trace */
  constructor(
    readonly data: ReportData,
    readonly part?: PartOfTrace,
  ) {
    const first = data.summary.time?.first
    const isPart = part?.first !== undefined && first !== undefined
    this.timeOffset = isPart ? Number(BigInt(first) - BigInt(part.first ?? 0)) : 0
  }

  /** Whether the trace has a figure: some depend on which block is freed, and not all traces say that. */
  isKnown(figure: string): boolean {
    return this.data.summary.identified || !/^(temporary|memray|lifetime|generations$)/.test(figure)
  }

  /** The function of a frame, or its substitute. */
  name(frame: number): string {
    return frame < 0 ? (frame === -1 ? '(all)' : '') : (this.data.frames[frame]?.name ?? '(unknown)')
  }

  /** The function of a frame in short, or its substitute, as pictures have it. */
  label(frame: number): string {
    const known = this.data.frames[frame]
    if (known === undefined) return this.name(frame)
    let label = this.labels.get(frame)
    if (label === undefined) {
      this.frameLabels ??= new FrameLabels(this.data.frames.filter(hasPath).map(namedFrameText), false)
      label = visible(this.frameLabels.name(this.stackText(frame)).replace(/^(?:in|at) /, ''))
      this.labels.set(frame, label)
    }
    return label
  }

  /** The file and the line of a frame, if they are known and not its name. */
  place(frame: number): string | undefined {
    const { name, file, line } = this.data.frames[frame] ?? { name: '' }
    if (file === undefined || name.startsWith(file)) return undefined
    return line === undefined ? file : `${file}:${line}`
  }

  /** The same without folders. */
  briefPlace(frame: number): string | undefined {
    const place = this.place(frame)
    return place === undefined ? undefined : visible(place.slice(place.lastIndexOf('/') + 1))
  }

  /** A frame in one line: `parse (parse.c:12)`. */
  text(frame: number): string {
    const known = this.texts[frame]
    if (known !== undefined) return known
    const place = this.place(frame)
    const text = place === undefined ? this.name(frame) : `${this.name(frame)} (${place})`
    if (frame >= 0) this.texts[frame] = text
    return text
  }

  /** A frame as the stacks of traces have it: `parse at parse.c:12`. */
  stackText(frame: number): string {
    const known = this.stackTexts[frame]
    if (known !== undefined) return known
    const text = namedFrameText(this.data.frames[frame] ?? { name: this.text(frame) })
    if (frame >= 0) this.stackTexts[frame] = text
    return text
  }

  /** The frames of a stack as text, the innermost first. */
  stack(frames: readonly number[]): string[] {
    return frames.map((frame) => (frame === -1 ? '(outer frames left out)' : this.text(frame)))
  }

  /** The stacks as a tree with one of the figures. */
  tree(metric: TreeMetric): FlameTree {
    let tree = this.trees.get(metric)
    if (tree === undefined) {
      const { parents, frames, [metric]: own } = this.data.tree
      tree = topDown(parents, frames, own.map(toNumber))
      this.trees.set(metric, tree)
    }
    return tree
  }

  /** Whether moments have times, of which some differ. */
  get isTimed(): boolean {
    return this.data.timeline.time !== undefined && Number(this.data.summary.time?.span ?? 0) > 0
  }

  /**
   * Whether times distinguish most moments. Some recorders write the time so rarely that short runs have one or two.
   */
  get isFinelyTimed(): boolean {
    const { time = [] } = this.data.timeline
    return new Set(time).size >= Math.min(FEW_TIMES, time.length / 2)
  }

  /** The unit of time, if the trace says it. */
  get unit(): string | undefined {
    return this.data.summary.time?.unit
  }

  /** The positions of moments on the x axis. Unknown times, and those that go backwards, have the previous position. */
  positions({ event, time }: Moments, axis: Axis): number[] {
    if (axis === 'event' || time === undefined) return event.map((at) => this.eventNumber(at))
    let last = 0
    return time.map((at) => (last = Math.max(last, at === null ? last : Number(at)))).map((at) => at + this.timeOffset)
  }

  /** The number that an event of this report has in the whole trace. */
  eventNumber(event: number): number {
    return this.part?.numberOf(event) ?? event
  }

  /** The number in this report of the last event up to one of the whole trace. */
  eventOf(number: number): number {
    let [low, high] = [0, this.data.summary.events]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.eventNumber(middle) <= number) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The begin of the x axis. @param first the first position on it */
  start(axis: Axis, first: number): number {
    const begin = axis === 'time' ? this.timeOffset : this.part === undefined ? 0 : this.eventNumber(1)
    return Math.min(begin, first)
  }
}
