import { ascii, LF, SPACE } from '../../text/ascii.js'
import { HI, isZero, LO, writeHex } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import { AddressedLosses } from '../../blocks/addressed-losses.js'
import { EventBatch, type U64Column } from '../../event/batch.js'
import { fieldSet, FieldBit, Kind } from '../../event/fields.js'
import { ENCODE_OPTIONS, type EncodeOptions } from '../../event/format.js'
import { NO_HEADER, type TraceHeader } from '../../event/header.js'
import { checkOptions, type OptionNames } from '../../event/options.js'
import type { StringTable } from '../../event/strings.js'
import type { Losses } from '../../kernel/losses.js'
import { LineEncoder } from '../../text/line-encoder.js'
import { Parts, reallocParts } from '../../blocks/realloc.js'
import { headOf } from './head.js'
import * as Layout from './layout.js'
import { LiveBlocks } from './live-blocks.js'
import { placeFrame } from './place.js'
import { Clock } from './clock.js'
import { CUT, EXACT, NODE_SHIFT, Written } from './written.js'

export interface HeaptrackEncodeOptions extends EncodeOptions {
  /**
   * Write an interpreted file, which heaptrack's own programs open, even if the trace was read from a raw one. Default
   * false.
   */
  interpreted?: boolean
}

const OPTIONS: OptionNames<HeaptrackEncodeOptions> = { ...ENCODE_OPTIONS, interpreted: 'boolean' }

const { alloc: ALLOC, existing: EXISTING, realloc: REALLOC, free: FREE, comment: COMMENT, other: OTHER } = Kind
const { address: HAS_ADDRESS, oldAddress: HAS_OLD_ADDRESS, size: HAS_SIZE, stack: HAS_STACK } = FieldBit
const PLACE = fieldSet('function', 'file', 'line', 'module', 'callSite')
const PLUS = 0x2b
const MINUS = 0x2d
const HASH = ascii('# ')
const END = ascii('#\n')
/** The first letters of definitions. */
const DEFINITIONS = new Set(ascii('sita'))
/** The first letters of the lines at the beginning of a trace. */
const HEAD = new Set(ascii('xXI'))

/** The reasons why an event is counted as changed. */
const Loss = {
  address: 'addresses, which interpreted files do not have',
  unknown: 'frees of blocks that were not allocated',
  null: 'frees of null',
  failed: 'allocations that failed',
  nowhere: 'allocations without an address',
  freeNowhere: 'frees without an address',
  again: 'allocations at the address of a live block, which is freed first',
  frames: 'frames of stacks that come back otherwise',
  deep: `stacks of more than ${Layout.MAX_STACK_BYTES} bytes, written without their outermost frames`,
  place: 'function, file, line, module or callSite without a stack, written as a frame',
  beside: 'function, file, line, module or callSite beside a stack',
  comment: 'text of comments, written after a #',
  misread: 'comments that would be something else',
  textless: 'comments without a text',
  other: 'events that are no times and no resident pages',
  pages: 'resident bytes that are not whole pages',
} as const

/**
 * Encodes events as heaptrack's text: as interpreted files, which `heaptrack_print` and `heaptrack_gui` open, or as raw
 * files if they were read from raw files.
 */
export class HeaptrackEncoder extends LineEncoder {
  readonly losses: Losses
  private readonly interprets: boolean
  private header: TraceHeader | undefined
  private layout!: Layout.HeaptrackLayout
  /** The position in the sink after the first lines of a trace, if nothing else was written. */
  private isHead = true
  private headEnd = 0
  /** Whether the trace was read from this format. */
  private own = false
  private written!: Written
  private clock!: Clock
  /**
   * For interpreted files: the info of each live block by its address, and the addresses that the decoder will assign.
   */
  private readonly live = new U64Map(1)
  private readonly blocks = new LiveBlocks()
  /** Whether the last line is a definition. */
  private endsInDefinition = false
  /** The event of the batch that is being written. */
  private row = 0
  private strings: StringTable | undefined
  /** The node of each list of the batch's strings, as `Written` numbers it; -1 if unknown. */
  private nodes = new Int32Array(0)

  /** @param options `strict` makes the first loss an error */
  constructor(options: HeaptrackEncodeOptions = {}) {
    super()
    checkOptions(options, OPTIONS, 'HeaptrackEncoder')
    this.interprets = options.interpreted === true
    this.losses = new AddressedLosses(0, Layout.NAME, Layout.CARRIED, options.strict, Layout.FILLED)
    this.losses.keepsHeaders = true
  }

