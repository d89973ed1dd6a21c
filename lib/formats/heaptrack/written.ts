import { ascii, LF, SPACE } from '../../text/ascii.js'
import { HI, LO, writeHex } from '../../bytes/u64.js'
import { U64Map } from '../../bytes/u64-map.js'
import type { Sink } from '../../bytes/sink.js'
import { limit, type TracePosition } from '../../event/error.js'
import { parseFrame } from '../../event/frame.js'
import { decodeText, type StringTable } from '../../event/strings.js'
import { Definitions } from './definitions.js'
import { FrameNumbers } from './frame-numbers.js'
import { MAX_INLINED, MAX_STACK_BYTES, SIZED_STRINGS, type HeaptrackLayout } from './layout.js'
import { nameBytes } from './names.js'
import { Stacks } from './stacks.js'
import { grown, type Fault, type Tables } from './tables.js'

/** Flags of a node, in the bits below its number: its frames are read back unchanged; the outermost are left out. */
export const EXACT = 1
export const CUT = 2
/** The number of bits by which its number is shifted. */
export const NODE_SHIFT = 2
const LETTER_S = 0x73
/** Lines that are read as numbers. */
const NUMBERS = /^[-+tacR] /

/**
 * The definitions of an encoder so far: the same tables as a decoder's, and maps from their contents to numbers. A
 * definition is written when it is first requested.
 */
export class Written {
  private readonly definitions: Definitions
  private readonly stacks: Stacks
  private readonly strings = new Map<string, number>()
  /** By the key of the texts of the frames of an entry: twice its number, plus 1 if they are read back unchanged. */
  private readonly entries = new Map<string, number>()
  /** Numbers of the addresses of nodes in raw files. */
  private readonly addresses = new U64Map(1)
  /** By entry, or number of the address, and parent. */
  private readonly nodes = new U64Map(1)
  private readonly sizes = new U64Map(1)
  /** By number of the size, and node. */
  private readonly infos = new U64Map(1)
  private readonly frames: FrameNumbers
  /** The numbers of a stack's frames. */
  private numbers = new Uint32Array(256)
  /** By frame: twice its entry, plus 1 if it is read back unchanged; for raw files, the number of its address. */
  private readonly entryByFrame: number[] = []
  private readonly addressByFrame: number[] = []
  /** By entry of a raw file, the frame that readers will see. */
  private readonly frameByEntry: number[] = []
  private readonly first = new Uint32Array(2)
  private readonly second = new Uint32Array(2)

  constructor(
    private readonly sink: Sink,
    private readonly layout: HeaptrackLayout,
    private readonly here: () => TracePosition,
  ) {
    this.definitions = new Definitions(layout)
    this.stacks = new Stacks(this.definitions.tables, layout.raw)
    this.frames = new FrameNumbers(layout.raw)
  }

  /** Begins a batch with these strings. */
  begin(strings: StringTable): void {
    this.frames.begin(strings)
  }

  /**
   * The node of a stack, defined if it is new.
   * @param strings the strings of its frames in the batch, the innermost first
   * @returns its number above `NODE_SHIFT`, and `EXACT` or `CUT` below
   */
  node(strings: ArrayLike<number>): number {
    const { frames } = this
    const { length } = strings
    if (length > this.numbers.length) this.numbers = grown(this.numbers, length)
    let n = 0
    for (let bytes = 0; n < length; n++) {
      const frame = frames.ofString(strings[n])
      bytes += frames.bytes[frame]
      if (bytes > MAX_STACK_BYTES) break
      this.numbers[n] = frame
    }
    const node = this.layout.raw ? this.rawNode(n) : this.interpretedNode(n)
    return n === length ? node : (node & ~EXACT) | CUT
  }

  /** The same for a stack of one frame, by its text. */
  nodeOf(text: string): number {
    const frame = this.frames.of(text)
    this.numbers[0] = frame
    if (this.frames.bytes[frame] > MAX_STACK_BYTES) return CUT
    return this.layout.raw ? this.rawNode(1) : this.interpretedNode(1)
  }

  /** Handles the first `end` of `numbers`. */
  private interpretedNode(end: number): number {
    const { numbers } = this
    const { inlined } = this.frames
    let node = 0
    let isExact = EXACT
    while (end > 0) {
      let start = end - 1
      // Inlined frames belong to the frame after them.
      while (start > 0 && end - start <= MAX_INLINED && inlined[numbers[start - 1]] === 1) start--
      const entry = start === end - 1 ? this.entryOf(numbers[start]) : this.entryOfGroup(start, end)
      isExact &= entry
      node = this.child(entry >>> 1, node)
      end = start
    }
    return (node << NODE_SHIFT) | isExact
  }

