import { canvas, PRINTED, showTip } from '../parts/canvas.js'
import { el, isForBrowser } from '../parts/dom.js'
import type { Brush } from '../parts/svg-context.js'
import { takeAway } from '../parts/take.js'
import { PAPER_WIDTH } from '../parts/paper.js'
import { fill } from './boxes.js'
import { fittingBoth, fittingPlace } from './fitting.js'
import { colour, isDark } from '../parts/theme.js'
import { neighbour } from './keys.js'
import { boxAt, layOut, matched, pathTo, type Box, type FlameTree } from './tree.js'

const ROW = 20
/** The minimum width of boxes that are drawn, in pixels. */
const LEAST = 0.4
/** Narrower boxes have no text. */
const TEXT = 26
/** On paper: rows of one picture, and pixels of a CSS pixel. */
const PAPER_ROWS = 25
const PAPER_RATIO = 2
const FONT = '12px system-ui, sans-serif'

/** The picture of a tree. */
export interface Graph {
  readonly element: HTMLElement
  /** Draws another tree, with a node at full width. */
  set(tree: FlameTree, focus?: number): void
  /** Gives a node the whole width, and selects it. */
  zoom(node: number): void
  /** Marks the frames that match, and returns the sum of their figures; 0 if there is nothing to match. */
  mark(matches: ((frame: number) => boolean) | undefined): number
  focus(): void
  /** The frames of the selected node and its callers, the innermost first, one on each line. */
  stack(): string
}

/** The properties of nodes that the picture needs. */
export interface GraphTexts {
  readonly name: (node: number) => string
  /** The name in its box. */
  readonly label: (node: number) => string
  /** Its file and line, which follow where there is room. */
  readonly place?: (node: number) => string | undefined
  /** What stands before it: a mark, and a number. */
  readonly amount?: (node: number) => string
  /** The colour of its box, if not one of its name. */
  readonly fill?: (node: number, isDark: boolean) => string
  /** The text shown beside the pointer, and for the selected node. */
  readonly lines: (node: number) => string[]
  /** Called when another node is selected or zoomed to. */
  readonly selected: (node: number, focus: number) => void
}

