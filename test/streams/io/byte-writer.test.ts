import { openSync, closeSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newChunk } from '../../../lib/bytes/chunks.js'
import { ByteWriter } from '../../../lib/streams/io/byte-writer.js'
import { readInput } from '../../../lib/streams/io/read-input.js'
import { scratch, shell } from '../../support/commands.js'

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

test('an error that no one was told remains when the output is abandoned', async () => {
  const writer = new ByteWriter('/dev/full')
  void writer.write(Uint8Array.of(1))
  expect(writer.unreported).toBe(undefined)
  await writer.abandon()
  expect(writer.unreported).toMatchObject({ code: 'ENOSPC' })
  const other = new ByteWriter('/dev/full')
  void other.write(Uint8Array.of(1))
  await expect(other.finish()).rejects.toMatchObject({ code: 'ENOSPC' })
  await other.abandon()
  expect(other.unreported).toBe(undefined)
})

test('a truncated input and a full disk are both reported', async () => {
  const { code, stderr } = await shell(
    'hf-filter -o /dev/full',
    '{"kind":"header","format":"ndjson"}\n{"kind":"alloc"}\n',
  )
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^hf-filter: cannot write: no space left on device\nhf-filter: stdin: ndjson: .*truncated.*\n$/,
  )
})

test('a pipe that is closed before it is read gives nothing, and does not keep the process', async () => {
  const script = `import { readInput } from '${new URL('../../../dist/lib/streams/io/read-input.js', import.meta.url).href}'
    const source = readInput('-', { blocking: false })
    const first = source[Symbol.asyncIterator]().next()
    source.close()
    console.log((await first).done)`
  const file = join(scratch(), 'close.mjs')
  writeFileSync(file, script)
  // Its writer neither writes nor closes it.
  const { code, stdout } = await shell(
    `mkfifo ${file}.pipe; exec 3<>${file}.pipe; timeout 20 node ${file} < ${file}.pipe`,
  )
  expect([code, stdout.toString()]).toEqual([0, 'true\n'])
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
