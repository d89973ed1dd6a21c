import { ascii, LF } from '../../bytes/ascii.js'
import { Input } from '../../bytes/input.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { describe, limit, malformed, truncated, type TraceError } from '../../event/error.js'
import type { Decoder } from '../../event/stage.js'
import { EXPECTED, NO_ACTION, replayKernel, TOO_LONG } from './kernel.js'
import { MAX_LINE, NAME, REPLAY_HEADER } from './layout.js'
import { longestMatch } from './words.js'

const NEWLINE = ascii('\n')

/**
 * Decodes memory_replay dumps. The kernel is only given lines whose line feed is there, so that it need not look for
 * the end of the input: the line feed stops it.
 */
export class ReplayDecoder implements Decoder {
  readonly warnings: string[] = []
  private readonly input = new Input()
  /** The offset in the stream behind the last line feed. */
  private lines = 0
  private line = 1
  private events = 0
  private began = false
  private ended = false
  /** The last line had no line feed; one was put behind it. */
  private unterminated = false
  private failure: TraceError | null = null

  feed(chunk: Uint8Array): void {
    const { input } = this
    input.feed(chunk)
    const feed = chunk.lastIndexOf(LF)
    if (feed >= 0) this.lines = input.offset + input.left - chunk.length + feed + 1
  }

  end(): void {
    this.ended = true
    if (this.input.left === 0) return
    this.unterminated = true
    this.feed(NEWLINE)
  }

  cut(): void {
    // What is left of a line may have lost digits: it is not an event.
  }

  next(): EventBatch | null {
    if (this.failure !== null) throw this.failure
    const { input } = this
    while (input.offset < this.lines) {
      const batch = this.read()
      if (batch.count > 0) return this.give(batch)
      if (this.failure !== null) throw this.failure
    }
    if (input.left > MAX_LINE) throw this.tooLong()
    if (!this.ended) return null
    if (this.unterminated) {
      this.unterminated = false
      const place = describe({ format: NAME, offset: input.offset - 1, line: this.line - 1, event: this.events })
      this.warnings.push(`${place}: the last line does not end with a newline, so the dump may be cut`)
    }
    return this.began ? null : this.give(new EventBatch(0, 0, REPLAY_HEADER))
  }

  private give(batch: EventBatch): EventBatch {
    this.began = true
    this.events += batch.count
    return batch
  }

  /** Reads lines until a batch is full, what the kernel has room for is used up, or a line is at fault. */
  private read(): EventBatch {
    const { input } = this
    const { run, columns, input: window } = replayKernel()
    const from = window.load(input, input.pos + this.lines - input.offset)
    const count = run.decode(from, window.end, BATCH_EVENTS)
    const read = run.position.value - from
    const fault = run.fault.value
    input.skip(read)
    this.line += run.lines.value
    if (fault === TOO_LONG) this.failure = this.tooLong(count)
    else if (fault > 0) this.failure = this.explain(fault, input.pos + run.faultAt.value - run.position.value, count)
    return columns.take(count, run.fields.value, REPLAY_HEADER)
  }

  /**
   * The error for byte `at` of the line at which the input stands, after `count` events that are still to be given out.
   */
  private explain(fault: number, at: number, count: number): TraceError {
    const { input } = this
    const { bytes, pos: start } = input
    if (bytes.indexOf(LF, start) - start >= MAX_LINE) return this.tooLong(count)
    if (fault === NO_ACTION) at = longestMatch(bytes, at)
    const expected = EXPECTED[fault] as string
    const place = {
      format: NAME,
      offset: input.offset + at - start,
      line: this.line,
      column: at - start + 1,
      event: this.events + count + 1,
    }
    return this.unterminated && at === input.end - 1
      ? truncated(`the last line ends where ${expected} should stand`, place)
      : malformed(`expected ${expected}`, place)
  }

  private tooLong(count = 0): TraceError {
    const place = {
      format: NAME,
      offset: this.input.offset,
      line: this.line,
      column: 1,
      event: this.events + count + 1,
    }
    return limit(`a line of more than ${MAX_LINE} bytes`, place)
  }
}
