import { shortFrame } from '../../event/frame.js'
import { FrameLabels } from '../../names/frame-labels.js'
import type { OwnFrames } from '../../names/own-frames.js'
import { NOTHING, plus } from '../../transforms/statistics/amounts.js'
import type { Amount } from '../../transforms/statistics/result.js'
import { descending } from '../../transforms/statistics/site-table.js'
import { absolute, counted, visible } from './columns.js'

/**
 * The maximum number of callers of a frame with separate lines, of levels at which callers divide, and of lines of a
 * row.
 */
const CALLERS = 4
const LEVELS = 6
const LINES = 16
/** A line has at least this many columns for its frames, however deep it is. */
const LEAST_FRAMES = 24

/** Stacks whose innermost frame of the program's own is the same place. */
export interface FrameGroup<Item> {
  /** That frame as the first of them has it; undefined for an item without a stack, which is alone. */
  readonly frame: string | undefined
  readonly items: readonly Item[]
}

/** Groups items by the innermost frame of the program's own, in order of first use. */
export function byOwnFrame<Item>(
  items: readonly Item[],
  stackOf: (item: Item) => readonly string[] | undefined,
  own: OwnFrames,
): FrameGroup<Item>[] {
  const found = new Map<string, { frame: string; items: Item[] }>()
  const groups: FrameGroup<Item>[] = []
  for (const item of items) {
    const stack = stackOf(item) ?? []
    const frame = stack[own.start(stack)]
    const group = frame === undefined ? undefined : found.get(shortFrame(frame))
    if (group !== undefined) {
      group.items.push(item)
      continue
    }
    const added = { frame, items: [item] }
    groups.push(added)
    if (frame !== undefined) found.set(shortFrame(frame), { frame, items: added.items })
  }
  return groups
}

/** What the lines of callers show. */
interface CallerOptions<Item> {
  readonly own: OwnFrames
  /** Whole names and paths. */
  readonly full: boolean
  readonly stackOf: (item: Item) => readonly string[] | undefined
  readonly amountOf: (item: Item) => Amount
  /** `1,200 bytes in 3 blocks` */
  readonly show: (amount: Amount) => string
  /** Whether an item has lines; each has, if absent. Callers of no other items are not shown. */
  readonly isShown?: (item: Item) => boolean
}

/** Items by the caller of a frame, with their sum. */
interface Branch<Item> {
  /** Undefined where stacks end. */
  readonly frame: string | undefined
  readonly items: Item[]
  readonly sum: Amount
}

/**
 * The callers of the frame that a group of stacks begins with, as lines: those with the most bytes first, and deeper
 * ones below them where they differ.
 */
export class CallerTree<Item> {
  private readonly labels: FrameLabels

  /** @param items all items of the table, whose paths lose what they have in common */
  constructor(
    items: readonly Item[],
    private readonly options: CallerOptions<Item>,
  ) {
    this.labels = new FrameLabels(framesOf(items, options.stackOf), options.full)
  }

  /** The lines below a row. @param width their columns */
  lines({ frame, items }: FrameGroup<Item>, width: number): string[] {
    if (frame === undefined) return []
    const lines: string[] = []
    const { isShown } = this.options
    this.branch(isShown === undefined ? items : items.filter(isShown), 1, 0, width, lines)
    if (lines.length <= LINES) return lines
    return [...lines.slice(0, LINES), '...']
  }

  /** Adds the lines of the callers at a depth of the stacks, counted from the program's own frame. */
  private branch(items: readonly Item[], depth: number, level: number, width: number, lines: string[]): void {
    const all = this.branches(items, depth)
    const branches = all.filter(({ frame }) => frame !== undefined)
    const indent = '  '.repeat(level)
    const room = Math.max(LEAST_FRAMES, width - indent.length)
    for (const { frame, items: some, sum } of branches.slice(0, CALLERS)) {
      // Callers that all of these stacks have in common are in one line.
      const chain = [frame as string, ...this.common(some, depth + 1)]
      const at = depth + chain.length
      lines.push(`${indent}${this.line(this.options.show(sum), chain, room)}`)
      if (level + 1 < LEVELS && lines.length <= LINES) this.branch(some, at, level + 1, width, lines)
    }
    const rest = branches.slice(CALLERS)
    if (rest.length === 0) return
    const sum = rest.map((one) => one.sum).reduce(plus, NOTHING)
    lines.push(`${indent}${this.options.show(sum)}: ${counted(rest.length, 'more caller')}`)
  }

  /** The frames that all stacks have in common from a depth on, as the first one has them. */
  private common(items: readonly Item[], depth: number): string[] {
    const { stackOf, own } = this.options
    let common: string[] | undefined
    for (const item of items) {
      const stack = stackOf(item) ?? []
      const from = own.start(stack) + depth
      if (common === undefined) {
        common = stack.slice(from)
        continue
      }
      const differs = common.findIndex((frame, i) => !isSame(frame, stack[from + i]))
      if (differs >= 0) common.length = differs
    }
    return common ?? []
  }

  private branches(items: readonly Item[], depth: number): Branch<Item>[] {
    const { stackOf, own, amountOf } = this.options
    const found = new Map<string, { frame: string | undefined; items: Item[] }>()
    for (const item of items) {
      const stack = stackOf(item) ?? []
      const frame = stack[own.start(stack) + depth]
      const key = frame === undefined ? '' : shortFrame(frame)
      const one = found.get(key)
      if (one === undefined) found.set(key, { frame, items: [item] })
      else one.items.push(item)
    }
    return [...found.values()]
      .map((one) => ({ ...one, sum: one.items.map(amountOf).reduce(plus, NOTHING) }))
      .toSorted((a, b) => descending(absolute(a.sum.bytes), absolute(b.sum.bytes)) || b.sum.blocks - a.sum.blocks)
  }

  /** A line with as many callers as fit, one at least. */
  private line(amount: string, chain: readonly string[], room: number): string {
    const texts = chain.map((frame) => visible(this.labels.text(frame, 0)))
    const whole = `${amount}: ${texts.join(' < ')}`
    if (whole.length <= room) return whole
    let line = `${amount}: ${texts[0]}`
    for (const text of texts.slice(1)) {
      if (`${line} < ${text} < ...`.length > room) return `${line} < ...`
      line += ` < ${text}`
    }
    return line
  }
}

function* framesOf<Item>(items: readonly Item[], stackOf: CallerOptions<Item>['stackOf']): Generator<string> {
  for (const item of items) yield* stackOf(item) ?? []
}

/** Whether two frames are one place of callers. */
function isSame(frame: string, other: string | undefined): boolean {
  return frame === other || (other !== undefined && shortFrame(frame) === shortFrame(other))
}
