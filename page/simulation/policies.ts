import { COMPARED, optionsOf, type ComparedColumn, type SimulationFigures } from '../../lib/exports/simulation/data.js'
import { el } from '../parts/dom.js'
import { bytes, exactBytes, rounded, share } from '../parts/format.js'
import { table, type Column } from '../parts/table.js'
import type { Line } from './lines.js'

/** The table of policies. A box in each row says whether the curves have it. */
export function policyTable(
  lines: readonly Line[],
  drawn: ReadonlySet<Line>,
  toggle: (line: Line, isDrawn: boolean) => void,
): HTMLElement {
  const { element, set } = table<Line>(
    [
      { title: 'Drawn', help: 'whether the charts have the policy', isPicture: true, cell: (line) => box(line) },
      {
        title: 'Policy',
        isText: true,
        key: ({ title }) => title,
        cell: ({ title, figures }) =>
          el('bdi', { class: 'strong', title: figures === undefined ? '' : optionsOf(figures) }, title),
      },
      ...COMPARED.map(columnOf),
    ],
    { label: 'policies', empty: 'There are no policies.' },
  )
  set(lines)
  return element

  function box(line: Line): HTMLElement {
    const input = el('input', {
      attributes: {
        type: 'checkbox',
        'aria-label': `draw ${line.title}`,
        ...(line.figures === undefined && { disabled: '' }),
      },
      on: { change: () => toggle(line, input.checked) },
    })
    input.checked = drawn.has(line)
    const swatch = el('span', { class: line.isDashed ? 'swatch dashed' : 'swatch' })
    swatch.style.borderColor = `var(--${line.colour})`
    return el('span', {}, input, swatch)
  }
}

function columnOf({ title, help, unit, of }: ComparedColumn): Column<Line> {
  const value = ({ figures }: Line) => (figures === undefined ? null : of(figures))
  const shown = (figure: number) =>
    unit === 'bytes' ? bytes(figure) : unit === 'part' ? share(figure, 1) : rounded(figure)
  return {
    title: `${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    help,
    key: (line) => value(line) ?? -1,
    cell: (line) => {
      const figure = value(line)
      return figure === null ? '–' : shown(figure)
    },
    ...(unit === 'bytes' && {
      exact: (line: Line) => {
        const figure = value(line)
        return figure === null ? undefined : exactBytes(figure)
      },
    }),
  }
}

/** What was live at the peak, and which policy needs the least, in words. */
export function leadOf(
  lines: readonly Line[],
  counted: (live: NonNullable<SimulationFigures['mostLive']>) => string,
): string {
  const known = lines.flatMap(({ title, figures }) => (figures?.largestHeap ? [{ title, figures }] : []))
  const live = known[0]?.figures.mostLive
  if (live === undefined || live === null) return 'The trace has no blocks.'
  const heapOf = ({ figures }: (typeof known)[number]) => figures.largestHeap?.heap ?? Infinity
  // The lower bound is no policy that an allocator could have.
  const [least] = known.filter(({ title }) => title !== 'ideal').toSorted((a, b) => heapOf(a) - heapOf(b))
  const begin = `${counted(live)} at the peak.`
  if (least === undefined || known.length < 2) return begin
  return `${begin} The smallest heap is that of ${least.title}: ${bytes(heapOf(least))} at most.`
}
