import { SPACE } from '../../text/ascii.js'
import { reviseBatch, type EventBatch } from '../../event/batch.js'
import { FieldBit } from '../../event/fields.js'
import { formatFrame, parseFrame, type Frame } from '../../event/frame.js'
import type { StackTree } from '../../event/stack-tree.js'
import type { StringTable } from '../../event/strings.js'
import type { Warn } from '../../reading/run-stage.js'
import type { Names } from './namer.js'
import { namedSites, rawCallSites } from './name-call-sites.js'
import { LoadedModules } from './loaded-modules.js'
import type { Symbolizer } from './symbolizer.js'

/** Frames of a stack beyond this number are left as they are, so that inlined frames cannot fill the memory. */
const MAX_FRAMES = 65_536

/**
 * Names the frames of batches, and their call sites, too. Those without one that lacks a name are passed on as they
 * are.
 * @param open called at the first one that lacks a name, with what the trace says of its modules
 * @param hasCallSites whether call sites get names: nothing in a trace tells their modules from other builds of them
 */
export async function* nameFrames(
  source: AsyncIterable<EventBatch>,
  open: (loaded: LoadedModules) => Symbolizer | Promise<Symbolizer>,
  warn: Warn,
  hasCallSites = false,
): AsyncGenerator<EventBatch> {
  const loaded = new LoadedModules()
  const depths: Depths = { of: new Uint32Array(0) }
  let symbolizer: Symbolizer | undefined
  let warned = 0
  try {
    for await (const batch of source) {
      loaded.note(batch)
      const raw = (batch.columns & FieldBit.stack) === 0 ? undefined : rawFrames(batch.strings)
      const sites = hasCallSites ? rawCallSites(batch) : undefined
      const hasRaw = raw !== undefined && raw.size > 0
      if (!hasRaw && sites === undefined) {
        yield batch
        continue
      }
      symbolizer ??= await open(loaded)
      const framed = hasRaw ? await named(batch, raw, symbolizer, depths) : batch
      yield sites === undefined ? framed : await namedSites(framed, sites, symbolizer)
      while (warned < symbolizer.warnings.length) warn(symbolizer.warnings[warned++])
    }
  } finally {
    symbolizer?.close()
  }
}

/** A batch with names: the same one if there are none. */
async function named(
  batch: EventBatch,
  raw: ReadonlyMap<number, RawFrame>,
  symbolizer: Symbolizer,
  depths: Depths,
): Promise<EventBatch> {
  const byModule = new Map<string, bigint[]>()
  for (const { module, offset } of raw.values()) {
    const offsets = byModule.get(module)
    if (offsets === undefined) byModule.set(module, [offset])
    else offsets.push(offset)
  }
  const { tree } = batch.strings
  const strings = tree === undefined ? batch.strings.copy() : batch.strings.copyStrings()
  const replaced = new Map<number, number[]>()
  const found = new Map<string, ReadonlyMap<bigint, Names>>()
  for (const [module, offsets] of byModule) found.set(module, await symbolizer.names(module, offsets))
  for (const [id, frame] of raw) {
    const names = found.get(frame.module)?.get(frame.offset) ?? []
    if (names.length > 0)
      replaced.set(
        id,
        framesOf(frame, names).map((text) => strings.internText(text)),
      )
  }
  if (tree !== undefined) return renamedTree(batch, strings, replaced, depths)
  return replaced.size === 0 ? batch : renamed(batch, strings, replaced)
}

type RawFrame = Frame & { module: string; offset: bigint }

/** The frames of a table that have a module and an offset, and no function, by their string ids. */
function rawFrames(strings: StringTable): Map<number, RawFrame> {
  const raw = new Map<number, RawFrame>()
  const { bytes, starts } = strings.flat()
  for (let id = 0; id < strings.size; id++) {
    const start = starts[id]
    // Other texts have a function, or no module.
    if (bytes[start + 2] !== SPACE || starts[id + 1] < start + 3) continue
    const isPlace =
      (bytes[start] === 0x69 && bytes[start + 1] === 0x6e) || (bytes[start] === 0x61 && bytes[start + 1] === 0x74)
    if (!isPlace) continue
    const frame = parseFrame(strings.text(id))
    if (frame.function === undefined && frame.module !== undefined && frame.offset !== undefined)
      raw.set(id, frame as RawFrame)
  }
  return raw
}

/** The texts of a frame and of what was inlined there, the innermost first. The last one has the module and address. */
function framesOf(raw: Frame, names: Names): string[] {
  return names.map((name, i) => formatFrame(i < names.length - 1 ? { ...name, inlined: true } : { ...raw, ...name }))
}

/** The numbers of frames of stacks, with those that were added, by node of the tree of the current trace. */
interface Depths {
  of: Uint32Array
  tree?: StackTree
}

/**
 * A batch whose stacks of a tree have other frames, and the same nodes. Lists leave out the same outermost frames as
 * before, which earlier ones had.
 * @param strings those of the batch, without lists, with the names
 */
function renamedTree(
  batch: EventBatch,
  strings: StringTable,
  replaced: ReadonlyMap<number, number[]>,
  depths: Depths,
): EventBatch {
  const { strings: source } = batch
  const tree = source.tree as StackTree
  if (depths.tree !== tree) Object.assign(depths, { tree, of: new Uint32Array(0) })
  if (depths.of.length < tree.parents.length) {
    const longer = new Uint32Array(tree.parents.length)
    longer.set(depths.of)
    depths.of = longer
  }
  for (let list = 0; list < source.listCount; list++) {
    const ids = source.listView(list)
    const node = source.nodeOf(list)
    const depth = tree.depths[node]
    const kept = depth > MAX_FRAMES
    const frames: number[] = []
    // From the outermost frame of the list on, each node adds its own.
    const ends = new Map<number, number>()
    let outer = node
    for (; outer !== 0 && tree.depths[outer] > depth - ids.length; outer = tree.parents[outer])
      ends.set(depth - tree.depths[outer], outer)
    const known = outer === 0 ? 0 : depths.of[outer]
    for (let i = ids.length - 1; i >= 0; i--) {
      const id = ids[i]
      const names = kept ? undefined : replaced.get(id)
      if (names === undefined) frames.push(id)
      else for (let n = names.length - 1; n >= 0; n--) frames.push(names[n])
      const at = ends.get(i)
      if (at !== undefined) depths.of[at] = known + frames.length
    }
    strings.addStack(node, Uint32Array.from(frames.toReversed()), 0, 0)
  }
  strings.depths = depths.of
  // Its lists have the numbers of the others, so it shares their column.
  return reviseBatch(batch, 0, strings)
}

/** A batch whose stacks have other frames. */
function renamed(batch: EventBatch, strings: StringTable, replaced: ReadonlyMap<number, number[]>): EventBatch {
  const target = reviseBatch(batch, FieldBit.stack, strings)
  const lists = new Map<number, number>()
  for (let i = 0; i < batch.count; i++) {
    if ((batch.mask[i] & FieldBit.stack) === 0) continue
    const list = batch.stack[i]
    let now = lists.get(list)
    if (now === undefined) {
      const ids = strings.list(list)
      const frames = ids.length > MAX_FRAMES ? ids : ids.flatMap((id) => replaced.get(id) ?? id)
      now = strings.addList(frames)
      lists.set(list, now)
    }
    target.stack[i] = now
  }
  return target
}
