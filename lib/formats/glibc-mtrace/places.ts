import { ascii } from '../../text/ascii.js'
import { put } from '../../text/line-encoder.js'
import type { Sink } from '../../bytes/sink.js'
import { HI, LO, writeHex } from '../../bytes/u64.js'
import type { EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import type { StringTable } from '../../event/strings.js'
import { MAX_NAME, PLACE } from './layout.js'

const { module: HAS_MODULE, function: HAS_FUNCTION, fields: HAS_FIELDS, callSite: HAS_CALL_SITE } = FieldBit

const NOTHING = new Uint8Array(0)
/** The value that `fields` may have: the offset in a function. */
const OFFSET = /^\{"offset":"([+-](?:0x)?[0-9a-f]{1,16})"\}$/
/** Neither the script nor the reader would find the end of such a function. */
const UNFIT_FUNCTION = /[\s()]/
/** Without an offset after it, the end of such a function would be read as one. */
const LIKE_AN_OFFSET = /[+-](?:0x)?[0-9a-f]{1,18}$/
const LONG = `names of more than ${MAX_NAME} bytes`

const AT = ascii('@ ')
const COLON = 0x3a
const OPEN = 0x28
const CLOSE = 0x29
const NIL = ascii('[(nil)] ')
const ZERO = ascii('[0x0] ')
const BEGIN = ascii('[0x')
const END = ascii('] ')

/** The written form of a name, or the reason why it cannot be written. */
type Name = Uint8Array | string

/** The origins of calls, which precede the operation of a line. */
export class Places {
  /** The reason why a part of the last place is not written. */
  reasons: readonly string[] = []
  /** The names of the batch that were examined, by ids of strings. */
  private modules: (Name | undefined)[] = []
  private functions: (Name | undefined)[] = []
  private offsets: (Name | undefined)[] = []
  private likeOffsets: (boolean | undefined)[] = []
  /** The place of the last event; undefined if it has none. */
  private module: Uint8Array | undefined
  private function: Uint8Array | undefined
  private offset: Uint8Array = NOTHING

  begin({ strings }: EventBatch): void {
    this.modules = Array.from({ length: strings.size })
    this.functions = Array.from({ length: strings.size })
    this.offsets = Array.from({ length: strings.size })
    this.likeOffsets = Array.from({ length: strings.size })
  }

  /** Examines the place of an event, and notes the parts that cannot be written. */
  look(batch: EventBatch, i: number): void {
    const set = batch.mask[i]
    const { strings } = batch
    this.module = this.function = undefined
    this.offset = NOTHING
    if (this.reasons.length > 0) this.reasons = []
    if ((set & HAS_MODULE) !== 0) {
      const id = batch.module[i]
      this.module = this.take((this.modules[id] ??= moduleName(strings.view(id))))
    }
    if ((set & HAS_FUNCTION) !== 0) {
      const id = batch.function[i]
      this.function = this.take((this.functions[id] ??= functionName(strings.view(id), strings.text(id))))
    }
    if ((set & HAS_FIELDS) !== 0) {
      const id = batch.fields[i]
      const offset = (this.offsets[id] ??= offsetText(strings.text(id)))
      if (this.function === undefined) this.take(typeof offset === 'string' ? offset : 'offsets without a function')
      else this.offset = this.take(offset) ?? NOTHING
    }
    if (this.function !== undefined && this.offset === NOTHING && this.endsLikeAnOffset(batch.function[i], strings)) {
      this.function = this.take('functions that end like an offset')
    }
    const isNamed = this.module !== undefined || this.function !== undefined
    if (
      isNamed &&
      (set & HAS_CALL_SITE) !== 0 &&
      batch.callSite.words[2 * i] === 0 &&
      batch.callSite.words[2 * i + 1] === 0
    )
      this.reasons = [...this.reasons, 'callSite 0 beside a module or function, which stands for none']
  }

  /** Writes the place that was examined last. */
  write(sink: Sink, batch: EventBatch, i: number): void {
    const set = batch.mask[i]
    const { module, function: name, offset } = this
    if ((set & PLACE) === 0) return
    const sited = (set & HAS_CALL_SITE) !== 0
    if (module === undefined && name === undefined && !sited) return
    sink.reserve(64 + (module?.length ?? 0) + (name?.length ?? 0))
    const { bytes } = sink
    let p = put(bytes, sink.pos, AT)
    if (module !== undefined) {
      p = put(bytes, p, module)
      bytes[p++] = COLON
    }
    if (name !== undefined) {
      bytes[p++] = OPEN
      p = put(bytes, put(bytes, p, name), offset)
      bytes[p++] = CLOSE
    }
    const lo = sited ? batch.callSite.words[2 * i + LO] : 0
    const hi = sited ? batch.callSite.words[2 * i + HI] : 0
    if (lo === 0 && hi === 0) p = put(bytes, p, module === undefined && name === undefined ? NIL : ZERO)
    else p = put(bytes, writeHex(bytes, put(bytes, p, BEGIN), lo, hi), END)
    sink.pos = p
  }

  private endsLikeAnOffset(id: number, strings: StringTable): boolean {
    return (this.likeOffsets[id] ??= LIKE_AN_OFFSET.test(strings.text(id)))
  }

  private take(name: Name): Uint8Array | undefined {
    if (typeof name !== 'string') return name
    this.reasons = [...this.reasons, name]
    return undefined
  }
}

function moduleName(bytes: Uint8Array): Name {
  if (bytes.length > MAX_NAME) return LONG
  return bytes.includes(0x0a) ? 'modules with line feeds' : bytes.slice()
}

function functionName(bytes: Uint8Array, text: string): Name {
  if (bytes.length > MAX_NAME) return LONG
  return UNFIT_FUNCTION.test(text) ? 'functions with spaces or parentheses' : bytes.slice()
}

function offsetText(text: string): Name {
  const offset = OFFSET.exec(text)?.[1]
  return offset === undefined ? 'fields other than an offset' : ascii(offset)
}
