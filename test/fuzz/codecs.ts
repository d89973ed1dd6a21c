import { batchesOf, type EventBatch, type TraceEvent } from '../../lib/event/batch.js'
import { ALL_GROUP_FIELDS } from '../../lib/event/fields.js'
import { isWritable, type Format, type FormatInfo, type WritableFormat } from '../../lib/event/format.js'
import type { TimeUnit, TraceHeader } from '../../lib/event/header.js'
import type { Encoder } from '../../lib/event/stage.js'
import { FORMATS } from '../support/formats.js'
import { headerOf, LAYOUTS } from '../../lib/formats/kmemtrace/layout.js'
import { ndjson } from '../../lib/formats/ndjson/index.js'
import { copyOf, decode, decodeInPieces, encode, encodeRecycling, recutBatches, type Decoded } from './drive.js'
import { Failure } from './failure.js'
import { ANYTHING, cutIntoBatches, randomEvents } from './events.js'
import type { Mutator } from './mutate.js'
import { Random } from './random.js'
import type { Input, Target } from './target.js'

const WRITABLE = FORMATS.filter(isWritable)

/** What may go wrong when a stage is used as it should be. */
const READ_ERRORS = new Set(['ERR_TRACE_TRUNCATED', 'ERR_TRACE_MALFORMED', 'ERR_TRACE_LIMIT'])
const WRITE_ERRORS = new Set(['ERR_TRACE_UNENCODABLE', 'ERR_TRACE_LIMIT'])

/** Weights of targets whose inputs take longer than those of others. */
const COSTLY: Readonly<Record<string, number>> = {
  compact: 4,
  valgrind: 8,
  ltrace: 8,
  'compact-events': 1 / 2,
  'arrow-events': 2,
}

/** Damaged traces of a format: read whole and in pieces, written by some format, and read again. */
export function decoderTarget(format: Format, mutator: Mutator): Target {
  return {
    name: format.name,
    weight: COSTLY[format.name] ?? 16,
    make(random): Input {
      const bytes = mutator.make(random)
      return {
        extension: format.extensions[0],
        bytes: () => bytes,
        check: () => checkBytes(format, bytes, random),
      }
    },
  }
}

/** Random events: written by a format, and read again. */
export function encoderTarget(format: WritableFormat): Target {
  const headers = headersOf(format)
  return {
    name: `${format.name}-events`,
    weight: COSTLY[`${format.name}-events`] ?? 4,
    make(random): Input {
      const shape = random.oneIn(4) ? ANYTHING : format.carried
      const groups = shape === ANYTHING ? ALL_GROUP_FIELDS : format.groups
      const events = randomEvents(random, shape, random.oneIn(50) ? 600 : 30, groups)
      const batches = cutIntoBatches(random, events, random.pick(headers))
      return {
        extension: '.ndjson',
        bytes: () => textOf(batches),
        check: () => checkEvents(format, batches, random),
      }
    },
  }
}

/** Headers that traces of a format have, those of others, and one that says nothing. */
function headersOf(format: Format): TraceHeader[] {
  return [
    { format: format.name },
    { format: format.name, timeUnit: 'us' },
    { format: 'unknown' },
    { format: 'replay', timeUnit: 'ns' },
    { format: 'mtrc', layout: { version: 10_501, wordSize: 8, longSize: 8, byteOrder: 'little' } },
    { format: 'mtrc', layout: { version: 10_300, wordSize: 4, longSize: 4, byteOrder: 'big' } },
    ...LAYOUTS.map(headerOf),
  ]
}

/** Events as lines of JSON, to keep an input in a file. */
export function textOf(batches: readonly EventBatch[]): Uint8Array {
  return encode(ndjson.encoder(), batches).bytes
}

