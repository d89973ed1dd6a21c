import fc from 'fast-check'
import type { TraceEvent } from '../../../lib/event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES } from '../../../lib/event/fields.js'
import type { Dtd } from '../../../lib/metatf/index.js'
import { mappingOf, type RecordMapping } from '../../../lib/metatf/mapping.js'

/** A field, by numbers that decide everything about it. */
interface FieldShape {
  name: number
  width: number
  how: number
}

interface RecordShape {
  name: number
  fields: FieldShape[]
  tag: number
}

const NAMES = [
  'alloc',
  'alloc',
  'free',
  'free',
  'realloc',
  'calloc',
  'memalign',
  'delete',
  'createHeap',
  'destroyThread',
  'reallocMoved',
  'reallocFreed',
  'existing',
  'reserve',
  'lost',
  'remark',
  'kmalloc',
  'thing',
]
const NUMBERS = [
  'address',
  'address',
  'size',
  'size',
  'thread',
  'time',
  'heap',
  'index',
  'cpu',
  'node',
  'line',
  'gfpFlags',
  'alignment',
  'endTime',
  'count',
  'callSite',
  'junk',
]
const BYTES = ['file', 'function', 'attributes', 'text']
const VALUES = ['0', '0', '1', '255', '-1', '0x1000', '18446744073709551615']

const shape = fc.record({
  tagWidth: fc.constantFrom(1, 1, 1, 2, 3, 4, 8),
  outer: fc.array(recordShape(), { maxLength: 2 }),
  inner: fc.array(recordShape(), { minLength: 1, maxLength: 6 }),
})

function recordShape(): fc.Arbitrary<RecordShape> {
  const field = fc.record({ name: fc.nat(1000), width: fc.nat(1000), how: fc.nat(1000) })
  return fc.record({ name: fc.nat(1000), fields: fc.array(field, { minLength: 1, maxLength: 7 }), tag: fc.nat(1000) })
}

/**
 * The text of a DTD of 1.0 whose records are events for the most part, with numbers of every width and interpretation,
 * bytes with their lengths before them, near or far, and of fixed width; and now and then something that loops are not
 * made for.
 *
 * @param withTable whether there is a section from which fields can take values, which has an ID that random traces
 *   know
 */
export function randomEventDtd(withTable: boolean): fc.Arbitrary<string> {
  return shape.map(({ tagWidth, outer, inner }) => {
    const used = new Set<number>()
    const records = (shapes: RecordShape[]) =>
      shapes.map((record) => recordText(record, tagWidth, used, withTable)).join('\n')
    const table = withTable ? 'section values 255 { element : (v) { v.width = 4; v.interpretation = none; } }\n' : ''
    return `tag.width = ${tagWidth};\n${records(outer)}\n${table}section main 2 {\n${records(inner)}\n}`
  })
}

function recordText(
  { name, fields, tag }: RecordShape,
  tagWidth: number,
  used: Set<number>,
  withTable: boolean,
): string {
  let own = 4 + (tagWidth === 1 ? tag % 250 : tag)
  while (used.has(own)) own++
  used.add(own)
  const list = ['tag']
  const properties = [`tag.value = ${own};`]
  for (const [i, field] of fields.entries()) addField(field, i, list, properties, withTable)
  // Underscores do not count, so that several records mean the same.
  return `${NAMES[name % NAMES.length]}${'_'.repeat(used.size)} : (${list.join(', ')}) {\n  ${properties.join('\n  ')}\n}`
}

function addField(
  { name, width, how }: FieldShape,
  i: number,
  list: string[],
  properties: string[],
  withTable: boolean,
): void {
  if (how % 4 === 0) {
    const bytes = BYTES[name % BYTES.length] as string
    if (list.includes(bytes)) return
    if (width % 5 === 0) {
      list.push('vfield')
    } else if (width % 5 === 1) {
      properties.push(`${bytes}.width = ${9 + (width % 4)}; ${bytes}.interpretation = none;`)
      list.push(bytes)
    } else {
      properties.push(`length${i}.width = ${1 + (width % 4)}; length${i}.interpretation = none;`)
      properties.push(`${bytes}.width = length${i}.value; ${bytes}.interpretation = none;`)
      // Somewhere between the fields that are there.
      list.splice(1 + (how % list.length), 0, `length${i}`)
      list.push(bytes)
    }
    return
  }
  const number = NUMBERS[name % NUMBERS.length] as string
  const isThere = list.includes(number)
  if (isThere && number !== 'address') return
  list.push(number)
  if (isThere) return
  const value = VALUES[width % VALUES.length] as string
  const rare = withTable && how % 40 === 1 ? ['sectionStride 255 3'] : how % 40 === 2 ? [`delta ${value}`] : ['none']
  const ways = [
    'none',
    'none',
    `baseOffset ${value}`,
    `delta ${value}`,
    'sectionOffset 2',
    `default 0`,
    'default 0',
    `default ${value}`,
    `stride ${value} 3`,
    ...rare,
  ]
  const way = ways[how % ways.length] as string
  properties.push(`${number}.interpretation = ${way};`)
  properties.push(`${number}.width = ${/^(default|stride|sectionStride)/.test(way) ? 0 : 1 + (width % 8)};`)
  if (how % 30 === 1 && way === 'none') properties.push(`${number}.value = 7;`)
}

const TEXTS = ['', 'a', 'main.c', 'x'.repeat(9), 'y'.repeat(300)]
const EDGES = [0n, 1n, 127n, 255n, 256n, 65_535n, 0xffff_ffffn, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n]

/**
 * An event that is mostly as one of the records of a DTD has it, with numbers that mostly fit.
 *
 * @param pick gives a random number below n
 */
export function eventFor(dtd: Dtd, pick: (n: number) => number): TraceEvent {
  const { records } = mappingOf(dtd)
  const { kind, outcome, api, given, leaves } = records[pick(records.length)] as RecordMapping
  const event: Record<string, unknown> = { kind: pick(20) === 0 ? 'existing' : KINDS[kind] }
  if (outcome >= 0 && pick(5) > 0) event['outcome'] = pick(10) > 0 ? OUTCOMES[outcome] : OUTCOMES[pick(4)]
  if (api >= 0 && pick(5) > 0) event['api'] = pick(10) > 0 ? APIS[api] : APIS[pick(5)]
  if (given > 0 && pick(10) === 0) event['code'] = pick(6)
  if (pick(20) === 0) event['fields'] = { junk: 5n }
  const isPlain = pick(3) > 0
  for (const { field, silent } of leaves) {
    if (field < 0 || pick(10) === 0 || (silent && isPlain)) continue
    const { name, type } = FIELDS[field] as (typeof FIELDS)[number]
    const number = isPlain ? BigInt(pick(200)) : (EDGES[pick(EDGES.length)] as bigint)
    const text = TEXTS[pick(isPlain ? 3 : 5)] as string
    if (type === 'bytes') event[name] = new TextEncoder().encode(text)
    else if (type === 'string') event[name] = text
    else if (type === 'u32') event[name] = Number(number & 0xffff_ffffn)
    else if (type === 'i32') event[name] = Number(BigInt.asIntN(32, number))
    else event[name] = number
  }
  return event as unknown as TraceEvent
}
