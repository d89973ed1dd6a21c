import { parseFrame } from '../event/frame.js'
import { plainName } from './short-name.js'
import { WRAPPERS } from './wrappers.js'

/** Expressions of the caller see at most this many characters of a frame, because they may backtrack. */
export const LONGEST_MATCHED = 1000
/** The most frames without a name that are taken for parts of an allocator which called them. */
const UNNAMED = 3

/**
 * `system`: nothing but its module says that it is not the program's own. `inlined`: the program's own, unless the
 * frame that it is inlined in is of the system.
 */
type FrameKind = 'own' | 'inlined' | 'unnamed' | 'library' | 'system' | 'allocator'

/** Which frames a row does not begin with. */
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
const modules = WRAPPERS.flatMap((list) => list.modules ?? [])

/** Finds the innermost frame of the program's own in stacks: the one that is not a wrapper of allocation. */
export class OwnFrames {
  private readonly known = new Map<string, FrameKind>()
  private readonly hide: readonly RegExp[]

  constructor(private readonly options: OwnFrameOptions = {}) {
    // Copies, because a test moves the lastIndex of expressions with the flags g and y.
    this.hide = (options.hide ?? []).map((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')))
  }

  /**
   * The number of frames at the beginning of a stack that are hidden: wrappers of allocation, standard libraries, and
   * frames without a name that an allocator called. A frame that is inlined is of the module of the next one. Where all
   * are hidden, the innermost one that only its module hides is not, or else the outermost one.
   * @param stack the texts of frames, the innermost first; most often only few of them are looked at
   */
  start(stack: Iterable<string>): number {
    if (this.options.all === true) return 0
    let start = 0
    let length = 0
    let inlined = 0
    let first: number | undefined
    for (const text of stack) {
      if (length - start > UNNAMED) return start
      const kind = this.kind(text)
      const isLibrary = kind === 'library' || kind === 'system'
      if (kind === 'own' || (inlined > 0 && kind !== 'system') || (isLibrary && length > start)) return start
      if (kind === 'inlined') {
        inlined++
        continue
      }
      if (kind === 'system') first ??= length
      length += inlined + 1
      inlined = 0
      if (kind !== 'unnamed') start = length
    }
    return start < length || inlined > 0 ? start : (first ?? Math.max(0, length - 1))
  }

  private kind(text: string): FrameKind {
    let kind = this.known.get(text)
    if (kind === undefined) this.known.set(text, (kind = this.find(text)))
    return kind
  }

  private find(text: string): FrameKind {
    const { function: name, file, module, inlined } = parseFrame(text)
    const isHidden = (one: string) => this.hide.some((pattern) => pattern.test(one.slice(0, LONGEST_MATCHED)))
    if (isHidden(text) || (name !== undefined && isHidden(name))) return 'allocator'
    if (name !== undefined) {
      const plain = plainName(name)
      const kind = exact.get(plain) ?? prefixes.find(([prefix]) => plain.startsWith(prefix))?.[1]
      if (kind !== undefined) return kind
    }
    if (file !== undefined && files.some((part) => file.includes(part))) return 'library'
    if (module !== undefined && isOneOf(modules, module.slice(module.lastIndexOf('/') + 1))) return 'system'
    if (name === undefined && file === undefined) return 'unnamed'
    return inlined === true ? 'inlined' : 'own'
  }
}

/** Whether a name is one of those, of which some end in * and stand for all names that begin so. */
function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one))
}
