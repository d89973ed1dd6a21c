import { HI, LO } from '../../bytes/u64.js'
import type { BatchInfos, EventBatch, U64Column } from '../../event/batch.js'
import { FieldBit, Kind } from '../../event/fields.js'
import { hasInventedAddresses } from '../../event/header.js'
import * as Layout from '../../kernel/layouts/report.js'
import { addressFrame, frameOf, sourceFrame } from '../profile/frames.js'
import type { Frame } from '../profile/profile.js'
import type { Statistics } from '../statistics/result.js'
import type { SiteKeys } from '../statistics/site-keys.js'
import type { FrameList } from './frame-list.js'
import type { ReportKernel } from './kernel.js'
import { integer } from './plain.js'
import type { ProblemKind, ReportProblems } from './result.js'

/** By the kernel's code, the kind of a problem. */
const KIND_OF: Readonly<Record<number, ProblemKind>> = {
  [Layout.UNKNOWN_FREE]: 'unknownFree',
  [Layout.DOUBLE_FREE]: 'doubleFree',
  [Layout.OVERLAP]: 'overlap',
  [Layout.FAILED]: 'failedAllocation',
  [Layout.ZERO_SIZE]: 'zeroSize',
  [Layout.UNKNOWN_REALLOC]: 'unknownRealloc',
}

const HAS_SIZE = FieldBit.size
const { alloc: ALLOC } = Kind

/** The number of problems that are kept. */
const MOST = 1000
/** Limits: the frames of their stacks, and the characters of the frames' names. */
const MOST_FRAMES = 8
const LONGEST = 512
const NO_FRAMES: Frame[] = []

interface Problem {
  kind: ProblemKind
  event: number
  address: string | null
  size: bigint | null
  stack: Frame[]
}

/** The first anomalous events. */
export class Problems {
  private readonly first: Problem[] = []
  /** Where the infos of the trace that stand for zero bytes allocate, and how often they did. */
  private readonly zeroInfos = new Map<number, Frame[]>()
  private zeroSizes = 0

  /**
   * Adds the problems that the kernel found in a batch, whose event `from` was the kernel's first row.
   * @param before the number of earlier events
   * @param keys the registry of the batch's sites
   */
  take({ run }: ReportKernel, batch: EventBatch, from: number, before: number, keys: SiteKeys): void {
    const found = Math.min(run.problems.value, MOST - this.first.length)
    if (found === 0) return
    const rows = new Uint32Array(run.memory.buffer, run.PROBLEMS.value, found)
    const isInvented = hasInventedAddresses(batch.header)
    for (const code of rows) {
      const row = code >> Layout.PROBLEM_BITS
      const i = from + row
      this.first.push({
        kind: KIND_OF[code & (2 ** Layout.PROBLEM_BITS - 1)],
        event: before + row + 1,
        address: isInvented ? null : addressOf(batch, i),
        size: valueOf(batch, i, FieldBit.size, batch.size) ?? null,
        stack: framesOf(batch, i, keys),
      })
    }
  }

  /** The same for events `from` to `to` of a batch with infos, of which only allocations of zero bytes are problems. */
  takeInfos(
    batch: EventBatch,
    { numbers }: BatchInfos,
    from: number,
    to: number,
    before: number,
    keys: SiteKeys,
  ): void {
    const { first, zeroInfos } = this
    const { mask, kind } = batch
    const { words } = batch.size
    for (let i = from; i < to; i++) {
      // The first allocation with an info has its size and stack.
      if ((mask[i] & HAS_SIZE) !== 0 && words[2 * i + LO] === 0 && words[2 * i + HI] === 0)
        zeroInfos.set(numbers[i], first.length < MOST ? framesOf(batch, i, keys) : NO_FRAMES)
      if (zeroInfos.size === 0 || kind[i] !== ALLOC) continue
      const stack = zeroInfos.get(numbers[i])
      if (stack === undefined) continue
      this.zeroSizes++
      if (first.length < MOST)
        first.push({ kind: 'zeroSize', event: before + i - from + 1, address: null, size: 0n, stack })
    }
  }

  /** The infos of a trace are none of the next one. */
  endTrace(): void {
    this.zeroInfos.clear()
  }

  /** @param zeroSizes allocations of zero bytes that the kernel counted */
  result({ faults, reallocs }: Statistics, zeroSizes: number, frames: FrameList, limit: number): ReportProblems {
    const first = this.first.slice(0, limit)
    return {
      counts: {
        unknownFree: faults.unknownFrees,
        doubleFree: faults.doubleFrees,
        overlap: faults.overlaps.blocks,
        failedAllocation: faults.failedAllocations + reallocs.failed,
        zeroSize: zeroSizes + this.zeroSizes,
        unknownRealloc: reallocs.unknown,
      },
      kind: first.map(({ kind }) => kind),
      event: first.map(({ event }) => event),
      address: first.map(({ address }) => address),
      size: first.map(({ size }) => (size === null ? null : integer(size))),
      stack: first.map(({ stack }) => frames.stack(stack)),
    }
  }
}

function valueOf({ mask }: EventBatch, i: number, field: number, { values }: U64Column): bigint | undefined {
  return (mask[i] & field) === 0 ? undefined : values[i]
}

/** The address of the event; for a realloc without one, the old block's. */
function addressOf(batch: EventBatch, i: number): string | null {
  const address =
    valueOf(batch, i, FieldBit.address, batch.address) || valueOf(batch, i, FieldBit.oldAddress, batch.oldAddress)
  return address === undefined ? null : `0x${address.toString(16)}`
}

/** The place of an event, as far as known. */
function framesOf(batch: EventBatch, i: number, keys: SiteKeys): Frame[] {
  const mask = batch.mask[i]
  const { strings } = batch
  const text = (id: number | undefined) => strings.text(id as number).slice(0, LONGEST)
  if ((mask & FieldBit.stack) !== 0) {
    return keys.framesOf(batch.stack[i], MOST_FRAMES).map((name) => frameOf(name.slice(0, LONGEST)))
  }
  if ((mask & (FieldBit.function | FieldBit.file | FieldBit.line)) !== 0) {
    const name = (mask & FieldBit.function) !== 0 ? text(batch.function[i]) : undefined
    const file = (mask & FieldBit.file) !== 0 ? text(batch.file[i]) : undefined
    const line = (mask & FieldBit.line) !== 0 ? batch.line[i] : undefined
    return [sourceFrame(name, file, line === 0 ? undefined : line)]
  }
  const site = valueOf(batch, i, FieldBit.callSite, batch.callSite)
  const module = (mask & FieldBit.module) !== 0 ? text(batch.module[i]) : undefined
  return site === undefined && module === undefined ? [] : [addressFrame(module, site)]
}
