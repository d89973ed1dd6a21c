import type { EventBatch } from '../event/batch.js'
import { APIS, fieldNames, FieldBit, Kind, KINDS, OUTCOMES } from '../event/fields.js'
import { parseJson } from '../event/json.js'
import type { Losses } from '../kernel/losses.js'
import { outcomeOf } from '../blocks/realloc.js'
import { SECTION_KEY, type Mapping, type RecordMapping } from './mapping.js'

const { api: HAS_API, code: HAS_CODE, type: HAS_TYPE, fields: HAS_FIELDS, outcome: HAS_OUTCOME } = FieldBit

/** There is no record, or there are records only for known outcomes. */
const NONE = -1
const BY_ADDRESSES = -2

/** Chooses the records for events, and counts losses. */
export class Chooser {
  private readonly records: readonly RecordMapping[]
  /** By kind, outcome and api in one number, the position of a record, `NONE` or `BY_ADDRESSES`. */
  private readonly found = new Map<number, number>()
  private readonly others: readonly RecordMapping[]
  private readonly byTag = new Map<number | null, readonly RecordMapping[]>()
  /** The fields that records of a kind can carry, by its code. */
  readonly carried: Int32Array

  constructor(
    mapping: Mapping,
    private readonly losses: Losses,
  ) {
    this.records = mapping.records
    this.others = mapping.records.filter(({ kind }) => kind === Kind.other)
    for (const other of this.others) {
      const { tag } = other.record
      this.byTag.set(tag, [...(this.byTag.get(tag) ?? []), other])
    }
    this.carried = Int32Array.from(KINDS, (kind) => mapping.carried[kind] ?? 0)
  }

  /** By kind, the record for all of its events, without loss of kind, outcome or api; -1 if there is none. */
  get byKind(): Int16Array {
    return Int16Array.from(KINDS, (_, kind) => {
      const [first, ...others] = this.records.filter((record) => record.kind === kind)
      if (first === undefined || kind === Kind.other) return NONE
      return [first, ...others].every(({ outcome, api }) => outcome < 0 && api < 0) ? first.position : NONE
    })
  }

  /**
   * The position in the mapping of the record for event i of a batch, or -1 if there is none, which is then counted.
   * @throws TraceError where losses are errors
   */
  choose(batch: EventBatch, i: number): number {
    const mask = batch.mask[i]
    const kind = batch.kind[i]
    if (kind === Kind.other) return this.other(batch, i)
    const outcome = (mask & HAS_OUTCOME) === 0 ? -1 : batch.outcome[i]
    const api = (mask & HAS_API) === 0 ? -1 : batch.api[i]
    let chosen = this.recordFor(kind, outcome, api)
    if (chosen === BY_ADDRESSES) chosen = this.recordFor(kind, outcomeOf(batch, i), api)
    if (chosen < 0) {
      // `Losses.countBatch` has counted events of kinds that no record is of.
      if (this.carried[kind] !== 0) this.losses.countEvent(`${KINDS[kind]} events that no record is for`, batch, i)
      return NONE
    }
    return (mask & HAS_CODE) === 0 ? chosen : this.sibling(batch, i, chosen)
  }

  /**
   * Counts fields that only event i or only its record has, or that differ. To be called before it is written.
   * @throws TraceError where losses are errors
   */
  compare(batch: EventBatch, i: number, chosen: RecordMapping): void {
    const mask = batch.mask[i]
    const kind = batch.kind[i]
    // `Losses.countBatch` counted fields that no record of the kind carries; the rest belong to another record of the
    // kind.
    const lost = mask & ~chosen.carries & this.carried[kind]
    const missing = chosen.needs & ~mask
    if ((lost | missing) !== 0) this.noteFields(batch, i, chosen, lost, missing)
    if (chosen.kind !== kind) this.losses.countEvent('existing blocks, written as allocations', batch, i)
    const given = mask & chosen.given
    if ((given & HAS_OUTCOME) !== 0 && batch.outcome[i] !== chosen.outcome) {
      this.losses.countEvent(
        `outcome ${OUTCOMES[batch.outcome[i]] as string}, written as ${chosen.record.name}`,
        batch,
        i,
      )
    }
    const api = (mask & HAS_API) === 0 ? NONE : batch.api[i]
    if (chosen.api >= 0 && api !== chosen.api) {
      const what = api < 0 ? 'no api' : `api ${APIS[api] as string}`
      this.losses.countEvent(`${what}, written as ${chosen.record.name}`, batch, i)
    }
    if ((given & HAS_CODE) !== 0 && batch.code[i] !== chosen.record.tag) {
      this.losses.countEvent('code that no record of the kind has', batch, i)
    }
  }

