import { HI, LO } from '../bytes/u64.js'
import { U64Map } from '../bytes/u64-map.js'
import { EventBatch, reviseBatch, U64Column } from '../event/batch.js'
import { anyFieldSet, FIELDS, FieldBit, Kind, fieldSet, GROUP_FIELDS, type FieldName } from '../event/fields.js'
import { GROUP_STRINGS, GroupColumns, positions } from '../event/groups.js'
import { unencodable, type TraceError } from '../event/error.js'
import { NO_HEADER, type TraceHeader } from '../event/header.js'
import { showValue } from '../event/message-text.js'
import { checkOptions, type OptionNames } from '../event/options.js'
import type { BatchTransform } from '../event/stage.js'
import { StringTable } from '../event/strings.js'
import type { EventFields } from '../event/trace-event.js'
import { AddressScrambler, NameScrambler, type NamedField } from './anonymize.js'
import { Evaluator, compileExpression, type EventFunction } from './expression.js'

/** What to change in every event. The changes are made in the order of these options. */
export interface MapOptions {
  /** Code (see `compileExpression`) or a function that every event passes through. Slow; all other options are fast. */
  readonly expression?: string | EventFunction
  /**
   * Move `address` and `oldAddress` so that `from` becomes `to`. The null address does not change, and no other may
   * become null, or leave the range of addresses: from 1 to 2^64 - 1.
   */
  readonly rebase?: { readonly from: bigint; readonly to: bigint }
  readonly anonymize?: AnonymizeOptions
  /** Number the threads from 1, in the order of their first events in a trace. Memory grows with their number. */
  readonly numberThreads?: boolean
  /** Fields to remove. */
  readonly drop?: readonly FieldName[]
  /** Fields to set to one value on every event, whether or not the event has them. */
  readonly set?: EventFields
}

const OPTIONS: OptionNames<MapOptions> = {
  expression: { what: 'a function or code', is: (value) => ['function', 'string'].includes(typeof value) },
  rebase: true,
  anonymize: true,
  numberThreads: 'boolean',
  drop: true,
  set: true,
}

/** How to hide information about the program and the machine. */
export interface AnonymizeOptions {
  /** The secret. The same key gives the same replacements in every run. Anyone who has the key can test guesses. */
  readonly key: string
  /**
   * Replace the fields that are addresses: address, oldAddress, heap, callSite (see `AddressScrambler`). Default true.
   * On some systems thread ids are addresses as well: number the threads too.
   */
  readonly addresses?: boolean
  /**
   * Replace the names: function, file, module, type, stack, text, arena, and those in the header, such as the command
   * line (see `NameScrambler`). Attributes, which may contain anything, are removed. Default true.
   */
  readonly names?: boolean
}

const ANONYMIZE: OptionNames<AnonymizeOptions> = { key: 'string', addresses: 'boolean', names: 'boolean' }

const NAME_FIELDS = ['function', 'file', 'type', 'text', 'module'] as const
const NAMES = fieldSet(...NAME_FIELDS, 'stack')
const REBASED = fieldSet('address', 'oldAddress')
const SCRAMBLED = fieldSet('address', 'oldAddress', 'heap', 'callSite')
const GROUP_ADDRESSES = GROUP_FIELDS.reduce(
  (set, { type }, g) => ((type as string) === 'address' ? set | (1 << g) : set),
  0,
)
const ADDRESS_FIELDS = ['address', 'oldAddress', 'heap', 'callSite'] as const

/**
 * Changes events, as `MapOptions` says. Every batch yields at least one. Headers change if names are replaced, and say
 * that events were removed, where a function drops some of the first 4,096 of a trace; a warning counts later ones.
 */
export class Mapper implements BatchTransform {
  private readonly evaluator: Evaluator | undefined
  private readonly rebase: Move
  private readonly addresses: AddressScrambler | undefined
  private readonly names: NameScrambler | undefined
  private readonly threads: U64Map | undefined
  private readonly drop: number
  private readonly dropGroups: number
  /** One event with the values of `set`. */
  private readonly constants = new EventBatch(1, 0, NO_HEADER)
  private readonly set: number
  private readonly setGroups: number
  private readonly setsStrings: boolean
  /** The fields that get new columns in batches that have them. */
  private readonly changed: number
  private header: TraceHeader | undefined
  /** The header of the output. */
  private named = NO_HEADER
  private input: EventBatch | null = null
  /** The number of events in earlier batches. */
  private before = 0
  /** Whether some address cannot be moved. */
  private fault: TraceError | undefined

