import { DETAILS, FrameLabels } from './frame-labels.js'
import type { OwnFrames } from './own-frames.js'

/** The subject of a row: a stack, the innermost frame first, or otherwise a text. */
export type RowSource = { readonly stack: readonly string[] } | { readonly text: string }

/** Options for the names of rows. */
export interface RowOptions {
  readonly own: OwnFrames
  /** The number of columns for a label; more are used only by rows that would otherwise be alike. */
  readonly width: number
  /** The maximum number of frames of a row. */
  readonly frames: number
  /** Whole names and paths. */
  readonly full?: boolean
  /** The text between a frame and its caller. Default: ` < `. */
  readonly next?: string
  /** Makes text safe for where it is shown. */
  readonly escape?: (text: string) => string
}

const NEXT = ' < '
/** Stands for frames that are left out. */
export const MORE = '...'

/** A row whose label is being made. */
interface Row {
  readonly stack: readonly string[]
  /** The index of the first frame that is not hidden. */
  readonly start: number
  /** The detail of each frame that has to be shown, by its index. */
  readonly needed: Map<number, number>
}

/** The label of a row. */
export interface RowParts {
  /** The frames, the innermost first; `MORE` for those that are left out. */
  readonly frames: readonly string[]
  /** Hidden frames that distinguish the row, the outermost first. */
  readonly via: readonly string[]
  /** It is a single frame, of which the end is enough. */
  readonly isCut?: boolean
}

/**
 * The labels of the rows of one table: the innermost frame of the program's own, and its callers, as many as fit:
 * `load at app.cpp:12 < main at app.cpp:40 < ...`. Rows that would be alike show the first frame in which they differ,
 * in as much detail as it takes, after `via` if it is hidden; rows of equal stacks are numbered.
 */
export function rowLabels(sources: readonly RowSource[], options: RowOptions): string[] {
  return rowParts(sources, options).map((parts) => labelOf(parts, options))
}

/** The parts of these labels. */
export function rowParts(sources: readonly RowSource[], options: RowOptions): RowParts[] {
  const escape = options.escape ?? ((text) => text)
  const rows = sources.map((source): Row | undefined =>
    'text' in source || source.stack.length === 0
      ? undefined
      : { stack: source.stack, start: options.own.start(source.stack), needed: new Map() },
  )
  const frames = new FrameLabels(
    rows.flatMap((row) => row?.stack ?? []),
    options.full === true,
  )
  const make = (index: number): RowParts => {
    const row = rows[index]
    const source = sources[index]
    if (row !== undefined) return partsOf(row, frames, options, escape)
    return { frames: ['text' in source ? escape(source.text) : ''], via: [] }
  }
  const parts = sources.map((_, index) => make(index))
  const labels = () => parts.map((one) => labelOf(one, options))
  for (let groups = alike(labels()); groups.length > 0; groups = alike(labels())) {
    for (const group of groups) {
      const some = group.flatMap((index) => rows[index] ?? [])
      if (distinguish(some, frames)) for (const index of group) parts[index] = make(index)
      else group.forEach((index, i) => (parts[index] = numbered(parts[index], i + 1)))
    }
  }
  return parts
}

function numbered({ frames, via }: RowParts, n: number): RowParts {
  return { frames: n === 1 ? frames : [...frames.slice(0, -1), `${frames.at(-1)} (${n})`], via }
}

/** The rows with the same label, if there are several. */
function alike(labels: readonly string[]): number[][] {
  const groups = new Map<string, number[]>()
  labels.forEach((label, index) => {
    const group = groups.get(label)
    if (group === undefined) groups.set(label, [index])
    else group.push(index)
  })
  return [...groups.values()].filter((group) => group.length > 1)
}

