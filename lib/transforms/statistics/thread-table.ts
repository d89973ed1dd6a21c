import { Callers } from '../../blocks/callers.js'
import { FIRST, MAX_KEYS, NONE } from '../../blocks/bounded-keys.js'
import type { EventBatch } from '../../event/batch.js'
import { Kind } from '../../event/fields.js'
import { wellFormed } from '../../event/message-text.js'
import { commandAt, hasRecordedNames, threadNameAt } from '../../event/recorded-names.js'
import { T_EVENTS, T_FOREIGN, T_FREES, THREAD_BYTES } from '../../kernel/layouts/owners.js'
import { addShares, noShares, sumOfShares } from './amounts.js'
import type { StatisticsKernel } from './kernel.js'
import type { Shares, Thread, ThreadStatistics } from './result.js'

/** The maximum number of characters of a thread's name, of which Linux has 15, and of a command. */
const LONGEST_NAME = 64
const LONGEST_COMMAND = 120
/** The maximum number of characters of a path: PATH_MAX of Linux. */
const LONGEST_PATH = 4096

/**
 * The rows of threads, and those of events without a thread if any of them is about a block. Other events often have
 * none.
 */
export function actingThreads(threads: readonly ThreadStatistics[]): ThreadStatistics[] {
  return threads.filter(
    // A thread's name is read last, because it is made then.
    (row) => row.allocated.blocks > 0 || row.frees > 0 || row.rest === 'others' || row.thread !== undefined,
  )
}

/**
 * The figures of each process: those of its threads, added up. Those of the events without a process have no key.
 * Undefined if some threads were counted as others.
 */
export function sharesByProcess(threads: readonly ThreadStatistics[]): Map<bigint | undefined, Shares> | undefined {
  const processes = new Map<bigint | undefined, Shares>()
  for (const thread of threads) {
    if (thread.rest === 'others') return undefined
    const known = processes.get(thread.process)
    if (known !== undefined) addShares(known, thread)
    else processes.set(thread.process, sumOfShares(thread, noShares()))
  }
  return processes
}

/** The actions of each thread, by the rows of `Callers`. */
export class ThreadTable {
  private readonly callers = new Callers()
  /** What threads are called, by their rows. */
  private readonly names = new Map<number, string>()
  /** What processes run, by their numbers. */
  private readonly commands = new Map<bigint, string>()

  constructor(private readonly kernel: StatisticsKernel) {}

  /** One past the last row in use. */
  get size(): number {
    return this.callers.size
  }

  /** Whether some threads were counted as others. */
  get overflowed(): boolean {
    return this.callers.overflowed
  }

  /** As `Callers.assign`. */
  assign(batch: EventBatch, from: number, to: number): Int32Array {
    const rows = this.callers.assign(batch, from, to, this.kernel.run)
    if (hasRecordedNames(batch.header)) this.takeNames(batch, from, to, rows)
    return rows
  }

  private takeNames(batch: EventBatch, from: number, to: number, rows: Int32Array): void {
    for (let i = batch.kind.indexOf(Kind.comment, from); i >= 0 && i < to;) {
      const name = threadNameAt(batch, i)
      const row = rows[i - from]
      if (name !== undefined && row >= FIRST) this.names.set(row, wellFormed(name.slice(0, LONGEST_NAME)))
      const command = commandAt(batch, i)
      if (command !== undefined && this.commands.size < MAX_KEYS)
        this.commands.set(batch.process.values[i], shortCommand(command))
      i = batch.kind.indexOf(Kind.comment, i + 1)
    }
  }

  /** Every thread with its figures, the most events first. */
  result(): ThreadStatistics[] {
    return this.ranked().map(({ statistics }) => statistics)
  }

  /** The same with the rows of the threads. */
  ranked(): { row: number; statistics: ThreadStatistics }[] {
    const { kernel } = this
    const { threadTable } = kernel.run
    const threads: { row: number; statistics: ThreadStatistics }[] = []
    for (let row = NONE; row < this.size; row++) {
      const at = kernel.word(threadTable.value) + row * THREAD_BYTES
      const events = kernel.number(at + T_EVENTS)
      const shares = kernel.shares(at)
      const frees = kernel.number(at + T_FREES)
      if (events === 0) continue
      const foreignFrees = kernel.number(at + T_FOREIGN)
      threads.push({ row, statistics: { ...this.name(row), events, ...shares, frees, foreignFrees } })
    }
    return threads.toSorted((a, b) => b.statistics.events - a.statistics.events)
  }

  name(row: number): Thread {
    if (row < FIRST) return { rest: row === NONE ? 'none' : 'others' }
    const name = this.names.get(row)
    return { ...this.callers.names(row), ...(name !== undefined && { name }) }
  }

  /** The number of a process from its row; undefined if there is none. */
  process(row: number): bigint | undefined {
    return this.callers.process(row)
  }

  /** The beginning of the command that a process runs; undefined if the trace does not say. */
  command(process: bigint): string | undefined {
    return this.commands.get(process)
  }
}

/** The beginning of a command, without the folder of its program, in one line. */
function shortCommand(command: string): string {
  const [program = ''] = command.slice(0, LONGEST_PATH).split(' ', 1)
  const short = command.slice(program.lastIndexOf('/') + 1, program.length + LONGEST_COMMAND)
  return wellFormed(short.replace(/\s+/g, ' ').slice(0, LONGEST_COMMAND))
}
