import * as Code from '../../../kernel/layouts/hatf.js'
import type { Input } from '../../../bytes/input.js'
import { checkOptions, type OptionNames } from '../../../event/options.js'
import { FieldStates } from '../fields.js'
import { FIELD_COUNT, FIELD_NAMES, HEAD, LAID_OUT_TAGS, metadataLength } from '../layout.js'

export type HatfField = (typeof FIELD_NAMES)[number]

/** What to separate from the records. */
export interface SplitOptions {
  /** The fields whose bytes go into separate streams. Default: address. */
  fields?: readonly HatfField[]
  /** Separate bytes under any interpretation, not only plain values (interpretation none). Default false. */
  encoded?: boolean
}

const OPTIONS: OptionNames<SplitOptions> = { fields: true, encoded: 'boolean' }

/** The main track: tags, fields that are not separated, metadata and comments. The tracks of the fields follow. */
export const MAIN = 0

/** The maximum number of tracks. */
export const MAX_TRACKS = 1 + FIELD_COUNT

/** A piece ends at the first record that ends beyond this size. */
export const PIECE_BYTES = 65_536

/** Below this size, a loop is faster than `set` and `subarray`. */
const SHORT_BYTES = 32

/** Room for the runs of one tag: the tag itself, two addresses, and five other fields. */
export const MAX_RUNS = 8

const {
  F_SIZE: SIZE,
  F_ADDRESS: ADDRESS,
  F_TIME: TIME,
  F_THREAD: THREAD,
  F_HEAP: HEAP,
  F_ATTRIBUTES: ATTRIBUTES,
} = Code

const WITH_HEAP = [THREAD, HEAP, TIME, ATTRIBUTES]
/** The fields of a record, by tag. */
const FIELDS_OF_TAG: readonly (readonly number[])[] = Array.from({ length: LAID_OUT_TAGS }, (_, tag) => {
  if (tag === Code.TAG_ALLOC) return [SIZE, ADDRESS, ...WITH_HEAP]
  if (tag === Code.TAG_FREE) return [ADDRESS, ...WITH_HEAP]
  if (tag <= Code.TAG_REALLOC_FREED) return [SIZE, ADDRESS, ADDRESS, ...WITH_HEAP]
  return tag < Code.TAG_CREATE_THREAD ? WITH_HEAP : [THREAD, TIME, ATTRIBUTES]
})

/**
 * The tracks of the bytes of records at one place of a stream: for each tag, runs of bytes that each go to one track.
 * Both directions keep one of these and pass the main track's metadata and comments to `other`.
 */
export class Tracks {
  /** The separated fields, in the order of their codes: track t holds the bytes of `names[t - 1]`. */
  readonly names: readonly HatfField[]
  readonly count: number
  /** The separated fields, as bits by field code. */
  readonly set: number
  readonly encoded: boolean
  /** The track of each field, by code, when it is separated; the main track for fields that never are. */
  private readonly own: Uint8Array
  /** The current track of each field, by code. */
  private readonly trackOf = new Uint8Array(FIELD_COUNT)
  /** The state set by the metadata so far. */
  readonly states = new FieldStates()
  /** The number of runs in a record, by tag. */
  readonly runs = new Uint8Array(LAID_OUT_TAGS)
  /** Run r of a tag goes to the track at `[MAX_RUNS * tag + r]` ... */
  readonly runTrack = new Uint8Array(LAID_OUT_TAGS * MAX_RUNS)
  /** ... and has this many bytes. Attributes that start with their length count that length only. */
  readonly runBytes = new Uint8Array(LAID_OUT_TAGS * MAX_RUNS)
  /** The bytes of a record in each track, at `[MAX_TRACKS * tag + track]`; without attributes of variable length. */
  readonly share = new Uint8Array(LAID_OUT_TAGS * MAX_TRACKS)
  /** The track of attributes of variable length. Their length stays in the main track. */
  attributes = MAIN

  constructor(options: SplitOptions = {}) {
    checkOptions(options, OPTIONS, 'options of split fields')
    const { fields = ['address'], encoded = false } = options
    this.names = FIELD_NAMES.filter((name) => fields.includes(name))
    this.count = 1 + this.names.length
    this.set = this.names.reduce((set, name) => set | (1 << FIELD_NAMES.indexOf(name)), 0)
    this.encoded = encoded
    this.own = Uint8Array.from(FIELD_NAMES, (name) => 1 + this.names.indexOf(name))
    this.update()
  }

  /**
   * Applies the metadata record or comment at `input.pos`.
   * @returns its length, 0 if it is incomplete, or a description of its fault
   */
  other(input: Input): number | string {
    const { bytes, pos, left } = input
    const tag = bytes[pos]
    if (tag > Code.TAG_METADATA) return `unknown tag ${tag}`
    if (left < HEAD) return 0
    if (tag === Code.TAG_COMMENT) {
      const length = HEAD + ((bytes[pos + 2] << 8) | bytes[pos + 3])
      return length > left ? 0 : length
    }
    const length = metadataLength(bytes, pos)
    if (length > left) return 0
    const field = bytes[pos + 2]
    const { width, interpretation } = this.states
    const [widthBefore, before] = [width[field], interpretation[field]]
    const reason = this.states.apply(bytes, pos)
    if (reason !== '') return reason
    // Another base, default or stride does not change where bytes belong.
    if (width[field] !== widthBefore || interpretation[field] !== before) this.update()
    return length
  }

  private update(): void {
    const { states, runs, runTrack, runBytes, share, trackOf, own, encoded } = this
    const { width, interpretation, lengthBytes } = states
    for (let field = 0; field < FIELD_COUNT; field++) {
      trackOf[field] = encoded || interpretation[field] === Code.NONE ? own[field] : MAIN
    }
    this.attributes = trackOf[ATTRIBUTES]
    share.fill(0)
    for (let tag = 0; tag < LAID_OUT_TAGS; tag++) {
      let last = MAX_RUNS * tag
      runTrack[last] = MAIN
      runBytes[last] = 1
      share[MAX_TRACKS * tag + MAIN] = 1
      for (const field of FIELDS_OF_TAG[tag]) {
        const isCounted = field === ATTRIBUTES && lengthBytes !== 0
        const track = isCounted ? MAIN : trackOf[field]
        const bytes = isCounted ? lengthBytes : width[field]
        if (bytes === 0) continue
        if (runTrack[last] !== track) {
          last++
          runTrack[last] = track
          runBytes[last] = 0
        }
        runBytes[last] = runBytes[last] + bytes
        share[MAX_TRACKS * tag + track] = share[MAX_TRACKS * tag + track] + bytes
      }
      runs[tag] = last - MAX_RUNS * tag + 1
    }
  }
}

export function copy(from: Uint8Array, at: number, out: Uint8Array, to: number, n: number): void {
  if (n < SHORT_BYTES) for (let i = 0; i < n; i++) out[to + i] = from[at + i]
  else out.set(from.subarray(at, at + n), to)
}