/** Reads bytes whole and in pieces; at times what came out is written and read again. @throws Failure */
export function checkBytes(format: Format, bytes: Uint8Array, random: Random): void {
  const options = randomOptions(format, 'decodeOptions', random)
  const whole = decode(format.decoder(options), bytes)
  checkError(format, whole, bytes.length)
  if (random.oneIn(2)) {
    const inPieces = decodeInPieces(format.decoder(options), bytes, random)
    expectSame('in pieces', whole, inPieces)
    if (whole.warnings.join('\n') !== inPieces.warnings.join('\n'))
      throw new Failure(`in pieces: it warns ${show(inPieces.warnings)}, not ${show(whole.warnings)}`)
  }
  format.sniff(bytes)
  if (random.oneIn(16)) checkGood(format)
  if (whole.digest.events === 0 || !random.oneIn(16)) return
  const target = isWritable(format) && random.oneIn(2) ? format : random.pick(WRITABLE)
  checkEvents(target, whole.batches, random)
}

/** A good trace of each format: its bytes, and the events that it had at first. */
const good = new Map<Format, { readonly bytes: Uint8Array; readonly read: Decoded; readonly written: Uint8Array }>()

/** A good trace has its events, and is written as it was, whatever was read before. @throws Failure */
function checkGood(format: Format): void {
  if (!isWritable(format)) return
  let known = good.get(format)
  if (known === undefined) {
    const random = new Random()
    random.seed(format.name.length)
    const [bytes] = randomTraces(format, random, 1) as [Uint8Array]
    const read = decode(format.decoder(), bytes)
    good.set(format, (known = { bytes, read, written: encode(format.encoder(), read.batches).bytes }))
  }
  expectSame('a good trace after others', known.read, decode(format.decoder(), known.bytes))
  if (Buffer.compare(encode(format.encoder(), known.read.batches).bytes, known.written) !== 0)
    throw new Failure('a good trace after others is written in another way')
}

function checkError(format: Format, { digest, error }: Decoded, length: number): void {
  if (error === undefined) return
  if (!READ_ERRORS.has(error.code)) throw new Failure(`${error.code} from a decoder`)
  if (error.format !== format.name) throw new Failure(`an error of ${error.format}: ${error.message}`)
  if (error.offset === undefined || error.offset > length) throw new Failure(`no offset in the input: ${error.message}`)
  if (error.event !== digest.events + 1) throw new Failure(`${digest.events} events came, but: ${error.message}`)
  if (error.message.length > 2000) throw new Failure(`an error of ${error.message.length} characters`)
}

/** Writes events, and reads what was written. @throws Failure */
export function checkEvents(format: WritableFormat, batches: readonly EventBatch[], random: Random): void {
  const options = randomOptions(format, 'encodeOptions', random)
  try {
    checkEncoder(format, options, batches, random)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(`as ${format.name} ${JSON.stringify(options)}: ${error.message}`)
  }
}

function checkEncoder(format: WritableFormat, options: object, batches: readonly EventBatch[], random: Random): void {
  const encoder = format.encoder(options)
  const { bytes, error } = encode(encoder, batches)
  const again = format.encoder(options)
  // With little latency, and where batches come back as they are, each batch is written by itself.
  const isByItself = 'latency' in options || format.keepsBatches === true
  const recycled = encodeRecycling(again, isByItself ? batches.map(copyOf) : recutBatches(batches, random))
  if (error?.message !== recycled.error?.message)
    throw new Failure(`${recycled.error?.message ?? 'no error'} in other batches, not ${error?.message ?? 'no error'}`)
  if (Buffer.compare(bytes, recycled.bytes) !== 0) throw new Failure('other bytes when memory is used again')
  if (error !== undefined) {
    // Events of a layout, or with options, for which the format has no records.
    if (!WRITE_ERRORS.has(error.code)) throw error
    return
  }
  const counts = countsOf(encoder)
  const others = countsOf(again)
  if (counts !== others) throw new Failure(`in other batches it loses ${others}, not ${counts}`)
  if (random.oneIn(2)) checkStrict(format, options, batches, counts)
  if (bytes.length > 0) checkWritten(format, options, batches, bytes, counts)
}

