import type { TraceEvent } from '../../../lib/event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES } from '../../../lib/event/fields.js'
import { parseJson } from '../../../lib/event/json.js'
import { decodeText } from '../../../lib/event/strings.js'
import { Model, type Words } from './model.js'

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let crc = i
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0x82f6_3b78 : 0)
  return crc
})

function crc32c(bytes: Iterable<number>): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 0xff] ^ (crc >>> 8)
  return ~crc >>> 0
}

/** The checksum of words of 8 bytes. */
function crcOfWords(words: readonly bigint[]): number {
  return crc32c(new Uint8Array(BigUint64Array.from(words).buffer))
}

const nameWord = (bytes: Uint8Array) => BigInt(crc32c(bytes)) | (BigInt(bytes.length) << 32n)

function listWord(model: Model, list: readonly number[]): bigint {
  const words = list.map((name) => nameWord(model.names.names[name]))
  return BigInt(crcOfWords(words)) | (BigInt(list.length) << 32n)
}

/** An event, and the words of which the checksum is. */
function interpret(model: Model, { kind, mask, values }: Words): { event: TraceEvent; words: bigint[] } {
  const event: Record<string, unknown> = { kind: KINDS[kind] }
  const words = [BigInt(mask) | (BigInt(kind) << 32n)]
  const { names, lists } = model.names
  for (const [f, { name, type }] of FIELDS.entries()) {
    if (((mask >>> f) & 1) === 0) continue
    const value = values.get(f)
    if (value === undefined) throw new Error(`no ${name}`)
    const number = Number(value)
    const bytes = names[number]
    let word = value
    if (type === 'u64' || type === 'address') event[name] = value
    else if (type === 'u32') event[name] = number
    else if (type === 'i32') event[name] = number | 0
    else if (type === 'api') event[name] = APIS[number]
    else if (type === 'outcome') event[name] = OUTCOMES[number]
    else if (type === 'list') {
      const list = lists[number]
      word = listWord(model, list)
      event[name] = list.map((item) => decodeText(names[item]))
    } else {
      word = nameWord(bytes)
      if (type === 'string') event[name] = decodeText(bytes)
      else event[name] = type === 'bytes' ? bytes : parseJson(decodeText(bytes))
    }
    words.push(word)
  }
  return { event: event as unknown as TraceEvent, words }
}

/** A trace as the oracle reads it. */
export interface OracleTrace {
  readonly header: unknown
  readonly events: TraceEvent[]
}

/** Reads a section `G`, as the page of the format says. @returns the fields of each event of the next block */
function fieldsOfGroups(body: Uint8Array): Record<string, bigint | number | string>[] {
  let at = 0
  const wide = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = body[at++]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const number = () => Number(wide())
  const text = () => {
    const length = number()
    return decodeText(body.subarray(at, (at += length)))
  }
  const events = Array.from({ length: number() }, () => ({}) as Record<string, bigint | number | string>)
  for (let left = number(); left > 0; left--) {
    const name = text()
    const type = number()
    const having: typeof events = []
    let next = 0
    for (let run = 0, runs = number(); run < runs; run++) {
      const length = number()
      if (run % 2 === 1) having.push(...events.slice(next, next + length))
      next += length
    }
    const values: (bigint | number | string)[] = []
    let last: bigint | number | string = ''
    for (let i = 0; i < having.length;) {
      const code = number()
      let times = 1
      if (code === 0) {
        const folded = type === 4 ? 0n : wide()
        last = type === 4 ? text() : type < 2 ? folded : Number(type === 3 ? (folded >> 1n) ^ -(folded & 1n) : folded)
        values.push(last)
      } else if (code % 2 === 0) last = values[code / 2 - 1]!
      else times = (code + 1) / 2
      while (times-- > 0) having[i++]![name] = last
    }
  }
  return events
}

/** Decodes a file without checkpoints, as the pages of the format say. @returns its traces */
export function decodeCompact(file: Uint8Array): OracleTrace[] {
  const view = new DataView(file.buffer, file.byteOffset, file.length)
  const expectNumber = (is: number | bigint, should: number | bigint, what: string) => {
    if (is !== should) throw new Error(`${what}: ${is}, not ${should}`)
  }
  const magic = [0x89, 0x48, 0x46, 0x43, 0x0d, 0x0a, 0x1a, 0x0a, 1, 0]
  magic.forEach((byte, i) => expectNumber(file[i], byte, 'magic number'))
  const traces: OracleTrace[] = []
  let model = new Model(1, new Uint8Array(0))
  let level = 1
  let blocks = 0n
  let events = 0n
  let groups: Record<string, bigint | number | string>[] = []
  for (let at = 10; at < file.length;) {
    const type = String.fromCharCode(file[at])
    const length = view.getUint32(at + 1, true)
    const body = at + 5
    const end = body + length
    expectNumber(crc32c(file.subarray(at, end)), view.getUint32(end, true), 'checksum of a section')
    at = end + 4
    if (type === 'T') {
      const forgets = file[body] === 1
      const settings = body + (forgets ? 27 : 3)
      const header = settings + file[body + 2]
      if (forgets) {
        expectNumber(view.getBigUint64(body + 3, true), BigInt(traces.length), 'traces before this one')
        expectNumber(view.getBigUint64(body + 11, true), blocks, 'blocks before a trace')
        expectNumber(view.getBigUint64(body + 19, true), events, 'events before a trace')
        level = file[body + 1]
        model = new Model(level, file.slice(settings, header))
      }
      expectNumber(file[body + 1], level, 'level')
      traces.push({ header: JSON.parse(Buffer.from(file.subarray(header, end)).toString()), events: [] })
    } else if (type === 'G') {
      groups = fieldsOfGroups(file.subarray(body, end))
    } else if (type === 'B' || type === 'P') {
      blocks++
      expectNumber(groups.length || view.getUint32(body, true), view.getUint32(body, true), 'events with groups')
      const words: bigint[] = []
      model.coder.start(file.subarray(body + 8, end))
      for (let i = view.getUint32(body, true); i > 0; i--, events++) {
        const it = interpret(model, model.event(type === 'P'))
        words.push(...it.words)
        traces.at(-1)?.events.push({ ...it.event, ...groups.shift() })
      }
      expectNumber(crcOfWords(words), view.getUint32(body + 4, true), 'checksum of events')
    } else if (type === 'E') {
      expectNumber(view.getBigUint64(body, true), BigInt(traces.length), 'traces')
      expectNumber(view.getBigUint64(body + 8, true), blocks, 'blocks')
      expectNumber(view.getBigUint64(body + 16, true), events, 'events')
      expectNumber(at, file.length, 'length of the file')
    } else if (type >= 'A' && type <= 'Z') throw new Error(`section ${type}`)
  }
  return traces
}
