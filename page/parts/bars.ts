import { barPicture } from './chart-picture.js'
import { el, isForBrowser } from './dom.js'
import { takeAway } from './take.js'
import { showTip } from './canvas.js'
import { ticks, type Quantity } from './ticks.js'

/** A bar. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** The text of the bar beside the pointer, and for screen readers. */
  readonly lines: readonly string[]
}

/** What bars show. */
export interface BarOptions {
  /** For screen readers. */
  readonly label: string
  /** The titles of the axes. */
  readonly x: string
  readonly y: string
  /** What the bars count; blocks and the like if absent. */
  readonly quantity?: Quantity
  /** The name of a colour of the style sheet. */
  readonly colour?: string
}

/** The maximum number of labels. */
const MAX_LABELS = 16
/** The characters of labels, with a space after each, that have room where bars are 490 pixels wide: main.css. */
const ROOM = 80
/** The number of marks on the y axis, at most. */
const Y_MARKS = 4

/** Upright bars beside each other, with a scale on their left. */
export function bars(
  values: readonly Bar[],
  { label, x, y, quantity = { kind: 'count' }, colour = 'series-0' }: BarOptions,
): HTMLElement {
  const largest = Math.max(...values.map(({ value }) => value), 1)
  const longest = Math.max(...values.map(({ label: text }) => text.length), 0)
  const every = Math.ceil(values.length / Math.max(1, Math.min(MAX_LABELS, Math.floor(ROOM / (longest + 1)))))
  const { at, texts } = ticks(0, largest, Y_MARKS, quantity)
  const columns = values.map(({ label: text, value, lines }, n) => {
    const fill = el('div', { class: 'fill' })
    fill.style.height = `${(100 * value) / largest}%`
    fill.style.background = `var(--${colour})`
    fill.style.borderColor = `var(--${colour})`
    fill.classList.toggle('nothing', value === 0)
    return el(
      'div',
      {
        class: 'column',
        attributes: { role: 'listitem', 'aria-label': lines.join(', '), tabindex: n === 0 ? '0' : '-1' },
        on: {
          pointermove: (event) => showTip(lines, event.clientX, event.clientY),
          pointerleave: () => showTip(undefined),
          focus: (event) => {
            const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect()
            showTip(lines, left, top)
          },
          blur: () => showTip(undefined),
        },
      },
      el('div', { class: 'space' }, fill),
      el('div', { class: n % (4 * every) === 0 ? 'under' : 'under extra' }, n % every === 0 ? text : ''),
    )
  })
  const scale = el(
    'div',
    { class: 'scale', attributes: { 'aria-hidden': 'true' } },
    ...at.map((value, n) => {
      const mark = el('span', {}, texts[n] ?? '')
      mark.style.bottom = `${(100 * value) / largest}%`
      return mark
    }),
  )
  const list = el('div', { class: 'bars', attributes: { role: 'list', 'aria-label': label } }, ...columns)
  list.addEventListener('keydown', (event) => {
    if (isForBrowser(event)) return
    const from = columns.indexOf(event.target as HTMLDivElement)
    const to = columns[from + (event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0)]
    if (from < 0 || to === undefined || to === columns[from]) return
    event.preventDefault()
    columns[from].tabIndex = -1
    to.tabIndex = 0
    to.focus()
  })
  return el(
    'div',
    { class: 'graph' },
    el('div', { class: 'axis-title' }, y),
    el('div', { class: 'scaled' }, scale, list),
    el('div', { class: 'axis-title below' }, x),
    takeAway(() => barPicture(label, values, { x, y, quantity, colour })),
  )
}

/** A heading, a sentence that explains, and what belongs to them. */
export function block(title: string, explanation: string, ...parts: readonly (HTMLElement | undefined)[]): HTMLElement {
  return el('div', { class: 'block' }, el('h3', {}, title), el('p', { class: 'explain' }, explanation), ...parts)
}

/** A sentence shown instead of a missing part. */
export function none(text: string): HTMLElement {
  return el('p', { class: 'none' }, text)
}

/** The scale of a picture whose colour is stronger where there is more. @param from and to: what its ends mean */
export function shades(from: string, to: string, strengths: readonly number[]): HTMLElement {
  const steps = strengths.map((strength) => {
    const step = el('span', { class: 'shade' })
    step.style.opacity = String(strength)
    return step
  })
  return el(
    'div',
    { class: 'shades', attributes: { role: 'img', 'aria-label': `from ${from} to ${to}: the stronger, the more` } },
    el('span', {}, from),
    el('span', { class: 'ramp' }, ...steps),
    el('span', {}, to),
  )
}