/** What was lost, in an order that does not depend on which came first. */
function countsOf({ losses }: Encoder): string {
  return JSON.stringify([...losses.counts].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** In strict mode the first loss is an error, and what loses nothing is none. */
function checkStrict(format: WritableFormat, options: object, batches: readonly EventBatch[], losses: string): void {
  const { error } = encode(format.encoder({ ...options, strict: true }), batches)
  if (error !== undefined && !WRITE_ERRORS.has(error.code)) throw error
  if (error !== undefined && losses === '[]') throw new Failure(`strict refuses what loses nothing: ${error.message}`)
  if (error === undefined && losses !== '[]') throw new Failure(`strict accepts what loses ${losses}`)
}

/** What was written can be read; it is all there, if nothing was lost; and written again, it is the same. */
function checkWritten(
  format: WritableFormat,
  options: object,
  batches: readonly EventBatch[],
  bytes: Uint8Array,
  losses: string,
): void {
  const hints = hintsIn(losses)
  const decoder = format.decoder(hints)
  const back = decode(decoder, bytes)
  if (back.error !== undefined) throw new Failure(`written, but not read: ${back.error.message}`)
  if (losses === '[]') expectAll(format, batches, back)
  const encoder = format.encoder(options)
  const again = encode(encoder, back.batches)
  if (again.error !== undefined) throw new Failure(`not written again: ${again.error.message}`)
  const lost = [...encoder.losses.counts.keys()].filter((reason) => !HINT.test(reason))
  if (lost.length > 0) throw new Failure(`loses what it wrote itself: ${lost.join(', ')}`)
  // What a format adds or cannot say in the same words is settled the first time.
  if (Buffer.compare(bytes, again.bytes) === 0) return
  const hintsAgain = hintsIn(countsOf(encoder))
  const backAgain = decode(format.decoder(hintsAgain), again.bytes)
  // All-zero records alone are read in a layout that need not be the one that they were written in.
  if (JSON.stringify(hintsAgain) === JSON.stringify(hints)) expectSame('written again', back, backAgain)
  else expectSameEvents('written again', back, backAgain)
}

/** How to read records that do not show their layout, as the encoder reports it. */
const HINT = /^layout, which the records do not show/

function hintsIn(losses: string): object {
  const hint = /layout (\w+), byte order (\w+)(?:, word size (\d))?/.exec(losses)
  if (hint === null) return {}
  const [, layout, byteOrder, wordSize] = hint
  return { layout, byteOrder, ...(wordSize !== undefined && { wordSize: Number(wordSize) }) }
}

/** Nothing was counted as lost: then all of it is back. */
/** Whether an encoder may have written an event after a last line that would look truncated. */
function isEndMark({ text, code }: TraceEvent): boolean {
  return text === '= End' || text === '#' || code === 'c'.charCodeAt(0)
}

function expectAll(format: WritableFormat, batches: readonly EventBatch[], back: Decoded): void {
  const unit = back.batches[0]?.header.timeUnit
  const written = batches.flatMap((batch) => eventsIn(unit, batch))
  const read = back.batches.flatMap((batch) => [...batch])
  if (read.length === written.length + 1 && isEndMark(read.at(-1)!)) read.pop()
  const renamed = format.writtenAs ?? {}
  if (written.some(({ kind }) => (renamed[kind]?.length ?? 1) > 1)) return
  if (read.length !== written.length) throw new Failure(`${written.length} events written, ${read.length} read`)
  written.forEach((event, i) => {
    const other = read[i]
    const kind = other.kind === renamed[event.kind]?.[0] ? other.kind : event.kind
    const missing = differences({ ...event, kind } as TraceEvent, other)
    if (missing.length > 0)
      throw new Failure(
        `event ${i + 1} came back with another ${missing.join(', ')}: ${show(other)}, not ${show(event)}`,
      )
  })
}

/** The events of a batch, with their times in the unit in which a format writes them. */
function eventsIn(unit: TimeUnit | undefined, batch: EventBatch): TraceEvent[] {
  if (batch.header.timeUnit !== 'us' || unit !== 'ns') return [...batch]
  return [...batch].map((event) => {
    const { time, endTime } = event
    return {
      ...event,
      ...(time !== undefined && { time: 1000n * time }),
      ...(endTime !== undefined && { endTime: 1000n * endTime }),
    }
  })
}

/** The fields of an event that another one has not, or has otherwise. */
function differences(event: TraceEvent, other: TraceEvent): string[] {
  return Object.entries(event)
    .filter(([name, value]) => show(value) !== show((other as unknown as Record<string, unknown>)[name]))
    .filter(([name, value]) => name !== 'outcome' || value !== outcomeOf(other))
    .filter(([name, value]) => name !== 'elementSize' || value !== elementSizeOf(other))
    .map(([name]) => name)
}

/** What the addresses of a realloc say of it. */
function outcomeOf({ address = 0n, oldAddress = 0n }: TraceEvent): string {
  if (oldAddress === 0n) return 'allocated'
  return address === 0n ? 'freed' : address === oldAddress ? 'none' : 'moved'
}

/** The size of calloc's elements, where it follows from their number and the size of all. */
function elementSizeOf(event: TraceEvent): bigint | undefined {
  if (!('count' in event) || !('size' in event)) return undefined
  const { count = 0n, size = 0n } = event
  return count === 0n || size % count !== 0n ? undefined : size / count
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part instanceof Uint8Array ? Buffer.from(part).toString('hex') : part,
  )
}

/** @throws Failure unless both gave the same events and headers, and failed alike */
export function expectSame(how: string, one: Decoded, other: Decoded): void {
  expectSameEvents(how, one, other)
  // A header that only a fault comes after is of no use.
  const headers = ({ digest, error }: Decoded) =>
    digest.headers.slice(0, error === undefined ? undefined : digest.headersUsed).join()
  if (headers(one) !== headers(other)) throw new Failure(`${how}: the headers ${headers(other)}, not ${headers(one)}`)
}

function expectSameEvents(how: string, one: Decoded, other: Decoded): void {
  if (one.error?.message !== other.error?.message)
    throw new Failure(`${how}: ${other.error?.message ?? 'no error'}, not ${one.error?.message ?? 'no error'}`)
  if (one.digest.value !== other.digest.value)
    throw new Failure(`${how}: ${other.digest.value}, not ${one.digest.value}`)
}

/** Each option as it is by itself, or any of its values. */
function randomOptions(info: FormatInfo, of: 'decodeOptions' | 'encodeOptions', random: Random): object {
  const options: Record<string, unknown> = {}
  for (const [name, { default: usual, values }] of Object.entries(info[of])) {
    if (!random.oneIn(4)) continue
    if (values !== undefined) options[name] = asDefault(random.pick(values), usual)
    else if (typeof usual === 'boolean') options[name] = !usual
  }
  return info.optionChecks?.conflict?.(options) === undefined ? options : {}
}

/** A value, which commands know as text, of the type that the option has. */
function asDefault(value: string, usual: unknown): string | number {
  return typeof usual === 'number' || (usual === undefined && /^\d+$/.test(value)) ? Number(value) : value
}

/** Good traces of a format: those of random events. */
export function randomTraces(format: WritableFormat, random: Random, n: number): Uint8Array[] {
  const headers = headersOf(format)
  return Array.from({ length: n }, () => {
    const options = randomOptions(format, 'encodeOptions', random)
    const events = batchesOf(randomEvents(random, format.carried, 30, format.groups), random.pick(headers))
    return encode(format.encoder(options), [...events]).bytes
  })
}
