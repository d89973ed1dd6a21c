import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../lib/event/batch.js'
import { mtrc } from '../lib/formats/mtrc/index.js'
import { ReplayDecoder } from '../lib/formats/replay/index.js'
import { decodeAny } from '../lib/streams/decode.js'
import { decompress } from '../lib/streams/decompress.js'
import { decodeAll, encodeAll } from './support/drive.js'

const directory = new URL('fixtures/', import.meta.url)
const files = readdirSync(directory, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(new URL(`${name}/`, directory)).map((file) => `${name}/${file}`))
/** What other software prints for a trace of that name. */
const REPORT = /\.(verbose|stats)\.txt(\.gz)?$/
const paths = files.filter((path) => !REPORT.test(path))

/** The number of events by path, as the table in the README says. */
const events = new Map(
  [...readFileSync(new URL('README.md', directory), 'utf8').matchAll(/^\| `([^`]+)` \| (\d+) \|/gm)].map(
    ([, path, n]) => [path as string, Number(n)],
  ),
)

describe('fixtures', () => {
  test('the README names each file', () => {
    expect([...events.keys()].toSorted()).toEqual(paths.toSorted())
  })

  test('each report is of a trace', () => {
    const names = paths.map((path) => path.replace(/\.mtrc(\.gz)?$/, ''))
    const reports = files.filter((path) => REPORT.test(path))
    expect(reports.length).toBeGreaterThan(0)
    for (const path of reports) expect(names).toContain(path.replace(REPORT, ''))
  })

  test.each(paths)('%s is recognised and decodes', async (path) => {
    let format: string | undefined
    let count = 0
    await pipeline(
      createReadStream(new URL(path, directory)),
      decompress(),
      decodeAny({ onFormat: (found) => (format = found.name) }),
      async (batches: AsyncIterable<EventBatch>) => {
        for await (const batch of batches) count += batch.count
      },
    )
    expect(format).toBe(path.split('/')[0])
    expect(count).toBe(events.get(path))
  })

  test('git.mtrc.gz is what the encoder makes of git.txt.gz', { tags: ['slow'] }, () => {
    const inflate = (path: string) => gunzipSync(readFileSync(new URL(path, directory)))
    const bytes = encodeAll(
      mtrc.encoder(),
      decodeAll(new ReplayDecoder(), inflate('replay/git.txt.gz'), 65_536).batches,
    )
    expect(Buffer.compare(bytes, inflate('mtrc/git.mtrc.gz'))).toBe(0)
  })
})
