import type { Profile } from '../transforms/profile/profile.js'
import { joinLines } from '../transforms/profile/join-lines.js'
import { titleBy } from '../transforms/option-values.js'
import { knownValue, knownValues, VALUES, type ProfileValue } from '../transforms/profile/values.js'
import { ownValues } from './tree.js'
import { textBytes } from '../event/strings.js'
import type { ExportOptions } from './writer.js'

const SCHEMA = 'https://www.speedscope.app/file-format-schema.json'
/** The maximum number of stacks of a figure, because the viewer reads the file as one string, and draws all of them. */
const MAX_STACKS = 20_000

/**
 * A file of speedscope: a separate profile for each figure that is not zero everywhere. If there are many stacks, the
 * largest are written, and the others are combined.
 * @see https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format-spec.ts
 */
export function speedscope(profile: Profile, options: ExportOptions = {}): Iterable<Uint8Array> {
  return textBytes(pieces(options.lines === true ? profile : joinLines(profile), options))
}

/** One figure: nodes with their values, and the sum of the omitted stacks. */
interface Figure {
  readonly name: ProfileValue
  readonly nodes: readonly number[]
  readonly values: readonly bigint[]
  readonly rest: bigint
  readonly left: number
}

function* pieces(profile: Profile, { value = 'allocated-bytes', name = 'heap' }: ExportOptions): Generator<string> {
  const { frames } = profile
  knownValue(profile, value)
  const figures = knownValues(profile)
    .map((one) => figureOf(profile, one))
    .filter(({ nodes }) => nodes.length > 0)
  const active = figures.findIndex((figure) => figure.name === value)
  yield `{"$schema":"${SCHEMA}","exporter":"heapflow","name":${JSON.stringify(name)}`
  yield `,"activeProfileIndex":${Math.max(0, active)},"shared":{"frames":[`
  for (const { name, file, line } of frames) yield `${JSON.stringify({ name, file, line })},`
  // One additional frame, for the omitted stacks.
  yield '{"name":"[smaller stacks]"}]},"profiles":['
  for (const [f, figure] of figures.entries()) yield* profileText(profile, figure, f > 0)
  if (figures.length === 0)
    yield '{"type":"sampled","name":"nothing","unit":"none","startValue":0,"endValue":0,"samples":[],"weights":[]}'
  yield ']}\n'
}

function figureOf(profile: Profile, name: ProfileValue): Figure {
  const values = ownValues(profile, (sample) => VALUES[name].of(sample, profile.temporaryBy))
  const all = values.flatMap((value, node) => (value > 0n ? [node] : []))
  const of = (node: number) => values[node]
  const largest = all.toSorted((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : a - b)).slice(0, MAX_STACKS)
  const nodes = largest.toSorted((a, b) => a - b)
  const sum = (some: readonly number[]) => some.reduce((total, node) => total + of(node), 0n)
  return { name, nodes, values: nodes.map(of), rest: sum(all) - sum(nodes), left: all.length - nodes.length }
}

function* profileText(
  { tree, frames, temporaryBy }: Profile,
  { name, nodes, values, rest, left }: Figure,
  isNext: boolean,
): Generator<string> {
  const { title, unit } = VALUES[name]
  const total = values.reduce((sum, value) => sum + value, rest)
  const note = left === 0 ? '' : ` (of ${left} stacks only the sum)`
  yield `${isNext ? ',' : ''}{"type":"sampled","name":${JSON.stringify(titleBy(title, name, temporaryBy) + note)}`
  yield `,"unit":"${unit === 'bytes' ? 'bytes' : 'none'}","startValue":0,"endValue":${total},"samples":[`
  for (const [n, node] of nodes.entries()) {
    const path: number[] = []
    for (let at = node; at > 0; at = tree.parents[at]) path.push(tree.frames[at])
    yield `${n > 0 ? ',' : ''}[${path.toReversed().join(',')}]`
  }
  if (left > 0) yield `,[${frames.length}]`
  yield '],"weights":['
  for (const [n, value] of values.entries()) yield `${n > 0 ? ',' : ''}${value}`
  if (left > 0) yield `,${rest}`
  yield ']}'
}
