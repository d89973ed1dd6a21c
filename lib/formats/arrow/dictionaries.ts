import type { Strings } from './escape.js'
import { ArrowFault, ArrowLimit } from './fault.js'
import type { FlatReader } from './flatbuffer-read.js'
import { DictionaryBatch, MAX_BODY } from './layout.js'
import { Parts } from './parts.js'
import type { Column } from './schema.js'
import { hasTexts, readNames } from './texts.js'

/** The current dictionaries of a stream. */
export class Dictionaries {
  private readonly columns = new Map<number, Column>()
  private readonly known = new Map<number, Strings>()
  /** The memory of all dictionaries. */
  private held = 0

  /** @param columns of the stream; the dictionaries of others are not kept */
  constructor(columns: readonly Column[]) {
    const add = (column: Column): void => {
      if (column.dictionary !== undefined && hasTexts(column)) this.columns.set(column.dictionary.id, column)
      column.children.forEach(add)
    }
    columns.forEach(add)
  }

  /** Adds a dictionary, or the additions to one. @throws ArrowFault, ArrowLimit */
  take(message: FlatReader, body: Uint8Array<ArrayBuffer>): void {
    const id = message.i64(DictionaryBatch.id)
    const column = this.columns.get(id)
    if (column === undefined) return
    const parts = new Parts(message.neededTable(DictionaryBatch.data), body)
    const { rows } = parts.nextNode()
    parts.nextBuffer()
    const added = readNames(parts, column, rows)
    const before = message.i8(DictionaryBatch.isDelta) === 0 ? undefined : this.known.get(id)
    const all = before === undefined ? added : joined([before, added])
    this.held += memoryOf(all) - memoryOf(this.known.get(id))
    if (this.held > MAX_BODY) throw new ArrowLimit(`dictionaries of more than ${MAX_BODY} bytes`)
    this.known.set(id, all)
  }

  /** @throws ArrowFault when the dictionary has not been read yet */
  get(id: number): Strings {
    const found = this.known.get(id)
    if (found === undefined) throw new ArrowFault(`dictionary ${id} is missing`)
    return found
  }
}

/** Strings one after the other. @throws ArrowLimit when they are too long */
export function joined(parts: readonly Strings[]): Strings {
  const count = parts.reduce((sum, { starts }) => sum + starts.length - 1, 0)
  const length = parts.reduce((sum, part) => sum + lengthOf(part), 0)
  if (length > MAX_BODY) throw new ArrowLimit(`names of more than ${MAX_BODY} bytes`)
  const bytes = new Uint8Array(length)
  const starts = new Uint32Array(count + 1)
  let at = 0
  let id = 0
  for (const part of parts) {
    const first = part.starts[0]
    const end = lengthOf(part) + first
    bytes.set(part.bytes.subarray(first, end), at)
    for (let i = 1; i < part.starts.length; i++) starts[++id] = at + part.starts[i] - first
    at += end - first
  }
  return { bytes, starts }
}

function memoryOf(strings: Strings | undefined): number {
  return strings === undefined ? 0 : lengthOf(strings) + strings.starts.byteLength
}

function lengthOf({ starts }: Strings): number {
  return starts[starts.length - 1] - starts[0]
}
