import { LF, SPACE, TAB } from '../../text/ascii.js'
import { decodeText, encodeText, type StringTable } from '../../event/strings.js'
import { frameEnd, trimEnd } from './frames.js'
import { BAR, MAX_CRAWL, MAX_TYPE, NOTYPE, NOVTBL } from './layout.js'
import { isNovtbl } from './types.js'

/** The text of a type or a stack in its column. */
export interface Name {
  /** Empty for no stack. */
  readonly bytes: Uint8Array
  /** The changes that were necessary, for `Losses.countEvent`. */
  readonly loss?: string
}

const NO_TYPE: Name = { bytes: NOVTBL }
const TYPE_LEFT_OUT: Name = { bytes: NOVTBL, loss: 'types that would be read as another, left out' }
const NO_STACK: Name = { bytes: new Uint8Array(0) }
const STACK_LEFT_OUT: Name = { ...NO_STACK, loss: 'stacks that would be read as another, left out' }
const TYPE_SPACED = 'spaces and line ends in types, written as single spaces'
const STACK_SPACED = 'spaces and line ends in stacks, written as single spaces'

/** The types and stacks of a batch as written, each created once. */
export class Names {
  private strings: StringTable | undefined
  private types: (Name | undefined)[] = []
  private stacks: (Name | undefined)[] = []
  private functions: (Name | undefined)[] = []
  private views: (Uint8Array | undefined)[] = []

  /** Starts a batch with these strings. */
  begin(strings: StringTable): void {
    if (strings === this.strings) return
    this.strings = strings
    this.types = []
    this.functions = []
    this.stacks = []
    this.views = []
  }

  /** The type with this string id; -1 for none. */
  type(id: number): Name {
    if (id < 0) return NO_TYPE
    return (this.types[id] ??= typeName(this.view(id)))
  }

  /** The stack with this list id; -1 for none. */
  stack(list: number): Name {
    if (list < 0) return NO_STACK
    return (this.stacks[list] ??= stackName((this.strings as StringTable).list(list).map((id) => this.view(id))))
  }

  /** The stack that consists of one function, with this string id. */
  function(id: number): Name {
    return (this.functions[id] ??= stackName([this.view(id)]))
  }

  private view(id: number): Uint8Array {
    return (this.views[id] ??= (this.strings as StringTable).view(id))
  }
}

/** A type as written; never one that would be read as another type. */
function typeName(type: Uint8Array): Name {
  if (isType(type)) return { bytes: type }
  const spaced = singleBlanks(type)
  return isType(spaced) ? { bytes: spaced, loss: TYPE_SPACED } : TYPE_LEFT_OUT
}

/** A stack as written; never one that would be read as another stack. */
function stackName(frames: readonly Uint8Array[]): Name {
  const crawl = join(frames)
  if (isCrawl(crawl, frames)) return { bytes: crawl }
  const spaced = frames.map(singleBlanks)
  const respaced = join(spaced)
  return isCrawl(respaced, spaced) ? { bytes: respaced, loss: STACK_SPACED } : STACK_LEFT_OUT
}

/** Whether a type is read back unchanged, whatever follows it. */
function isType(type: Uint8Array): boolean {
  const { length } = type
  if (length === 0 || length > MAX_TYPE || type[0] === SPACE || trimEnd(type, 0, length) < length) return false
  for (let i = 0; i < length; i++) {
    const c = type[i]
    if (c === LF || c === TAB || (c === SPACE && type[i + 1] === SPACE)) return false
  }
  return (
    !isNovtbl(type, 0, length) && !(type[NOVTBL.length] === SPACE && (begins(type, NOVTBL) || begins(type, NOTYPE)))
  )
}

/** Whether a crawl is read back as these frames. */
function isCrawl(crawl: Uint8Array, frames: readonly Uint8Array[]): boolean {
  const { length } = crawl
  if (length === 0 || length > MAX_CRAWL || crawl[0] === SPACE || crawl[0] === TAB) return false
  if (crawl.includes(LF) || trimEnd(crawl, 0, length) < length) return false
  let start = 0
  for (const frame of frames) {
    if (frameEnd(crawl, start, length) !== start + frame.length) return false
    start += frame.length + 1
  }
  return start === length + 1
}

function begins(name: Uint8Array, word: Uint8Array): boolean {
  return word.every((char, i) => name[i] === char)
}

function join(frames: readonly Uint8Array[]): Uint8Array {
  let length = Math.max(0, frames.length - 1)
  for (const frame of frames) length += frame.length
  const joined = new Uint8Array(length).fill(BAR)
  let p = 0
  for (const frame of frames) {
    joined.set(frame, p)
    p += frame.length + 1
  }
  return joined
}

function singleBlanks(name: Uint8Array): Uint8Array {
  return encodeText(
    decodeText(name)
      .replace(/[ \t\r\n]+/g, ' ')
      .replace(/^ | $/g, ''),
  )
}
