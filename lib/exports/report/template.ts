/** The maximum size of a page in bytes, without a trace in it. */
export const MAX_PAGE_BYTES = 5_000_000

/** The markers in the template for title, tables and data, each present once. */
const MARKERS = ['<!--heapflow:title-->', '<!--heapflow:tables-->', '<!--heapflow:data-->'] as const

const encoder = new TextEncoder()

/** The template of a page before, between and after the markers. @throws Error for an invalid template */
export function partsOf(template: string): string[] {
  let rest = template
  const parts = MARKERS.map((marker) => {
    const pieces = rest.split(marker)
    if (pieces.length !== 2) throw new Error(`the page of reports does not have one ${marker} in its place`)
    rest = pieces[1]
    return pieces[0]
  })
  return [...parts, rest]
}

/** An element that has bytes, in pieces. */
export function* packed(id: string, chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield encoder.encode(`<script type="application/octet-stream" id="${id}">`)
  yield* base64(chunks)
  yield encoder.encode('</script>')
}

/** The number of bytes that a piece of base64 stands for: a multiple of 3. */
const PIECE = 49_152
const DIGITS = encoder.encode('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = '='.charCodeAt(0)

/** Bytes as base64, in pieces. Strings in between would take several times the memory. */
function* base64(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
  const piece = new Uint8Array(PIECE)
  let filled = 0
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + PIECE - filled)
      piece.set(part, filled)
      at += part.length
      filled += part.length
      if (filled < PIECE) break
      yield digitsOf(piece, filled)
      filled = 0
    }
  }
  if (filled > 0) yield digitsOf(piece, filled)
}

/** The first `count` bytes as base64, with padding. */
function digitsOf(bytes: Uint8Array, count: number): Uint8Array {
  const digits = new Uint8Array(4 * Math.ceil(count / 3))
  let to = 0
  bytes.fill(0, count)
  for (let i = 0; i < count; i += 3) {
    const bits = (bytes[i] << 16) | (bytes[i + 1] << 8) | bytes[i + 2]
    for (let shift = 18; shift >= 0; shift -= 6) digits[to++] = DIGITS[(bits >> shift) & 63]
  }
  digits.fill(PADDING, to - ((3 - (count % 3)) % 3))
  return digits
}