  /**
   * @throws TraceError (ERR_TRACE_EXPRESSION) when the expression does not compile; RangeError when an option's value
   *   does not fit
   */
  constructor(options: MapOptions = {}) {
    checkOptions(options, OPTIONS, 'map')
    checkOptions(options.anonymize, ANONYMIZE, 'map: anonymize')
    checkOptions(options.rebase, { from: 'bigint', to: 'bigint' }, 'map: rebase')
    const { expression, rebase, anonymize, numberThreads, drop = [], set = {} } = options
    if (!Array.isArray(drop)) throw new RangeError(`map: drop must be an array of fields, not ${showValue(drop)}`)
    if (typeof set !== 'object' || set === null)
      throw new RangeError(`map: set must be an object, not ${showValue(set)}`)
    if ('kind' in set) throw new RangeError('map: set cannot change the kind of events')
    if (rebase !== undefined && (rebase.from === undefined || rebase.to === undefined))
      throw new RangeError('map: rebase needs `from` and `to`')
    if (expression !== undefined) {
      this.evaluator = new Evaluator(typeof expression === 'string' ? compileExpression(expression) : expression)
    }
    if (rebase !== undefined && [rebase.from, rebase.to].some((one) => BigInt.asUintN(64, one) !== one))
      throw new RangeError('map: rebase needs addresses from 0 to 2^64 - 1')
    const offset = rebase === undefined ? 0n : BigInt.asUintN(64, rebase.to - rebase.from)
    const isDown = rebase !== undefined && rebase.to < rebase.from
    this.rebase = { lo: Number(offset & 0xffff_ffffn), hi: Number(offset >> 32n), isDown }
    if (anonymize?.key === '') throw new RangeError('the key to anonymize with is empty')
    if (anonymize !== undefined && anonymize.key === undefined) throw new RangeError('map: anonymize needs a key')
    if (anonymize !== undefined && anonymize.addresses !== false) this.addresses = new AddressScrambler(anonymize.key)
    if (anonymize !== undefined && anonymize.names !== false) this.names = new NameScrambler(anonymize.key)
    this.threads = numberThreads === true ? new U64Map(1) : undefined
    const dropped = anyFieldSet(drop)
    this.dropGroups = dropped.groups
    this.drop = dropped.core | (this.names === undefined ? 0 : FieldBit.attributes | FieldBit.fields)
    this.constants.push({ ...set, kind: 'other' })
    this.set = this.constants.mask[0]
    this.setGroups = this.constants.groups?.mask[0] ?? 0
    this.setsStrings = this.constants.strings.size > 0 || (this.set & FieldBit.stack) !== 0
    this.changed =
      (offset === 0n ? 0 : REBASED) |
      (this.addresses === undefined ? 0 : SCRAMBLED) |
      (this.names === undefined ? 0 : NAMES) |
      (this.threads === undefined ? 0 : FieldBit.thread)
  }

  feed(batch: EventBatch): void {
    if (this.evaluator !== undefined) this.evaluator.feed(batch)
    else this.input = batch
  }

  /**
   * @throws TraceError (ERR_TRACE_EXPRESSION, or ERR_TRACE_UNENCODABLE for an address that cannot be moved) once all
   *   events before the fault were delivered
   */
  next(): EventBatch | null {
    if (this.fault !== undefined) throw this.fault
    const batch = this.evaluator !== undefined ? this.evaluator.next() : this.input
    this.input = null
    if (batch === null) return null
    const revised = this.revise(batch)
    this.before += batch.count
    return revised
  }

  end(): void {
    this.evaluator?.end()
  }

  endTruncated(): void {
    this.evaluator?.endTruncated()
  }

