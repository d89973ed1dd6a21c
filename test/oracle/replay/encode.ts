import { ascii, COLON, LF, MINUS, SPACE, ZERO } from '../../../lib/text/ascii.js'
import { HI, LO, MAX_DECIMAL, SAFE_HI, WORD, writeDecimal, writeHex } from '../../../lib/bytes/u64.js'
import type { EventBatch } from '../../../lib/event/batch.js'
import { APIS, Api, fieldNames, FieldBit, Kind, Outcome } from '../../../lib/event/fields.js'
import type { TraceHeader } from '../../../lib/event/header.js'
import { AddressedLosses } from '../../../lib/blocks/addressed-losses.js'
import type { Losses } from '../../../lib/kernel/losses.js'
import type { EncodeOptions } from '../../../lib/event/format.js'
import { LineEncoder } from '../../../lib/text/line-encoder.js'
import { CARRIED, FILLED, FORM_FIELDS, NAME } from '../../../lib/formats/replay/layout.js'

const ALLOC = Kind.alloc
const EXISTING = Kind.existing
const REALLOC = Kind.realloc
const FREE = Kind.free
const THREAD_DESTROY = Kind['thread-destroy']
const MALLOC_API = Api.malloc
const CALLOC_API = Api.calloc
const MEMALIGN_API = Api.memalign
const REALLOC_API = Api.realloc
const FREE_API = Api.free
const NO_MOVE = Outcome.none
const ALLOCATED = Outcome.allocated
const FREED = Outcome.freed
const MOVED = Outcome.moved

const HAS_API = FieldBit.api
const HAS_THREAD = FieldBit.thread
const HAS_ADDRESS = FieldBit.address
const HAS_OLD_ADDRESS = FieldBit.oldAddress
const HAS_SIZE = FieldBit.size
const HAS_COUNT = FieldBit.count
const HAS_ELEMENT_SIZE = FieldBit.elementSize
const HAS_ALIGNMENT = FieldBit.alignment
const HAS_TIME = FieldBit.time
const HAS_END_TIME = FieldBit.endTime
const HAS_TIMES = FieldBit.time | FieldBit.endTime
const HAS_PRESENT = FieldBit.present
const HAS_OUTCOME = FieldBit.outcome
/** Fields that malloc cannot represent. */
const NOT_MALLOC = HAS_COUNT | HAS_ELEMENT_SIZE | HAS_ALIGNMENT

const MALLOC = ascii(' malloc 0x')
const CALLOC = ascii(' calloc 0x')
const MEMALIGN = ascii(' memalign 0x')
const REALLOC_WORD = ascii(' realloc 0x')
const FREE_WORD = ascii(' free 0x')
const THREAD_DONE = ascii(' thread_done 0x')

/** Thread id, the longest action, two pointers, four decimals, and what stands between them. */
const MAX_CANONICAL_LINE = 1 + MAX_DECIMAL + 1 + THREAD_DONE.length + 2 * 19 + 4 * (1 + MAX_DECIMAL) + 1

/** Encodes events as memory_replay text in canonical form: single spaces, `0x` and lower-case hex, no leading zeros. */
export class ReplayEncoder extends LineEncoder {
  readonly losses: Losses
  private header: TraceHeader | null = null
  private tooLarge = -1

  /** @param options `strict` makes the first loss an error */
  constructor(options: EncodeOptions = {}) {
    super()
    this.losses = new AddressedLosses(0, NAME, CARRIED, options.strict, FILLED)
    this.losses.useUnit('ns')
  }

