import { LF, SPACE } from '../../text/ascii.js'
import type { Sink } from '../../bytes/sink.js'
import { doubleAt, WORD, writeHex } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { TraceHeader } from '../../event/header.js'
import type { Losses } from '../../kernel/losses.js'
import { Code, MAX_MILLISECONDS, NAME } from './layout.js'

/** The number of time units in a millisecond, as words, by the header's unit; times without a unit are microseconds. */
const PER_MILLISECOND = { ns: 1_000_000, us: 1000 } as const
/** Times above this are not exact as doubles. */
const MAX_TIME = 2 ** 53

const Loss = {
  fine: 'times that are not whole milliseconds',
  first: 'times, counted from that of the first event',
  back: 'times that go back, written as the last one',
  far: 'times that are too large, written as the last one',
  same: 'times before an event with the same time',
  none: 'times that are no times',
} as const

/** Writes the lines with the time: one before each event whose millisecond differs from the last line's. */
export class Clock {
  private perMillisecond: number = PER_MILLISECOND.us
  /** Times of other formats are counted from the first event that has one. */
  private base: number | undefined
  private now = 0
  /** Whether the last line that was written is a time without an event. */
  private isOpen = false

  constructor(
    private readonly sink: Sink,
    private readonly losses: Losses,
  ) {}

  begin({ format, timeUnit }: TraceHeader): void {
    this.perMillisecond = PER_MILLISECOND[timeUnit ?? 'us']
    this.base = format === NAME ? 0 : undefined
  }

  /**
   * Counts a change of the time of event i, and writes a line for a new time. Call this before the event is written.
   */
  at(batch: EventBatch, i: number): void {
    const milliseconds = this.milliseconds(batch, i)
    if (this.isOpen && milliseconds === this.now) this.losses.countEvent(Loss.same, batch, i)
    this.isOpen = false
    if (milliseconds !== this.now) this.write(milliseconds)
  }

  /** Writes event i, which consists of a time only. */
  tick(batch: EventBatch, i: number): void {
    if ((batch.mask[i] & FieldBit.time) === 0) this.losses.countEvent(Loss.none, batch, i)
    const milliseconds = this.milliseconds(batch, i)
    this.isOpen = milliseconds !== this.now
    this.write(milliseconds)
  }

  /** Ends the trace. A time that no line follows would look truncated, so it is written twice. */
  end(): void {
    if (this.isOpen) this.write(this.now)
  }

  private milliseconds(batch: EventBatch, i: number): number {
    if ((batch.mask[i] & FieldBit.time) === 0) return this.now
    const { words } = batch.time
    const time = doubleAt(words, i)
    if (time > MAX_TIME) return this.instead(Loss.far, batch, i)
    this.base ??= time
    const since = time - this.base
    const milliseconds = Math.floor(since / this.perMillisecond)
    if (milliseconds > MAX_MILLISECONDS) return this.instead(Loss.far, batch, i)
    if (milliseconds < this.now) return this.instead(Loss.back, batch, i)
    if (this.base !== 0) this.losses.countEvent(Loss.first, batch, i)
    if (milliseconds * this.perMillisecond !== since) this.losses.countEvent(Loss.fine, batch, i)
    return milliseconds
  }

  private instead(reason: string, batch: EventBatch, i: number): number {
    this.losses.countEvent(reason, batch, i)
    return this.now
  }

  private write(milliseconds: number): void {
    const { sink } = this
    this.now = milliseconds
    sink.reserve(32)
    sink.bytes[sink.pos++] = Code.time
    sink.bytes[sink.pos++] = SPACE
    sink.pos = writeHex(sink.bytes, sink.pos, milliseconds >>> 0, Math.floor(milliseconds / WORD))
    sink.bytes[sink.pos++] = LF
  }
}
