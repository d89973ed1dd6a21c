import { el } from './dom.js'
import { showTip } from './canvas.js'

/** A bar, of which a part may be filled, as the remainder of a whole. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** The text of the bar beside the pointer, and for screen readers. */
  readonly lines: readonly string[]
}

/** The maximum number of bars that all have labels. */
const MAX_LABELS = 16

/** Upright bars beside each other. @param label for screen readers */
export function bars(label: string, values: readonly Bar[], colour = 'series-0'): HTMLElement {
  const largest = Math.max(...values.map(({ value }) => value), 1)
  const every = Math.ceil(values.length / MAX_LABELS)
  const columns = values.map(({ label: text, value, lines }, n) => {
    const fill = el('div', { class: 'fill' })
    fill.style.height = `${(100 * value) / largest}%`
    fill.style.background = `var(--${colour})`
    fill.classList.toggle('nothing', value === 0)
    return el(
      'div',
      {
        class: 'column',
        attributes: { role: 'listitem', 'aria-label': lines.join(', ') },
        on: {
          pointermove: (event) => showTip(lines, event.clientX, event.clientY),
          pointerleave: () => showTip(undefined),
        },
      },
      el('div', { class: 'space' }, fill),
      el('div', { class: n % (4 * every) === 0 ? 'under' : 'under extra' }, n % every === 0 ? text : ''),
    )
  })
  return el('div', { class: 'bars', attributes: { role: 'list', 'aria-label': label } }, ...columns)
}

/** A heading, a sentence that explains, and what belongs to them. */
export function block(title: string, explanation: string, ...parts: readonly (HTMLElement | undefined)[]): HTMLElement {
  return el('div', { class: 'block' }, el('h3', {}, title), el('p', { class: 'explain' }, explanation), ...parts)
}

/** A sentence shown instead of a missing part. */
export function none(text: string): HTMLElement {
  return el('p', { class: 'none' }, text)
}
