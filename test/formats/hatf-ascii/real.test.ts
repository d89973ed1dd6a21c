import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Decoder } from '../../../lib/event/stage.js'
import { hatfAscii } from '../../../lib/metatf/hatf-ascii/index.js'
import { mtrc } from '../../../lib/formats/mtrc/index.js'
import { sniffFormat } from '../../support/formats.js'
import { corpusFile, corpusPath, hasCorpus } from '../../support/corpus.js'
import { decodeAll, encodeAll } from '../../support/drive.js'

const NAMES = hasCorpus
  ? readdirSync(corpusPath('hatf-ascii'))
      .filter((file) => file.endsWith('.hatf.gz'))
      .map((file) => file.slice(0, -'.hatf.gz'.length))
  : []

/**
 * What both formats say of the allocs, reallocs and frees of a stream's first trace. HATF does not say the size of what
 * is freed, and mpatrol's converter stops where the first trace ends.
 */
function essence(bytes: Uint8Array, decoder: Decoder): string[] {
  const { batches, headers, error } = decodeAll(decoder, bytes, 65_536)
  expect(error).toBeUndefined()
  return batches
    .filter(({ header }) => header === headers[0])
    .flatMap((batch) => [...batch])
    .filter(({ kind }) => kind === 'alloc' || kind === 'realloc' || kind === 'free')
    .map(({ kind, size, address, oldAddress }) => [kind, kind === 'free' ? '' : size, address, oldAddress].join(' '))
}

describe("mpatrol's own conversions", { tags: ['corpus'] }, () => {
  it.each(NAMES)('%s: the events of the trace that it was made from, and back byte for byte', (name) => {
    const bytes = corpusFile(`hatf-ascii/${name}.hatf`)
    expect(sniffFormat(bytes)?.name).toBe('hatf-ascii')
    expect(essence(bytes, hatfAscii.decoder())).toEqual(essence(corpusFile(`mtrc/${name}.mtrc`), mtrc.decoder()))
    for (const size of [bytes.length, 1000]) {
      const { batches } = decodeAll(hatfAscii.decoder(), bytes, size)
      expect(Buffer.compare(encodeAll(hatfAscii.encoder({ strict: true }), batches), bytes)).toBe(0)
    }
  })

  it('only one of them, of a program that forked, is of a stream with a second trace, which was not converted', () => {
    const traces = NAMES.map((name) => [
      name,
      decodeAll(mtrc.decoder(), corpusFile(`mtrc/${name}.mtrc`)).headers.length,
    ])
    expect(traces.filter(([, n]) => n !== 1)).toEqual([['fork-parent64', 2]])
  })
})
