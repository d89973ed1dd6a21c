import { HI, LO } from '../../bytes/u64.js'
import { encodeText } from '../../event/strings.js'
import { hexAt, MAX_STACK_BYTES, NO_SPAN, stringEnd, type HeaptrackLayout, type Span } from './layout.js'
import { Modules } from './modules.js'
import { Pending } from './pending.js'
import { grown, Tables } from './tables.js'

/** The faults of lines. */
export const Fault = {
  numbers: 'the numbers of a line are missing, or are none',
  string: 'the length of a string is not that of its bytes',
  noAddress: 'an allocation without its address in a raw file',
  address: 'an allocation with an address in an interpreted file',
  node: 'a stack refers to one that is not defined yet',
  entry: 'a stack refers to an instruction that is not defined yet',
  names: 'an instruction refers to a string that is not defined yet',
  info: 'an event refers to an allocation info that is not defined yet',
  line: 'a line that is too long',
  another:
    'another file begins here, whose numbers are its own: read the files one by one, or with hf-merge --end-to-end',
  stack: `the texts of the frames of a stack have more than ${MAX_STACK_BYTES} bytes`,
  addresses: 'there are no more addresses for the blocks of an interpreted file',
  strings: 'there are too many strings',
  nodes: 'there are too many stacks',
  entries: 'there are too many instructions',
} as const

/** Results that are not faults of the trace. */
export const LIMITS: readonly string[] = [Fault.stack, Fault.addresses, Fault.strings, Fault.nodes, Fault.entries]

/** The executable's name in the list of modules. */
const EXECUTABLE = 'x'
const SPACE = 0x20
const [LETTER_I, LETTER_M, LETTER_S] = [0x69, 0x6d, 0x73]
/** First letters of lines that are comments; empty lines and lines that begin with `#` are comments, too. */
const REMARKS = 'SA'
/** The maximum number of parts of modules that may be loaded at once. */
const MAX_SEGMENTS = 65_536

/** The definitions in the lines between events. */
export class Definitions {
  readonly tables = new Tables()
  readonly pending: Pending
  /** The fault of the line that `line` read. */
  fault: string | undefined
  private readonly raw: boolean
  private readonly version: number
  /** First letters of lines that a file has once, at its beginning. */
  private readonly onlyOnce: string
  private readonly modules = new Modules()
  private numbers = new Uint32Array(64)
  /** The strings of modules by their names. */
  private readonly moduleNames = new Map<string, number>()

  constructor(private readonly layout: HeaptrackLayout) {
    const { raw, executable, command, pageSize } = layout
    this.raw = raw
    this.onlyOnce =
      'v' +
      (raw && executable !== undefined ? 'x' : '') +
      (command === undefined ? '' : 'X') +
      (pageSize === undefined ? '' : 'I')
    this.version = layout.version ?? 1
    this.pending = new Pending(this.tables, this.raw, this.version)
  }

  /** Whether the line that begins here is one of the first lines of another file. */
  beginsAnother(bytes: Uint8Array, start: number): boolean {
    return bytes[start + 1] === SPACE && this.onlyOnce.includes(String.fromCharCode(bytes[start]))
  }

  /** Whether the line that begins here defines a string or an instruction. */
  isOne(bytes: Uint8Array, start: number): boolean {
    const letter = bytes[start]
    return !this.raw && (letter === LETTER_S || letter === LETTER_I) && bytes[start + 1] === SPACE
  }

  /** Reads a node of the tree: `t`. @returns its fault */
  node(first: Uint32Array, second: Uint32Array, row: number): string | undefined {
    const { tables } = this
    const lo = first[2 * row + LO]
    const hi = first[2 * row + HI]
    const parent = second[2 * row + LO]
    if (!tables.hasNode(parent, second[2 * row + HI])) return Fault.node
    let entry = lo
    if (this.raw) {
      entry = tables.entryAt(lo, hi)
      if (entry === 0) {
        const { name, base } = this.modules.at(lo, hi)
        if (tables.addEntry(lo, hi, [name, base[0], base[1]], name === 0 ? 0 : 3)) return Fault.entries
        tables.setEntryAt(lo, hi)
        entry = tables.entries
      }
    } else if (hi !== 0 || entry > tables.entries) {
      return Fault.entry
    }
    if (tables.addNode(entry, parent)) return Fault.nodes
    this.pending.node()
    return undefined
  }

  /** Reads an info, which blocks share: `a`. @returns its fault */
  info(first: Uint32Array, second: Uint32Array, row: number): string | undefined {
    const node = second[2 * row + LO]
    if (!this.tables.hasNode(node, second[2 * row + HI])) return Fault.node
    if (this.tables.addInfo(first[2 * row + LO], first[2 * row + HI], node)) return Fault.nodes
    this.pending.info()
    return undefined
  }

