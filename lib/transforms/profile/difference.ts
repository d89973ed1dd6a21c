import { plural } from '../../event/message-text.js'
import { checkOptions, needResult } from '../../event/options.js'
import { NumberedTexts } from '../../text/numbered-texts.js'
import { PROFILE_MATCHES, type TemporaryDefinition } from '../option-values.js'
import { addAmount, NOTHING } from '../statistics/amounts.js'
import { NO_NODE, Paths } from '../statistics/paths.js'
import type { Amount, Statistics } from '../statistics/result.js'
import { frameText } from './frames.js'
import type { Frame, Profile, Sample, StackTree } from './profile.js'
import { UNKNOWN } from './stacks.js'

/** The parts of a frame that must be equal in both profiles: see `PROFILE_MATCHES`. */
export type ProfileMatch = (typeof PROFILE_MATCHES)[number]

/** Options of a comparison. */
export interface ComparedFigures {
  allocated: Amount
  atPeak: Amount
  leaked: Amount
  /** By `ProfileDifference.temporaryBy`; zero if its `identified` is false. */
  temporary: Amount
}

/** A stack with its figures in both profiles. */
export interface ComparedStack {
  readonly old: ComparedFigures
  readonly new: ComparedFigures
  /** The frames as text, the innermost first. */
  stack(): string[]
}

/** The differences between two profiles. */
export interface ProfileDifference {
  /** The total figures of both profiles. */
  readonly old: ComparedFigures
  readonly new: ComparedFigures
  /** The kind of the stacks: sizes of blocks (`24 bytes`) if no event of either trace has a site. */
  readonly by: 'stack' | 'size'
  /** Every stack of either profile, in the order of first use, the old profile's first. */
  readonly stacks: readonly ComparedStack[]
  /** The new profile's definition of temporary allocations. */
  readonly temporaryBy: TemporaryDefinition
  /** Whether both traces say which block is freed. Otherwise temporary blocks are unknown. */
  readonly identified: boolean
  /** There were too many stacks or sizes for separate rows: the latest are combined as `[others]`. */
  readonly full: boolean
}

const ROOT = 0
const UNSET = -2
const OTHERS = '[others]'

/**
 * Compares two profiles by stack, or by size if they have no sites. Stacks whose frames match count as one, also within
 * a profile.
 * @throws RangeError for unknown options
 */
export function compareProfiles(
  old: Profile,
  next: Profile,
  options: { match?: ProfileMatch } = {},
): ProfileDifference {
  for (const given of [old, next]) needResult(given, 'profile', 'samples', 'compareProfiles')
  checkOptions(options, { match: PROFILE_MATCHES }, 'compareProfiles')
  return compareParts(old, next, () => '', options.match)
}

/** A stack of a part of two traces. */
export interface PartStack extends ComparedStack {
  readonly part: string
}

/** Adds the figures of a sample to those of its stack. @param by as in `addFigures` */
export type AddFigures = (to: ComparedFigures, sample: Sample, by: TemporaryDefinition | undefined) => void

/**
 * The same, but equal stacks of different parts remain separate.
 * @param partOf the part to which the stack of a sample belongs
 * @param add adds up the figures of stacks, but not those of sizes
 */
export function compareParts(
  old: Profile,
  next: Profile,
  partOf: (sample: Sample) => string,
  match: ProfileMatch = 'names',
  add: AddFigures = addFigures,
): Omit<ProfileDifference, 'stacks'> & { readonly stacks: readonly PartStack[] } {
  const identified = old.statistics.identified && next.statistics.identified
  const { temporaryBy } = next
  const by = identified ? temporaryBy : undefined
  const whole = { old: totals(old.statistics, by), new: totals(next.statistics, by), temporaryBy, identified }
  const isFull = [old, next].some(({ statistics: { full } }) => full.includes('sites'))
  if (![old, next].some(hasSites)) {
    const { stacks, full } = compareSizes(old.statistics, next.statistics, by)
    return { ...whole, by: 'size', stacks: stacks.map((one) => ({ ...one, part: '' })), full }
  }
  const paths = new Paths(1)
  const names = new NumberedTexts()
  const parts = new Map<string, Map<number, PartStack>>()
  const stacks: PartStack[] = []
  let isRoot = false
  const nameOf = comparedNames(old, next, match)
  const take = (profile: Profile, side: 'old' | 'new') => {
    const ids = profile.frames.map((frame) => names.id(nameOf(frame)))
    const nodeOf = placed(profile.tree, ids, paths)
    for (const sample of profile.samples()) {
      const found = nodeOf(sample.node)
      const node = found === NO_NODE ? ROOT : found
      const part = partOf(sample)
      let compared = parts.get(part)
      if (compared === undefined) parts.set(part, (compared = new Map()))
      let one = compared.get(node)
      if (one === undefined) {
        isRoot ||= node === ROOT
        const stack = () => (node === ROOT ? [OTHERS] : paths.reversed(node).map((id) => names.all[id]))
        compared.set(node, (one = { part, old: nothing(), new: nothing(), stack }))
        stacks.push(one)
      }
      add(one[side], sample, by)
    }
  }
  take(old, 'old')
  take(next, 'new')
  return { ...whole, by: 'stack', stacks, full: isFull || isRoot }
}

/** Names the frames of two profiles for their comparison. */
export function comparedNames(old: Profile, next: Profile, match: ProfileMatch = 'names'): (frame: Frame) => string {
  const moved = movedModules(old.frames, next.frames)
  return (frame) => frameKey(frame, match, moved)
}

