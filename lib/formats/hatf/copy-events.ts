import type { EventBatch } from '../../event/batch.js'
import { FIELDS } from '../../event/fields.js'

/** Copies all events of a batch into an empty one, with their strings. */
export function copyEvents(from: EventBatch, to: EventBatch): void {
  to.addColumns(from.columns)
  for (let i = 0; i < from.count; i++) {
    const mask = from.mask[i]
    to.kind[i] = from.kind[i]
    to.mask[i] = mask
    for (let f = 0; f < FIELDS.length; f++) {
      if ((from.columns >>> f) & 1) copyValue(from, to, i, f, ((mask >>> f) & 1) === 1)
    }
  }
  to.count = from.count
}

function copyValue(from: EventBatch, to: EventBatch, i: number, f: number, present: boolean): void {
  const { name, type } = FIELDS[f]
  const copy = (id: number) => to.strings.intern(from.strings.view(id))
  switch (type) {
    case 'u64':
    case 'address':
      // Copied even if absent: threads are compared as they were stored.
      to.u64(name).values[i] = from.u64(name).values[i]
      break
    case 'string':
    case 'bytes':
    case 'json':
      if (present) to[name][i] = copy(from[name][i])
      break
    case 'list':
      if (present) to.stack[i] = to.strings.addList(from.strings.listView(from.stack[i]).map(copy))
      break
    default:
      to[name][i] = from[name][i]
  }
}
