import type { Sink } from '../../bytes/sink.js'
import { writeDecimal32 } from '../../bytes/u64.js'
import { KIND_BITS, LOW_BITS, NONE, Op } from '../../transforms/drive/layout.js'

/** The letters of operations in the program; `program.ts` lists them. */
const LETTERS: Readonly<Partial<Record<number, string>>> = {
  [Op.malloc]: 'M',
  [Op.calloc]: 'C',
  [Op.memalign]: 'A',
  [Op.realloc]: 'R',
  [Op.free]: 'F',
  [Op.more]: 'H',
  [Op.wait]: 'W',
  [Op.epoch]: 'E',
  [Op.spawn]: 'S',
  [Op.exit]: 'X',
  [Op.publish]: 'P',
}
const CODES = Uint8Array.from({ length: 16 }, (_, kind) => LETTERS[kind]?.charCodeAt(0) ?? 0)
const KIND_MASK = 2 ** KIND_BITS - 1
/** The upper bits of a size, beyond those in its operation. The program needs the bits above 32. */
const MORE_BITS = 32 - LOW_BITS
const COMMA = 0x2c
const LINE_FEED = 0x0a
const SPACE = 0x20
const NONE_TEXT = Uint8Array.from('NONE', (char) => char.charCodeAt(0))
/** The number of bytes after which a line ends. */
const LINE_BYTES = 100
/** The maximum number of bytes of an operation with its numbers. */
const OPERATION_BYTES = 64

/**
 * Writes a chunk of operations, as docs/operations.md describes it, as the numbers of a table in C: an operation of the
 * program is as many steps as the operations of the chunk that it stands for.
 * @param words the chunk, with the link at its end
 */
export function writeOperations(sink: Sink, words: Uint32Array): void {
  let lineStart = sink.pos
  let more = 0
  let power = 0
  for (let i = 0; i < words.length - 2; i += 2) {
    const word = words[i]
    const kind = word & KIND_MASK
    if (kind === Op.more) {
      more = word >>> KIND_BITS
      power = words[i + 1]
      const isPosition = (words[i + 2] & KIND_MASK) === Op.wait
      put(sink, kind, isPosition ? more : more >>> MORE_BITS)
      continue
    }
    const value = words[i + 1]
    const low = word >>> KIND_BITS
    const size = ((more << LOW_BITS) | low) >>> 0
    switch (kind) {
      case Op.malloc:
      case Op.calloc:
        put(sink, kind, size, value)
        break
      case Op.memalign:
        put(sink, kind, power, size, value)
        break
      case Op.realloc: {
        const isLong = (words[i + 2] & KIND_MASK) === Op.more
        put(sink, kind, size, value, words[i + (isLong ? 5 : 3)])
        // The size of the old block is not in the program, but each step is.
        if (isLong) put(sink, Op.more, 0)
        i += isLong ? 4 : 2
        break
      }
      case Op.wait:
        put(sink, kind, low, value)
        break
      case Op.free:
      case Op.epoch:
      case Op.spawn:
        put(sink, kind, value)
        break
      default:
        put(sink, kind)
    }
    more = 0
    if (sink.pos - lineStart < LINE_BYTES) continue
    sink.bytes[sink.pos - 1] = LINE_FEED
    lineStart = sink.pos
  }
}

/** Writes an operation and up to three numbers; -1 stands for no number. */
function put(sink: Sink, kind: number, first = -1, second = -1, third = -1): void {
  sink.reserve(OPERATION_BYTES)
  const { bytes } = sink
  let { pos } = sink
  bytes[pos++] = CODES[kind]
  bytes[pos++] = COMMA
  if (first >= 0) pos = putNumber(bytes, pos, first)
  if (second >= 0) pos = putNumber(bytes, pos, second)
  if (third >= 0) pos = putNumber(bytes, pos, third)
  bytes[pos++] = SPACE
  sink.pos = pos
}

function putNumber(bytes: Uint8Array, pos: number, value: number): number {
  if (value === NONE) {
    bytes.set(NONE_TEXT, pos)
    pos += NONE_TEXT.length
  } else pos = writeDecimal32(bytes, pos, value)
  bytes[pos] = COMMA
  return pos + 1
}