  private rawNode(end: number): number {
    const { numbers, tables, frames } = this
    let node = 0
    let bytes = 0
    let isExact = EXACT
    for (let i = end - 1; i >= 0; i--) {
      const frame = numbers[i]
      node = this.rawChild(frame, node)
      const read = this.frameOfEntry(tables.nodeEntry[node])
      if (read !== frame) isExact = 0
      bytes += frames.bytes[read]
      // The module names of these addresses are longer than in the texts.
      if (bytes > MAX_STACK_BYTES) return CUT
    }
    return (node << NODE_SHIFT) | isExact
  }

  /** Twice the entry of a frame, plus 1 if it is read back unchanged. */
  private entryOf(frame: number): number {
    const known = this.entryByFrame[frame]
    if (known !== undefined) return known
    const text = this.frames.texts[frame]
    return (this.entryByFrame[frame] = this.entryOfTexts([text]))
  }

  /** The same for a frame and the frames inlined in it. */
  private entryOfGroup(start: number, end: number): number {
    const texts = Array.from(this.numbers.subarray(start, end), (frame) => this.frames.texts[frame])
    return this.entryOfTexts(texts)
  }

  private entryOfTexts(texts: readonly string[]): number {
    const key = keyOf(texts)
    return this.entries.get(key) ?? this.newEntry(key, texts)
  }

  /** The number of the frame that readers will see for an entry of a raw file. */
  private frameOfEntry(entry: number): number {
    return (this.frameByEntry[entry] ??= this.frames.of(this.stacks.textsOf(entry)[0]))
  }

  /** The info of a size and a node, defined if it is new. */
  info(sizeLo: number, sizeHi: number, node: number): number {
    const size = this.numberIn(this.sizes, sizeLo, sizeHi)
    const known = this.infos.find(size, node)
    if (known >= 0) return this.infos.values[known]
    this.check(this.tables.addInfo(sizeLo, sizeHi, node))
    const info = this.tables.infos - 1
    put(this.infos, size, node, info)
    this.line('a', sizeLo, sizeHi, node)
    return info
  }

  /**
   * Registers the definition in a line that was kept as a comment, without writing it.
   * @returns whether the line can be written here: what it refers to is defined, and it will be read as a comment again
   */
  apply(line: Uint8Array): boolean {
    const { definitions, tables, first, second } = this
    const text = decodeText(line)
    if (definitions.isOne(line, 0)) {
      const isString = line[0] === LETTER_S
      definitions.line(line, 0, line.length)
      definitions.pending.clear()
      if (definitions.fault !== undefined) return false
      if (isString) setNew(this.strings, decodeText(tables.strings.view(tables.strings.size - 1)), tables.strings.size)
      else setNew(this.entries, keyOf(this.stacks.textsOf(tables.entries)), 2 * tables.entries + 1)
      return true
    }
    const numbers = /^([ta]) ([0-9a-f]{1,16}) ([0-9a-f]{1,16})$/.exec(text)
    if (numbers === null) {
      if (NUMBERS.test(text) || definitions.beginsAnother(line, 0) || (!this.layout.raw && text.startsWith('m ')))
        return false
      definitions.remark(line)
      return true
    }
    setWords(first, numbers[2])
    setWords(second, numbers[3])
    const isNode = numbers[1] === 't'
    const fault = isNode ? definitions.node(first, second, 0) : definitions.info(first, second, 0)
    definitions.pending.clear()
    if (fault !== undefined) return false
    if (!isNode) {
      const size = this.numberIn(this.sizes, first[LO], first[HI])
      addNew(this.infos, size, second[LO], tables.infos - 1)
    } else {
      const entry = this.layout.raw ? this.numberIn(this.addresses, first[LO], first[HI]) : first[LO]
      addNew(this.nodes, entry, second[LO], tables.nodes)
    }
    return true
  }

  private get tables(): Tables {
    return this.definitions.tables
  }

  /** The node of an entry whose caller has the node `parent`. */
  private child(entry: number, parent: number): number {
    const known = this.nodes.find(entry, parent)
    if (known >= 0) return this.nodes.values[known]
    this.check(this.tables.addNode(entry, parent))
    put(this.nodes, entry, parent, this.tables.nodes)
    this.line('t', entry, 0, parent)
    return this.tables.nodes
  }

