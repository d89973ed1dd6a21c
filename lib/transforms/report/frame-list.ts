import type { Frame } from '../profile/profile.js'
import type { StackTree } from '../profile/profile.js'
import type { StackFrames } from './result.js'

/** Stacks are shown with this many frames. */
const MOST_FRAMES = 40
/** After the last frame that is shown: there are more. */
const MORE = -1

/** The frames that a report mentions, each once. */
export class FrameList {
  readonly all: Frame[] = []
  /** How many names were shortened. */
  shortened = 0
  private readonly ids = new Map<string, number>()

  /** @param longest names may have so many characters */
  constructor(private readonly longest: number) {}

  /** The number of a frame. */
  id({ name, file, line }: Frame): number {
    const key = `${name}\0${file ?? ''}\0${line ?? ''}`
    let id = this.ids.get(key)
    if (id !== undefined) return id
    id = this.all.length
    this.ids.set(key, id)
    this.all.push({
      name: this.short(name),
      ...(file !== undefined && { file: this.short(file) }),
      ...(line !== undefined && { line }),
    })
    return id
  }

  /** The stack of frames, of which the innermost is the first. */
  stack(frames: readonly Frame[]): StackFrames {
    const ids = frames.slice(0, MOST_FRAMES).map((frame) => this.id(frame))
    return frames.length > MOST_FRAMES ? [...ids, MORE] : ids
  }

  /** The stack of a node of a tree. */
  stackOf(node: number, { parents, frames }: StackTree, all: readonly Frame[]): StackFrames {
    const ids: StackFrames = []
    for (let at = node; at > 0; at = parents[at] as number) {
      if (ids.length === MOST_FRAMES) return [...ids, MORE]
      ids.push(this.id(all[frames[at] as number] as Frame))
    }
    return ids
  }

  private short(name: string): string {
    if (name.length <= this.longest) return name
    this.shortened++
    return `${name.slice(0, this.longest).toWellFormed()}[and ${name.length - this.longest} more]`
  }
}
