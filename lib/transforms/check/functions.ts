import { formatFrame, parseFrame } from '../../event/frame.js'
import type { OwnFrames } from '../../names/own-frames.js'
import { hasPieces } from '../../names/patterns.js'
import { shortName } from '../../names/short-name.js'
import { boundedName } from '../profile/frames.js'
import type { Site } from '../statistics/result.js'
import type { BudgetGroup } from './budgets.js'

/** The name of all functions of a group with `at`. */
export const TOGETHER = 'in'

/** The maximum number of results that are kept, and the length of their frames. */
const MOST_KEPT = 65_536
const LONGEST_KEPT = 1024

/** The names under which stacks count in a group of budgets. */
export class GroupNames {
  /** Whether a stack with any matching frame counts, under one name. */
  readonly isTogether: boolean
  /** Whether the text of a frame matches. */
  readonly isMatch: (frame: string) => boolean

  /** @param own the frames that begin rows */
  constructor(
    { at, each }: Pick<BudgetGroup, 'at' | 'each'>,
    readonly own: OwnFrames,
  ) {
    this.isTogether = at !== undefined
    this.isMatch = kept(globOf(at ?? each ?? '*'))
  }

  /** The name of a stack, of which the innermost frame is the first; empty if it does not count. */
  nameOf(stack: readonly string[]): string {
    if (this.isTogether) return stack.some(this.isMatch) ? TOGETHER : ''
    const frame = stack[this.own.start(stack)]
    return frame !== undefined && this.isMatch(frame) ? nameOfFrame(frame) : ''
  }

  /** The same for a site. A site without a stack is like a stack of one frame. */
  nameOfSite(site: Site): string {
    const { rest, stack, function: name, file, module } = site
    if (rest !== undefined) return ''
    if (stack !== undefined) return this.nameOf(stack)
    return this.nameOfPlace(name ? { function: name } : file ? { file } : { ...(module && { module }) })
  }

  /** The name of a place of which only a function, a file or a module is known. */
  nameOfPlace(place: Partial<Record<'function' | 'file' | 'module', string>>): string {
    return this.nameOf([formatFrame(place)])
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
      if (frame.length <= LONGEST_KEPT) known.set(frame, result)
    }
    return result
  }
}

/** Addresses differ from run to run, and offsets from build to build. */
const ADDRESS = /(?:\+0x[0-9a-f]+| \[0x[0-9a-f.]+\])$/

/** The function of a frame, otherwise its file or module, named as in profiles; empty if only an address is known. */
function nameOfFrame(frame: string): string {
  const { function: name, file, module } = parseFrame(frame)
  return boundedName((name || file || module || '').replace(ADDRESS, ''))
}

/** A test of whole names by a pattern in which `*` stands for any characters. */
function globOf(pattern: string): (name: string) => boolean {
  const pieces = pattern.split('*')
  return (name) => hasPieces(pieces, name, true, true)
}
