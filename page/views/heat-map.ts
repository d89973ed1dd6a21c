import { HEAT_SIDE, heatCell, type HeatCells } from '../../lib/transforms/report/result.js'
import { shades } from '../parts/bars.js'
import { canvas, showTip } from '../parts/canvas.js'
import { el, isForBrowser } from '../parts/dom.js'
import { counted, grouped, short, withNoun } from '../parts/format.js'
import { takeAway } from '../parts/take.js'
import { colour } from '../parts/theme.js'

const LEFT = 64
const BELOW = 34
const TOP = 4
/** The space for the half of the last label that is wider than its column. */
const RIGHT = 14
/** The height of a row at least, and the number of rows that the title of the axis needs. */
const ROW = 17
const LEAST_ROWS = 6

/** A cell of the map: the numbers of bits of its sizes and lifetimes. */
export interface Cell {
  readonly size: number
  readonly lifetime: number
  readonly index: number
  readonly count: number
}

/** The map. */
export interface HeatMap {
  readonly element: HTMLElement
  /** Chooses no cell. */
  clear(): void
}

/** The values that have a number of bits: `0 bytes`, `1 byte`, `64–127 bytes`. */
export function bitsText(bits: number, noun: string): string {
  const text = bits < 2 ? String(bits) : `${grouped(2n ** BigInt(bits - 1))}–${grouped(2n ** BigInt(bits) - 1n)}`
  return withNoun(text, noun)
}