  /** The node, in a raw file, of a frame whose caller has the node `parent`. */
  private rawChild(frame: number, parent: number): number {
    const number = (this.addressByFrame[frame] ??= this.addressOf(frame))
    const known = this.nodes.find(number, parent)
    if (known >= 0) return this.nodes.values[known]
    const address = parseFrame(this.frames.texts[frame]).address ?? 0n
    this.first[LO] = Number(address & 0xffff_ffffn)
    this.first[HI] = Number(address >> 32n)
    this.second[LO] = parent
    this.second[HI] = 0
    const fault = this.definitions.node(this.first, this.second, 0)
    this.definitions.pending.clear()
    if (fault !== undefined) throw limit(fault, this.here())
    put(this.nodes, number, parent, this.tables.nodes)
    this.line('t', this.first[LO], this.first[HI], parent)
    return this.tables.nodes
  }

  /** The number of the address of a frame. */
  private addressOf(frame: number): number {
    const address = parseFrame(this.frames.texts[frame]).address ?? 0n
    return this.numberIn(this.addresses, Number(address & 0xffff_ffffn), Number(address >> 32n))
  }

  /** Defines the entry of a frame and of the frames inlined in it, and its names. */
  private newEntry(key: string, texts: readonly string[]): number {
    const frames = texts.map(parseFrame)
    const { address, module } = frames[frames.length - 1]
    const isBare = frames.length === 1 && frames[0]?.function === undefined && frames[0]?.file === undefined
    if (isBare && module === undefined && address === undefined) {
      const unknown = key === keyOf(this.stacks.textsOf(0)) ? 1 : 0
      this.entries.set(key, unknown)
      return unknown
    }
    const names = [this.string(module)]
    for (const { function: name, file, line } of isBare ? [] : frames)
      names.push(this.string(name), this.string(file), file === undefined ? 0 : (line ?? 0))
    const number = this.tables.entries + 1
    const value = address ?? BigInt(number)
    this.check(this.tables.addEntry(Number(value & 0xffff_ffffn), Number(value >> 32n), names, names.length))
    this.sink.append(this.definitions.pending.entryLine())
    this.lineFeed()
    const entry = 2 * number + (keyOf(this.stacks.textsOf(number)) === key ? 1 : 0)
    this.entries.set(key, entry)
    return entry
  }

  /** The number of a string, defined if it is new; 0 for none. */
  private string(name: string | undefined): number {
    if (name === undefined || name === '') return 0
    const known = this.strings.get(name)
    if (known !== undefined) return known
    const fitting = nameBytes(name)
    this.check(this.tables.addString(fitting, 0, fitting.length))
    this.strings.set(name, this.tables.strings.size)
    const { sink } = this
    const sized = (this.layout.version ?? 1) >= SIZED_STRINGS
    sink.append(ascii(sized ? `s ${fitting.length.toString(16)} ` : 's '))
    sink.append(fitting)
    this.lineFeed()
    return this.tables.strings.size
  }

  /** The number of a key in a map; a new number if the key is new. */
  private numberIn(map: U64Map, lo: number, hi: number): number {
    const known = map.find(lo, hi)
    if (known >= 0) return map.values[known]
    put(map, lo, hi, map.size + 1)
    return map.size
  }

  /** Writes a line with a number of two words and another number. */
  private line(letter: string, lo: number, hi: number, other: number): void {
    const { sink } = this
    sink.reserve(64)
    const { bytes } = sink
    bytes[sink.pos++] = letter.charCodeAt(0)
    bytes[sink.pos++] = SPACE
    sink.pos = writeHex(bytes, sink.pos, lo, hi)
    bytes[sink.pos++] = SPACE
    sink.pos = writeHex(bytes, sink.pos, other, 0)
    bytes[sink.pos++] = LF
  }

  private lineFeed(): void {
    this.sink.reserve(1)
    this.sink.bytes[this.sink.pos++] = LF
  }

  private check(fault: Fault | undefined): void {
    if (fault !== undefined) throw limit('there are too many different stacks', this.here())
  }
}

/** A key for these texts, with their lengths, because they may contain any character. */
function keyOf(texts: readonly string[]): string {
  return `${texts.map(({ length }) => length).join(' ')}:${texts.join('')}`
}

function setNew(map: Map<string, number>, key: string, value: number): void {
  if (!map.has(key)) map.set(key, value)
}

function addNew(map: U64Map, lo: number, hi: number, value: number): void {
  if (map.find(lo, hi) < 0) put(map, lo, hi, value)
}

function put(map: U64Map, lo: number, hi: number, value: number): void {
  // The array is replaced when the map grows.
  const slot = map.add(lo, hi)
  map.values[slot] = value
}

function setWords(words: Uint32Array, hex: string): void {
  const value = BigInt(`0x${hex}`)
  words[LO] = Number(value & 0xffff_ffffn)
  words[HI] = Number(value >> 32n)
}