/** A flame graph, with the root at the top. Only what is within view is painted. */
export function graph({ name, label, place, amount, lines, selected, fill: fillOf }: GraphTexts): Graph {
  let tree: FlameTree = { parents: [-1], frames: [-1], own: [0], totals: [0], children: () => [] }
  let rows: Box[][] = []
  let focus = 0
  let current = 0
  let matches: ((frame: number) => boolean) | undefined
  const picture = canvas('flame graph', draw)
  const { element: surface } = picture
  surface.setAttribute('role', 'application')
  const height = el('div', { class: 'flame-height' }, surface)
  const scroller = el('div', { class: 'flame' }, height)
  scroller.addEventListener('scroll', picture.redraw)

  function arrange(): void {
    const width = surface.clientWidth || 1000
    rows = layOut(tree, focus, LEAST / width)
    height.style.height = `${rows.length * ROW + 2}px`
    picture.redraw()
  }
  new ResizeObserver(arrange).observe(scroller)
  // A page breaks between pictures, not within one.
  const printed = el('div', { class: 'printed' })
  scroller.append(printed)
  surface.addEventListener(PRINTED, () => {
    rows = layOut(tree, focus, LEAST / PAPER_WIDTH)
    const pieces: HTMLElement[] = []
    for (let row = 0; row < rows.length; row += PAPER_ROWS) {
      const count = Math.min(PAPER_ROWS, rows.length - row)
      const piece = el('canvas', { attributes: { role: 'img', 'aria-label': 'flame graph' } })
      piece.width = PAPER_WIDTH * PAPER_RATIO
      piece.height = count * ROW * PAPER_RATIO
      piece.style.width = `${PAPER_WIDTH}px`
      const context = piece.getContext('2d') as CanvasRenderingContext2D
      context.scale(PAPER_RATIO, PAPER_RATIO)
      paint(context, PAPER_WIDTH, count * ROW, row * ROW)
      pieces.push(piece)
    }
    printed.replaceChildren(...pieces)
    arrange()
  })

  function draw(context: Brush, width: number, space: number): void {
    paint(context, width, space, scroller.scrollTop)
  }

  function paint(context: Brush, width: number, space: number, top: number): void {
    context.font = FONT
    context.textBaseline = 'middle'
    const dark = isDark()
    const [text, edge, mark, faded] = ['flame-text', 'surface', 'accent', 'muted'].map(colour) as [
      string,
      string,
      string,
      string,
    ]
    const first = Math.floor(top / ROW)
    const last = Math.min(rows.length, Math.ceil((top + space) / ROW))
    const focusRow = pathTo(tree, focus).length - 1
    for (let row = first; row < last; row++) {
      for (const box of rows[row]) {
        const left = box.from * width
        const wide = (box.to - box.from) * width
        const y = row * ROW - top
        const frame = tree.frames[box.node]
        const isMarked = matches !== undefined && frame >= 0 && matches(frame)
        context.globalAlpha = row < focusRow ? 0.55 : 1
        context.fillStyle = isMarked
          ? mark
          : (fillOf?.(box.node, dark) ?? fill(name(box.node), dark, matches !== undefined))
        context.fillRect(left, y, Math.max(LEAST, wide - (wide > 3 ? 1 : 0)), ROW - 1)
        if (box.node === current) {
          context.globalAlpha = 1
          context.lineWidth = 2
          context.strokeStyle = text
          context.strokeRect(left + 1, y + 1, Math.max(1, wide - 3), ROW - 3)
        }
        if (wide < TEXT) continue
        context.fillStyle = isMarked ? edge : matches === undefined ? text : faded
        const [named, room] = [label(box.node), wide - 8]
        const shown =
          amount === undefined
            ? fittingPlace(context, named, place?.(box.node), room)
            : fittingBoth(context, amount(box.node), named, room)
        context.fillText(shown, left + 4, y + ROW / 2)
      }
    }
    context.globalAlpha = 1
  }

  function under(event: MouseEvent): number | undefined {
    const { left, top, width } = surface.getBoundingClientRect()
    const row = Math.floor((event.clientY - top + scroller.scrollTop) / ROW)
    return boxAt(rows, row, (event.clientX - left) / width)?.node
  }

  function select(node: number, isZoom: boolean): void {
    current = node
    if (isZoom) focus = node
    const row = pathTo(tree, node).length - 1
    if (isZoom) arrange()
    const [above, below] = [row * ROW, (row + 2) * ROW - scroller.clientHeight]
    if (scroller.scrollTop > above || scroller.scrollTop < below)
      scroller.scrollTop = Math.max(0, above - scroller.clientHeight / 3)
    picture.redraw()
    selected(current, focus)
  }

  surface.addEventListener('click', (event) => {
    const node = under(event)
    if (node !== undefined) select(node, true)
  })
  surface.addEventListener('pointermove', (event) => {
    const node = under(event)
    surface.style.cursor = node === undefined ? 'default' : 'pointer'
    showTip(node === undefined ? undefined : lines(node), event.clientX, event.clientY)
  })
  surface.addEventListener('pointerleave', () => showTip(undefined))
  surface.addEventListener('keydown', (event) => {
    if (isForBrowser(event)) return
    if (event.key.startsWith('Arrow')) select(neighbour(tree, rows, current, event.key), false)
    else if (event.key === 'Enter' || event.key === ' ') select(current, true)
    else if (event.key === 'Escape' || event.key === 'Home') select(0, true)
    else if (event.key === 'Backspace') select(Math.max(0, tree.parents[focus]), true)
    else return
    event.preventDefault()
  })

  const box = el(
    'div',
    {},
    scroller,
    takeAway(() => ({
      title: 'flame graph',
      width: Math.max(600, surface.clientWidth),
      height: rows.length * ROW,
      draw: (brush) => paint(brush, Math.max(600, surface.clientWidth), rows.length * ROW, 0),
    })),
  )
  return {
    element: box,
    set(next, node = 0) {
      tree = next
      scroller.scrollTop = 0
      select(node, true)
    },
    zoom: (node) => select(node, true),
    mark(next) {
      matches = next
      picture.redraw()
      return next === undefined ? 0 : matched(tree, next)
    },
    focus: () => surface.focus(),
    stack: () => pathTo(tree, current).slice(1).toReversed().map(name).join('\n'),
  }
}