/** Blocks by size (to the right) and lifetime (upwards). @param chosen is called when the chosen cell changes */
export function heatMap(heat: HeatCells, chosen: (cell: Cell | undefined) => void): HeatMap {
  const counts = new Map<number, number>()
  for (let n = 0; n < heat.length; n += 2) counts.set(heat[n], heat[n + 1])
  const used = [...counts.keys()].map((index) => ({ size: Math.floor(index / HEAT_SIDE), lifetime: index % HEAT_SIDE }))
  const [sizes, lifetimes] = [range(used.map(({ size }) => size)), range(used.map(({ lifetime }) => lifetime))]
  const largest = Math.max(1, ...counts.values())
  let pick: { size: number; lifetime: number } | undefined
  let cursor = { size: sizes.from, lifetime: lifetimes.from }
  const says = el('output', { class: 'detail', attributes: { 'aria-live': 'polite' } })

  const cellAt = (size: number, lifetime: number): Cell => {
    const index = heatCell(size, lifetime)
    return { size, lifetime, index, count: counts.get(index) ?? 0 }
  }
  const lines = ({ size, lifetime, count }: Cell) => [
    counted(count, 'block'),
    `size: ${bitsText(size, 'byte')}`,
    `lifetime: ${bitsText(lifetime, 'event')}`,
  ]
  const picture = canvas(
    'heat map of sizes and lifetimes: arrow keys move, Enter chooses',
    (context, width, height) => {
      const [w, h] = [(width - LEFT - RIGHT) / sizes.count, (height - BELOW - TOP) / lifetimes.count]
      const [accent, text, line] = [colour('heat'), colour('muted'), colour('line')]
      context.font = '11px system-ui, sans-serif'
      const place = (size: number, lifetime: number) =>
        [LEFT + (size - sizes.from) * w, TOP + (lifetimes.to - lifetime) * h] as const
      for (const { size, lifetime } of grid()) {
        const [x, y] = place(size, lifetime)
        const { count } = cellAt(size, lifetime)
        context.globalAlpha = count === 0 ? 1 : 0.12 + 0.88 * (Math.log(count + 1) / Math.log(largest + 1))
        context.fillStyle = count === 0 ? line : accent
        if (count === 0) context.globalAlpha = 0.35
        context.fillRect(x, y, w - 1, h - 1)
      }
      context.globalAlpha = 1
      const frame = (at: { size: number; lifetime: number }, style: string) => {
        const [x, y] = place(at.size, at.lifetime)
        context.lineWidth = 2
        context.strokeStyle = style
        context.strokeRect(x, y, w - 1, h - 1)
      }
      if (document.activeElement === picture.element) frame(cursor, text)
      if (pick !== undefined) frame(pick, colour('text'))
      context.fillStyle = text
      context.textAlign = 'center'
      const every = Math.ceil(40 / w)
      for (let size = sizes.from; size <= sizes.to; size += every)
        context.fillText(start(size, true), LEFT + (size - sizes.from + 0.5) * w, height - BELOW + 14)
      context.fillText('size in bytes', LEFT + (width - LEFT - RIGHT) / 2, height - 4)
      context.textAlign = 'right'
      const rows = Math.ceil(14 / h)
      for (let lifetime = lifetimes.from; lifetime <= lifetimes.to; lifetime += rows)
        context.fillText(start(lifetime, false), LEFT - 5, TOP + (lifetimes.to - lifetime + 0.5) * h + 4)
      context.save()
      context.translate(10, TOP + (height - BELOW) / 2)
      context.rotate(-Math.PI / 2)
      context.textAlign = 'center'
      context.fillText('lifetime in events', 0, 0)
      context.restore()
    },
  )
  const { element: surface } = picture

  function* grid(): Generator<{ size: number; lifetime: number }> {
    for (let size = sizes.from; size <= sizes.to; size++)
      for (let lifetime = lifetimes.from; lifetime <= lifetimes.to; lifetime++) yield { size, lifetime }
  }

  function under(event: MouseEvent): Cell | undefined {
    const { left, top, width, height } = surface.getBoundingClientRect()
    const size = sizes.from + Math.floor(((event.clientX - left - LEFT) / (width - LEFT - RIGHT)) * sizes.count)
    const row = Math.floor(((event.clientY - top - TOP) / (height - BELOW - TOP)) * lifetimes.count)
    const lifetime = lifetimes.to - row
    const isInside = size >= sizes.from && size <= sizes.to && lifetime >= lifetimes.from && lifetime <= lifetimes.to
    return isInside ? cellAt(size, lifetime) : undefined
  }

  function choose(cell: Cell | undefined): void {
    const isSame = cell === undefined || (pick?.size === cell.size && pick.lifetime === cell.lifetime)
    pick = isSame || cell.count === 0 ? undefined : cell
    if (cell !== undefined) cursor = cell
    picture.redraw()
    chosen(pick === undefined ? undefined : cell)
  }

  surface.addEventListener('pointermove', (event) => {
    const cell = under(event)
    surface.style.cursor = cell === undefined || cell.count === 0 ? 'default' : 'pointer'
    showTip(cell === undefined ? undefined : lines(cell), event.clientX, event.clientY)
  })
  surface.addEventListener('pointerleave', () => showTip(undefined))
  surface.addEventListener('focus', picture.redraw)
  surface.addEventListener('blur', picture.redraw)
  surface.addEventListener('click', (event) => choose(under(event)))
  surface.addEventListener('keydown', (event) => {
    if (isForBrowser(event)) return
    const { size, lifetime } = cursor
    if (event.key === 'Enter' || event.key === ' ') choose(cellAt(size, lifetime))
    else if (event.key === 'Escape') choose(undefined)
    else {
      const [right, up] = MOVES[event.key] ?? [0, 0]
      if (right === 0 && up === 0) return
      cursor = {
        size: Math.max(sizes.from, Math.min(sizes.to, size + right)),
        lifetime: Math.max(lifetimes.from, Math.min(lifetimes.to, lifetime + up)),
      }
      says.textContent = lines(cellAt(cursor.size, cursor.lifetime)).join(', ')
      picture.redraw()
    }
    event.preventDefault()
  })
  const box = el('div', { class: 'heat' }, surface)
  box.style.height = `${TOP + BELOW + Math.max(LEAST_ROWS, lifetimes.count) * ROW}px`
  const legend = shades('1 block', counted(largest, 'block'), [0.12, 0.34, 0.56, 0.78, 1])
  const saved = takeAway(() => picture.picture('sizes and lifetimes'))
  return { element: el('div', {}, box, legend, saved, says), clear: () => choose(undefined) }
}

const MOVES: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}

function range(values: readonly number[]): { from: number; to: number; count: number } {
  const [from, to] = [Math.min(...values, HEAT_SIDE - 1), Math.max(...values, 0)]
  return from > to ? { from: 0, to: 0, count: 1 } : { from, to, count: to - from + 1 }
}

/** The smallest value that has a number of bits, in short. */
function start(bits: number, isBytes: boolean): string {
  const value = bits === 0 ? 0 : 2 ** (bits - 1)
  if (!isBytes) return short(value)
  const powers = ['', 'K', 'M', 'G', 'T', 'P', 'E']
  const power = value === 0 ? 0 : Math.floor(Math.log2(value) / 10)
  return `${value / 1024 ** power}${powers[power]}`
}
