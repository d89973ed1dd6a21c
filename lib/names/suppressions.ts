import { parseFrame } from '../event/frame.js'
import { showValue } from '../event/message-text.js'
import { isTemplate } from './patterns.js'
import type { FramePattern, SuppressibleFrame, Suppression } from './suppression.js'
import { comparable, valgrindRule } from './valgrind-rule.js'

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

/** The maximum number of patterns of all rules of a file. */
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
      const rule = valgrindRule(lines.slice(i + 1, end), i + 1)
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

/**
 * Makes the frames of places in the program, as rules look at them. A frame that several stacks have is the same object
 * in all of them.
 */
export class SuppressibleFrames {
  private readonly known = new Map<string, SuppressibleFrame>()

  /** The names of a place, innermost first. */
  of(place: SuppressibleFrame & { readonly stack?: readonly string[] }): SuppressibleFrame[] {
    return place.stack === undefined ? [withComparable(place)] : place.stack.map((text) => this.frame(text))
  }

  private frame(text: string): SuppressibleFrame {
    let frame = this.known.get(text)
    if (frame === undefined) this.known.set(text, (frame = withComparable(parseFrame(text))))
    return frame
  }
}

function withComparable({ function: name, file, module }: SuppressibleFrame): SuppressibleFrame {
  return {
    ...(name !== undefined && { function: name, comparable: comparable(name) }),
    ...(file !== undefined && { file }),
    ...(module !== undefined && { module }),
  }
}
