import { describe, expect, it } from 'vitest'
import { FORMATS } from '../support/formats.js'
import type { Format } from '../../lib/event/format.js'
import type { Decoder } from '../../lib/event/stage.js'
import { replay } from '../../lib/formats/replay/index.js'
import { decoderTarget } from './codecs.js'
import { Mutator } from './mutate.js'
import { inputOf, tryInput } from './run.js'
import { TARGETS, targetsNamed } from './targets.js'

const SEED = new Uint8Array(Buffer.from('1: malloc 0x5510 24\n1: free 0x5510\n2: malloc 0x5520 8\n'))

/** A format whose decoder is changed. */
function changed(change: (decoder: Decoder) => void): Format {
  return {
    ...replay,
    decoder: () => {
      const decoder = replay.decoder()
      change(decoder)
      return decoder
    },
  }
}

/** What is found in some inputs of a format. */
async function faultOf(format: Format): Promise<string | undefined> {
  const target = decoderTarget(format, new Mutator([SEED], [SEED]))
  for (let run = 0; run < 500; run++) {
    const fault = await tryInput(target, 1, run)
    if (fault !== undefined) return fault.message
  }
  return undefined
}

describe('the fuzzer', () => {
  it('has every format, and damages it', () => {
    for (const { name } of FORMATS) {
      const [target] = targetsNamed(name)
      expect(target?.name).toBe(name)
      const inputs = Array.from({ length: 20 }, (_, run) =>
        Buffer.from(inputOf(target!, 1, run).bytes()).toString('hex'),
      )
      expect(new Set(inputs).size).toBeGreaterThan(10)
    }
  })

  it('makes the same input of the same seed and number', { tags: ['slow'] }, () => {
    for (const target of TARGETS) {
      const bytes = (seed: number, run: number) => Buffer.from(inputOf(target, seed, run).bytes()).toString('hex')
      expect(bytes(7, 3)).toBe(bytes(7, 3))
      const others = new Set(Array.from({ length: 10 }, (_, run) => bytes(8, run)))
      expect(others.size).toBeGreaterThan(1)
    }
  })

  it('finds nothing in a sound decoder', async () => {
    expect(await faultOf(replay)).toBeUndefined()
  })

  it('finds a decoder that throws what is no TraceError', async () => {
    const format = changed((decoder) => {
      const { feed } = decoder
      decoder.feed = (chunk) => {
        if (chunk.includes(0xff)) throw new RangeError('no such byte')
        feed.call(decoder, chunk)
      }
    })
    expect(await faultOf(format)).toContain('RangeError: no such byte')
  })

  it('finds a decoder that looks at pieces too late', async () => {
    const format = changed((decoder) => {
      const { feed, end } = decoder
      const kept: Uint8Array[] = []
      decoder.feed = (chunk) => void kept.push(chunk)
      decoder.end = () => {
        feed.call(decoder, new Uint8Array(Buffer.concat(kept)))
        end.call(decoder)
      }
    })
    expect(await faultOf(format)).toMatch(/^in pieces: /)
  })

  it('finds a decoder that loses an event in pieces', async () => {
    const format = changed((decoder) => {
      const { next } = decoder
      let batches = 0
      decoder.next = () => {
        const batch = next.call(decoder)
        if (batch !== null && batch.count > 0 && ++batches === 2) batch.count--
        return batch
      }
    })
    expect(await faultOf(format)).toMatch(/^in pieces: /)
  })

  it('finds an input that takes too long', { tags: ['slow'] }, async () => {
    const target = { name: 'slow', make: () => ({ extension: '', bytes: () => SEED, check: busy }) }
    function busy(): void {
      const start = process.cpuUsage()
      const taken = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000
      while (taken(process.cpuUsage(start)) < 100);
    }
    expect((await tryInput(target, 1, 1, 10))?.message).toMatch(/^takes \d+ ms$/)
  })
})
