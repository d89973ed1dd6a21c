import { wellFormed } from '../../event/message-text.js'
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** The maximum number of characters of names in tables. */
const LONGEST = 200

/** A text for HTML, in elements and in quoted values. Control characters, which HTML does not have, are replaced. */
export function escaped(text: string): string {
  return (
    wellFormed(text)
      // oxlint-disable-next-line no-control-regex
      .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd')
      .replace(/[&<>"']/g, (character) => ENTITIES[character])
  )
}

/** A text that is not too long. */
export function shortened(text: string | number, longest = LONGEST): string {
  const whole = String(text)
  return whole.length > longest ? `${whole.slice(0, longest)}[and ${whole.length - longest} more]` : whole
}