/**
 * Adds the stacks of a tree to paths.
 * @param words the words of the frames in paths
 * @returns the node of paths for a node of the tree; `NO_NODE` if there is no room for it
 */
function placed({ parents, frames }: StackTree, words: readonly number[], paths: Paths): (node: number) => number {
  const nodes = new Int32Array(parents.length).fill(UNSET)
  nodes[ROOT] = ROOT
  const walked: number[] = []
  return (node) => {
    let at = node
    for (; nodes[at] === UNSET; at = parents[at]) walked.push(at)
    let path = nodes[at]
    for (let next = walked.pop(); next !== undefined; next = walked.pop()) {
      if (path !== NO_NODE) path = paths.child(path, words[frames[next]])
      nodes[next] = path
    }
    return path
  }
}

/** Whether any allocation has a stack or another site. */
function hasSites({ frames }: Profile): boolean {
  return frames.some(({ name }) => name !== UNKNOWN.name)
}

/** Compares the figures of each size. */
function compareSizes(
  old: Statistics,
  next: Statistics,
  by: TemporaryDefinition | undefined,
): Pick<ProfileDifference, 'stacks' | 'full'> {
  const compared = new Map<string, ComparedStack>()
  const take = ({ sizes: { exact, others } }: Statistics, side: 'old' | 'new') => {
    const of = (name: string): ComparedFigures => {
      let one = compared.get(name)
      if (one === undefined) compared.set(name, (one = { old: nothing(), new: nothing(), stack: () => [name] }))
      return one[side]
    }
    for (const { size, count, atPeak, leaked, temporary } of exact) {
      const amount = (blocks: number): Amount => ({ blocks, bytes: size * BigInt(blocks) })
      Object.assign(of(plural(size, 'byte')), {
        allocated: amount(count),
        atPeak: amount(atPeak),
        leaked: amount(leaked),
        temporary: amount(by === undefined ? 0 : temporary[by]),
      })
    }
    if (others !== undefined) {
      const { allocated, atPeak, leaked, temporary } = others
      Object.assign(of(OTHERS), { allocated, atPeak, leaked, temporary: by === undefined ? NOTHING : temporary[by] })
    }
  }
  take(old, 'old')
  take(next, 'new')
  return { stacks: [...compared.values()], full: compared.has(OTHERS) }
}

/** Whether the figures of a stack, or of the whole, are equal in both profiles. */
export function isEqual({ old, new: next }: Pick<ComparedStack, 'old' | 'new'>): boolean {
  return (Object.keys(old) as (keyof ComparedFigures)[]).every(
    (figure) => old[figure].blocks === next[figure].blocks && old[figure].bytes === next[figure].bytes,
  )
}

/**
 * The bits of an address that do not depend on where its module is loaded, because modules begin at a page boundary.
 */
const PAGE_BITS = 12

/** The modules of both profiles that have no address in common, because each run loaded them elsewhere. */
function movedModules(old: readonly Frame[], next: readonly Frame[]): Set<string | undefined> {
  const before = addressesByModule(old)
  const moved = new Set<string | undefined>()
  for (const [module, addresses] of addressesByModule(next)) {
    const known = before.get(module)
    if (known !== undefined && ![...addresses].some((address) => known.has(address))) moved.add(module)
  }
  return moved
}

function addressesByModule(frames: readonly Frame[]): Map<string | undefined, Set<bigint>> {
  const modules = new Map<string | undefined, Set<bigint>>()
  for (const { module, address, isOffset } of frames) {
    if (address === undefined || isOffset) continue
    const addresses = modules.get(module)
    if (addresses === undefined) modules.set(module, new Set([address]))
    else addresses.add(address)
  }
  return modules
}

/**
 * The text that identifies a frame. @param moved the modules of which only the last bits of addresses can be compared
 */
function frameKey(frame: Frame, match: ProfileMatch, moved: ReadonlySet<string | undefined>): string {
  const { name, file, module, address, isOffset } = frame
  if (match === 'all') return frameText(frame)
  if (address !== undefined) {
    if (isOffset || !moved.has(module)) return name
    const rest = `0x...${BigInt.asUintN(PAGE_BITS, address)
      .toString(16)
      .padStart(PAGE_BITS / 4, '0')}`
    return module === undefined ? rest : `${module} [${rest}]`
  }
  // Functions may end in the address or the offset of a call.
  const plain = name.replace(/(\+0x[0-9a-f]+| ?[[(]0x[0-9a-f]+[\])])$/i, '')
  if (match === 'lines') return frameText({ ...frame, name: plain })
  // A place without a function has its file for a name.
  return file !== undefined && plain.startsWith(file) ? file : plain
}

function nothing(): ComparedFigures {
  const amount = () => ({ ...NOTHING })
  return { allocated: amount(), atPeak: amount(), leaked: amount(), temporary: amount() }
}

/** @param by the definition of temporary blocks; undefined where they are not known */
function addFigures(
  to: ComparedFigures,
  { allocated, atPeak, leaked, temporary }: Sample,
  by: TemporaryDefinition | undefined,
): void {
  const figures = { allocated, atPeak, leaked, temporary: by === undefined ? NOTHING : temporary[by] }
  for (const [figure, amount] of Object.entries(figures) as [keyof ComparedFigures, Amount][])
    addAmount(to[figure], amount)
}

function totals(
  { allocated, peakBytes, leaked, temporary }: Statistics,
  by: TemporaryDefinition | undefined,
): ComparedFigures {
  return {
    allocated,
    atPeak: { blocks: peakBytes.blocks, bytes: peakBytes.bytes },
    leaked,
    temporary: by === undefined ? NOTHING : temporary[by],
  }
}
