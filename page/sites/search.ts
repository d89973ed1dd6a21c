import { el } from '../parts/dom.js'

/** A field for a regular expression. */
export interface Search {
  readonly element: HTMLElement
  readonly input: HTMLInputElement
  /** Says what was found. */
  say(text: string): void
}

/**
 * A field for a regular expression, ignoring case. While it is invalid, a message gives the reason, and the previous
 * results remain.
 * @param changed is called with the expression, or with undefined if the field is empty
 */
export function search(label: string, changed: (expression: RegExp | undefined) => void): Search {
  const message = el('output', { class: 'message', attributes: { 'aria-live': 'polite' } })
  const input = el('input', {
    attributes: { type: 'search', placeholder: 'regular expression', 'aria-label': label, spellcheck: 'false' },
    on: { input: apply },
  })
  function apply(): void {
    input.setCustomValidity('')
    message.className = 'message'
    message.textContent = ''
    input.removeAttribute('aria-invalid')
    try {
      changed(input.value === '' ? undefined : new RegExp(input.value, 'i'))
    } catch (error) {
      input.setAttribute('aria-invalid', 'true')
      message.className = 'message bad'
      message.textContent = `This is not a regular expression: ${reason(error)}`
    }
  }
  return {
    element: el('div', { class: 'search' }, el('label', { class: 'field' }, `${label} `, input), message),
    input,
    say(text) {
      message.textContent = text
    },
  }
}

/** The reason, without the expression that browsers put before it. */
function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.slice(text.lastIndexOf(': ') + (text.includes(': ') ? 2 : 0))
}