/** Makes rows show the next thing in which some of them differ; false if there is none. */
function distinguish(rows: readonly Row[], frames: FrameLabels): boolean {
  const [first] = rows
  if (first === undefined || rows.length < 2) return false
  const longest = rows.reduce((most, { stack, start }) => Math.max(most, stack.length - start), 0)
  const deepest = rows.reduce((most, { start }) => Math.max(most, start), 0)
  // From the first visible frame outwards, and then the hidden ones inwards.
  const places = [...Array.from({ length: longest }, (_, i) => i), ...Array.from({ length: deepest }, (_, i) => -1 - i)]
  for (let detail = 0; detail < DETAILS; detail++) {
    for (const place of places) {
      const at = ({ stack, start }: Row) => stack[start + place]
      if (rows.every((row) => at(row) === at(first))) continue
      const shown = ({ needed, start }: Row) => needed.get(start + place) ?? -1
      if (rows.every((row) => shown(row) >= detail || at(row) === undefined)) continue
      const text = (row: Row) => {
        const frame = at(row)
        return frame === undefined ? undefined : frames.text(frame, detail)
      }
      if (rows.every((row) => text(row) === text(first))) continue
      for (const row of rows) if (at(row) !== undefined) row.needed.set(row.start + place, Math.max(detail, shown(row)))
      return true
    }
  }
  return false
}

function partsOf(
  { stack, start, needed }: Row,
  frames: FrameLabels,
  options: RowOptions,
  escape: (text: string) => string,
): RowParts {
  if (needed.size === 0) return plainParts(stack, start, frames, options, escape)
  const shown = new Map<number, string>()
  const show = (index: number) => {
    const text = escape(frames.text(stack[index], needed.get(index) ?? 0))
    shown.set(index, text)
    return text
  }
  for (const index of needed.keys()) show(index)
  if (!shown.has(start)) show(start)
  const isLonger = (parts: RowParts) => joined(parts, options.next).length > options.width
  let parts = shownParts(shown, start, stack.length)
  for (let index = start + 1, n = shown.size; index < stack.length && n < options.frames; index++) {
    if (shown.has(index)) continue
    n++
    show(index)
    let longer = shownParts(shown, start, stack.length)
    if (isLonger(longer)) {
      // A caller whose place does not fit is a name.
      shown.set(index, escape(frames.name(stack[index])))
      longer = shownParts(shown, start, stack.length)
    }
    if (isLonger(longer)) break
    parts = longer
  }
  return parts
}

/** The same for most rows: the first frame, and callers while they fit. */
function plainParts(
  stack: readonly string[],
  start: number,
  frames: FrameLabels,
  { width, frames: most, next = NEXT }: RowOptions,
  escape: (text: string) => string,
): RowParts {
  const first = escape(frames.text(stack[start], 0))
  /** The additional length of a row with the frames before an index: a mark, if it is not all frames. */
  const rest = (index: number) => (index < stack.length ? next.length + MORE.length : 0)
  let length = first.length
  if (length + rest(start + 1) > width) {
    const text = length > width ? escape(frames.brief(stack[start])) : first
    return { frames: [text], via: [], isCut: true }
  }
  const texts = [first]
  let index = start + 1
  for (; index < stack.length && texts.length < most; index++) {
    const isLonger = (text: string) => length + next.length + text.length + rest(index + 1) > width
    let text = escape(frames.text(stack[index], 0))
    // A caller whose place does not fit is a name.
    if (isLonger(text)) text = escape(frames.name(stack[index]))
    if (isLonger(text)) break
    texts.push(text)
    length += next.length + text.length
  }
  if (index < stack.length) texts.push(MORE)
  return { frames: texts, via: [] }
}

/** The texts of frames in their order, with a mark where some are left out. */
function shownParts(shown: ReadonlyMap<number, string>, start: number, length: number): RowParts {
  const indexes = [...shown.keys()].toSorted((a, b) => a - b)
  const hidden = indexes.filter((index) => index < start).map((index) => shown.get(index) as string)
  const frames: string[] = []
  let next = start
  for (const index of indexes.filter((one) => one >= start)) {
    if (index > next) frames.push(MORE)
    frames.push(shown.get(index) as string)
    next = index + 1
  }
  if (next < length) frames.push(MORE)
  return { frames, via: hidden.toReversed() }
}

function joined({ frames, via }: RowParts, next = NEXT): string {
  return frames.join(next) + (via.length > 0 ? `, via ${via.join(next)}` : '')
}

/** A single frame that is too long loses the beginning of its name, because what comes last says most. */
function labelOf(parts: RowParts, { width, next }: RowOptions): string {
  const label = joined(parts, next)
  const isCut = parts.isCut === true && label.length > width
  return isCut ? `${MORE}${label.slice(MORE.length - width)}` : label
}
