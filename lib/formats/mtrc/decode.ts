import { Cursor, type Reading, type ReadingPart } from '../../codec/cursor.js'
import { CursorDecoder } from '../../codec/cursor-decoder.js'
import { BATCH_EVENTS, EventBatch } from '../../event/batch.js'
import { malformed } from '../../event/error.js'
import type { TraceHeader } from '../../event/header.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import { KERNEL_INPUT } from '../../kernel/input.js'
import { FAULT, FULL, SHORT } from '../../kernel/layouts/mtrc.js'
import { failure, mtrcKernel, stringsOf, tooManyBlocks, type MtrcKernel } from './kernel.js'
import { FORMAT, hasSources, headerLength, MAGIC, readHeader, RECORD, type MtrcLayout } from './layout.js'

export interface MtrcDecodeOptions {
  /**
   * Give frees and reallocations the address and size of the block that their index refers to. Costs memory in
   * proportion to the blocks that are live at once. Default true.
   */
  resolve?: boolean
}

const OPTIONS: OptionNames<MtrcDecodeOptions> = { resolve: 'boolean' }

/** mpatrol tracing output to events: the bytes of one or more traces, concatenated. */
export class MtrcDecoder extends CursorDecoder {
  /** Reports in `warnings` where a trace ends without an end marker because another one begins. */
  constructor(options: MtrcDecodeOptions = {}) {
    checkOptions(options, OPTIONS, 'MtrcDecoder')
    super(new Cursor(FORMAT), (cursor) => readTraces(cursor, options.resolve ?? true))
  }
}

/** Reads the traces of a stream: each is a header, records, and an end marker. */
function* readTraces(cursor: Cursor, resolves: boolean): Reading {
  let layout = yield* readFirstHeader(cursor)
  if (layout === undefined) return
  // Keeps the live blocks and the names.
  const kernel = mtrcKernel()
  try {
    while (layout !== undefined) {
      kernel.run.begin(hasSources(layout), resolves, false)
      kernel.refresh()
      const isAtMark: boolean = yield* readRecords(cursor, kernel, { format: FORMAT, layout: { ...layout } })
      layout = isAtMark ? yield* readMark(cursor) : undefined
    }
  } finally {
    kernel.dispose()
  }
}

/** @returns undefined if the input was truncated elsewhere */
function* readFirstHeader(cursor: Cursor): ReadingPart<MtrcLayout | undefined> {
  const { input } = cursor
  for (;;) {
    const layout = readHeader(input.bytes, input.pos, input.end)
    if (layout === 'bad') throw malformed('not the header of a trace', cursor.here())
    if (layout !== 'short') {
      input.skip(headerLength(layout))
      return layout
    }
    const missing = input.left === 0 ? 'the input is empty' : 'the input ends within the header'
    if (!(yield* cursor.more(missing))) return undefined
  }
}

/** Reads records up to a mark. @returns false if the input was truncated elsewhere before it */
function* readRecords(cursor: Cursor, kernel: MtrcKernel, header: TraceHeader): ReadingPart<boolean> {
  const { input } = cursor
  for (let isNew = true; ; isNew = false) {
    if (input.left === 0 && !isNew) {
      if (!(yield* cursor.more('the end marker is missing'))) return false
      continue
    }
    if (input.left > 0 && input.next === RECORD.mark) {
      if (isNew) yield new EventBatch(0, 0, header)
      return true
    }
    const { batch, stop } = readBatch(cursor, kernel, header)
    // The first batch carries the header, even without events.
    if (batch.count > 0 || isNew) yield batch
    if (stop === FAULT) throw failure(kernel.run.fault.value, input.next, cursor.here())
    if (stop !== SHORT) continue
    const missing = input.left === 0 ? 'the end marker is missing' : 'the input ends within a record'
    if (!(yield* cursor.more(missing))) return false
  }
}

/**
 * Reads records up to the end of the input, the batch or the trace, or to a fault.
 * @returns the result, and why it stopped
 */
function readBatch(cursor: Cursor, kernel: MtrcKernel, header: TraceHeader): { batch: EventBatch; stop: number } {
  const { input } = cursor
  const { run } = kernel
  let from = kernel.input.load(input)
  let isWhole = kernel.input.end - from === input.left
  let count = run.decode(from, kernel.input.end, BATCH_EVENTS)
  if (count === 0 && run.stop.value === SHORT && !isWhole) {
    // The kernel only had the beginning of a long record.
    kernel.refresh()
    from = kernel.input.load(input, input.end, KERNEL_INPUT)
    isWhole = kernel.input.end - from === input.left
    count = run.decode(from, kernel.input.end, BATCH_EVENTS)
  }
  kernel.refresh()
  input.skip(run.position.value - from)
  const strings = stringsOf(kernel)
  if (strings === undefined) throw tooManyBlocks(cursor.here())
  return {
    batch: kernel.columns.take(count, run.fields.value, header, strings),
    stop: run.stop.value === SHORT && !isWhole ? FULL : run.stop.value,
  }
}

/**
 * Reads an end marker, or the header of the next trace after or instead of it.
 * @returns the layout of the next trace, if there is one
 */
function* readMark(cursor: Cursor): ReadingPart<MtrcLayout | undefined> {
  const { input } = cursor
  for (;;) {
    const { bytes, pos, end } = input
    const inPlace = readHeader(bytes, pos, end)
    if (typeof inPlace === 'object') {
      cursor.warn('the trace has no end marker: another one begins here')
      input.skip(headerLength(inPlace))
      return { ...inPlace, follows: 'cut' }
    }
    if (inPlace === 'short') {
      // An end marker that nothing follows is complete.
      if (input.ended && input.left === MAGIC.length) return undefined
      if (!(yield* cursor.more('the input ends within the end marker or a header'))) return undefined
      continue
    }
    if (MAGIC.some((byte, i) => bytes[pos + i] !== byte))
      throw malformed('a record of unknown type 0x4d', cursor.here())
    const next = readHeader(bytes, pos + MAGIC.length, end)
    if (next === 'bad') {
      input.skip(MAGIC.length)
      throw malformed('unexpected data after the end marker', cursor.here())
    }
    if (next !== 'short') {
      input.skip(MAGIC.length + headerLength(next))
      return next
    }
    if (!(yield* cursor.more('the input ends within the header of another trace'))) return undefined
  }
}
