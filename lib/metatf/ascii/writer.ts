import { SPACE, ZERO } from '../../bytes/ascii.js'
import { HI, LO, writeDecimal, writeHex } from '../../bytes/u64.js'
import { columnOf } from '../../event/batch.js'
import { encodeText } from '../../event/strings.js'
import type { Losses } from '../../kernel/losses.js'
import type { Chooser } from '../choose.js'
import { MAX_LINE, MAX_LINE_VALUES } from './head.js'
import { Mode, type Layout } from '../layout.js'
import type { RecordMapping } from '../mapping.js'
import { addPair, samePair, subtractPair } from '../pairs.js'
import { isHex, isStored, writeQuoted } from './words.js'
import { EventWriter, Origin, Unwritable } from '../event-writer.js'

const LETTER_X = 0x78
const MINUS = 0x2d
const NO_TEXT = new Uint8Array(0)

/** What generated code that writes lines is given. */
export class AsciiWriter extends EventWriter {
  protected readonly maxValues = MAX_LINE_VALUES
  private readonly next = new Uint32Array(2)
  /** Why the leaf at hand has no value. */
  private hasNoText = false

  /** @param byPosition the layouts of records by their positions in the mapping */
  constructor(
    mappings: readonly RecordMapping[],
    chooser: Chooser,
    losses: Losses,
    readonly byPosition: readonly Layout[],
  ) {
    super(mappings, chooser, losses)
  }

  override put(layout: Layout, p: number, at: number, lo: number, hi: number, origin: number = Origin.given): number {
    const { pair, next } = this
    const { reference, latest, mode } = layout
    pair[LO] = lo
    pair[HI] = hi
    const isStride = mode[p] === Mode.stride
    if (isStride || mode[p] === Mode.default) {
      // The reader takes what the DTD says to have been the value.
      next[0] = reference[2 * p]
      next[1] = reference[2 * p + 1]
      if (isStride) addPair(next, 0, layout.stride, 2 * p)
      if (origin !== Origin.absent && !samePair(pair, 0, next, 0)) {
        if (origin === Origin.implied) throw new Unwritable('a number that the DTD does not let it have')
        this.note(`${layout.record.leaves[p].name} other than what the DTD makes it`)
      }
      reference.set(next, 2 * p)
      latest.set(next, 2 * p)
      return at
    }
    latest[2 * p] = pair[0]
    latest[2 * p + 1] = pair[1]
    const isDifference = mode[p] === Mode.baseOffset || mode[p] === Mode.delta
    if (isDifference) subtractPair(pair, 0, reference, 2 * p)
    if (mode[p] === Mode.delta) reference.set(latest.subarray(2 * p, 2 * p + 2), 2 * p)
    return this.word(at, pair[LO], pair[HI], isDifference, isHex(layout.record.leaves[p]))
  }

  private word(at: number, lo: number, hi: number, isSigned: boolean, hex: boolean): number {
    const { bytes } = this.sink
    bytes[at++] = SPACE
    if (hex) {
      bytes[at++] = ZERO
      bytes[at++] = LETTER_X
      return writeHex(bytes, at, lo, hi)
    }
    if (!isSigned || hi < 0x8000_0000) return writeDecimal(bytes, at, lo, hi)
    bytes[at++] = MINUS
    return writeDecimal(bytes, at, -lo >>> 0, lo === 0 ? -hi >>> 0 : ~hi >>> 0)
  }

  protected override absent(layout: Layout, p: number, at: number): number {
    this.noteAbsent(layout, p)
    return this.put(layout, p, at, 0, 0, Origin.absent)
  }

  private noteAbsent({ mapping }: Layout, p: number): void {
    const { leaf, field } = (mapping as RecordMapping).leaves[p]
    // Fields of the event that records always have were counted before.
    const isCounted = field >= 0 && ((mapping as RecordMapping).needs & (1 << field)) !== 0
    if (isStored(leaf) && !isCounted) this.note(`no ${leaf.name}, written as 0 or empty`)
  }

  /** The event does not have a string. */
  noData(layout: Layout, p: number): Uint8Array {
    this.hasNoText = true
    if (layout.record.leaves[p].value === null) this.noteAbsent(layout, p)
    return NO_TEXT
  }

  /** A string from `fields`. */
  dataOf(value: unknown): Uint8Array {
    if (typeof value !== 'string') throw new Unwritable('a value where a string should be')
    return encodeText(value)
  }

  columnData(_layout: Layout, _p: number, field: number, i: number): Uint8Array {
    return this.batch.strings.view((this.batch[columnOf(field)] as Uint32Array)[i])
  }

  /** Writes the string of leaf p to `sink.bytes[at]`, where there must be room. */
  data({ record }: Layout, p: number, at: number, text: Uint8Array): number {
    const { hasNoText } = this
    const { name, value, interpretation: how } = record.leaves[p]
    const must = value ?? (how.kind === 'default' ? how.value : null)
    this.hasNoText = false
    if (must?.kind === 'string') {
      const is = encodeText(must.value)
      if (!hasNoText && Buffer.compare(is, text) !== 0)
        this.note(`${name} of ${record.name} that is not what it always is there`)
      text = is
    }
    if (how.kind === 'default') return at
    const { sink } = this
    const { pos } = sink
    sink.pos = at
    sink.bytes[sink.pos++] = SPACE
    writeQuoted(sink, text)
    const after = sink.pos
    sink.pos = pos
    return after
  }

  tooLong(): never {
    throw new Unwritable(`values that make a line of more than ${MAX_LINE} bytes`)
  }
}
