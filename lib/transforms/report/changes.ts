import type { ComparedFigures, ComparedStack } from '../profile/difference.js'
import { NumberedTexts } from '../../text/numbered-texts.js'
import { Paths } from '../statistics/paths.js'
import { COMPARED, type ComparedName, type ReportChanges } from './compared.js'
import type { FrameList } from './frame-list.js'
import { integer } from './plain.js'
import type { Integer } from './result.js'

/** The figures by their names in a report. */
export const VALUE_OF: Readonly<Record<ComparedName, (figures: ComparedFigures) => number | bigint>> = {
  allocatedBlocks: ({ allocated }) => allocated.blocks,
  allocatedBytes: ({ allocated }) => allocated.bytes,
  peakBlocks: ({ atPeak }) => atPeak.blocks,
  peakBytes: ({ atPeak }) => atPeak.bytes,
  endBlocks: ({ leaked }) => leaked.blocks,
  endBytes: ({ leaked }) => leaked.bytes,
  temporaryBlocks: ({ temporary }) => temporary.blocks,
  temporaryBytes: ({ temporary }) => temporary.bytes,
}

const ROOT = 0
const DROPPED = -1

/** A row of the result, and its stacks. */
interface Row {
  readonly node: number
  readonly stacks: ComparedStack[]
  readonly isFolded: boolean
}

/**
 * Makes a tree of at most `limit` nodes from the stacks that differ. If there are more, the nodes with the largest
 * shares of the growth and shrinkage of any figure remain.
 */
export function changesOf(stacks: readonly ComparedStack[], list: FrameList, limit: number): ReportChanges {
  const { paths, texts, ends } = pathsOf(stacks)
  const isKept = keptNodes(paths, ends, stacks, limit)
  const { order, numbers } = inPreorder(paths, isKept)
  const depths: number[] = []
  const nodeFrames: number[] = []
  for (const node of order) {
    depths.push(node === ROOT ? 0 : depths[numbers[paths.parent(node)]] + 1)
    nodeFrames.push(node === ROOT ? -1 : list.id({ name: texts[paths.word(node)] }))
  }
  const rows = rowsOf(stacks, ends, paths, numbers)
  const folded = rows.filter(({ isFolded }) => isFolded)
  const column = (some: readonly Row[], of: (stack: ComparedStack) => number | bigint) =>
    some.map(({ stacks: members }) => sumOf(members, of))
  const columns = (side: 'old' | 'new') => byName((name) => column(rows, (stack) => VALUE_OF[name](stack[side])))
  return {
    depths,
    nodeFrames,
    node: rows.map(({ node }) => node),
    folded: rows.map(({ stacks: members, isFolded }) => (isFolded ? members.length : 0)),
    before: columns('old'),
    after: columns('new'),
    grown: byName((name) => column(folded, (stack) => growthOf(stack, name))),
  }
}

/** A value for each figure. */
export function byName<Value>(of: (name: ComparedName) => Value): Record<ComparedName, Value> {
  return Object.fromEntries(COMPARED.map((name) => [name, of(name)])) as Record<ComparedName, Value>
}

function sumOf(stacks: readonly ComparedStack[], of: (stack: ComparedStack) => number | bigint): Integer {
  const [first, ...others] = stacks
  const value = first === undefined ? 0 : of(first)
  if (others.length === 0) return integer(BigInt(value))
  return integer(others.reduce((sum, stack) => sum + BigInt(of(stack)), BigInt(value)))
}

function growthOf({ old, new: next }: ComparedStack, name: ComparedName): bigint {
  const growth = BigInt(VALUE_OF[name](next)) - BigInt(VALUE_OF[name](old))
  return growth > 0n ? growth : 0n
}

/** All stacks as paths in one tree, from their outermost frames on, and the node where each of them ends. */
function pathsOf(stacks: readonly ComparedStack[]): { paths: Paths; texts: string[]; ends: Int32Array } {
  const paths = new Paths(1)
  const texts = new NumberedTexts()
  const ends = Int32Array.from(stacks, (one) => {
    const words = Uint32Array.from(one.stack().toReversed(), (text) => texts.id(text))
    return Math.max(ROOT, paths.find(ROOT, words, words.length))
  })
  return { paths, texts: texts.all, ends }
}

/** The nodes with the largest shares of the change of any figure, with all of their callers: at most `limit`. */
function keptNodes(paths: Paths, ends: Int32Array, stacks: readonly ComparedStack[], limit: number): Uint8Array {
  const { size } = paths
  const kept = new Uint8Array(size)
  if (size <= limit) return kept.fill(1)
  // A caller has at least the share of each function that it calls, and a lower number.
  const shares = new Float64Array(size)
  for (const name of COMPARED) {
    const whole = new Float64Array(size)
    const of = VALUE_OF[name]
    ends.forEach((end, n) => {
      whole[end] = whole[end] + Math.abs(Number(of(stacks[n].new)) - Number(of(stacks[n].old)))
    })
    for (let node = size - 1; node > ROOT; node--) {
      const parent = paths.parent(node)
      whole[parent] = whole[parent] + whole[node]
    }
    const total = Math.max(whole[ROOT], Number.MIN_VALUE)
    for (let node = 0; node < size; node++) shares[node] = Math.max(shares[node], whole[node] / total)
  }
  shares[ROOT] = Infinity
  const least = shares.toSorted()[Math.max(0, size - limit)]
  let left = limit - shares.reduce((sum, share) => sum + (share > least ? 1 : 0), 0)
  for (let node = 0; node < size; node++) {
    if (shares[node] > least || (shares[node] === least && left-- > 0)) kept[node] = 1
  }
  return kept
}

/** The kept nodes, ordered so that every caller is right before what it calls, and their numbers in that order. */
function inPreorder(paths: Paths, isKept: Uint8Array): { order: number[]; numbers: Int32Array } {
  const first = new Int32Array(paths.size).fill(DROPPED)
  const next = new Int32Array(paths.size).fill(DROPPED)
  for (let node = paths.size - 1; node > ROOT; node--) {
    if (isKept[node] === 0) continue
    const parent = paths.parent(node)
    next[node] = first[parent]
    first[parent] = node
  }
  const numbers = new Int32Array(paths.size).fill(DROPPED)
  const order: number[] = []
  const open = [ROOT]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    numbers[node] = order.push(node) - 1
    if (next[node] !== DROPPED) open.push(next[node])
    if (first[node] !== DROPPED) open.push(first[node])
  }
  return { order, numbers }
}

/** The rows by node: one for each stack whose end was kept, and one for all other stacks below the same node. */
function rowsOf(stacks: readonly ComparedStack[], ends: Int32Array, paths: Paths, numbers: Int32Array): Row[] {
  const rows: Row[] = []
  const groups = new Map<number, Row>()
  stacks.forEach((stack, n) => {
    let end = ends[n]
    if (numbers[end] !== DROPPED) {
      rows.push({ node: numbers[end], stacks: [stack], isFolded: false })
      return
    }
    while (numbers[end] === DROPPED) end = paths.parent(end)
    const node = numbers[end]
    let group = groups.get(node)
    if (group === undefined) {
      groups.set(node, (group = { node, stacks: [], isFolded: true }))
      rows.push(group)
    }
    group.stacks.push(stack)
  })
  return rows.toSorted((a, b) => a.node - b.node || Number(a.isFolded) - Number(b.isFolded))
}
