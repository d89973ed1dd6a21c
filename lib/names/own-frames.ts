import { parseFrame } from '../event/frame.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import { plainName } from './short-name.js'
import { WRAPPERS } from './wrappers.js'

/** Expressions of the caller see at most this many characters of a frame, because they may backtrack. */
export const LONGEST_MATCHED = 1000
/** The maximum number of frames without a name that are taken for parts of an allocator which called them. */
const UNNAMED = 3

type FrameKind = 'own' | 'unnamed' | 'library' | 'allocator'

/** The frames with which no row begins. */
export interface OwnFrameOptions {
  /**
   * Frames that match are hidden, too: the text of the frame, or the function in it, up to `LONGEST_MATCHED`
   * characters.
   */
  readonly hide?: readonly RegExp[]
  /** Nothing is hidden. */
  readonly all?: boolean
}

const exact = new Map<string, FrameKind>()
const prefixes: [string, FrameKind][] = []
for (const { allocators, library = [] } of WRAPPERS) {
  for (const [names, kind] of [
    [allocators, 'allocator'],
    [library, 'library'],
  ] as const) {
    for (const name of names) {
      if (name.endsWith('*')) prefixes.push([name.slice(0, -1), kind])
      else exact.set(name, kind)
    }
  }
}
// A function of an allocator may be in a namespace of the library.
prefixes.sort(([, a], [, b]) => Number(a === 'library') - Number(b === 'library'))
const files = WRAPPERS.flatMap((list) => list.files ?? [])

/**
 * A name of C++ with parameters, or `main`: that of a symbol. Where the debug information does not show what was
 * inlined, such a function of the program has the file from which the library's code was inlined.
 */
const WHOLE_NAME = /^[^<].*(?<!operator)\(|^main$/s

/**
 * What stands before names of lists: the class of an `operator new` of its own, which allocates for its callers as the
 * global one does, and the package or the hash in the functions that cgo makes.
 */
const SCOPE = /^.*::(?=operator new(?:\[\])?$)|^(?:.*\.|_cgo_[0-9a-f]{12})(?=_Cfunc_|_cgo_cmalloc)/s

/** A frame without a name in the library of C++ or Rust: what the library called there is the library's, too. */
const RUNTIME = /^in (?:.*\/)?lib(?:stdc\+\+|c\+\+|std-)[^/]*$/

const OPTIONS: OptionNames<OwnFrameOptions> = {
  hide: {
    what: 'an array of regular expressions',
    is: (value) => Array.isArray(value) && value.every((item) => item instanceof RegExp),
  },
  all: 'boolean',
}

/** Finds the innermost frame of the program's own in stacks: the one that is not a wrapper of allocation. */
export class OwnFrames {
  private readonly known = new Map<string, FrameKind>()
  private readonly hide: readonly RegExp[]

  constructor(private readonly options: OwnFrameOptions = {}) {
    checkOptions(options, OPTIONS, 'OwnFrames')
    // Copies, because a test moves the lastIndex of expressions with the flags g and y.
    this.hide = (options.hide ?? []).map((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')))
  }

  /**
   * The number of frames at the beginning of a stack that are hidden: wrappers of allocation, the standard library, and
   * frames without a name that an allocator called, or that are the library's. If all frames are hidden, the
   * outermost one is shown.
   * @param stack the texts of frames, the innermost first; most often only few of them are looked at
   */
  start(stack: Iterable<string>): number {
    if (this.options.all === true) return 0
    let start = 0
    let length = 0
    // Frames without a name after `start` are in such a library.
    let areRuntime = true
    for (const text of stack) {
      if (length - start > UNNAMED) return start
      const kind = this.kind(text)
      if (kind === 'own' || (kind === 'library' && !areRuntime)) return start
      length++
      if (kind !== 'unnamed') start = length
      areRuntime = kind !== 'unnamed' || (areRuntime && RUNTIME.test(text))
    }
    return Math.min(start, Math.max(0, length - 1))
  }

  private kind(text: string): FrameKind {
    let kind = this.known.get(text)
    if (kind === undefined) this.known.set(text, (kind = this.find(text)))
    return kind
  }

  private find(text: string): FrameKind {
    const { function: name, file, inlined = false } = parseFrame(text)
    const isHidden = (one: string) => this.hide.some((pattern) => pattern.test(one.slice(0, LONGEST_MATCHED)))
    if (isHidden(text) || (name !== undefined && isHidden(name))) return 'allocator'
    if (name !== undefined) {
      const plain = plainName(name).replace(SCOPE, '')
      const kind = exact.get(plain) ?? prefixes.find(([prefix]) => plain.startsWith(prefix))?.[1]
      if (kind !== undefined) return kind
    }
    const isInlinedHere = !inlined && name !== undefined && WHOLE_NAME.test(name)
    if (file !== undefined && !isInlinedHere && files.some((part) => file.includes(part))) return 'library'
    return name === undefined && file === undefined ? 'unnamed' : 'own'
  }
}
