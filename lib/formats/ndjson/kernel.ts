import { columnOf, type EventBatch } from '../../event/batch.js'
import { APIS, FIELDS, KINDS, OUTCOMES } from '../../event/fields.js'
import { StringTable } from '../../event/strings.js'
import { constant, shared, type Kernel } from '../../kernel/instance.js'
import type { Global, Globals } from '../../kernel/load.js'
import * as Layout from '../../kernel/layouts/ndjson.js'
import { MAX_LISTED, SCRATCH_SIZE } from '../../kernel/layouts/strings.js'
import { KernelStrings, type StringsExports } from '../../kernel/strings.js'
import { FIELD_TYPE, KEYS } from './layout.js'
import { Rows } from './rows.js'

export { FULL, NO_FIELD, RARE } from '../../kernel/layouts/ndjson.js'

/** The exports of kernel/ndjson.ts and kernel/shared/strings.ts, which document them. */
interface NdjsonKernel
  extends
    StringsExports,
    Globals<'stop' | 'position' | 'emptyLines' | 'fields' | 'written' | 'needed' | 'rest' | 'SCRATCH'> {
  begin(): void
  decode(from: number, end: number, events: number, stringLimit: number): number

  beginStrings(strings: number, lists: number): void
  encode(from: number, to: number, left: number): number

  internScratch(length: number): number
  internList(length: number): number
}

/** The kernel and its memory. All codecs share it, each during a call of `next`. */
export class NdjsonMemory {
  readonly run: NdjsonKernel
  /** The columns and strings of the batch that is decoded. Only `push` works. */
  readonly events: EventBatch
  readonly rows: Rows
  private readonly strings: KernelStrings

  constructor(readonly kernel: Kernel<NdjsonKernel>) {
    const { run } = kernel
    this.run = run
    this.strings = new KernelStrings(run)
    this.events = kernel.columns.view(new AddedStrings(run, this.strings.listed))
    this.rows = new Rows(this.events)
    writeTexts(run)
  }

  /** A copy of the strings of the batch that is decoded. */
  takeStrings(): StringTable {
    return this.strings.take()
  }

  /** Copies the strings and lists of a batch that is to be encoded to the kernel, if there is room for them. */
  putStrings(table: StringTable): void {
    const own = this.strings
    const { bytes, starts, listed, lists } = table.flat()
    const fit = starts.length <= own.starts.length && bytes.length <= own.bytes.length
    if (fit) {
      own.bytes.set(bytes)
      own.starts.set(starts)
    }
    const listsFit = lists.length <= own.lists.length && listed.length <= own.listed.length
    if (listsFit) {
      own.listed.set(listed)
      own.lists.set(lists)
    }
    this.run.beginStrings(fit ? table.size : 0, listsFit ? table.listCount : 0)
  }
}

/** Up to this length a loop over characters is faster than an encoder. */
const MAX_SHORT = 256

/** Thrown if the kernel has no room for an event's strings. */
export class NoRoom extends Error {}

/** Adds strings to the kernel's table. They cannot be read here. */
class AddedStrings extends StringTable {
  private readonly scratch: Uint8Array

  constructor(
    private readonly run: NdjsonKernel,
    private readonly ids: Uint32Array,
  ) {
    super()
    this.scratch = new Uint8Array(run.memory.buffer, run.SCRATCH.value, SCRATCH_SIZE)
  }

  override intern(source: Uint8Array): number {
    if (source.length > SCRATCH_SIZE) throw new NoRoom()
    this.scratch.set(source)
    return found(this.run.internScratch(source.length))
  }

  override internText(text: string): number {
    const { length } = text
    if (length > MAX_SHORT) return super.internText(text)
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      if (code >= 0x80) return super.internText(text)
      this.scratch[i] = code
    }
    return found(this.run.internScratch(length))
  }

  override addList(ids: readonly number[]): number {
    const next = this.run.listed.value
    if (next + ids.length > MAX_LISTED) throw new NoRoom()
    this.ids.set(ids, next)
    return found(this.run.internList(ids.length))
  }
}

function found(id: number): number {
  if (id < 0) throw new NoRoom()
  return id
}

const instance = shared<NdjsonKernel>('ndjson')
let memory: NdjsonMemory | undefined

/** The kernel, instantiated on first use. */
export function ndjsonKernel(): NdjsonMemory {
  return (memory ??= new NdjsonMemory(instance()))
}

/** The end of a line has the position and the type after the last field's. */
export const END_TEXT = '}\n'

/** Writes all names to the kernel's table. */
function writeTexts(run: NdjsonKernel): void {
  const { buffer } = run.memory
  const view = new DataView(buffer)
  const bytes = new Uint8Array(buffer)
  const at = (name: string) => (run as unknown as Readonly<Record<string, Global>>)[name].value
  const table = (name: string, texts: readonly string[], word: (text: string) => string) => {
    const slots = bytes.subarray(at(`${name}_SLOTS`)).subarray(0, Layout.SLOTS)
    texts.forEach((text, code) => {
      const address = at(`${name}_TEXTS`) + Layout.TEXT_BYTES * code
      writeText(text, address)
      const slot = hash(word(text))
      // Of two names that begin alike, the kernel finds the second one after the first.
      if (slots[slot] === 0) slots[slot] = code + 1
      else if (slots[slot] !== code) throw new Error(`another name has the hash of ${text}`)
    })
    // The last text is followed by one that matches nothing.
    bytes[at(`${name}_TEXTS`) + Layout.TEXT_BYTES * texts.length + Layout.MASK_AT] = 0xff
  }
  const writeText = (text: string, address: number) => {
    if (text.length > Layout.MASK_AT) throw new Error(`${text} is too long`)
    bytes.set(Buffer.from(text), address)
    bytes.fill(0xff, address + Layout.MASK_AT, address + Layout.MASK_AT + text.length)
    view.setUint32(address + Layout.LENGTH_AT, text.length, true)
  }
  table('FIELD', KEYS, (key) => key.slice(2))
  table('KIND', KINDS, (name) => `${name}"`)
  table('API', APIS, (name) => `${name}"`)
  table('OUTCOME', OUTCOMES, (name) => `${name}"`)
  FIELDS.forEach((_, f) => {
    const address = at('FIELD_TEXTS') + Layout.TEXT_BYTES * f
    const spaced = address + Layout.TEXT_BYTES * Layout.SPACED
    const text = KEYS[f].replace(',', ', ').replace(':', ': ')
    if (text.length <= Layout.MASK_AT) writeText(text, spaced)
    else bytes[spaced + Layout.MASK_AT] = 0xff
    for (const place of [address, spaced]) {
      view.setUint32(place + Layout.TYPE_AT, FIELD_TYPE[f], true)
      view.setUint32(place + Layout.COLUMN_AT, at(constant(columnOf(f))), true)
    }
  })
  const end = at('FIELD_TEXTS') + Layout.TEXT_BYTES * FIELDS.length
  writeText(END_TEXT, end)
  view.setUint32(end + Layout.TYPE_AT, Layout.AS_END, true)
}

/** The hash of a word's first four letters, as the kernel has it. */
function hash(word: string): number {
  return Math.imul(Buffer.from(word).readUInt32LE(), Layout.HASH_FACTOR) >>> Layout.HASH_SHIFT
}