  get warnings(): readonly string[] {
    return this.evaluator?.warnings ?? []
  }

  private revise(source: EventBatch): EventBatch {
    if (source.header !== this.header) {
      this.header = source.header
      this.named = this.names?.header(source.header) ?? source.header
      this.threads?.clear()
    }
    // Fields that are set or removed anyway need no other change.
    const changed = this.changed & source.columns & ~this.drop & ~this.set
    const dropped = this.drop & source.columns & ~this.set
    const { named } = this
    const changes = changed | dropped | this.set | this.setGroups
    if (changes === 0 && named === source.header && !this.changesGroups(source.groups)) return source
    const strings = this.stringsFor(source)
    const groups = this.groupsFor(source, strings) ?? null
    const target = reviseBatch(source, changed | this.set, strings, named, groups)
    if ((changed & SCRAMBLED) !== 0) this.reviseAddresses(source, target, changed)
    if ((changed & NAMES) !== 0) this.reviseNames(source, target, changed)
    if ((changed & FieldBit.thread) !== 0) this.reviseThreads(source, target)
    if (dropped !== 0) {
      target.columns &= ~dropped
      for (let i = 0; i < target.count; i++) target.mask[i] = target.mask[i] & ~dropped
    }
    if (this.set !== 0) this.setConstants(target)
    return target
  }

  private stringsFor(source: EventBatch): StringTable {
    if (this.names !== undefined) return new StringTable()
    return this.setsStrings ? source.strings.copy() : source.strings
  }

  /** Whether fields of groups are removed or replaced. */
  private changesGroups(groups: GroupColumns | undefined): boolean {
    if (groups === undefined) return false
    const hidden = (this.names === undefined ? 0 : GROUP_STRINGS) | (this.addresses === undefined ? 0 : GROUP_ADDRESSES)
    return (groups.columns & (this.dropGroups | hidden)) !== 0
  }

  private groupsFor(source: EventBatch, strings: StringTable): GroupColumns | undefined {
    const { count } = source
    const { names, constants } = this
    let groups = source.groups?.without(this.dropGroups | this.setGroups, count)
    if (strings !== source.strings)
      groups = groups?.translated(source.strings, strings, count, names && ((...of) => names.replace(...of)))
    if (groups !== undefined && this.addresses !== undefined) this.scrambleGroups(groups, count)
    if (constants.groups === undefined) return groups
    groups ??= new GroupColumns(count)
    for (const g of positions(this.setGroups)) groups.fill(g, constants.groups, constants.strings, strings, count)
    return groups
  }

  /** Replaces addresses, of which it makes copies. */
  private scrambleGroups(groups: GroupColumns, count: number): void {
    for (const g of positions(groups.columns & GROUP_ADDRESSES)) {
      const from = groups.at(g) as U64Column
      const to = new U64Column(new ArrayBuffer(8 * count), 0, count)
      moveAddresses(from, to, { mask: groups.mask, count }, 1 << g, IN_PLACE, this.addresses)
      groups.set(g, to)
    }
  }

  private reviseAddresses(source: EventBatch, target: EventBatch, changed: number): void {
    for (const field of ADDRESS_FIELDS) {
      const has = FieldBit[field]
      if ((changed & has) === 0) continue
      const by = (REBASED & has) !== 0 ? this.rebase : IN_PLACE
      const moved = moveAddresses(source[field], target[field], source, has, by, this.addresses)
      if (moved < target.count) this.stop(source, target, field, moved)
    }
  }

  /** Ends the result before an event whose address cannot be moved. */
  private stop(source: EventBatch, target: EventBatch, field: (typeof ADDRESS_FIELDS)[number], row: number): void {
    target.count = row
    const address = `0x${source[field].values[row].toString(16)}`
    this.fault = unencodable(`${field} ${address} would be moved to 0, or beyond 64 bits: rebase to other addresses`, {
      format: source.header.format,
      event: this.before + row + 1,
    })
  }

