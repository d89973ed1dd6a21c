import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { WritableFormat } from '../../lib/event/format.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { shell, type Finished } from '../support/commands.js'
import { drive } from '../support/drive.js'
import { formatNamed } from '../support/formats.js'
import { eventsOf } from './generate.js'
import { Oracle } from './oracle.js'
import type { Shape } from './shape.js'

export type Figures = ReturnType<Oracle['finish']>

/** Blocks and bytes as text, because JSON has no integers of more than 53 bits. */
export const amount = ({ blocks, bytes }: { blocks: number | string; bytes: number | bigint | string }) =>
  `${blocks} blocks of ${bytes} bytes`

/** JSON in which large integers are strings, so that none is rounded. */
export const parse = <Result>(text: string): Result =>
  JSON.parse(text.replace(/(?<=[[:,]\s*)-?\d{16,}(?=\s*[,\]}])/g, '"$&"')) as Result

/** What commands say of traces of which many events are about unknown blocks. */
const MAY_BE_FALSE = /frees and reallocs are of unknown blocks, so leaks may be false/

/** A trace as a file, with the figures that plain code finds in it, and commands that read it. */
export class ShapeFile {
  readonly folder = mkdtempSync(join(tmpdir(), 'heapflow-shape-'))
  readonly figures: Figures
  /** The events as lines of JSON. */
  readonly lines: Buffer
  readonly events: number
  private isOwned = true

  constructor(readonly shape: Shape) {
    const statistics = new StatisticsCollector()
    for (const batch of eventsOf(shape)) statistics.add(batch)
    const { peakBytes, timeline } = statistics.finish()
    const oracle = new Oracle(peakBytes.event, timeline[0]?.event ?? 1)
    for (const batch of eventsOf(shape)) oracle.add(batch)
    this.figures = oracle.finish()
    const { encoder } = formatNamed('ndjson') as WritableFormat
    const bytes = drive(encoder({}), [...eventsOf(shape)])
    if (bytes.error !== undefined) throw bytes.error
    this.lines = Buffer.concat(bytes.out)
    this.events = this.figures.events
    writeFileSync(this.path('t.ndjson'), this.lines)
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  read(name: string): string {
    return readFileSync(this.path(name)).toString()
  }

  remove(): void {
    if (this.isOwned) rmSync(this.folder, { recursive: true })
    this.isOwned = false
  }

  /** Runs a command line in the folder of the trace, which is the file T there. */
  run(line: string): Promise<Finished> {
    return shell(`cd "${this.folder}" && T=t.ndjson && ${line}`)
  }

  /** The same of a command that succeeds. What it says besides is among `messages`. */
  async output(line: string, messages: readonly RegExp[] = []): Promise<string> {
    const { code, stdout, stderr } = await this.run(line)
    const mayBeFalse = this.figures.faults.has('unknownFrees') || this.shape.ends
    const expected = mayBeFalse ? [...messages, MAY_BE_FALSE] : messages
    const others = stderr.split('\n').filter((text) => text !== '' && !expected.some((one) => one.test(text)))
    expect({ line, code, others }).toEqual({ line, code: 0, others: [] })
    return stdout.toString()
  }

  /** The same of a command that writes JSON. */
  async json<Result>(line: string, messages: readonly RegExp[] = []): Promise<Result> {
    return parse<Result>(await this.output(line, messages))
  }
}
