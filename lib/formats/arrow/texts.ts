import { unescape, type Strings } from './escape.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import { MAX_BODY, Type } from './layout.js'
import type { Parts } from './parts.js'
import type { Column } from './schema.js'
import { elements, offsets } from './values.js'

/** The length of a text in a view, and the position of the text or of its location. */
const VIEW_BYTES = 16
/** Texts of up to this length are stored in the view itself. */
const SHORT = 12

const OUTSIDE = 'a text is outside of its buffer'

/** Whether a column, or a dictionary, has texts or bytes. */
export function hasTexts({ type }: Column): boolean {
  return TEXTS.has(type)
}

const TEXTS: ReadonlySet<number> = new Set([
  Type.utf8,
  Type.largeUtf8,
  Type.utf8View,
  Type.binary,
  Type.largeBinary,
  Type.binaryView,
])

/** Texts with names in heapflow's form. */
export function readNames(parts: Parts, column: Column, rows: number): Strings {
  return unescape(readBytes(parts, column, rows))
}

/**
 * The texts of a column whose validity was read before; null rows may have any text.
 * @throws ArrowFault, ArrowLimit
 */
export function readBytes(parts: Parts, { type }: Column, rows: number): Strings {
  if (type === Type.utf8View || type === Type.binaryView) return readViews(parts, rows)
  const starts = offsets(parts.nextBuffer(), rows, type === Type.largeUtf8 || type === Type.largeBinary)
  const bytes = parts.nextBuffer()
  if (starts[rows] > bytes.length) throw new ArrowFault(OUTSIDE, {}, starts.findIndex((end) => end > bytes.length) - 1)
  return { bytes, starts }
}

function readViews(parts: Parts, rows: number): Strings {
  const views = elements(parts.nextBuffer(), rows, VIEW_BYTES)
  const buffers = Array.from({ length: parts.nextCount() }, () => parts.nextBuffer())
  const view = new DataView(views.buffer, views.byteOffset, views.length)
  const starts = new Uint32Array(rows + 1)
  for (let i = 0; i < rows; i++) {
    const end = starts[i] + view.getUint32(VIEW_BYTES * i, true)
    // Views may share their text, so a few bytes could expand to very many.
    if (end > MAX_BODY) throw new ArrowLimit(`texts of more than ${MAX_BODY} bytes`)
    starts[i + 1] = end
  }
  const bytes = new Uint8Array(starts[rows])
  for (let i = 0; i < rows; i++) {
    const at = VIEW_BYTES * i
    const length = view.getUint32(at, true)
    const [source, from] =
      length <= SHORT ? [views, at + 4] : [buffers[view.getUint32(at + 8, true)], view.getUint32(at + 12, true)]
    if (source === undefined || from + length > source.length) throw new ArrowFault(OUTSIDE, {}, i)
    bytes.set(source.subarray(from, from + length), starts[i])
  }
  return { bytes, starts }
}
