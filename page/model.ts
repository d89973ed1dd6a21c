import type { Moments, ReportData, TreeMetric } from '../lib/transforms/report/result.js'
import { toNumber } from './parts/format.js'
import { topDown, type FlameTree } from './flame/tree.js'

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

/** The data of a report, and what several views derive from it. */
export class Model {
  private readonly trees = new Map<TreeMetric, FlameTree>()

  constructor(readonly data: ReportData) {}

  /** Whether the trace has a figure: some depend on which block is freed, and not all traces say that. */
  isKnown(figure: string): boolean {
    return this.data.summary.identified || !/^(temporary|memray|lifetime|generations$)/.test(figure)
  }

  /** The function of a frame, or its substitute. */
  name(frame: number): string {
    return frame < 0 ? (frame === -1 ? '(all)' : '') : (this.data.frames[frame]?.name ?? '(unknown)')
  }

  /** The file and the line of a frame, if they are known and not its name. */
  place(frame: number): string | undefined {
    const { name, file, line } = this.data.frames[frame] ?? { name: '' }
    if (file === undefined || name.startsWith(file)) return undefined
    return line === undefined ? file : `${file}:${line}`
  }

  /** A frame in one line: `parse (parse.c:12)`. */
  text(frame: number): string {
    const place = this.place(frame)
    return place === undefined ? this.name(frame) : `${this.name(frame)} (${place})`
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

  /** Whether moments have times. */
  get isTimed(): boolean {
    return this.data.timeline.time !== undefined
  }

  /** The unit of time, if the trace says it. */
  get unit(): string | undefined {
    return this.data.summary.time?.unit
  }

  /** The positions of moments on the x axis. Unknown times, and those that go backwards, have the previous position. */
  positions({ event, time }: Moments, axis: Axis): number[] {
    if (axis === 'event' || time === undefined) return event
    let last = 0
    return time.map((at) => (last = Math.max(last, at === null ? last : Number(at))))
  }
}
