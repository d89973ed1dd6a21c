import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { fieldsFromJson } from '../../event/json-record.js'

/** The reason why the text of some event's `fields` is invalid, or undefined. Each text is checked once. */
export function wrongFields({ count, mask, fields, strings }: EventBatch): string | undefined {
  const seen = new Uint8Array(strings.size)
  for (let i = 0; i < count; i++) {
    const id = fields[i]
    if ((mask[i] & FieldBit.fields) === 0 || seen[id] === 1) continue
    seen[id] = 1
    try {
      const text = strings.text(id)
      if (fieldsFromJson(text) !== text) return 'their text is not that of an event'
    } catch (error) {
      return (error as Error).message
    }
  }
  return undefined
}