  /**
   * Reads a string or an instruction: `s` or `i`. Sets `fault`.
   * @returns whether heaptrack could have written the line
   */
  line(bytes: Uint8Array, start: number, end: number): boolean {
    this.fault = undefined
    if (bytes[start] === LETTER_I) return this.entry(bytes, start, end)
    const string = stringEnd(bytes, start + 2, end, this.version, true)
    if (string.start < 0) this.fault = Fault.string
    else if (this.tables.addString(bytes, string.start, string.end)) this.fault = Fault.strings
    else this.pending.string()
    return true
  }

  /** `i IP MODULE [FUNCTION [FILE LINE (FUNCTION FILE LINE)*]]` */
  private entry(bytes: Uint8Array, start: number, end: number): boolean {
    const { tables } = this
    const address = wideHex(bytes, start + 2, end)
    let p = address.next
    let n = 0
    while (p < end && bytes[p] === SPACE) {
      const { value, next } = hexAt(bytes, p + 1, end)
      if (next === p + 1) break
      if (n + 2 >= this.numbers.length) this.numbers = grown(this.numbers, n + 3)
      this.numbers[n++] = value
      p = next
    }
    if (address.next === start + 2 || p !== end || n === 0) {
      this.fault = Fault.numbers
      return true
    }
    // A function without a file: neither file nor line.
    while (n > 1 && n % 3 !== 1) this.numbers[n++] = 0
    for (let i = 0; i < n; i++) {
      const isLine = i > 0 && i % 3 === 0
      if (!isLine && this.numbers[i] > tables.strings.size) this.fault = Fault.names
    }
    if (this.fault !== undefined) return true
    if (tables.addEntry(address.lo, address.hi, this.numbers, n)) this.fault = Fault.entries
    else this.pending.entry()
    return this.fault !== undefined || isEqual(this.pending.entryLine(), bytes.subarray(start, end))
  }

  /** Notes a line that becomes a comment. @returns whether heaptrack writes such lines there */
  remark(line: Uint8Array): boolean {
    if (line.length === 0 || line[0] === 0x23) return true
    if (this.raw && line[0] === LETTER_M) return this.module(line)
    return REMARKS.includes(String.fromCharCode(line[0]))
  }

  /** `m NAME BASE (ADDRESS SIZE)*`, or `m -`: no modules */
  private module(line: Uint8Array): boolean {
    const { length } = line
    if (line[1] !== SPACE) return false
    // The name for "no module" is the only one without its length in all versions before 3.
    const name: Span = stringEnd(line, 2, length, this.version, false)
    if (name === NO_SPAN) return false
    const text = Buffer.from(line.subarray(name.start, name.end)).toString('latin1')
    if (text === '-' && name.end === length) {
      this.modules.clear()
      this.tables.newModules()
      return true
    }
    const numbers: bigint[] = []
    for (let p = name.end; p < length;) {
      const number = wideHex(line, p + 1, length)
      if (line[p] !== SPACE || number.next === p + 1) return false
      numbers.push((BigInt(number.hi) << 32n) | BigInt(number.lo))
      p = number.next
    }
    const [base, ...parts] = numbers
    if (base === undefined || parts.length % 2 !== 0 || this.modules.size + parts.length / 2 > MAX_SEGMENTS)
      return false
    const string = this.moduleName(text, line, name)
    if (string === undefined) return false
    if (parts.length > 0) this.tables.newModules()
    for (let i = 0; i < parts.length; i += 2) this.modules.add(string, base, parts[i], parts[i + 1])
    return true
  }

  /** The number of the string that is a module's name; undefined if there is no room for it. */
  private moduleName(text: string, line: Uint8Array, { start, end }: Span): number | undefined {
    const { executable } = this.layout
    const known = this.moduleNames.get(text)
    if (known !== undefined) return known
    const isExecutable = text === EXECUTABLE && executable !== undefined
    const bytes = isExecutable ? encodeText(executable) : line.subarray(start, end)
    if (this.tables.addString(bytes, 0, bytes.length)) return undefined
    this.moduleNames.set(text, this.tables.strings.size)
    return this.tables.strings.size
  }
}

/** The hex number at `p`, as words, and the position after it; `p` itself if there is none. */
function wideHex(bytes: Uint8Array, p: number, end: number): { lo: number; hi: number; next: number } {
  let lo = 0
  let hi = 0
  let next = p
  for (; next < end && next < p + 16; next++) {
    const digit = hexAt(bytes, next, next + 1)
    if (digit.next === next) break
    hi = ((hi << 4) | (lo >>> 28)) >>> 0
    lo = ((lo << 4) | digit.value) >>> 0
  }
  return { lo, hi, next }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}
