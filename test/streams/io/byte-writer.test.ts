import { openSync, closeSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newChunk } from '../../../lib/bytes/chunks.js'
import { ByteWriter } from '../../../lib/streams/io/byte-writer.js'
import { readInput } from '../../../lib/streams/io/read-input.js'
import { scratch } from '../../support/commands.js'

/** Chunks of various sizes, with bytes that show their place. */
function* chunks(count: number): Generator<Uint8Array> {
  for (let i = 0; i < count; i++) {
    const chunk = newChunk(i % 7 === 3 ? 0 : 100 + ((i * 7919) % 90_000))
    chunk.fill(i)
    yield chunk
  }
}

const whole = (count: number) => Buffer.concat([...chunks(count)].map((chunk) => Buffer.from(chunk)))

test('writes everything in order, and names the file when it is complete', async () => {
  const path = join(scratch(), 'out')
  const writer = new ByteWriter(path, { recycle: true })
  let waits = 0
  for (const chunk of chunks(300)) {
    const waiting = writer.write(chunk)
    if (waiting !== undefined) waits++
    await waiting
  }
  expect(existsSync(path)).toBe(false)
  await writer.finish()
  const expected = whole(300)
  expect(writer.bytesWritten).toBe(expected.length)
  expect(readFileSync(path).equals(expected)).toBe(true)
  // It holds little.
  expect(waits).toBeGreaterThan(5)
})

test('what was given remains in a partial file', async () => {
  const path = join(scratch(), 'out')
  const writer = new ByteWriter(path)
  for (const chunk of chunks(20)) void writer.write(chunk)
  expect(await writer.abandon()).toBe(`${path}.partial`)
  expect(readFileSync(`${path}.partial`).equals(whole(20))).toBe(true)
  expect(existsSync(path)).toBe(false)
})

test('an error is reported once something more is written, or at the end', async () => {
  const writer = new ByteWriter('/dev/full')
  void writer.write(Uint8Array.of(1))
  await expect(writer.finish()).rejects.toMatchObject({ code: 'ENOSPC' })
  expect(() => writer.write(Uint8Array.of(1))).toThrow('ENOSPC')
})

test('reads a file ahead, and counts its bytes', async () => {
  const path = join(scratch(), 'in')
  const expected = whole(50)
  writeFileSync(path, expected)
  const source = readInput(path, { blocking: true })
  const parts: Buffer[] = []
  for await (const chunk of source) parts.push(Buffer.from(chunk))
  expect(Buffer.concat(parts).equals(expected)).toBe(true)
  expect(source.bytesRead).toBe(expected.length)
  // Closed when its reader stops.
  const before = openSync(path, 'r')
  closeSync(before)
  for await (const _ of readInput(path, { blocking: true })) break
  const after = openSync(path, 'r')
  closeSync(after)
  expect(after).toBe(before)
})

test('a file that is not there, and a folder', async () => {
  const missing = readInput('/no/such/file', { blocking: true })
  await expect(missing[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'ENOENT', path: '/no/such/file' })
  expect(() => readInput('/', { blocking: true })).toThrow('/ is a directory')
})
