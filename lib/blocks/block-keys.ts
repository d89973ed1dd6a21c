import { HI, LO } from '../bytes/u64.js'
import type { EventBatch } from '../event/batch.js'
import { Api, FieldBit, fieldSet, Kind } from '../event/fields.js'
import { INDEXED } from '../kernel/layouts/live.js'
import { AddressSpaces, PAGE_BIT, SpacesError } from './address-spaces.js'
import { BlockEffect } from './block-effect.js'

const { api: HAS_API, process: HAS_PROCESS } = FieldBit
const { existing: EXISTING, 'process-end': PROCESS_END, 'thread-destroy': THREAD_END } = Kind
const { pages: PAGES } = Api

export { INDEXED }

/** The fields by which the kernel identifies the blocks of an event. */
export const KEY_FIELDS = fieldSet('api', 'index', 'address', 'oldAddress', 'size', 'outcome')
/** The fields that separate address spaces. */
const HAS_SPACE = HAS_PROCESS | HAS_API

/**
 * The blocks that the events of a batch concern, row by row, in the memory of a live set. A block's key is its
 * allocation index if the event has one (mpatrol never reuses them), otherwise its address in its address space (see
 * `AddressSpaces`).
 */
export class BlockKeys {
  /**
   * Per row, the intended effect as `BlockEffect` bits (`ended`, `began`, `nothing`, `failed`); 0 for events that do
   * not concern a block. There are further bits for kernel/live.ts.
   */
  intents = new Uint8Array(0)
  /** The keys of the block that ends and of the block that begins, as pairs of words (see `LO` and `HI`). */
  ends = new Int32Array(0)
  begins = this.ends
  /** The bits of the event's address space. Keys contain them, unless they are indices. */
  spaces = this.ends
  /** Whether some of them are not 0. */
  private hasSpaces = false
  /** Whether some event of this trace has a process. */
  hasProcesses = false

  /** @param addressSpaces distinguish equal addresses */
  constructor(private readonly addressSpaces = new AddressSpaces()) {}

  /** Begins another trace. */
  clear(): void {
    this.addressSpaces.clear()
    this.hasProcesses = false
  }

  /**
   * Finds the address spaces of events `from` to `to` of a batch; kernel/live/keys.ts does the rest.
   * @returns the error for the first event whose blocks cannot be distinguished
   */
  readSpaces(batch: EventBatch, from: number, to: number): SpacesError | undefined {
    const { spaces, addressSpaces } = this
    // Where processes are not distinguished, none ends, not even one without a number.
    if ((batch.columns & HAS_SPACE) === 0 && addressSpaces.tellsProcesses) {
      if (this.hasSpaces) spaces.fill(0)
      this.hasSpaces = false
      return undefined
    }
    const { kind, mask, api } = batch
    let unclear: SpacesError | undefined
    let all = 0
    let ofThreads = 0
    try {
      for (let i = from, row = 0; i < to; i++, row++) {
        const fields = mask[i]
        const isSet =
          ((fields & HAS_PROCESS) !== 0 || ((fields & HAS_API) !== 0 && api[i] === PAGES)) &&
          // Events that are about no block must not number a process.
          kind[i] <= EXISTING
        if (isSet) all |= spaces[row] = addressSpaces.of(batch, i)
        else if (kind[i] === THREAD_END) ofThreads |= spaces[row] = addressSpaces.known(batch, i)
        else if (kind[i] === PROCESS_END) all |= spaces[row] = addressSpaces.end(batch, i)
        else spaces[row] = 0
      }
    } catch (error) {
      if (!(error instanceof SpacesError)) throw error
      unclear = error
    }
    this.hasSpaces ||= (all | ofThreads) !== 0
    this.hasProcesses ||= (all & ~PAGE_BIT) !== 0
    return unclear
  }

  /** Sets row 0, as the rows of `read` were before. */
  set(intent: number, endsLo: number, endsHi: number, beginsLo: number, beginsHi: number, space: number): void {
    const { intents, ends, begins, spaces } = this
    intents[0] = intent
    ends[LO] = endsLo
    ends[HI] = endsHi
    begins[LO] = beginsLo
    begins[HI] = beginsHi
    spaces[0] = space
    this.hasSpaces ||= space !== 0
  }

  /** Sets row 0 to a free in its address space. */
  setFree(isIndexed: boolean, lo: number, hi: number): void {
    const intent = (lo | hi) === 0 ? BlockEffect.nothing : BlockEffect.ended
    this.set(isIndexed ? intent | INDEXED : intent, lo, hi, lo, hi, this.spaces[0])
  }

  /** Whether the keys of row 0 are indices. */
  get isIndexed(): boolean {
    return this.intents[0] >= INDEXED
  }
}
