import { parseFrame } from '../../event/frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import { shortName } from '../../names/short-name.js'
import { MAX_NAME } from '../profile/frames.js'
import type { BudgetGroup } from './budgets.js'

/** The name under which a stack counts in a group of budgets; empty if it does not. */
export type NameOfStack = (stack: readonly string[]) => string

/** The name of all functions of a group with `at`. */
export const TOGETHER = 'in'

/** At most this many results are kept. */
const MOST_KEPT = 65_536

/** How a group names stacks, of which the innermost frame is the first. @param own which frames begin rows */
export function namesIn({ at, each }: Pick<BudgetGroup, 'at' | 'each'>, own: OwnFrames): NameOfStack {
  const isMatch = kept(globOf(at ?? each ?? '*'))
  if (at !== undefined) return (stack) => (stack.some(isMatch) ? TOGETHER : '')
  return (stack) => {
    const frame = stack[own.start(stack)]
    return frame !== undefined && isMatch(frame) ? nameOfFrame(frame) : ''
  }
}

function kept(test: (name: string) => boolean): (frame: string) => boolean {
  const known = new Map<string, boolean>()
  return (frame) => {
    let result = known.get(frame)
    if (result === undefined) {
      const name = nameOfFrame(frame)
      result = name !== '' && (test(name) || test(shortName(name)))
      if (known.size === MOST_KEPT) known.clear()
      known.set(frame, result)
    }
    return result
  }
}

/** Addresses differ from run to run, and offsets from build to build. */
const ADDRESS = /(?:\+0x[0-9a-f]+| \[0x[0-9a-f.]+\])$/

/** The function of a frame, otherwise its file or module, as profiles have names; empty if only an address is known. */
function nameOfFrame(frame: string): string {
  const { function: name, file, module } = parseFrame(frame)
  return (name ?? file ?? module ?? '').replace(ADDRESS, '').slice(0, MAX_NAME).toWellFormed()
}

/** A test of whole names by a pattern in which `*` stands for any characters. */
function globOf(pattern: string): (name: string) => boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  return (name) => {
    if (last === undefined) return name === first
    if (!name.startsWith(first)) return false
    let from = first.length
    for (const part of parts) {
      const at = name.indexOf(part, from)
      if (at < 0) return false
      from = at + part.length
    }
    return name.length - last.length >= from && name.endsWith(last)
  }
}
