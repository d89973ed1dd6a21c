import { LF } from '../../text/ascii.js'
import { BATCH_EVENTS, type EventBatch } from '../../event/batch.js'
import { malformed, truncated, type TraceError } from '../../event/error.js'
import type { TextDecodeOptions } from '../../event/format.js'
import type { TraceHeader } from '../../event/header.js'
import { LineDecoder } from '../../text/line-decoder.js'
import { ACTION, MAX_LINE, TOO_LONG } from '../../kernel/layouts/replay.js'
import { EXPECTED, replayKernel } from './kernel.js'
import { NAME, REPLAY_HEADER } from './layout.js'
import { longestMatch } from './words.js'

/** Decodes memory_replay dumps. */
export class ReplayDecoder extends LineDecoder {
  constructor(options?: TextDecodeOptions) {
    super(NAME, MAX_LINE, options)
  }

  /** An object of this decoder, because another header object begins another trace. */
  private readonly header = { ...REPLAY_HEADER }

  protected override emptyHeader(): TraceHeader {
    return this.header
  }

  /** Reads lines until a batch is full, the lines that fit into the kernel are used up, or a line is faulty. */
  protected override read(): EventBatch {
    const { input } = this
    const { run, columns, input: window } = replayKernel()
    const from = window.load(input, this.linesEnd)
    const count = run.decode(from, window.end, BATCH_EVENTS)
    const read = run.position.value - from
    const fault = run.fault.value
    input.skip(read)
    this.line += run.lines.value
    if (fault === TOO_LONG) this.failure = this.tooLong(count)
    else if (fault > 0) this.failure = this.explain(fault, input.pos + run.faultAt.value - run.position.value, count)
    return columns.take(count, run.fields.value, this.header)
  }

  /** The error for byte `at` of the current line, after `count` events that have not been delivered yet. */
  private explain(fault: number, at: number, count: number): TraceError {
    const { input } = this
    const { bytes, pos: start } = input
    if (bytes.indexOf(LF, start) - start >= MAX_LINE) return this.tooLong(count)
    if (fault === ACTION) at = longestMatch(bytes, at)
    const expected = EXPECTED[fault]
    const place = { ...this.here(count), offset: input.offset + at - start, column: at - start + 1 }
    return this.unterminated && at === input.end - 1
      ? truncated(`the last line is incomplete: expected ${expected}`, place)
      : malformed(`expected ${expected}`, place)
  }
}
