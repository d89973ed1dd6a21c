import type { ReportData } from '../../lib/transforms/report/result.js'
import { el } from '../parts/dom.js'
import type { Criterion } from '../worker/messages.js'
import { inNumbers } from './times.js'
import { FIELDS, SWITCHES, type Field } from './fields.js'

/** The fields for criteria. */
export interface CriteriaForm {
  readonly elements: readonly HTMLElement[]
  /** The criteria that are entered; none if all fields are empty. */
  read(): Criterion[]
  /** Enters the values of some fields; those of others remain. */
  enter(criteria: readonly Criterion[]): void
  clear(): void
  /** Enters these criteria, and nothing else. */
  restore(criteria: readonly Criterion[]): void
}

/** @param whole the report of the whole trace, by which fields are omitted that no event can meet */
export function criteriaForm(whole: ReportData): CriteriaForm {
  const { time } = whole.summary
  const fields = FIELDS.filter(({ has }) => has?.(whole) ?? true)
  const inputs = new Map(fields.map((field) => [field.flag, input(field)]))
  const kinds = Object.keys(whole.summary.kinds).map((kind) => [kind, checkbox(`kind-${kind}`)] as const)
  const switches = SWITCHES.map((one) => ({ ...one, box: checkbox(one.flag) }))
  const clear = () => {
    for (const one of inputs.values()) one.value = ''
    for (const [, box] of kinds) box.checked = false
    for (const { flag, box } of switches) box.checked = flag === 'lifetimes'
  }
  clear()
  return {
    elements: [
      el(
        'div',
        { class: 'fields' },
        ...fields.map((field) => labelled(field, inputs.get(field.flag) as HTMLInputElement, whole)),
      ),
      el(
        'div',
        { class: 'bar' },
        el('span', { class: 'field' }, 'Kinds:'),
        ...kinds.map(([kind, box]) => el('label', { class: 'field' }, box, ` ${kind}`)),
      ),
      el(
        'div',
        { class: 'bar' },
        ...switches.map(({ label, help, box }) => el('label', { class: 'field', title: help }, box, ` ${label}`)),
      ),
    ],
    read() {
      const criteria = [
        ...fields.flatMap(({ flag, isList }) => {
          const text = (inputs.get(flag) as HTMLInputElement).value.trim()
          const values = isList === true ? text.split(',').map((value) => value.trim()) : [text]
          return values.filter((value) => value !== '').map((value): Criterion => [flag, inNumbers(flag, value, time)])
        }),
        ...kinds.filter(([, { checked }]) => checked).map(([kind]): Criterion => ['kind', kind]),
        ...switches
          .filter(({ isModifier, box }) => isModifier !== true && box.checked)
          .map(({ flag }): Criterion => [flag]),
      ]
      if (criteria.every(([flag]) => flag === 'depth' || flag === 'part')) return criteria
      const modifiers = switches.filter(({ isModifier, box }) => isModifier === true && box.checked)
      return [...criteria, ...modifiers.map(({ flag }): Criterion => [flag])]
    },
    enter(criteria) {
      for (const [flag, value = ''] of criteria) {
        const field = inputs.get(flag)
        if (field !== undefined) field.value = value
      }
    },
    clear,
    restore(criteria) {
      clear()
      for (const { box } of switches) box.checked = false
      const lists = new Map<string, string[]>()
      for (const [flag, value = ''] of criteria) {
        const kind = kinds.find(([name]) => flag === 'kind' && name === value)
        const one = switches.find((other) => other.flag === flag)
        if (kind !== undefined) kind[1].checked = true
        else if (one !== undefined) one.box.checked = true
        else lists.set(flag, [...(lists.get(flag) ?? []), value])
      }
      for (const [flag, values] of lists) {
        const field = inputs.get(flag)
        if (field !== undefined) field.value = values.join(', ')
      }
    },
  }
}

function input({ flag, hint }: Field): HTMLInputElement {
  return el('input', {
    id: `filter-${flag}`,
    attributes: { type: 'text', name: flag, placeholder: hint, autocomplete: 'off', spellcheck: 'false' },
  })
}

function checkbox(name: string): HTMLInputElement {
  return el('input', { attributes: { type: 'checkbox', name } })
}

function labelled({ flag, label, choices }: Field, field: HTMLInputElement, whole: ReportData): HTMLElement {
  const values = choices?.(whole) ?? []
  if (values.length === 0) return el('label', { class: 'field' }, label, field)
  field.setAttribute('list', `choices-${flag}`)
  const list = el(
    'datalist',
    { id: `choices-${flag}` },
    ...values.map((value) => el('option', { attributes: { value } })),
  )
  return el('label', { class: 'field' }, label, field, list)
}
