import { openSync, closeSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { EventBatch } from '../../event/batch.js'
import { TraceError } from '../../event/error.js'
import { hasInventedAddresses, UNIDENTIFIED } from '../../event/header.js'
import type { Stage } from '../../event/stage.js'
import type { TableRows } from '../../event/table.js'
import { BlockDoubts } from '../../exports/tables/doubts.js'
import { TOO_MANY_STACKS } from '../../exports/tables/stack-encoder.js'
import { inTemporary } from '../../streams/io/temporary-error.js'
import { StackNumbers } from '../../transforms/block-table/stack-numbers.js'
import type { TraceInput } from '../input.js'
import { runTrace } from '../pipeline.js'
import { say } from '../say.js'
import { rowMaker, TableFile, type RowMaker, type TableName } from './tables.js'

/** Tables that a query needs, with the columns that it needs of them. */
export type Wanted = ReadonlyMap<TableName, ReadonlySet<string>>

/** The columns with names of frames. */
const NAMES = ['site', 'frame', 'stack', 'function', 'sourceFile', 'line', 'module']

/** The tables whose rows are about blocks. */
const OF_BLOCKS: readonly TableName[] = ['blocks', 'spans']

/** Traces to be queried. */
export interface Traces {
  /** Their names, or `-`. */
  readonly paths: readonly string[]
  /** The reader of one of them. */
  inputOf(path: string): TraceInput
}

/** Whether a column is wanted that has names of frames, or may have one. */
export function hasNames(wanted: Wanted): boolean {
  return [...wanted.values()].some((columns) => NAMES.some((name) => columns.has(name)))
}

/**
 * Writes the tables that a query needs to files. A damaged trace gives the rows before the fault.
 * @param pathOf the path for a table's file
 * @param onFault called with the fault of a trace
 */
export async function writeTables(
  { paths, inputOf }: Traces,
  wanted: Wanted,
  pathOf: (table: TableName) => string,
  onFault: (error: TraceError) => void,
): Promise<void> {
  const names = paths.map((path) => (path === '-' ? 'standard input' : path))
  const outputs = [...wanted].map(([table, columns]) => {
    const path = pathOf(table)
    const file = new TableFile(table, columns, names)
    return { table, columns, file, path, descriptor: inTemporary(dirname(path), () => openSync(path, 'wx', 0o600)) }
  })
  const write = ({ file, path, descriptor }: (typeof outputs)[number]) => {
    const writeAll = (piece: Uint8Array) => {
      for (let at = 0; at < piece.length;) at += writeSync(descriptor, piece, at)
    }
    for (let piece = file.next(); piece !== null; piece = file.next())
      inTemporary(dirname(path), writeAll.bind(undefined, piece))
  }
  const numbers = new StackNumbers()
  // The tables of blocks give stacks their numbers.
  const makers = outputs.filter(({ table }) => table !== 'stacks' || !(wanted.has('blocks') || wanted.has('spans')))
  try {
    for (const [number, path] of paths.entries()) {
      const sinks = makers.map((output): TableSink => ({
        maker: rowMaker(output.table, numbers, output.columns),
        take(rows) {
          output.file.add(rows, number)
          write(output)
        },
      }))
      try {
        const through = new TableFeed(
          sinks,
          needsIdentity(wanted),
          OF_BLOCKS.some((table) => wanted.has(table)),
        )
        await runTrace({ command: 'hf-sql', input: inputOf(path), through, signals: true })
      } catch (error) {
        if (!(error instanceof TraceError)) throw error
        onFault(error)
      }
    }
    if (numbers.isFull) say('hf-sql', `warning: ${TOO_MANY_STACKS}`)
    for (const output of outputs) {
      if (output.table === 'stacks') {
        for (const rows of numbers.rows()) {
          output.file.add(rows, 0)
          write(output)
        }
      }
      output.file.end()
      write(output)
    }
  } finally {
    for (const { descriptor } of outputs) closeSync(descriptor)
  }
}

function needsIdentity(wanted: Wanted): boolean {
  return [...wanted.values()].some((columns) => [...columns].some((name) => /^(temporary|lifetime)/.test(name)))
}

/** The receiver of the rows of a table. */
interface TableSink {
  readonly maker: RowMaker
  take(rows: TableRows): void
}

/** Gives the events of a trace to tables. It has no output of its own. Warns if the trace lacks events. */
class TableFeed implements Stage<EventBatch, Uint8Array> {
  readonly consumes = true
  readonly warnings: string[] = []
  private readonly doubts = new BlockDoubts()
  private isIdentified = true

  /**
   * @param needsIdentity whether a column is wanted that depends on which block is freed
   * @param hasBlocks whether a table of blocks is wanted
   */
  constructor(
    private readonly sinks: readonly TableSink[],
    private readonly needsIdentity: boolean,
    private readonly hasBlocks: boolean,
  ) {}

  feed(batch: EventBatch): void {
    this.doubts.add(batch)
    this.isIdentified &&= !hasInventedAddresses(batch.header)
    for (const { maker, take } of this.sinks) maker.add(batch, take)
  }

  next(): null {
    return null
  }

  end(): void {
    this.warnings.push(...this.doubts.warnings('rows', this.hasBlocks))
    if (this.needsIdentity && !this.isIdentified) this.warnings.push(UNIDENTIFIED)
    for (const { maker, take } of this.sinks) maker.end(take)
  }

  endTruncated(): void {
    this.end()
  }
}
