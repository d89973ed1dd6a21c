import { frameText } from '../transforms/profile/frames.js'
import type { Profile, Sample } from '../transforms/profile/profile.js'
import { joinLines } from '../transforms/profile/join-lines.js'
import { knownValue } from '../transforms/profile/values.js'
import { childrenOf, ownValues } from './tree.js'
import { textBytes } from '../event/strings.js'
import type { ExportOptions } from './writer.js'

const CONTROLS = /\p{Cc}+/gu

/**
 * Collapsed stacks: a line for each stack, its frames from the outermost one on and the figure, as flamegraph.pl reads
 * them. Stacks without any are left out. They are sorted by their frames.
 */
export function collapsed(
  profile: Profile,
  { value = 'allocated-bytes', lines = false }: ExportOptions = {},
): Iterable<Uint8Array> {
  const { of } = knownValue(profile, value)
  return textBytes(stackLines(lines ? profile : joinLines(profile), (sample) => of(sample, profile.temporaryBy)))
}

function* stackLines(profile: Profile, of: (sample: Sample) => number | bigint): Generator<string> {
  const { tree } = profile
  const values = ownValues(profile, of)
  const names = profile.frames.map((frame) => lineText(frameText(frame)))
  for (const { node, path } of childrenOf(tree, names)) {
    const own = values[node] ?? 0n
    if (own > 0n) yield `${path.join(';')} ${own}\n`
  }
}

/** A frame as a line of stacks can hold it: semicolons separate frames, and line breaks lines. */
export function lineText(text: string): string {
  return text.replaceAll(';', ':').replaceAll(CONTROLS, ' ').trim() || '[unknown]'
}
