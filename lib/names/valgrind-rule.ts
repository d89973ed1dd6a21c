import { showValue } from '../event/message-text.js'
import { canBeAllocator, fitsAllocator, isAllocator, symbolOfAllocator } from './allocator-functions.js'
import { isGlob } from './patterns.js'
import type { SuppressibleFrame, Suppression } from './suppression.js'

/** The kinds of valgrind's suppressions that are about leaks. */
const LEAK_KINDS = /^(?:\w+,)*Memcheck(?:,\w+)*:Leak$/
/** Rules of valgrind look at this many frames. */
const MAX_FRAMES = 1000

/** A line of a rule about one frame. */
interface FrameLine {
  readonly kind: 'fun' | 'obj' | 'src'
  readonly pattern: string
  /** Another name of the function, as `comparable` makes it. */
  readonly other?: string
}

/** The lines of a rule about the function that allocated, which stacks may lack. */
interface AllocatorLines {
  /** The pattern of the function that the program called. */
  readonly called: string
  /** The lines that follow, not all of which are `...`. */
  readonly callers: readonly (FrameLine | 'any')[]
}

/**
 * A rule of valgrind; undefined if it is not about leaks.
 * @param lines the lines between the braces @param before the number of the line with the brace
 * @throws RangeError
 */
export function valgrindRule(lines: readonly string[], before: number): Suppression | undefined {
  const [name = '', kind = '', ...rest] = lines.filter((line) => line !== '' && !line.startsWith('#'))
  if (!/^[^:\s]+:\S/.test(kind)) throw new RangeError(`line ${before}: the block does not say what it suppresses`)
  if (!LEAK_KINDS.test(kind)) return undefined
  const frames: (FrameLine | 'any')[] = []
  for (const line of rest) {
    if (line.startsWith('match-leak-kinds:')) continue
    const frame = line === '...' ? 'any' : frameLine(line)
    if (frame === undefined)
      throw new RangeError(`line ${before}: ${showValue(line)} is no frame in the block ${showValue(name)}`)
    frames.push(frame)
  }
  if (frames.length === 0) throw new RangeError(`line ${before}: the block ${showValue(name)} has no frames`)
  const allocator = allocatorLines(frames)
  return {
    name,
    text: ['{', ...lines, '}'].join('\n'),
    needs: (allocator?.callers ?? frames).flatMap((one) => (one === 'any' ? [] : [(frame) => fitsFrame(frame, one)])),
    isAnyFrame: false,
    matches: (stack) => beginsWith(stack, frames) || (allocator !== undefined && isCalledBy(stack, allocator)),
  }
}

/** A line `fun:PATTERN`, which may have the function's other name after a tab, `obj:PATTERN` or `src:PATTERN`. */
function frameLine(line: string): FrameLine | undefined {
  const [, kind, text = ''] = /^(fun|obj|src):(.+)$/.exec(line) ?? []
  if (kind === 'obj' || kind === 'src') return { kind, pattern: text }
  if (kind !== 'fun') return undefined
  const [pattern = '', other] = text.split('\t')
  return other === undefined ? { kind: 'fun', pattern } : { kind: 'fun', pattern, other: comparable(other) }
}

/**
 * Separates the lines of a rule about functions that allocate, which may call each other, from the lines about their
 * callers. Undefined if there are no lines of the first kind, or if only `...` follows, so that they alone determine
 * the stacks.
 */
function allocatorLines(lines: readonly (FrameLine | 'any')[]): AllocatorLines | undefined {
  const isOne = (line: FrameLine | 'any', fits: (pattern: string) => boolean) =>
    line !== 'any' && line.kind === 'fun' && fits(line.pattern)
  if (!isOne(lines[0], canBeAllocator)) return undefined
  let count = 1
  while (count < lines.length && isOne(lines[count], isAllocator)) count++
  const callers = lines.slice(count)
  return callers.every((line) => line === 'any')
    ? undefined
    : { called: (lines[count - 1] as FrameLine).pattern, callers }
}

/** Whether the function that allocated and its callers may match those of a rule. */
function isCalledBy(frames: readonly SuppressibleFrame[], { called, callers }: AllocatorLines): boolean {
  let from = 0
  while (from < frames.length && isAllocator(frames[from].function ?? '')) from++
  return fitsAllocator(called, from === 0 ? undefined : frames[from - 1].function) && beginsWith(frames, callers, from)
}

/** Whether a stack has frames that fit these lines from a position on; further frames do not matter. */
function beginsWith(frames: readonly SuppressibleFrame[], lines: readonly (FrameLine | 'any')[], from = 0): boolean {
  // By line, the positions in the stack that may follow it: each step costs the stack's length at most.
  const length = Math.min(frames.length, MAX_FRAMES)
  let positions = new Set([from])
  for (const line of lines) {
    const next = new Set<number>()
    if (line === 'any') for (let at = Math.min(...positions); at <= length; at++) next.add(at)
    else for (const at of positions) if (at < length && fitsFrame(frames[at], line)) next.add(at + 1)
    if (next.size === 0) return false
    positions = next
  }
  return true
}

function fitsFrame(frame: SuppressibleFrame, { kind, pattern, other }: FrameLine): boolean {
  if (kind === 'obj') return isGlob(pattern, frame.module ?? '')
  if (kind === 'fun') {
    const name = frame.function ?? ''
    if (isGlob(pattern, name) || (other !== undefined && frame.comparable === other)) return true
    const symbol = symbolOfAllocator(name)
    return symbol !== undefined && isGlob(pattern, symbol)
  }
  const file = frame.file ?? ''
  return isGlob(pattern.replace(/:\d+$/, ''), file.slice(file.lastIndexOf('/') + 1))
}

/** The name of a function without what programs that demangle names write differently: spaces and notes of copies. */
export function comparable(name: string): string {
  return name.replace(/ ?\[clone [^[\]]*\]/g, '').replace(/ (?=\W)|(?<=\W) /g, '')
}
