import { cpSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type * as library from '../../lib/entry/index.js'
import { scratch } from '../support/commands.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const TRACE = join(ROOT, 'test/fixtures/mtrc/small64.mtrc.gz')

type Library = typeof library

/** A copy of the built library, as another version of the package in the same program is. */
async function copyOf(folder: string): Promise<Library> {
  for (const name of ['dist/lib', 'dist/kernel', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return (await import(pathToFileURL(join(folder, 'dist/lib/entry/index.js')).href)) as Library
}

test('batches of one copy of the package pass through the streams of another', { tags: ['slow'] }, async () => {
  const [a, b] = [await copyOf(scratch()), await copyOf(scratch())]
  const through = async (decoding: Library, using: Library) => {
    const chunks: Buffer[] = []
    const summary = using.stats()
    await pipeline(
      Readable.from([readFileSync(TRACE)]),
      decoding.decompress(),
      decoding.mtrc.decode(),
      using.filter({ kind: ['alloc', 'free'] }),
      using.map({ anonymize: { key: 'k' } }),
      using.sort({ by: 'address' }),
      using.mtrc.encode().on('data', (chunk: Buffer) => chunks.push(chunk)),
    )
    await pipeline(Readable.from([readFileSync(TRACE)]), decoding.decompress(), decoding.mtrc.decode(), summary)
    return { bytes: Buffer.concat(chunks).toString('latin1'), summary: await summary.result }
  }
  expect(await through(a, b)).toEqual(await through(a, a))
})