  private noteFields(batch: EventBatch, i: number, { record }: RecordMapping, lost: number, missing: number): void {
    for (const name of fieldNames(lost)) this.losses.countEvent(`${name} of ${record.name}`, batch, i)
    for (const name of fieldNames(missing)) this.losses.countEvent(`no ${name}, written as 0 or empty`, batch, i)
  }

  /** The position of the record for events with this outcome and api, each the code or -1 for none. */
  private recordFor(kind: number, outcome: number, api: number): number {
    const slot = (kind * (OUTCOMES.length + 1) + outcome + 1) * (APIS.length + 1) + api + 1
    let position = this.found.get(slot)
    if (position === undefined) this.found.set(slot, (position = this.find(kind, outcome, api)))
    return position
  }

  private find(kind: number, outcome: number, api: number): number {
    let same = this.records.filter((record) => record.kind === kind)
    if (kind === Kind.existing && same.length === 0) same = this.records.filter((record) => record.kind === Kind.alloc)
    const plain = same.filter((record) => record.outcome < 0)
    const fitting = same.filter((record) => record.outcome === outcome)
    // A realloc without an outcome is written as a record with one, if there is no other.
    if (kind === Kind.realloc && outcome < 0 && plain.length === 0 && same.length > 0) return BY_ADDRESSES
    const candidates = fitting.length > 0 ? fitting : plain
    const chosen =
      candidates.find((record) => record.api === api) ?? candidates.find((record) => record.api < 0) ?? candidates[0]
    return chosen?.position ?? NONE
  }

  /** The record for event i of kind `other`: its type is the record's name, and its code the tag. */
  private other(batch: EventBatch, i: number): number {
    const mask = batch.mask[i]
    const type = (mask & HAS_TYPE) === 0 ? null : batch.strings.text(batch.type[i])
    const code = (mask & HAS_CODE) === 0 ? null : batch.code[i]
    const candidates = code === null ? this.others : (this.byTag.get(code) ?? [])
    const found = candidates.filter(({ record }) => type === record.name || (type === null && code !== null))
    const chosen = inSection(found, batch, i)
    if (chosen === undefined && this.carried[Kind.other] !== 0)
      this.losses.countEvent('other events that no record is for', batch, i)
    return chosen?.position ?? NONE
  }

  /**
   * Of the records with the same meaning as `chosen`, the one with the event's code as its tag; otherwise `chosen`
   * itself.
   */
  private sibling(batch: EventBatch, i: number, chosen: number): number {
    const { kind, outcome, api } = this.records[chosen]
    const found = this.records.filter(
      (other) =>
        other.kind === kind && other.outcome === outcome && other.api === api && other.record.tag === batch.code[i],
    )
    return inSection(found, batch, i)?.position ?? chosen
  }
}

/** The record of several whose section is the one in the event's `fields`, or the first. */
function inSection(records: readonly RecordMapping[], batch: EventBatch, i: number): RecordMapping | undefined {
  if (records.length < 2 || (batch.mask[i] & HAS_FIELDS) === 0) return records[0]
  const fields = parseJson(batch.strings.text(batch.fields[i])) as Record<string, unknown>
  return records.find(({ section }) => section !== null && section === fields[SECTION_KEY]) ?? records[0]
}
