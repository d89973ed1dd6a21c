import { formatFrame, parseFrame, type Frame } from '../../event/frame.js'
import { decodeText, encodeText, StringTable } from '../../event/strings.js'
import { SPACE } from '../../text/ascii.js'
import type { Names } from './namer.js'
import type { Symbolizer } from './symbolizer.js'

/** Names are kept for later batches until they take this much memory. */
const MAX_KEPT = 16 << 20
const [LETTER_A, LETTER_I, LETTER_N, LETTER_T] = [0x61, 0x69, 0x6e, 0x74]

/**
 * Names of the strings of a table. `at[id]` is 0 if string `id` has none; otherwise `list[at[id]]` is the number of
 * frames in its place, and their ids follow, the innermost first.
 */
export interface FrameNames {
  readonly at: Uint32Array
  readonly list: readonly number[]
}

/** The frames of batches, and their names. The name of a frame is requested once, unless there are very many frames. */
export class KnownFrames {
  /** Texts that may be frames without names. */
  private frames = new StringTable()
  /**
   * The texts in place of them, the innermost first; frame k has the texts from `first[k]` to before `first[k + 1]`.
   */
  private names = new StringTable()
  private first = [0]
  /** Of the current table: the strings that may be frames without names, and their numbers in `frames`. */
  private readonly ids: number[] = []
  private readonly numbers: number[] = []

  /**
   * Looks for the frames of a table that have a module and an offset, and no function.
   * @param open gives the symbolizer; called only if a frame needs a name
   * @returns whether any of them has a name
   */
  async find(strings: StringTable, open: () => Promise<Symbolizer>): Promise<boolean> {
    if (this.frames.memory + this.names.memory > MAX_KEPT) this.forget()
    this.look(strings)
    if (this.first.length <= this.frames.size) await this.ask(open)
    return this.numbers.some((k) => this.first[k] < this.first[k + 1])
  }

  /** Adds the names to `strings`, the table in which they were found, or a copy of it. */
  addTo(strings: StringTable): FrameNames {
    const { ids, numbers, first, names } = this
    const at = new Uint32Array(strings.size)
    const list = [0]
    for (let i = 0; i < ids.length; i++) {
      const from = first[numbers[i]]
      const to = first[numbers[i] + 1]
      if (from === to) continue
      at[ids[i]] = list.length
      list.push(to - from)
      for (let name = from; name < to; name++) list.push(strings.intern(names.view(name)))
    }
    return { at, list }
  }

  /** Looks all of them up again, because another file may now have the same path. */
  forget(): void {
    this.frames = new StringTable()
    this.names = new StringTable()
    this.first = [0]
  }

  private look(strings: StringTable): void {
    const { ids, numbers, frames } = this
    ids.length = numbers.length = 0
    const { bytes, starts } = strings.flat()
    for (let id = 0; id < strings.size; id++) {
      const start = starts[id]
      // Other texts have a function, or no module.
      if (bytes[start + 2] !== SPACE || starts[id + 1] < start + 3) continue
      const isPlace =
        (bytes[start] === LETTER_I && bytes[start + 1] === LETTER_N) ||
        (bytes[start] === LETTER_A && bytes[start + 1] === LETTER_T)
      if (!isPlace) continue
      ids.push(id)
      numbers.push(frames.intern(bytes, start, starts[id + 1]))
    }
  }

  /** Asks for the names of the frames that are new. */
  private async ask(open: () => Promise<Symbolizer>): Promise<void> {
    const { frames, names, first } = this
    const asked: Frame[] = []
    const byModule = new Map<string, bigint[]>()
    for (let k = first.length - 1; k < frames.size; k++) {
      const frame = parseFrame(decodeText(frames.view(k)))
      asked.push(frame)
      if (!lacksName(frame)) continue
      const offsets = byModule.get(frame.module)
      if (offsets === undefined) byModule.set(frame.module, [frame.offset])
      else offsets.push(frame.offset)
    }
    const found = new Map<string, ReadonlyMap<bigint, Names>>()
    if (byModule.size > 0) {
      const symbolizer = await open()
      for (const [module, offsets] of byModule) found.set(module, await symbolizer.names(module, offsets))
    }
    for (const frame of asked) {
      if (lacksName(frame))
        for (const text of framesOf(frame, found.get(frame.module)?.get(frame.offset) ?? []))
          names.add(encodeText(text))
      first.push(names.size)
    }
  }
}

function lacksName(frame: Frame): frame is Frame & { module: string; offset: bigint } {
  return frame.function === undefined && frame.module !== undefined && frame.offset !== undefined
}

/** The texts of a frame and of what was inlined there, the innermost first. The last one has the module and address. */
function framesOf(raw: Frame, names: Names): string[] {
  return names.map((name, i) => formatFrame(i < names.length - 1 ? { ...name, inlined: true } : { ...raw, ...name }))
}
