import { columnOf, type EventBatch } from '../event/batch.js'
import { FieldBit, FIELDS, GROUP_FIELDS, type FieldType } from '../event/fields.js'

/** The strings of an event, or of several: those of its list included, each as often as it occurs. */
export interface TextSizes {
  /** All of their bytes, and one for each item of the list. */
  bytes: number
  /** The bytes of distinct ones. */
  distinct: number
  /** The bytes of the longest one. */
  longest: number
  /** The items of the list. */
  items: number
}

const isText = ({ type }: { type: FieldType }): boolean => type === 'string' || type === 'bytes' || type === 'json'
const TEXTS = FIELDS.flatMap((field, f) => (isText(field) ? [f] : []))
const GROUP_TEXTS = GROUP_FIELDS.flatMap((field, g) => (isText(field) ? [g] : []))

/** The most that any event of a batch may have, by its table of strings. */
export function mostTexts({ strings }: EventBatch): TextSizes {
  const { starts, lists } = strings.flat()
  const longest = longestOf(starts)
  const items = longestOf(lists)
  const bytes = (TEXTS.length + GROUP_TEXTS.length) * longest + items * (longest + 1)
  return { bytes, distinct: strings.byteLength, longest, items }
}

/**
 * The number of events before the first one, from event `from` on, that is too large to be written.
 * @param isLarge decides by the strings of event i
 */
export function eventsBefore(batch: EventBatch, isLarge: (sizes: TextSizes, i: number) => boolean, from = 0): number {
  const { count, mask, groups, stack, strings } = batch
  const lists = new Map<number, TextSizes>()
  for (let i = from; i < count; i++) {
    const sizes: TextSizes = { bytes: 0, distinct: 0, longest: 0, items: 0 }
    for (const f of TEXTS)
      if ((mask[i] >>> f) & 1) add(sizes, strings.view((batch[columnOf(f)] as Uint32Array)[i]).length)
    for (const g of GROUP_TEXTS)
      if (groups !== undefined && (groups.mask[i] >>> g) & 1)
        add(sizes, strings.view((groups.at(g) as Uint32Array)[i]).length)
    if ((mask[i] & FieldBit.stack) !== 0) {
      const id = stack[i]
      let list = lists.get(id)
      if (list === undefined) lists.set(id, (list = sizesOf(batch, id)))
      sizes.bytes += list.bytes
      sizes.distinct += list.distinct
      sizes.longest = Math.max(sizes.longest, list.longest)
      sizes.items = list.items
    }
    if (isLarge(sizes, i)) return i
  }
  return count
}

function sizesOf({ strings }: EventBatch, list: number): TextSizes {
  const ids = strings.listView(list)
  const { starts } = strings.flat()
  const sizes: TextSizes = { bytes: 0, distinct: 0, longest: 0, items: ids.length }
  for (const id of new Set(ids)) add(sizes, starts[id + 1] - starts[id])
  sizes.bytes = ids.length
  for (const id of ids) sizes.bytes += starts[id + 1] - starts[id]
  return sizes
}

function add(sizes: TextSizes, length: number): void {
  sizes.bytes += length
  sizes.distinct += length
  sizes.longest = Math.max(sizes.longest, length)
}

/** The length of the longest of all strings, or lists, that begin at these places. */
function longestOf(starts: Uint32Array): number {
  let most = 0
  for (let i = 1; i < starts.length; i++) most = Math.max(most, starts[i] - starts[i - 1])
  return most
}
