import type { EventBatch } from '../../lib/event/batch.js'
import {
  APIS,
  type ApiName,
  FieldBit,
  KINDS,
  type KindName,
  OUTCOMES,
  type OutcomeName,
} from '../../lib/event/fields.js'

/** An event, as far as figures depend on it. */
export interface PlainEvent {
  readonly kind: KindName
  readonly api: ApiName | undefined
  readonly process: bigint | undefined
  readonly thread: bigint | undefined
  readonly cpu: number | undefined
  readonly time: bigint | undefined
  readonly index: bigint | undefined
  readonly address: bigint | undefined
  readonly oldAddress: bigint | undefined
  readonly size: bigint | undefined
  readonly usable: bigint | undefined
  readonly present: bigint | undefined
  readonly outcome: OutcomeName | undefined
  readonly type: string | undefined
  /** The lines of its stack, or its call site; 'none' if it has neither. */
  readonly site: string
}

/** The events of a batch, one after the other. */
export function* plainEvents(batch: EventBatch): Generator<PlainEvent> {
  const { strings } = batch
  const stacks = new Map<number, string>()
  const stackOf = (list: number): string => {
    const known = stacks.get(list)
    if (known !== undefined) return known
    const text = strings
      .list(list)
      .map((id) => strings.text(id))
      .join('\n')
    stacks.set(list, text)
    return text
  }
  for (let i = 0; i < batch.count; i++) {
    const mask = batch.mask[i]
    const has = (bit: number) => (mask & bit) !== 0
    const wide = (column: { values: BigUint64Array }, bit: number) => (has(bit) ? column.values[i] : undefined)
    const callSite = wide(batch.callSite, FieldBit.callSite)
    const place = callSite === undefined ? 'none' : String(callSite)
    yield {
      kind: KINDS[batch.kind[i]],
      api: has(FieldBit.api) ? APIS[batch.api[i]] : undefined,
      process: wide(batch.process, FieldBit.process),
      thread: wide(batch.thread, FieldBit.thread),
      cpu: has(FieldBit.cpu) ? batch.cpu[i] : undefined,
      time: wide(batch.time, FieldBit.time),
      index: wide(batch.index, FieldBit.index),
      address: wide(batch.address, FieldBit.address),
      oldAddress: wide(batch.oldAddress, FieldBit.oldAddress),
      size: wide(batch.size, FieldBit.size),
      usable: wide(batch.usable, FieldBit.usable),
      present: wide(batch.present, FieldBit.present),
      outcome: has(FieldBit.outcome) ? OUTCOMES[batch.outcome[i]] : undefined,
      type: has(FieldBit.type) ? strings.text(batch.type[i]) : undefined,
      site: has(FieldBit.stack) ? stackOf(batch.stack[i]) : place,
    }
  }
}
