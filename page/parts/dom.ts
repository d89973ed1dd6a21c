import { visible } from './text.js'

/** The options of a new element. Text and attributes only, because the page never parses markup. */
export interface Properties {
  readonly class?: string
  readonly id?: string
  readonly title?: string
  readonly attributes?: Readonly<Record<string, string>>
  readonly on?: { readonly [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void }
}

/** A child of an element; undefined ones are omitted. */
export type Child = Node | string | undefined

/** A new element. Strings become text, never markup, and every character of them can be seen. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  const { class: name, id, title, attributes = {}, on = {} } = properties
  if (name !== undefined) element.className = name
  if (id !== undefined) element.id = id
  if (title !== undefined) element.title = visible(title)
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, key === 'aria-label' ? visible(value) : value)
  for (const [event, listener] of Object.entries(on)) element.addEventListener(event, listener as EventListener)
  element.append(
    ...children
      .filter((child) => child !== undefined)
      .map((child) => (typeof child === 'string' ? visible(child) : child)),
  )
  return element
}

const SVG = 'http://www.w3.org/2000/svg'

/** A new SVG element. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Node[]
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(SVG, tag)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  element.append(...children)
  return element
}

/** A button. */
export function button(label: string, action: () => void, properties: Properties = {}): HTMLButtonElement {
  return el(
    'button',
    { ...properties, attributes: { type: 'button', ...properties.attributes }, on: { click: action } },
    label,
  )
}

/** Whether a key is the browser's: with Ctrl, + makes the page larger, and with Alt, an arrow leaves it. */
export function isForBrowser({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey
}

/** A list of choices with a label. @param changed is called with the choice */
export function choice<Value extends string>(
  label: string,
  choices: readonly (readonly [Value, string])[],
  changed: (value: Value) => void,
): { readonly element: HTMLElement; set(value: Value): void } {
  const select = el(
    'select',
    { on: { change: () => changed(select.value as Value) } },
    ...choices.map(([value, text]) => el('option', { attributes: { value } }, text)),
  )
  return {
    element: el('label', { class: 'field' }, `${label} `, select),
    set(value) {
      select.value = value
    },
  }
}
