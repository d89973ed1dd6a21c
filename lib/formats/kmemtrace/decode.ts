import { Cursor, type Reading, type ReadingPart } from '../../codec/cursor.js'
import { CursorDecoder } from '../../codec/cursor-decoder.js'
import { malformed, truncated } from '../../event/error.js'
import { checkOptions } from '../../event/options.js'
import { locateRecords } from './detect.js'
import { FORMAT, LAYOUTS, LAYOUT_OPTIONS, coreSize, headerOf, type KmemtraceLayout } from './layout.js'
import { RecordReader } from './records.js'

export interface KmemtraceDecodeOptions {
  /** The layout of the records. Default: detected from the first records. */
  layout?: KmemtraceLayout['layout']
  /** The byte order of the recording machine. Default: detected. */
  byteOrder?: KmemtraceLayout['byteOrder']
  /** Bytes of a `long` in `ftrace` records. Default: detected. Nothing is detected if all three are given. */
  wordSize?: KmemtraceLayout['wordSize']
  /** The CPU whose file this is, for every event of a `relay` stream; `ftrace` records contain the CPU. */
  cpu?: number
}

/** kmemtrace's binary records to events: one per-CPU file, or several concatenated. */
export class KmemtraceDecoder extends CursorDecoder {
  /**
   * `warnings` has the position of the first all-zero record, the number of these, and the position of the first bytes
   * that are not features.
   */
  constructor(options: KmemtraceDecodeOptions = {}) {
    checkOptions(options, LAYOUT_OPTIONS, 'KmemtraceDecoder')
    const { layout, byteOrder, wordSize, cpu } = options
    const layouts = LAYOUTS.filter(
      (one) =>
        (layout === undefined || one.layout === layout) &&
        (byteOrder === undefined || one.byteOrder === byteOrder) &&
        (wordSize === undefined || one.wordSize === wordSize || one.layout === 'relay'),
    )
    if (layouts.length === 0)
      throw new RangeError(`no records have layout ${layout}, byteOrder ${byteOrder} and wordSize ${wordSize}`)
    super(new Cursor(FORMAT), (cursor) => readTrace(cursor, layouts, cpu))
  }
}

/** Reads records, whose layout the first ones show. */
function* readTrace(cursor: Cursor, layouts: readonly KmemtraceLayout[], cpu: number | undefined): Reading {
  const { input } = cursor
  const reader = yield* begin(cursor, layouts, cpu)
  for (let isNew = true; ; isNew = false) {
    const before = reader.stray
    const isLast = input.ended
    const batch = reader.read(input, isLast)
    if (reader.stray !== before) {
      const at = { format: FORMAT, offset: reader.stray, event: cursor.delivered + reader.strayRow + 1 }
      const kept = 'the bytes after this record are not features; they are kept, and later ones are not reported'
      cursor.warn(kept, at)
    }
    if (!reader.full && (reader.fault !== undefined || isLast)) warnOfZeros(cursor, reader)
    if (batch.count > 0 || isNew) yield batch
    if (reader.full) continue
    if (cursor.isCut && (reader.fault !== undefined || isLast)) return
    if (reader.fault !== undefined) throw malformed(reader.fault, cursor.here())
    if (isLast && input.left > 0) throw truncated('the input ends within a record', cursor.here())
    if (isLast) return
    yield* cursor.more()
  }
}

/** Detects the layout. */
function* begin(
  cursor: Cursor,
  layouts: readonly KmemtraceLayout[],
  cpu: number | undefined,
): ReadingPart<RecordReader> {
  const { input } = cursor
  for (;;) {
    const { found, pos } = locateRecords(layouts, input.bytes, input.pos, input.end, input.ended)
    input.pos = pos
    if (found === 'short') {
      yield* cursor.more()
      continue
    }
    const layout = found === 'bad' ? layouts[0] : found
    const ofAll = layout.layout === 'relay' ? cpu : undefined
    const reader = new RecordReader(layout, headerOf(layout, ofAll), ofAll)
    if (input.offset > 0) reader.addZeros(input.offset / coreSize(layout), 0)
    if (found === 'bad') reader.fault = 'no byte order and layout makes a record of this'
    return reader
  }
}

function warnOfZeros(cursor: Cursor, { allZeros, firstZero }: RecordReader): void {
  if (allZeros === 0) return
  const text = `the first of ${allZeros} all-zero records, in whose place the recorder lost events`
  cursor.warn(text, { format: FORMAT, offset: firstZero })
}
