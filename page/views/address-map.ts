import type { AddressRange, ReportAddresses } from '../../lib/transforms/report/result.js'
import type { App } from '../app.js'
import { atText, xAxis } from '../parts/axis.js'
import { shades } from '../parts/bars.js'
import { canvas, showTip } from '../parts/canvas.js'
import { el } from '../parts/dom.js'
import { takeAway } from '../parts/take.js'
import { colour } from '../parts/theme.js'
import { ticks } from '../parts/ticks.js'

const LEFT = 118
const BELOW = 36
/** The room for the half of an address above the first row. */
const ABOVE = 8
/** Between ranges of addresses, and above those of one owner, if the trace has several. */
const GAP = 6
const OWNER = 18
/** The least distance of two addresses beside the map. */
const LINE = 12

/** Addresses over time: the stronger the colour, the more bytes are live. */
export function addressMap(app: App, map: ReportAddresses['map']): HTMLElement {
  const { ranges, cells } = map
  const x = app.model.positions(map, app.axis)
  const axis = xAxis(app)
  const first = app.model.start(app.axis, x[0] ?? 0)
  const last = x.at(-1) ?? 1
  const count = cells.length
  const rowHeight = count > 160 ? 2 : count > 60 ? 3 : count > 24 ? 6 : 12
  const isOwned = map.small > 0 || ranges.some(({ owner }) => owner !== ranges[0]?.owner)
  const isLastOf = (range: number) => isOwned && ranges[range]?.owner !== ranges[range + 1]?.owner
  /** The height of the gaps below each range, and of all. */
  const gaps = [0]
  ranges.forEach((_, range) =>
    gaps.push((gaps[range] ?? 0) + (isLastOf(range) ? OWNER : range + 1 < ranges.length ? GAP : 0)),
  )
  const height = ABOVE + count * rowHeight + (gaps.at(-1) ?? 0) + BELOW
  /** The top of a row: the lowest address is at the bottom. */
  const top = (row: number) => {
    const range = ranges.findIndex((one) => row < one.row + one.rows)
    return height - BELOW - (row + 1) * rowHeight - (gaps[Math.max(0, range)] ?? 0)
  }
  const picture = canvas('live bytes by address and time', (context, width) => {
    const scale = (width - LEFT - 8) / (last - first || 1)
    const [accent, ground, text] = [colour('heat'), colour('line'), colour('muted')]
    const edge = (moment: number) => LEFT + ((moment < 0 ? first : x[moment]) - first) * scale
    context.font = '11px ui-monospace, monospace'
    let labelled = Infinity
    for (const [n, range] of ranges.entries()) {
      context.globalAlpha = 0.3
      context.fillStyle = ground
      const high = top(range.row + range.rows - 1)
      context.fillRect(LEFT, high, width - LEFT - 8, top(range.row) + rowHeight - high)
      context.globalAlpha = 1
      context.fillStyle = text
      if (isLastOf(n)) {
        context.textAlign = 'left'
        context.fillText(range.owner || 'other addresses', LEFT, high - 4)
      }
      context.textAlign = 'right'
      const low = top(range.row) + rowHeight
      if (labelled - low < LINE) continue
      labelled = low
      context.fillText(shortAddress(range.from), LEFT - 6, low)
      if (range.rows * rowHeight < 26) continue
      labelled = high + 9
      context.fillText(shortAddress(range.to), LEFT - 6, labelled)
    }
    context.fillStyle = accent
    cells.forEach((moments, row) => {
      const y = top(row)
      // Whole pixels, each in one colour, because neighbours that share one would be seen as a line.
      let right = 0
      for (let m = 0; m < moments.length; m++) {
        const part = moments[m]
        if (part === 0) continue
        const from = Math.max(right, Math.round(edge(m - 1)))
        right = Math.max(from + 1, Math.round(edge(m)))
        context.globalAlpha = strength(part / 1000)
        context.fillRect(from, y, right - from, rowHeight)
      }
    })
    context.globalAlpha = 1
    context.fillStyle = text
    const marks = Math.max(2, Math.floor((width - LEFT) / 130))
    const shown = ticks(first, last, marks, axis.quantity)
    shown.at.forEach((at, n) => {
      const x = LEFT + (at - first) * scale
      context.textAlign = n === 0 ? 'left' : x > width - 50 ? 'right' : 'center'
      context.fillText(shown.texts[n] ?? '', x, height - 22)
      context.fillRect(x, height - BELOW, 1, 4)
    })
    context.textAlign = 'center'
    context.fillText(axis.title, LEFT + (width - LEFT) / 2, height - 5)
  })
  const { element: surface } = picture
  surface.addEventListener('pointermove', (event) => {
    const { left, top: above, width } = surface.getBoundingClientRect()
    const y = event.clientY - above
    const at = first + ((event.clientX - left - LEFT) / (width - LEFT - 8)) * (last - first)
    const row = cells.findIndex((_, one) => y >= top(one) && y < top(one) + rowHeight)
    const moment = x.findIndex((one) => one >= at)
    const range = ranges.find((one) => row >= one.row && row < one.row + one.rows)
    const lines = range === undefined || moment < 0 || at < first ? undefined : tipLines(app, map, range, row, moment)
    showTip(lines, event.clientX, event.clientY)
  })
  surface.addEventListener('pointerleave', () => showTip(undefined))
  const box = el('div', { class: 'map' }, surface)
  box.style.height = `${height}px`
  const marks = [0.001, 0.01, 0.1, 0.5, 1]
  const saved = takeAway(() => picture.picture('addresses over time'))
  return el('div', {}, box, shades('0.1 % live', '100 % live', marks.map(strength)), saved)
}

/** The opacity of a part that is live: small parts can be seen, too. */
function strength(part: number): number {
  return 0.3 + 0.7 * Math.sqrt(part)
}

function tipLines(app: App, map: ReportAddresses['map'], range: AddressRange, row: number, moment: number): string[] {
  const size = BigInt(map.rowBytes)
  const from = BigInt(range.from) + BigInt(row - range.row) * size
  const part = map.cells[row]?.[moment] ?? 0
  const x = app.model.positions(map, app.axis)[moment] ?? 0
  return [
    `${(part / 10).toFixed(1)} % live`,
    `from 0x${from.toString(16)} to 0x${(from + size).toString(16)}`,
    ...(range.name === '' ? [] : [range.name]),
    `at ${atText(app, x)}`,
  ]
}

/** Long addresses without their middle. */
function shortAddress(address: string): string {
  return address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-6)}` : address
}
