import type { Target } from '../app.js'
import { button, el } from '../parts/dom.js'
import type { FrameRules } from './change-frames.js'
import { literal } from '../parts/text.js'

const RULES = [
  ['focus', 'Focus', 'only stacks with such a frame, from it on'],
  ['hide', 'Hide', 'leave such frames out; what they call belongs to their callers'],
  ['collapse', 'Collapse', 'give such frames what they call'],
] as const
type Rule = (typeof RULES)[number][0]
type Texts = Partial<Record<Rule, string>>

/** The fields that say which frames are shown. */
export interface RuleFields {
  readonly element: HTMLElement
  /** What is entered. */
  texts(): Texts
  /** Enters expressions, and returns them; invalid ones are reported, and have no effect. */
  set(target: Target): FrameRules
  /** Lets the buttons work on a function; without one, they cannot be used. */
  select(name: string | undefined): void
}

/** @param changed is called with the expressions when the reader changes them */
export function frameRules(changed: (texts: Texts) => void): RuleFields {
  const message = el('output', { class: 'message bad', attributes: { 'aria-live': 'polite' } })
  let selected: string | undefined
  const apply = () => changed(texts())
  const inputs = Object.fromEntries(
    RULES.map(([name, label, help]) => [
      name,
      el('input', {
        title: help,
        attributes: {
          type: 'search',
          placeholder: 'regular expression',
          'aria-label': `${label} frames`,
          spellcheck: 'false',
        },
        on: { change: apply },
      }),
    ]),
  ) as Record<Rule, HTMLInputElement>
  const buttons = RULES.map(([name, label, help]) =>
    button(
      `${label} this`,
      () => {
        if (selected === undefined) return
        const exactly = `^${literal(selected)}( \\(|$)`
        const before = inputs[name].value
        inputs[name].value = before === '' || name === 'focus' ? exactly : `${before}|${exactly}`
        apply()
      },
      { title: help, attributes: { disabled: '' } },
    ),
  )
  const clear = button('Show every frame', () => {
    for (const input of Object.values(inputs)) input.value = ''
    apply()
  })
  const element = el(
    'details',
    { class: 'rules' },
    el('summary', {}, 'Frames: focus, hide, collapse'),
    el(
      'div',
      { class: 'bar' },
      ...RULES.map(([name, label]) => el('label', { class: 'field' }, `${label} `, inputs[name])),
      ...buttons,
      clear,
      message,
    ),
  )
  function texts(): Texts {
    return Object.fromEntries(
      RULES.map(([name]) => [name, inputs[name].value]).filter(([, text]) => text !== ''),
    ) as Texts
  }
  return {
    element,
    texts,
    set(target) {
      message.textContent = ''
      const found: FrameRules = {}
      for (const [name, label] of RULES) {
        const text = target[name] ?? ''
        inputs[name].value = text
        if (text === '') continue
        element.open = true
        try {
          Object.assign(found, { [name]: new RegExp(text) })
        } catch {
          message.textContent = `${label}: this is not a regular expression`
        }
      }
      return found
    },
    select(name) {
      selected = name
      for (const one of buttons) one.disabled = name === undefined
    },
  }
}