  protected override write(batch: EventBatch): void {
    const { losses } = this
    const isNew = this.header !== batch.header
    if (isNew) {
      losses.use(batch.header.format === Layout.NAME ? Layout.OWN_CARRIED : Layout.CARRIED, Layout.FILLED)
      losses.useUnit('us')
    }
    const n = losses.countBatch(batch)
    this.headEnd = this.sink.pos
    if (isNew) this.begin(batch)
    // Batches may share a table that grows.
    if (this.strings !== batch.strings || this.nodes.length !== batch.strings.listCount) {
      this.strings = batch.strings
      this.nodes = new Int32Array(batch.strings.listCount).fill(-1)
    }
    this.written.begin(batch.strings)
    for (this.row = 0; this.row < n; this.row++) this.event(batch, this.row)
    this.isHead &&= this.sink.pos === this.headEnd
    if (n < batch.count) throw losses.errorFor(batch, n)
  }

  /** A time or a definition without a line after it would look truncated. */
  override end(): void {
    // A trace without anything has the lines at the beginning, too.
    if (this.header === undefined) this.write(new EventBatch(0, 0, NO_HEADER))
    this.clock.end()
    if (this.endsInDefinition) this.sink.append(END)
  }

  private begin(batch: EventBatch): void {
    const { header } = batch
    const { losses } = this
    this.own = header.format === Layout.NAME
    if (this.header === undefined) {
      const layout = Layout.layoutOf(header)
      this.layout = this.interprets ? { ...layout, raw: false } : layout
      this.sink.append(headOf(this.layout))
      this.headEnd = this.sink.pos
      this.written = new Written(this.sink, this.layout, () => losses.position(this.row))
      this.clock = new Clock(this.sink, losses)
    } else {
      losses.countEvent('beginning of another trace', batch, 0)
      this.live.clear()
    }
    this.header = header
    this.clock.begin(header)
  }

  private event(batch: EventBatch, i: number): void {
    this.isHead &&= this.sink.pos === this.headEnd
    const { pos } = this.sink
    let isDefinition = false
    switch (batch.kind[i]) {
      case ALLOC:
      case EXISTING:
        if (batch.kind[i] === EXISTING) this.losses.countEvent('existing blocks, written as allocs', batch, i)
        if ((batch.mask[i] & HAS_ADDRESS) === 0) this.losses.countEvent(Loss.nowhere, batch, i)
        else this.alloc(batch, i, batch.address)
        break
      case FREE:
        if ((batch.mask[i] & HAS_ADDRESS) === 0) this.losses.countEvent(Loss.freeNowhere, batch, i)
        else this.free(batch, i, batch.address)
        break
      case REALLOC:
        this.realloc(batch, i)
        break
      case COMMENT:
        isDefinition = this.comment(batch, i)
        break
      case OTHER:
        this.other(batch, i)
    }
    if (this.sink.pos !== pos) this.endsInDefinition = isDefinition
  }

  private realloc(batch: EventBatch, i: number): void {
    const { parts, reason } = reallocParts(batch, i)
    this.losses.countEvent(reason, batch, i)
    const mask = batch.mask[i]
    // A realloc in place may have only one address.
    const known = (mask & HAS_ADDRESS) !== 0 && !isZero(batch.address.words, i)
    const oldKnown = (mask & HAS_OLD_ADDRESS) !== 0 && !isZero(batch.oldAddress.words, i)
    if ((parts & Parts.free) !== 0) this.free(batch, i, oldKnown ? batch.oldAddress : batch.address)
    if ((parts & Parts.alloc) !== 0) {
      if ((mask & HAS_SIZE) === 0) this.losses.countEvent('no size, written as 0', batch, i)
      this.alloc(batch, i, known ? batch.address : batch.oldAddress)
    }
  }

  private alloc(batch: EventBatch, i: number, { words }: U64Column): void {
    const { raw } = this.layout
    const lo = words[2 * i + LO]
    const hi = words[2 * i + HI]
    if (!raw && (lo | hi) === 0) {
      this.losses.countEvent(Loss.failed, batch, i)
      return
    }
    const isSized = (batch.mask[i] & HAS_SIZE) !== 0
    const sizeLo = isSized ? batch.size.words[2 * i + LO] : 0
    const sizeHi = isSized ? batch.size.words[2 * i + HI] : 0
    this.checkStack(batch, i)
    if (raw) {
      this.clock.at(batch, i)
      const node = this.nodeOf(batch, i)
      const { sink } = this
      this.begins(PLUS, sizeLo, sizeHi)
      sink.bytes[sink.pos++] = SPACE
      sink.pos = writeHex(sink.bytes, sink.pos, node, 0)
      sink.bytes[sink.pos++] = SPACE
      sink.pos = writeHex(sink.bytes, sink.pos, lo, hi)
      sink.bytes[sink.pos++] = LF
      return
    }
    if (this.live.find(lo, hi) >= 0) {
      this.losses.countEvent(Loss.again, batch, i)
      this.free(batch, i, batch.address)
    }
    if (this.own && !this.blocks.isNext(lo, hi)) this.losses.countEvent(Loss.address, batch, i)
    this.clock.at(batch, i)
    const info = this.written.info(sizeLo, sizeHi, this.nodeOf(batch, i))
    this.blocks.allocate(info, sizeLo, sizeHi)
    const slot = this.live.add(lo, hi)
    this.live.values[slot] = info
    this.begins(PLUS, info, 0)
    this.sink.bytes[this.sink.pos++] = LF
  }