  protected override write(batch: EventBatch): void {
    const { losses, sink } = this
    const n = losses.countBatch(batch)
    const second = this.header !== null && this.header !== batch.header
    this.header = batch.header
    if (second) losses.countEvent('beginning of another trace', batch, 0)
    const { mask, kind, api } = batch
    const thread = batch.thread.words
    const address = batch.address.words
    const size = batch.size.words
    const micros = batch.header.timeUnit === 'us'
    this.tooLarge = -1

    for (let i = 0; i < n; i++) {
      const at = 2 * i
      const fields = mask[i]
      const what = kind[i]
      sink.reserve(MAX_CANONICAL_LINE)
      const out = sink.bytes
      let p = sink.pos
      if ((fields & HAS_THREAD) !== 0) p = writeSigned(out, p, thread[at + LO], thread[at + HI])
      else out[p++] = ZERO
      out[p++] = COLON

      if (what === ALLOC || what === EXISTING) {
        if ((fields & HAS_ADDRESS) === 0) {
          losses.countEvent('allocations without an address', batch, i)
          continue
        }
        if (what === EXISTING) losses.countEvent('existing blocks, written as malloc', batch, i)
        if (what === ALLOC && ((fields & NOT_MALLOC) !== 0 || ((fields & HAS_API) !== 0 && api[i] === CALLOC_API))) {
          p = this.writeOther(out, p, batch, i)
        } else {
          if ((fields & HAS_API) !== 0 && api[i] !== MALLOC_API) this.noteApi('malloc', batch, i)
          p = put(out, p, MALLOC)
          p = writeHex(out, p, address[at + LO], address[at + HI])
          p = this.writeSize(out, p, size, batch, i)
        }
      } else if (what === FREE) {
        if ((fields & HAS_ADDRESS) === 0) {
          losses.countEvent('frees without an address', batch, i)
          continue
        }
        if ((fields & HAS_API) !== 0 && api[i] !== FREE_API) this.noteApi('free', batch, i)
        p = put(out, p, FREE_WORD)
        p = writeHex(out, p, address[at + LO], address[at + HI])
      } else if (what === REALLOC) {
        const before = p
        p = this.writeRealloc(out, p, batch, i)
        if (p === before) continue
        p = this.writeSize(out, p, size, batch, i)
      } else if (what === THREAD_DESTROY) {
        p = put(out, p, THREAD_DONE)
        if ((fields & HAS_ADDRESS) !== 0) {
          if (address[at + LO] === 0 && address[at + HI] === 0) {
            losses.countEvent('address 0 of thread-destroy events, which stands for none', batch, i)
          }
          p = writeHex(out, p, address[at + LO], address[at + HI])
        } else {
          out[p++] = ZERO
        }
      } else {
        continue
      }

      if ((fields & HAS_TIMES) !== 0) {
        if (what === THREAD_DESTROY) p = this.writeDone(out, p, batch, i, micros)
        else p = this.writeTimes(out, p, batch, i, micros)
      }
      if ((fields & HAS_PRESENT) !== 0 && (what === FREE || what === REALLOC)) {
        if ((fields & HAS_TIMES) === 0) {
          losses.countEvent('present without times, written with times of 0', batch, i)
          out[p++] = SPACE
          out[p++] = ZERO
          out[p++] = SPACE
          out[p++] = ZERO
        }
        out[p++] = SPACE
        p = writeDecimal(out, p, batch.present.words[at + LO], batch.present.words[at + HI])
      }
      out[p++] = LF
      // Only now: a loss that is an error leaves no half line behind.
      sink.pos = p
    }
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /** An allocation by calloc or memalign, whichever has a place for more of what is known. */
  private writeOther(out: Uint8Array, p: number, batch: EventBatch, i: number): number {
    const at = 2 * i
    const fields = batch.mask[i]
    const api = (fields & HAS_API) === 0 ? -1 : batch.api[i]
    const aligned =
      (fields & HAS_ALIGNMENT) !== 0 && (api === MEMALIGN_API || (api !== CALLOC_API && (fields & HAS_COUNT) === 0))
    const form = aligned ? 'memalign' : 'calloc'
    const left = fields & CARRIED_BY_ANY & ~FORM_FIELDS[form]
    if (left !== 0) this.losses.countEvent(`${fieldNames(left).join(', ')} of ${form}`, batch, i)
    if (api >= 0 && api !== (aligned ? MEMALIGN_API : CALLOC_API)) this.noteApi(form, batch, i)

    p = put(out, p, aligned ? MEMALIGN : CALLOC)
    p = writeHex(out, p, batch.address.words[at + LO], batch.address.words[at + HI])
    if (!aligned) return this.writeElements(out, p, batch, i)
    out[p++] = SPACE
    p = writeDecimal(out, p, batch.alignment.words[at + LO], batch.alignment.words[at + HI])
    return this.writeSize(out, p, batch.size.words, batch, i)
  }

  /** calloc's two numbers, whose product is the event's size. */
  private writeElements(out: Uint8Array, p: number, batch: EventBatch, i: number): number {
    const at = 2 * i
    const fields = batch.mask[i]
    const size = batch.size.words
    out[p++] = SPACE
    if ((fields & (HAS_COUNT | HAS_ELEMENT_SIZE)) === HAS_COUNT && (fields & HAS_SIZE) !== 0) {
      const count = batch.elements.words
      const countHigh = count[at + HI]
      const sizeHigh = size[at + HI]
      if (countHigh <= SAFE_HI && sizeHigh <= SAFE_HI) {
        const n = countHigh * WORD + count[at + LO]
        const total = sizeHigh * WORD + size[at + LO]
        if (n !== 0 && total % n === 0) {
          const each = total / n
          p = writeDecimal(out, p, count[at + LO], countHigh)
          out[p++] = SPACE
          return writeDecimal(out, p, each >>> 0, Math.floor(each / WORD))
        }
      }
    }
    const [count, each] = this.elements(batch, i)
    p = writeBigDecimal(out, p, count)
    out[p++] = SPACE
    return writeBigDecimal(out, p, each)
  }

  /** Number and size of calloc's elements where a double cannot hold them, or not all is given or agrees. */
  private elements(batch: EventBatch, i: number): [bigint, bigint] {
    const fields = batch.mask[i]
    const count = (fields & HAS_COUNT) !== 0 ? batch.elements.values[i] : undefined
    const size = (fields & HAS_SIZE) !== 0 ? batch.size.values[i] : undefined
    const each = (fields & HAS_ELEMENT_SIZE) !== 0 ? batch.elementSize.values[i] : undefined
    if (count === undefined && each === undefined && size !== undefined) {
      this.losses.countEvent('calloc without a count, written with count 1', batch, i)
      return [1n, size]
    }
    if (count !== undefined && each !== undefined) {
      if (size !== undefined && BigInt.asUintN(64, count * each) !== size) {
        this.losses.countEvent('size that is not count * elementSize', batch, i)
      }
      return [count, each]
    }
    const known = count ?? each
    if (size === undefined) {
      this.losses.countEvent('calloc without a size, written with size 0', batch, i)
      return [count ?? 0n, each ?? 0n]
    }
    if (known === 0n && size === 0n) return [0n, 0n]
    if (known === undefined || known === 0n || size % known !== 0n) {
      this.losses.countEvent(`${count === undefined ? 'elementSize' : 'count'} that does not divide the size`, batch, i)
      return [1n, size]
    }
    return count === undefined ? [size / known, known] : [known, size / known]
  }

  /** The action and pointers of a realloc; nothing, if a pointer is not known. */
  private writeRealloc(out: Uint8Array, p: number, batch: EventBatch, i: number): number {
    const at = 2 * i
    const fields = batch.mask[i]
    const outcome = (fields & HAS_OUTCOME) !== 0 ? batch.outcome[i] : -1
    let known = (fields & HAS_ADDRESS) !== 0
    let oldKnown = (fields & HAS_OLD_ADDRESS) !== 0
    let lo = known ? batch.address.words[at + LO] : 0
    let hi = known ? batch.address.words[at + HI] : 0
    let oldLo = oldKnown ? batch.oldAddress.words[at + LO] : 0
    let oldHi = oldKnown ? batch.oldAddress.words[at + HI] : 0
    if (outcome === NO_MOVE && known && !oldKnown) {
      oldLo = lo
      oldHi = hi
      oldKnown = true
    } else if (outcome === NO_MOVE && oldKnown && !known) {
      lo = oldLo
      hi = oldHi
      known = true
    }
    if (outcome === FREED) known = true
    if (outcome === ALLOCATED) oldKnown = true
    if (!known || !oldKnown) {
      this.losses.countEvent('reallocs without both addresses', batch, i)
      return p
    }
    if (outcome >= 0) {
      const shown =
        (oldLo | oldHi) === 0 ? ALLOCATED : (lo | hi) === 0 ? FREED : lo === oldLo && hi === oldHi ? NO_MOVE : MOVED
      if (shown !== outcome) this.losses.countEvent('outcome that the addresses do not show', batch, i)
    }
    if ((fields & HAS_API) !== 0 && batch.api[i] !== REALLOC_API) this.noteApi('realloc', batch, i)
    p = put(out, p, REALLOC_WORD)
    p = writeHex(out, p, lo, hi)
    out[p++] = SPACE
    out[p++] = ZERO
    out[p++] = 0x78
    return writeHex(out, p, oldLo, oldHi)
  }

  private writeSize(out: Uint8Array, p: number, size: Uint32Array, batch: EventBatch, i: number): number {
    out[p++] = SPACE
    if ((batch.mask[i] & HAS_SIZE) !== 0) {
      return writeDecimal(out, p, size[2 * i + LO], size[2 * i + HI])
    }
    this.losses.countEvent('no size, written as 0', batch, i)
    out[p++] = ZERO
    return p
  }

  /** A pair of times; the text cannot represent one alone. */
  private writeTimes(out: Uint8Array, p: number, batch: EventBatch, i: number, micros: boolean): number {
    const fields = batch.mask[i]
    if ((fields & HAS_TIMES) !== HAS_TIMES)
      this.losses.countEvent('time without endTime or the reverse, written for both', batch, i)
    const first = (fields & HAS_TIME) !== 0 ? batch.time.words : batch.endTime.words
    const second = (fields & HAS_END_TIME) !== 0 ? batch.endTime.words : batch.time.words
    p = this.writeTime(out, p, first, batch, i, micros)
    return this.writeTime(out, p, second, batch, i, micros)
  }

  /** thread_done's only time. */
  private writeDone(out: Uint8Array, p: number, batch: EventBatch, i: number, micros: boolean): number {
    const fields = batch.mask[i]
    if ((fields & HAS_TIMES) === HAS_TIMES)
      this.losses.countEvent('time of thread-destroy events that have endTime too', batch, i)
    else if ((fields & HAS_TIME) !== 0)
      this.losses.countEvent('time of thread-destroy events, written as endTime', batch, i)
    return this.writeTime(
      out,
      p,
      (fields & HAS_END_TIME) !== 0 ? batch.endTime.words : batch.time.words,
      batch,
      i,
      micros,
    )
  }

  private writeTime(
    out: Uint8Array,
    p: number,
    words: Uint32Array,
    batch: EventBatch,
    i: number,
    micros: boolean,
  ): number {
    let lo = words[2 * i + LO]
    let hi = words[2 * i + HI]
    if (micros) {
      const low = lo * 1000
      lo = low >>> 0
      hi = hi * 1000 + Math.floor(low / WORD)
      if (hi >= WORD) {
        // An event whose two times are both too large counts once.
        if (this.tooLarge !== i) this.losses.countEvent('time of more than 2^64 ns, written as 2^64 - 1', batch, i)
        this.tooLarge = i
        lo = hi = WORD - 1
      }
    }
    out[p++] = SPACE
    return writeDecimal(out, p, lo, hi)
  }

  private noteApi(form: string, batch: EventBatch, i: number): void {
    this.losses.countEvent(`api ${APIS[batch.api[i]]}, written as ${form}`, batch, i)
  }
}

const CARRIED_BY_ANY = FORM_FIELDS.malloc | FORM_FIELDS.calloc | FORM_FIELDS.memalign

function put(out: Uint8Array, p: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) out[p++] = word[i]
  return p
}

/** A thread id: from 2^63 on it is the two's complement of a negative number. */
function writeSigned(out: Uint8Array, p: number, lo: number, hi: number): number {
  if (hi <= 0x7fff_ffff) return writeDecimal(out, p, lo, hi)
  out[p++] = MINUS
  return writeDecimal(out, p, -lo >>> 0, (lo === 0 ? -hi : ~hi) >>> 0)
}

function writeBigDecimal(out: Uint8Array, p: number, value: bigint): number {
  return writeDecimal(out, p, Number(value & 0xffff_ffffn), Number(value >> 32n))
}
