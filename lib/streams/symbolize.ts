import { FieldBit } from '../event/fields.js'
import { reviseBatch, type EventBatch } from '../event/batch.js'
import { formatFrame, parseFrame, type Frame } from '../event/frame.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import type { StringTable } from '../event/strings.js'
import { eventStream } from './generator.js'
import { ADDRESS_TOOLS, type Names } from './symbols/address-tool.js'
import { Symbolizer, type SymbolizeOptions } from './symbols/symbolizer.js'
import type { EventStream } from './types.js'

export type { SymbolizeOptions } from './symbols/symbolizer.js'

const OPTIONS: OptionNames<SymbolizeOptions> = {
  debugDirs: true,
  buildIds: true,
  tool: [...ADDRESS_TOOLS, 'none'],
}

/** Frames of a stack beyond this number are left as they are, so that inlined frames cannot fill the memory. */
const MAX_FRAMES = 65_536

/**
 * A Transform of `EventBatch` objects that names frames: those of stacks that have a module and an offset, and no
 * function, get their function, file, line and inlined callers, from the modules on this machine. Everything else is
 * passed on as it is, and so is the order of events. The names come from `llvm-symbolizer`, otherwise from `addr2line`,
 * otherwise, and where there are no line tables, from the module's own symbols, without files and lines. Emits
 * `warning` for each module without names.
 *
 * @example
 * await pipeline(createReadStream('app.raw.zst'), decodeAny(), symbolize(), ndjson.encode(), process.stdout)
 *
 * @throws RangeError for unknown options
 */
export function symbolize(options: SymbolizeOptions = {}): EventStream<'events'> {
  checkOptions(options, OPTIONS, 'symbolize()')
  return eventStream('symbolize()', async function* (source, stream) {
    const symbolizer = new Symbolizer(options)
    stream.once('close', () => symbolizer.close())
    let warned = 0
    try {
      for await (const batch of source) {
        yield await named(batch, symbolizer)
        while (warned < symbolizer.warnings.length) stream.emit('warning', symbolizer.warnings[warned++])
      }
    } finally {
      symbolizer.close()
    }
  })
}

/** A batch with names: the same one if it has no frame that can be named. */
async function named(batch: EventBatch, symbolizer: Symbolizer): Promise<EventBatch> {
  if ((batch.columns & FieldBit.stack) === 0) return batch
  const raw = rawFrames(batch.strings)
  if (raw.size === 0) return batch
  const byModule = new Map<string, bigint[]>()
  for (const { module, offset } of raw.values()) {
    const offsets = byModule.get(module)
    if (offsets === undefined) byModule.set(module, [offset])
    else offsets.push(offset)
  }
  const strings = batch.strings.copy()
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
  return replaced.size === 0 ? batch : renamed(batch, strings, replaced)
}

type RawFrame = Frame & { module: string; offset: bigint }

/** The frames of the lists of a table that have a module and an offset, and no function, by their string ids. */
function rawFrames(strings: StringTable): Map<number, RawFrame> {
  const raw = new Map<number, RawFrame>()
  const seen = new Set<number>()
  for (let list = 0; list < strings.listCount; list++) {
    for (const id of strings.listView(list)) {
      if (seen.has(id)) continue
      seen.add(id)
      const frame = parseFrame(strings.text(id))
      if (frame.function === undefined && frame.module !== undefined && frame.offset !== undefined)
        raw.set(id, frame as RawFrame)
    }
  }
  return raw
}

/** The texts of a frame and of what was inlined there, the innermost first. The last one has the module and address. */
function framesOf(raw: Frame, names: Names): string[] {
  return names.map((name, i) => formatFrame(i < names.length - 1 ? { ...name, inlined: true } : { ...raw, ...name }))
}

/** A batch whose stacks have other frames. */
function renamed(batch: EventBatch, strings: StringTable, replaced: ReadonlyMap<number, number[]>): EventBatch {
  const target = reviseBatch(batch, FieldBit.stack, strings)
  const lists = new Map<number, number>()
  for (let i = 0; i < batch.count; i++) {
    if (((batch.mask[i] as number) & FieldBit.stack) === 0) continue
    const list = batch.stack[i] as number
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