  private free(batch: EventBatch, i: number, { words }: U64Column): void {
    const lo = words[2 * i + LO]
    const hi = words[2 * i + HI]
    if (this.layout.raw) {
      this.clock.at(batch, i)
      this.begins(MINUS, lo, hi)
      this.sink.bytes[this.sink.pos++] = LF
      return
    }
    const slot = this.live.find(lo, hi)
    if (slot < 0) {
      this.losses.countEvent((lo | hi) === 0 ? Loss.null : Loss.unknown, batch, i)
      return
    }
    const info = this.live.values[slot]
    if (this.own && !this.blocks.isNewest(info, lo, hi)) this.losses.countEvent(Loss.address, batch, i)
    this.clock.at(batch, i)
    this.blocks.free(info)
    this.live.remove(slot)
    this.begins(MINUS, info, 0)
    this.sink.bytes[this.sink.pos++] = LF
  }

  /** Counts the changes in the stack or place of an event. */
  private checkStack(batch: EventBatch, i: number): void {
    const mask = batch.mask[i]
    if ((mask & PLACE) !== 0) this.losses.countEvent((mask & HAS_STACK) !== 0 ? Loss.beside : Loss.place, batch, i)
  }

  /** The node of an event's stack, defined if it is new. */
  private nodeOf(batch: EventBatch, i: number): number {
    const mask = batch.mask[i]
    if ((mask & HAS_STACK) === 0) {
      if ((mask & PLACE) === 0) return 0
      const node = this.written.nodeOf(placeFrame(batch, i))
      if ((node & CUT) !== 0) this.losses.countEvent(Loss.deep, batch, i)
      return node >>> NODE_SHIFT
    }
    const list = batch.stack[i]
    let node = this.nodes[list]
    if (node < 0) {
      const frames = batch.strings.list(list)
      const found = this.written.node(frames)
      // A stack without frames is absent.
      node = this.nodes[list] = frames.length === 0 ? 0 : found
    }
    if ((node & CUT) !== 0) this.losses.countEvent(Loss.deep, batch, i)
    else if ((node & EXACT) === 0) this.losses.countEvent(Loss.frames, batch, i)
    return node >>> NODE_SHIFT
  }

  /** @returns whether the line may be a definition */
  private comment(batch: EventBatch, i: number): boolean {
    if ((batch.mask[i] & FieldBit.text) === 0) {
      this.losses.countEvent(Loss.textless, batch, i)
      return false
    }
    const text = batch.strings.view(batch.text[i])
    const isPlain = text.length === 0 || text[0] === HASH[0]
    if (text.length > Layout.MAX_LINE - HASH.length || text.includes(LF)) {
      this.losses.countEvent(Loss.misread, batch, i)
      return false
    }
    if (!isPlain && !this.own) this.losses.countEvent(Loss.comment, batch, i)
    // Directly after the head, it would be read as a part of the head.
    const isOfHead = this.isHead && HEAD.has(text[0]) && text[1] === SPACE
    if (!isPlain && this.own && (isOfHead || !this.written.apply(text))) {
      this.losses.countEvent(Loss.misread, batch, i)
      return false
    }
    this.clock.at(batch, i)
    if (!isPlain && !this.own) this.sink.append(HASH)
    this.sink.append(text)
    this.sink.reserve(1)
    this.sink.bytes[this.sink.pos++] = LF
    return !isPlain && this.own && DEFINITIONS.has(text[0]) && text[1] === SPACE
  }

  private other(batch: EventBatch, i: number): void {
    const mask = batch.mask[i]
    const code = this.own && (mask & FieldBit.code) !== 0 ? batch.code[i] : undefined
    if (code === Layout.Code.time) {
      if ((mask & FieldBit.present) !== 0) this.losses.countEvent('resident bytes of a time', batch, i)
      this.clock.tick(batch, i)
      return
    }
    if (code !== Layout.Code.resident || (mask & FieldBit.present) === 0) {
      this.losses.countEvent(Loss.other, batch, i)
      return
    }
    const bytes = batch.present.values[i]
    const size = BigInt(this.layout.pageSize ?? Layout.DEFAULT_PAGE_SIZE)
    const pages = size === 0n ? 0n : bytes / size
    if (pages * size !== bytes) this.losses.countEvent(Loss.pages, batch, i)
    this.clock.at(batch, i)
    this.begins(Layout.Code.resident, Number(pages & 0xffff_ffffn), Number(pages >> 32n))
    this.sink.bytes[this.sink.pos++] = LF
  }

  /** Writes a letter and a number. There is room for two more numbers. */
  private begins(letter: number, lo: number, hi: number): void {
    const { sink } = this
    sink.reserve(64)
    sink.bytes[sink.pos++] = letter
    sink.bytes[sink.pos++] = SPACE
    sink.pos = writeHex(sink.bytes, sink.pos, lo, hi)
  }
}
