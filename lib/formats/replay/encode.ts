import type { EventBatch } from '../../event/batch.js'
import { APIS, fieldNames, fieldSet, Kind } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import { AddressedLosses } from '../../blocks/addressed-losses.js'
import * as Note from '../../kernel/layouts/replay.js'
import type { Losses } from '../../kernel/losses.js'
import { KERNEL_EVENTS } from '../../kernel/load.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { checkOptions } from '../../event/options.js'
import { LineEncoder } from '../../text/line-encoder.js'
import { replayKernel } from './kernel.js'
import { CARRIED, FILLED, FORM_FIELDS, NAME } from './layout.js'

/** The losses of an event in the text, by the kernel's bits, except those that `reason` describes. */
const REASONS: Readonly<Record<number, string>> = {
  [Note.EXISTING_AS_MALLOC]: 'existing blocks, written as malloc',
  [Note.OTHER_OUTCOME]: 'outcome that the addresses do not show',
  [Note.NOT_THE_PRODUCT]: 'size that is not count * elementSize',
  [Note.CALLOC_WITHOUT_SIZE]: 'calloc without a size, written with size 0',
  [Note.NO_SIZE]: 'no size, written as 0',
  [Note.ONE_TIME]: 'time without endTime or the reverse, written for both',
  [Note.TIME_OF_DONE]: 'time of thread-destroy events that have endTime too',
  [Note.TIME_TOO_LARGE]: 'time of more than 2^64 ns, written as 2^64 - 1',
  [Note.TIME_AS_END]: 'time of thread-destroy events, written as endTime',
  [Note.PRESENT_WITHOUT_TIMES]: 'present without times, written with times of 0',
  [Note.NO_COUNT]: 'calloc without a count, written with count 1',
  [Note.NULL_OF_DONE]: 'address 0 of thread-destroy events, which stands for none',
}

const HAS_COUNT = fieldSet('count')
const CARRIED_BY_ANY = FORM_FIELDS.malloc | FORM_FIELDS.calloc | FORM_FIELDS.memalign

/** Encodes events as memory_replay text in canonical form: single spaces, `0x` and lower-case hex, no leading zeros. */
export class ReplayEncoder extends LineEncoder {
  readonly losses: Losses
  private header: TraceHeader | null = null

  /** @param options `strict` makes the first loss an error */
  constructor(options: EncodeOptions = {}) {
    super()
    checkOptions(options, ENCODE_OPTIONS, 'ReplayEncoder')
    this.losses = new AddressedLosses(0, NAME, CARRIED, options.strict, FILLED)
    this.losses.useUnit('ns')
  }

  protected override write(batch: EventBatch): void {
    const { losses } = this
    const n = losses.countBatch(batch)
    const second = this.header !== null && this.header !== batch.header
    this.header = batch.header
    if (second) losses.countEvent('beginning of another trace', batch, 0)
    for (let from = 0; from < n; from += KERNEL_EVENTS) this.writePart(batch, from, Math.min(n, from + KERNEL_EVENTS))
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /** Writes events `from` to `to`, which all fit into the kernel. */
  private writePart(batch: EventBatch, from: number, to: number): void {
    const { run, columns, output } = replayKernel()
    const micros = batch.header.timeUnit === 'us'
    columns.put(batch, from, to)
    for (let i = 0; i < to - from;) {
      i = run.encode(i, to - from, micros)
      const notes = run.notes.value
      // A loss that is an error leaves no line behind.
      this.sink.append(output.subarray(0, run.lineStart.value))
      if (notes !== 0) this.note(notes, batch, from + i - 1, run.writtenAs.value)
      this.sink.append(output.subarray(run.lineStart.value, run.written.value))
    }
  }

  private note(notes: number, batch: EventBatch, i: number, writtenAs: number): void {
    for (; notes !== 0; notes &= notes - 1) {
      const note = notes & -notes
      this.losses.countEvent(REASONS[note] ?? reason(note, batch, i, writtenAs), batch, i)
    }
  }
}

/** Describes a loss that depends on the event. */
function reason(note: number, batch: EventBatch, i: number, writtenAs: number): string {
  const fields = batch.mask[i]
  const form = APIS[writtenAs] as keyof typeof FORM_FIELDS
  switch (note) {
    case Note.NO_ADDRESS: {
      const kind = batch.kind[i]
      return kind === Kind.realloc
        ? 'reallocs without both addresses'
        : kind === Kind.free
          ? 'frees without an address'
          : 'allocations without an address'
    }
    case Note.NOT_THE_FORMS_FIELDS:
      return `${fieldNames(fields & CARRIED_BY_ANY & ~FORM_FIELDS[form]).join(', ')} of ${form}`
    case Note.OTHER_API:
      return `api ${APIS[batch.api[i]]}, written as ${form}`
    case Note.NOT_DIVISIBLE:
      return `${(fields & HAS_COUNT) === 0 ? 'elementSize' : 'count'} that does not divide the size`
    default:
      throw new RangeError(`the kernel returned an unknown note ${note}`)
  }
}
