import { columnOf, U64Column, type EventBatch } from '../../lib/event/batch.js'
import { FIELDS, GROUP_FIELDS } from '../../lib/event/fields.js'
import { positions, type GroupColumns } from '../../lib/event/groups.js'
import type { TraceHeader } from '../../lib/event/header.js'

const isString = FIELDS.map(({ type }) => type === 'string' || type === 'bytes' || type === 'json')
const isList = FIELDS.map(({ type }) => type === 'list')

/** A number for all events that were added, in their order, without an object for any of them. */
export class Digest {
  events = 0
  /** What the headers say that came, with or without events. */
  readonly headers: string[] = []
  /** How many of them came with events, or before some. */
  headersUsed = 0
  private low = 0x811c_9dc5
  private high = 0x1234_5678
  private header: TraceHeader | undefined

  get value(): string {
    return `${this.events} events ${(this.low >>> 0).toString(16)}${(this.high >>> 0).toString(16)}`
  }

  add(batch: EventBatch): void {
    if (batch.header !== this.header) {
      this.header = batch.header
      this.headers.push(JSON.stringify(batch.header))
    }
    const { count, mask, kind, groups } = batch
    for (let i = 0; i < count; i++) {
      this.mix(kind[i])
      let left = mask[i]
      this.mix(left)
      for (; left !== 0; left &= left - 1) {
        const f = 31 - Math.clz32(left & -left)
        const column = batch[columnOf(f)]
        if (column instanceof U64Column) {
          this.mix(column.words[2 * i])
          this.mix(column.words[2 * i + 1])
        } else if (isString[f] === true) this.string(batch, column[i])
        else if (isList[f] === true) for (const id of batch.strings.list(column[i])) this.string(batch, id)
        else this.mix(column[i])
      }
      if (groups !== undefined) this.addGroups(batch, groups, i)
    }
    this.events += count
    if (count > 0) this.headersUsed = this.headers.length
  }

  private addGroups(batch: EventBatch, groups: GroupColumns, i: number): void {
    for (const g of positions(groups.mask[i])) {
      this.mix(1 << g)
      const column = groups.at(g)
      if (column instanceof U64Column) {
        this.mix(column.words[2 * i])
        this.mix(column.words[2 * i + 1])
      } else if (GROUP_FIELDS[g]?.type === 'string') this.string(batch, column[i])
      else this.mix(column[i])
    }
  }

  private string(batch: EventBatch, id: number): void {
    const bytes = batch.strings.view(id)
    this.mix(bytes.length)
    for (let i = 0; i < bytes.length; i++) this.mix(bytes[i])
  }

  private mix(word: number): void {
    this.low = Math.imul(this.low ^ word, 0x0100_0193)
    this.high = Math.imul(((this.high << 5) | (this.high >>> 27)) ^ word, 0x9e37_79b1) ^ (this.low >>> 15)
  }
}
