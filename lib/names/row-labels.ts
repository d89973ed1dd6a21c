import { DETAILS, FrameLabels } from './frame-labels.js'
import type { OwnFrames } from './own-frames.js'

/** What a row stands for: a stack, the innermost frame first, or else a text. */
export type RowSource = { readonly stack: readonly string[] } | { readonly text: string }

/** How rows are named. */
export interface RowOptions {
  readonly own: OwnFrames
  /** The number of columns for a label; more are used only by rows that would otherwise be alike. */
  readonly width: number
  /** The most frames of a row. */
  readonly frames: number
  /** Whole names and paths. */
  readonly full?: boolean
  /** Makes text safe for where it is shown. */
  readonly escape?: (text: string) => string
}

const NEXT = ' < '
const MORE = '...'

/** A row whose label is being made. */
interface Row {
  readonly stack: readonly string[]
  /** The index of the first frame that is not hidden. */
  readonly start: number
  /** The detail of each frame that has to be shown, by its index. */
  readonly needed: Map<number, number>
}

/**
 * The labels of the rows of one table: the innermost frame of the program's own, and its callers, as many as fit:
 * `load at app.cpp:12 < main at app.cpp:40 < ...`. Rows that would be alike show the first frame in which they differ,
 * in as much detail as it takes, after `via` if it is hidden; rows of equal stacks are numbered.
 */
export function rowLabels(sources: readonly RowSource[], options: RowOptions): string[] {
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
  const label = (index: number) => {
    const row = rows[index]
    const source = sources[index] as RowSource
    return row === undefined ? escape('text' in source ? source.text : '') : rowText(row, frames, options, escape)
  }
  const labels = sources.map((_, index) => label(index))
  for (let groups = alike(labels); groups.length > 0; groups = alike(labels)) {
    for (const group of groups) {
      const some = group.flatMap((index) => rows[index] ?? [])
      if (distinguish(some, frames)) for (const index of group) labels[index] = label(index)
      else group.forEach((index, i) => (labels[index] += i === 0 ? '' : ` (${i + 1})`))
    }
  }
  return labels
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
  const longest = Math.max(...rows.map(({ stack, start }) => stack.length - start))
  const deepest = Math.max(...rows.map(({ start }) => start))
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

function rowText(
  { stack, start, needed }: Row,
  frames: FrameLabels,
  options: RowOptions,
  escape: (text: string) => string,
): string {
  const shown = new Map<number, string>()
  const show = (index: number) => {
    const text = escape(frames.text(stack[index] as string, needed.get(index) ?? 0))
    shown.set(index, text)
    return text
  }
  for (const index of needed.keys()) show(index)
  if (!shown.has(start)) show(start)
  const whole = joined(shown, start, stack.length)
  if (whole.length > options.width && needed.size === 0) return fitted(whole, options.width)
  let text = whole
  for (let index = start + 1, n = shown.size; index < stack.length && n < options.frames; index++) {
    if (shown.has(index)) continue
    n++
    show(index)
    let longer = joined(shown, start, stack.length)
    if (longer.length > options.width) {
      // A caller whose place does not fit is a name.
      shown.set(index, escape(frames.name(stack[index] as string)))
      longer = joined(shown, start, stack.length)
    }
    if (longer.length > options.width) break
    text = longer
  }
  return text
}

/** The texts of frames in their order, with a mark where some are left out, and hidden ones at the end. */
function joined(shown: ReadonlyMap<number, string>, start: number, length: number): string {
  const indexes = [...shown.keys()].toSorted((a, b) => a - b)
  const visible = indexes.filter((index) => index >= start)
  const hidden = indexes.filter((index) => index < start).map((index) => shown.get(index))
  const parts: string[] = []
  let next = start
  for (const index of visible) {
    if (index > next) parts.push(MORE)
    parts.push(shown.get(index) as string)
    next = index + 1
  }
  if (next < length) parts.push(MORE)
  return parts.join(NEXT) + (hidden.length > 0 ? `, via ${hidden.toReversed().join(NEXT)}` : '')
}

/** A label that is too long: it loses the mark, or the beginning of its first name, because what comes last says most. */
function fitted(label: string, width: number): string {
  const text = label.endsWith(NEXT + MORE) ? label.slice(0, -(NEXT + MORE).length) : label
  return text.length <= width ? text : `${MORE}${text.slice(MORE.length - width)}`
}
