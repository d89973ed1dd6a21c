import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { batchesOf, type EventBatch } from '../../lib/event/batch.js'
import { chain } from '../../lib/event/chain.js'
import { isWritable, type WritableFormat } from '../../lib/event/format.js'
import type { BatchTransform, Decoder, Stage } from '../../lib/event/stage.js'
import { mtrc } from '../../lib/formats/mtrc/index.js'
import { formatNamed, FORMATS } from '../support/formats.js'
import { Filter } from '../../lib/transforms/filter.js'
import { parseRange } from '../../lib/transforms/predicates/ranges.js'
import { drive, slices } from '../support/drive.js'

const TRACE = gunzipSync(readFileSync(new URL('../fixtures/mtrc/git.mtrc.gz', import.meta.url))).subarray(0, 400_000)
const HEADER = { format: 'test' }
const batchOf = (line: number): EventBatch => batchesOf([{ kind: 'free', line }], HEADER)[0] as EventBatch
const lineOf = (batch: EventBatch): number => batch.line[0]

/** Gives what it is fed as often as `times` says, warns of it, and tells what was asked of it. */
class Echo implements BatchTransform {
  readonly warnings: string[] = []
  readonly calls: string[] = []
  consumes = false
  private queue: EventBatch[] = []
  private held: EventBatch | null = null

  constructor(
    private readonly name: string,
    private readonly options: { times?: number; holds?: boolean; failsAt?: number } = {},
  ) {}

  feed(batch: EventBatch): void {
    this.calls.push(`feed ${lineOf(batch)}`)
    this.warnings.push(`${this.name}: ${lineOf(batch)}`)
    const given = this.options.holds === true ? this.held : batch
    this.held = batch
    if (given !== null) this.queue.push(...Array.from({ length: this.options.times ?? 1 }, () => given))
  }

  next(): EventBatch | null {
    const batch = this.queue.shift()
    if (batch !== undefined) return batch
    if (this.held !== null && lineOf(this.held) === this.options.failsAt)
      throw new Error(`${this.name} fails at ${this.options.failsAt}`)
    return null
  }

  end(): void {
    this.calls.push('end')
    if (this.options.holds === true && this.held !== null) this.queue.push(this.held)
  }

  endTruncated(): void {
    this.calls.push('endTruncated')
    if (this.options.holds === true && this.held !== null) this.queue.push(this.held)
  }
}

describe('chain', () => {
  const others = FORMATS.filter(isWritable)
    .filter(({ name }) => name !== 'metatf')
    .map(({ name }) => name)

  it.each(others)(
    'a decoder, a filter and the encoder of %s give what they give one by one, with memory used again or not',
    (name) => {
      const filter = () => new Filter({ size: parseRange('16..4096') })
      const encoder = () => (formatNamed(name) as WritableFormat).encoder() as Stage<EventBatch, Uint8Array>
      const events = drive(mtrc.decoder(), slices(TRACE, 10_000)).out
      const expected = Buffer.concat(drive(encoder(), drive(filter(), events).out).out)
      expect(expected.length).toBeGreaterThan(1000)
      for (const recycle of [false, true]) {
        const stage = chain(mtrc.decoder(), chain(filter(), encoder(), { recycle }), { recycle })
        const { out, error } = drive(stage, slices(TRACE, 10_000))
        expect(error?.message).toMatch(/the input ends within a record/)
        // The trace is cut, so trailers are missing.
        expect(Buffer.concat(out).equals(expected.subarray(0, Buffer.concat(out).length))).toBe(true)
        expect(Buffer.concat(out).length).toBeGreaterThan(expected.length - 100)
      }
    },
  )

  it('gives all that the second makes of each batch, and of the end', () => {
    const [first, second] = [new Echo('a', { times: 2 }), new Echo('b', { holds: true, times: 3 })]
    const { out } = drive(chain(first, second), [batchOf(1), batchOf(2)])
    expect(out.map(lineOf)).toEqual([1, 1, 1, 1, 1, 1, 2, 2, 2, 2])
    expect([first.calls.at(-1), second.calls.at(-1)]).toEqual(['end', 'end'])
  })

  it('tells the warnings of both as they come up', () => {
    const stage = chain(new Echo('a'), new Echo('b'))
    drive(stage, [batchOf(1), batchOf(2)])
    expect(stage.warnings).toEqual(['a: 1', 'b: 1', 'a: 2', 'b: 2'])
  })

  it('lets what came before a failure of the first through the second, which is cut then', () => {
    const second = new Echo('b', { holds: true })
    const { out, error } = drive(chain(new Echo('a', { failsAt: 2 }), second), [batchOf(1), batchOf(2), batchOf(3)])
    expect(out.map(lineOf)).toEqual([1, 2])
    expect(error?.message).toBe('a fails at 2')
    expect(second.calls).toEqual(['feed 1', 'feed 2', 'endTruncated'])
  })

  it('fails with the second, behind its results', () => {
    const { out, error } = drive(chain(new Echo('a'), new Echo('b', { failsAt: 2, times: 2 })), [
      batchOf(1),
      batchOf(2),
      batchOf(3),
    ])
    expect(out.map(lineOf)).toEqual([1, 1, 2, 2])
    expect(error?.message).toBe('b fails at 2')
  })

  it('passes on that the input was truncated', () => {
    const second = new Echo('b', { holds: true })
    const stage = chain(new Echo('a'), second)
    stage.feed(batchOf(1))
    expect(stage.next()).toBeNull()
    stage.endTruncated()
    expect([stage.next(), stage.next()].map((batch) => batch && lineOf(batch))).toEqual([1, null])
    expect(second.calls).toEqual(['feed 1', 'endTruncated'])
  })

  it('recycles a batch only when the second is done with it and does not give it out', () => {
    const decoder = (): Decoder => ({ feed() {}, next: () => batches.shift() ?? null, end() {}, endTruncated() {} })
    const taker = (consumes: boolean): Stage<EventBatch, string> => {
      let fed: EventBatch | null = null
      return {
        consumes,
        feed: (batch) => void (fed = batch),
        next: () => {
          const line = fed && String(lineOf(fed))
          fed = null
          return line
        },
        end() {},
        endTruncated() {},
      }
    }
    let batches = [batchOf(1)]
    const counts = (second: Stage<EventBatch, unknown>, recycle: boolean) => {
      const batch = batchOf(1)
      batches = [batch]
      drive(chain(decoder(), second, { recycle }), [new Uint8Array(1)])
      return batch.count
    }
    const passing = new Echo('b')
    passing.consumes = true
    expect([
      counts(taker(true), true),
      counts(taker(true), false),
      counts(taker(false), true),
      counts(passing, true),
    ]).toEqual([0, 1, 1, 1])
  })
})
