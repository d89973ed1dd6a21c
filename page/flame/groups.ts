import { shortPaths } from '../../lib/names/short-paths.js'
import type { Model } from '../model.js'
import type { By } from '../target.js'

/** The functions, files or modules of a report, each once. */
export interface FrameGroups {
  readonly names: readonly string[]
  /** The name of one in short. */
  readonly label: (n: number) => string
  /** The file, the line and the module of a function; otherwise the whole path, if the label is shorter. */
  readonly place: (n: number) => string
  readonly of: (frame: number) => number
}

/** The name of what a frame is in. Frames of unknown files, and of unknown modules, are together. */
const NAMES: Readonly<Record<By, (frame: Model['data']['frames'][number]) => string>> = {
  function: ({ name }) => name,
  file: ({ file }) => file ?? '(no file)',
  module: ({ module }) => module ?? '(no module)',
}

const known = new WeakMap<Model, Map<By, FrameGroups>>()

/** What the rows of the table of functions can be: files and modules where the trace has them. */
export function groupings({ data: { frames } }: Model): By[] {
  const has = (key: 'file' | 'module') => (frames.some((frame) => frame[key] !== undefined) ? [key] : [])
  return ['function', ...has('file'), ...has('module')]
}

/** The frames of a report by what they are in. */
export function groupsOf(model: Model, by: By): FrameGroups {
  const all = known.get(model) ?? new Map<By, FrameGroups>()
  known.set(model, all)
  let groups = all.get(by)
  if (groups === undefined) all.set(by, (groups = makeGroups(model, by)))
  return groups
}

function makeGroups(model: Model, by: By): FrameGroups {
  const { frames } = model.data
  const ids = new Map<string, number>()
  const firsts: number[] = []
  const numbers = frames.map((frame, n) => {
    const name = NAMES[by](frame)
    let id = ids.get(name)
    if (id === undefined) {
      ids.set(name, (id = ids.size))
      firsts.push(n)
    }
    return id
  })
  const names = [...ids.keys()]
  const short = by === 'function' ? undefined : shortPaths(names)
  const label = (n: number) => short?.get(names[n] ?? '') ?? model.label(firsts[n] ?? -1)
  const modules = shortPaths(frames.flatMap(({ module }) => module ?? []))
  const placeOf = (first: number) => {
    const module = frames[first]?.module
    // The name of a frame without a function has it.
    const isNamed = module === undefined || names[numbers[first]]?.startsWith(module) === true
    return [model.place(first) ?? [], isNamed ? [] : `in ${modules.get(module)}`].flat().join(' ')
  }
  const pathOf = (n: number) => (label(n) === names[n] ? '' : (names[n] ?? ''))
  const place = (n: number) => (by === 'function' ? placeOf(firsts[n] ?? -1) : pathOf(n))
  return { names, label, place, of: (frame) => numbers[frame] ?? 0 }
}
