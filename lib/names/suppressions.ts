import { parseFrame } from '../event/frame.js'
import { showValue } from '../event/message-text.js'
import { isGlob, isTemplate } from './patterns.js'

/** Whether a frame fits a part of a rule. */
export type FramePattern = (frame: SuppressibleFrame) => boolean

/** What says which leaks are known, and not reported. */
export interface Suppression {
  /** The line of the rule, or the name that it has. */
  readonly name: string
  /** The rule as files of rules have it. */
  readonly text: string
  /** Patterns each of which some frame of a stack fits for which the rule holds. */
  readonly needs: readonly FramePattern[]
  /** Whether it holds for every stack with frames that fit `needs`. */
  readonly isAnyFrame: boolean
  /** Whether it holds for a stack, innermost frame first. */
  matches(frames: readonly SuppressibleFrame[]): boolean
}

/** What rules look at. */
export interface SuppressibleFrame {
  readonly function?: string
  readonly file?: string
  readonly module?: string
}

/**
 * The leaks that heaptrack 1.4 suppresses unless told otherwise: blocks that the C library, the dynamic linker and GLib
 * keep until the end.
 */
export const KNOWN_SUPPRESSIONS: readonly Suppression[] = [
  '__nss_module_allocate',
  '__gconv_read_conf',
  '__new_exitfn',
  'tzset_internal',
  'dl_open_worker',
  'g_main_context_new',
  'g_thread_self',
].map((pattern) => leak(pattern))

/** The functions with which valgrind's stacks begin. Those of most other recorders do not have them. */
const ALLOCATORS = [
  'malloc',
  'calloc',
  'realloc',
  'memalign',
  'posix_memalign',
  'aligned_alloc',
  '_Znwm',
  '_Znam',
  'operator new(unsigned long)',
  'operator new[](unsigned long)',
]
/** The kinds of valgrind's suppressions that are about leaks. */
const LEAK_KINDS = /^(?:\w+,)*Memcheck(?:,\w+)*:Leak$/
/** Rules of valgrind look at this many frames. */
const MAX_FRAMES = 1000
/** The most patterns of all rules of a file. */
const MAX_PATTERNS = 10_000

/**
 * Reads suppressions: lines `leak:PATTERN` of LeakSanitizer and heaptrack, and blocks in braces of valgrind, of which
 * those that are not about leaks are skipped. A file may have both.
 * @throws RangeError with the number of the line that is neither, or when there are more than 10,000 patterns
 */
export function parseSuppressions(text: string): Suppression[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim())
  const rules: Suppression[] = []
  let patterns = 0
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]
    if (line === '' || line.startsWith('#')) continue
    if (patterns >= MAX_PATTERNS) throw new RangeError(`line ${i + 1}: there are more than ${MAX_PATTERNS} patterns`)
    if (line === '{') {
      const end = lines.indexOf('}', i)
      if (end < 0) throw new RangeError(`line ${i + 1}: the brace is not closed`)
      // Most lines of a block are patterns.
      patterns += end - i
      if (patterns > MAX_PATTERNS) continue
      const rule = valgrind(lines.slice(i + 1, end), i + 1)
      if (rule !== undefined) rules.push(rule)
      i = end
    } else if (/^leak:./.test(line)) {
      patterns++
      rules.push(leak(line.slice('leak:'.length)))
    } else {
      throw new RangeError(`line ${i + 1}: neither leak:PATTERN nor a block in braces: ${showValue(line)}`)
    }
  }
  return rules
}

/** A rule that holds for stacks with a frame whose function, file or module fits the pattern. */
function leak(pattern: string): Suppression {
  const fits = (text: string | undefined) => text !== undefined && (text === pattern || isTemplate(pattern, text))
  const fitsAny: FramePattern = ({ function: name, file, module }) => fits(name) || fits(module) || fits(file)
  return {
    name: `leak:${pattern}`,
    text: `leak:${pattern}`,
    needs: [fitsAny],
    isAnyFrame: true,
    matches: (frames) => frames.some(fitsAny),
  }
}

interface NamePattern {
  readonly kind: 'fun' | 'obj' | 'src'
  readonly pattern: string
}

/** A rule of valgrind; undefined if it is not about leaks. @throws RangeError */
function valgrind(lines: readonly string[], before: number): Suppression | undefined {
  const [name = '', kind = '', ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (!/^[^:\s]+:\S/.test(kind)) throw new RangeError(`line ${before}: the block does not say what it suppresses`)
  if (!LEAK_KINDS.test(kind)) return undefined
  const patterns: (NamePattern | 'any')[] = []
  for (const line of rest) {
    if (line.startsWith('match-leak-kinds:')) continue
    const [, what, pattern = ''] = /^(fun|obj|src):(.+)$/.exec(line) ?? []
    if (line !== '...' && what === undefined)
      throw new RangeError(`line ${before}: ${showValue(line)} is no frame in the block ${showValue(name)}`)
    patterns.push(line === '...' ? 'any' : { kind: what as 'fun' | 'obj' | 'src', pattern })
  }
  if (patterns.length === 0) throw new RangeError(`line ${before}: the block ${showValue(name)} has no frames`)
  const [first] = patterns
  const isAllocator =
    first !== 'any' && first?.kind === 'fun' && ALLOCATORS.some((allocator) => isGlob(first.pattern, allocator))
  const needed = isAllocator && patterns.length > 1 ? patterns.slice(1) : patterns
  return {
    name,
    text: ['{', ...lines, '}'].join('\n'),
    needs: needed.flatMap((pattern) => (pattern === 'any' ? [] : [(frame) => fitsFrame(frame, pattern)])),
    isAnyFrame: false,
    matches: (frames) =>
      beginsWith(frames, patterns) || (isAllocator && patterns.length > 1 && beginsWith(frames, patterns.slice(1))),
  }
}

/** Whether a stack begins with frames that fit these patterns; further frames do not matter. */
function beginsWith(frames: readonly SuppressibleFrame[], patterns: readonly (NamePattern | 'any')[]): boolean {
  // By pattern, the positions in the stack that may follow it: each step costs the stack's length at most.
  const length = Math.min(frames.length, MAX_FRAMES)
  let positions = new Set([0])
  for (const pattern of patterns) {
    const next = new Set<number>()
    if (pattern === 'any') for (let at = Math.min(...positions); at <= length; at++) next.add(at)
    else for (const at of positions) if (at < length && fitsFrame(frames[at], pattern)) next.add(at + 1)
    if (next.size === 0) return false
    positions = next
  }
  return true
}

function fitsFrame(frame: SuppressibleFrame, { kind, pattern }: NamePattern): boolean {
  if (kind === 'obj') return isGlob(pattern, frame.module ?? '')
  if (kind === 'fun') return isGlob(pattern, frame.function ?? '')
  const file = frame.file ?? ''
  return isGlob(pattern.replace(/:\d+$/, ''), file.slice(file.lastIndexOf('/') + 1))
}

/**
 * Makes the frames of places in the program, as rules look at them. A frame that several stacks have is the same object
 * in all of them.
 */
export class SuppressibleFrames {
  private readonly known = new Map<string, SuppressibleFrame>()

  /** Those of a place, innermost first. */
  of(place: SuppressibleFrame & { readonly stack?: readonly string[] }): SuppressibleFrame[] {
    return place.stack === undefined ? [place] : place.stack.map((text) => this.frame(text))
  }

  private frame(text: string): SuppressibleFrame {
    let frame = this.known.get(text)
    if (frame === undefined) this.known.set(text, (frame = parseFrame(text)))
    return frame
  }
}
