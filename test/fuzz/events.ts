import { BATCH_EVENTS, EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import {
  ALL_FIELDS,
  ALL_GROUP_FIELDS,
  APIS,
  FIELDS,
  GROUP_FIELDS,
  KINDS,
  OUTCOMES,
  type FieldType,
  type KindName,
} from '../../lib/event/fields.js'
import type { TraceHeader } from '../../lib/event/header.js'
import type { Random } from './random.js'

/** What random events may have: kinds, and of each of them the set of fields. */
export type Shape = Readonly<Partial<Record<KindName, number>>>

/** Any field on any kind of event. */
export const ANYTHING: Shape = Object.fromEntries(KINDS.map((kind) => [kind, ALL_FIELDS]))

const NAMES = ['main', 'malloc', 'x', '', 'a b', 'caf\u00e9', '\udcff\udc80', 'f(int, "x")', 'n\n', '{', '0x10', '-']
const TEXTS = [...NAMES, 'heapflow:{', 'heapflow:{"kind":"lost"}', '# comment']
const BLOCKS = ['alloc', 'alloc', 'free', 'free', 'realloc'] as const

/**
 * Random events: in some traces a program's own (few addresses, indices and threads, that meet again, and times that go
 * on), in others anything that the shape allows.
 * @param groups the set of fields of groups that they may have, which half of the traces have
 */
export function randomEvents(
  random: Random,
  shape: Shape,
  most: number,
  groups = shape === ANYTHING ? ALL_GROUP_FIELDS : 0,
): TraceEvent[] {
  const kinds = Object.keys(shape) as KindName[]
  const blocks = BLOCKS.filter((kind) => shape[kind] !== undefined)
  const isUsual = random.oneIn(2) && blocks.length > 0
  // The same fields in most events, as in real traces.
  const usual = random.u32() & random.u32()
  const further = random.oneIn(2) ? random.u32() : 0
  const events: TraceEvent[] = []
  const values = new Values(random)
  for (let n = random.length(most); n > 0; n--) {
    const kind = isUsual && !random.oneIn(10) ? random.pick(blocks) : random.pick(kinds)
    const fields = (shape[kind] ?? 0) & (isUsual ? usual | COMMON : random.u32() & (random.oneIn(2) ? -1 : usual))
    const event: Record<string, unknown> = { kind }
    for (let left = fields & ALL_FIELDS; left !== 0; left &= left - 1) {
      const f = 31 - Math.clz32(left & -left)
      const field = FIELDS[f] as (typeof FIELDS)[number]
      event[field.name] = values.of(field.name, field.type)
    }
    const grouped = groups & further & random.u32()
    GROUP_FIELDS.forEach(({ name, type }, g) => {
      if ((grouped >>> g) & 1) event[name] = values.of(name, type)
    })
    events.push(event as unknown as TraceEvent)
  }
  return events
}

const COMMON = FIELDS.reduce(
  (set, { name }, f) => (['address', 'size', 'oldAddress'].includes(name) ? set | (1 << f) : set),
  0,
)

/** The values of one trace. */
class Values {
  private readonly addresses: bigint[]
  private readonly isFew: boolean
  private time = 0n

  constructor(private readonly random: Random) {
    const base = random.pick([0x1000n, 0x55da_9ac0_4690n, 0xffff_8800_3d7e_1400n, 0xffff_ff00n, 0n])
    this.addresses = Array.from({ length: 1 + random.below(12) }, (_, i) => base + 16n * BigInt(i * i))
    this.isFew = !random.oneIn(4)
  }

  of(name: string, type: FieldType): unknown {
    const { random } = this
    switch (type) {
      case 'address':
        return this.isFew ? random.pick(this.addresses) : random.u64()
      case 'u64':
        if (!this.isFew || random.oneIn(30)) return random.u64()
        if (name === 'time') return (this.time += BigInt(random.below(100)))
        if (name === 'endTime') return this.time
        return BigInt(random.below(name === 'size' ? 5000 : 5))
      case 'u32':
        return random.oneIn(4) ? random.u32() : random.below(300)
      case 'i32':
        return random.oneIn(4) ? random.u32() | 0 : random.below(8)
      case 'api':
        return random.pick(APIS)
      case 'outcome':
        return random.pick(OUTCOMES)
      case 'string':
        return name === 'text' ? random.pick(TEXTS) : this.name()
      case 'list':
        return Array.from({ length: random.length(6) }, () => this.name())
      case 'bytes':
        return Uint8Array.from({ length: random.length(40) }, () => random.u32())
      default:
        return this.fields(2)
    }
  }

  private name(): string {
    const { random } = this
    if (random.oneIn(3)) return random.pick(NAMES)
    return random.oneIn(50) ? 'n'.repeat(random.below(400)) : `name${random.below(60)}`
  }

  private fields(depth: number): Record<string, unknown> {
    const { random } = this
    const value = (): unknown => {
      switch (random.below(depth === 0 ? 4 : 6)) {
        case 0:
          return random.u64()
        case 1:
          return -random.u64()
        case 2:
          return random.pick(TEXTS)
        case 3:
          return BigInt(random.below(2))
        case 4:
          return Array.from({ length: random.length(3) }, value)
        default:
          return this.fields(depth - 1)
      }
    }
    return Object.fromEntries(Array.from({ length: 1 + random.length(4) }, () => [this.name(), value()]))
  }
}

/** Events as batches, whose sizes are random. */
export function cutIntoBatches(random: Random, events: readonly TraceEvent[], header: TraceHeader): EventBatch[] {
  const batches: EventBatch[] = []
  for (let from = 0; from < events.length || batches.length === 0;) {
    const rest = events.length - from
    const n = random.oneIn(2) ? rest : random.below(rest + 1)
    const batch = new EventBatch(Math.min(n, BATCH_EVENTS), 0, header)
    for (const event of events.slice(from, from + n)) batch.push(event)
    batches.push(batch)
    from += n
  }
  return batches
}
