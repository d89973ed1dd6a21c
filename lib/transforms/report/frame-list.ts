import { withoutDepth } from '../../names/brackets.js'
import type { Frame } from '../profile/profile.js'
import type { StackTree } from '../profile/profile.js'
import type { StackFrames } from './result.js'
import { wellFormed } from '../../event/message-text.js'

/** The number of frames of a stack that are shown. */
const MOST_FRAMES = 40
/** Longer names are not taken apart. */
const MOST_PARSED = 65_536
/** Follows the last frame shown if there are more. */
const MORE = -1

/** The frames that a report mentions, each once. */
export class FrameList {
  readonly all: Frame[] = []
  /** The number of shortened names. */
  shortened = 0
  private readonly ids = new Map<string, number>()

  /** @param longest the maximum number of characters of names */
  constructor(private readonly longest: number) {}

  id({ name, file, line, module }: Frame): number {
    const key = `${name}\0${file ?? ''}\0${line ?? ''}\0${module ?? ''}`
    let id = this.ids.get(key)
    if (id !== undefined) return id
    id = this.all.length
    this.ids.set(key, id)
    this.all.push({
      name: this.short(name),
      ...(file !== undefined && { file: this.short(file) }),
      ...(line !== undefined && { line }),
      ...(module !== undefined && { module: this.short(module) }),
    })
    return id
  }

  /** The stack of these frames, the innermost first. */
  stack(frames: readonly Frame[]): StackFrames {
    const ids = frames.slice(0, MOST_FRAMES).map((frame) => this.id(frame))
    return frames.length > MOST_FRAMES ? [...ids, MORE] : ids
  }

  /** The stack of a node of a tree. */
  stackOf(node: number, { parents, frames }: StackTree, all: readonly Frame[]): StackFrames {
    const ids: StackFrames = []
    for (let at = node; at > 0; at = parents[at]) {
      if (ids.length === MOST_FRAMES) return [...ids, MORE]
      ids.push(this.id(all[frames[at]]))
    }
    return ids
  }

  private short(name: string): string {
    if (name.length <= this.longest) return name
    this.shortened++
    const text = name.length > MOST_PARSED ? undefined : withoutDepth(name, this.longest)
    if (text !== undefined) return text
    return `${wellFormed(name.slice(0, this.longest))}[and ${name.length - this.longest} more]`
  }
}