  private reviseNames(source: EventBatch, target: EventBatch, changed: number): void {
    for (const field of NAME_FIELDS) {
      const has = FieldBit[field]
      if ((changed & has) === 0) continue
      const names = this.replacements(field, source.strings, target.strings)
      const comments = field === 'text' ? this.replacements('comment', source.strings, target.strings) : names
      const from = source[field]
      const to = target[field]
      for (let i = 0; i < source.count; i++) {
        if ((source.mask[i] & has) === 0) continue
        to[i] = (source.kind[i] === Kind.comment ? comments : names)(from[i])
      }
    }
    if ((changed & FieldBit.stack) === 0) return
    const frames = this.replacements('stack', source.strings, target.strings)
    const lists = new Int32Array(source.strings.listCount).fill(-1)
    for (let i = 0; i < source.count; i++) {
      if ((source.mask[i] & FieldBit.stack) === 0) continue
      const list = source.stack[i]
      if (lists[list] === -1) lists[list] = target.strings.addList(source.strings.listView(list).map(frames))
      target.stack[i] = lists[list]
    }
  }

  /** The replacement of each string of a batch, created when first needed. */
  private replacements(field: NamedField, source: StringTable, target: StringTable): (id: number) => number {
    const ids = new Int32Array(source.size).fill(-1)
    return (id) => {
      if (ids[id] === -1) ids[id] = (this.names as NameScrambler).replace(field, source, id, target)
      return ids[id]
    }
  }

  private reviseThreads(source: EventBatch, target: EventBatch): void {
    const { mask, count } = source
    const has = FieldBit.thread
    const from = source.thread.words
    const to = target.thread.words
    const threads = this.threads as U64Map
    for (let i = 0; i < count; i++) {
      if ((mask[i] & has) === 0) continue
      const lo = from[2 * i + LO]
      const hi = from[2 * i + HI]
      let slot = threads.find(lo, hi)
      if (slot < 0) {
        slot = threads.add(lo, hi)
        threads.values[slot] = threads.size
      }
      to[2 * i + LO] = threads.values[slot]
    }
  }

  private setConstants(target: EventBatch): void {
    const { constants, set } = this
    const { count, strings } = target
    for (let i = 0; i < count; i++) target.mask[i] = target.mask[i] | set
    FIELDS.forEach(({ name, type }, f) => {
      if (((set >>> f) & 1) === 0) return
      if (type === 'u64' || type === 'address') target.u64(name).values.fill(constants.u64(name).values[0], 0, count)
      else if (type === 'list') {
        const ids = constants.strings.list(constants[name][0]).map((id) => strings.intern(constants.strings.view(id)))
        target[name].fill(strings.addList(ids), 0, count)
      } else if (type === 'string' || type === 'bytes' || type === 'json') {
        target[name].fill(strings.intern(constants.strings.view(constants[name][0])), 0, count)
      } else {
        target[name].fill(constants[name][0], 0, count)
      }
    })
  }
}

/** The number that is added to addresses, modulo 2^64, and whether it makes them smaller. */
interface Move {
  readonly lo: number
  readonly hi: number
  readonly isDown: boolean
}

const IN_PLACE: Move = { lo: 0, hi: 0, isDown: false }

/** @returns the number of events: up to the first one whose address would become null, or leave 64 bits */
function moveAddresses(
  from: U64Column,
  to: U64Column,
  { mask, count }: Pick<EventBatch, 'mask' | 'count'>,
  has: number,
  { lo: addLo, hi: addHi, isDown }: Move,
  scrambler: AddressScrambler | undefined,
): number {
  const source = from.words
  const target = to.words
  for (let i = 0; i < count; i++) {
    if ((mask[i] & has) === 0) continue
    let lo = source[2 * i + LO]
    let hi = source[2 * i + HI]
    if ((lo | hi) === 0) continue
    const sum = lo + addLo
    const high = hi + addHi + (sum > 0xffff_ffff ? 1 : 0)
    lo = sum >>> 0
    hi = high >>> 0
    if (high > 0xffff_ffff !== isDown || (lo | hi) === 0) return i
    if (scrambler !== undefined) {
      scrambler.scramble(lo, hi)
      lo = scrambler.lo
      hi = scrambler.hi
    }
    target[2 * i + LO] = lo
    target[2 * i + HI] = hi
  }
  return count
}
