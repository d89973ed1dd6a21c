import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { hasModel, readJson, writeModel } from '../../lib/cli/json-model.js'
import { scratch } from '../support/commands.js'

const MODEL = { format: 'heapflow-some', names: ['é'] }
/** Its text, with the newline. */
const BYTES = Buffer.byteLength(JSON.stringify(MODEL)) + 1
const same = (value: unknown) => value

describe('a file with a model', () => {
  test('is written only if it can be read', async () => {
    const path = join(scratch(), 'm.json')
    const output = { path, compression: undefined }
    await expect(writeModel(output, MODEL, BYTES - 1)).rejects.toThrow(/^JSON: over the limit: .* more than \d+ bytes/)
    expect(existsSync(path)).toBe(false)
    await writeModel(output, MODEL, BYTES)
    expect(readFileSync(path)).toHaveLength(BYTES)
    expect(await readJson(path, BYTES, same)).toEqual(MODEL)
  })

  test('is not read beyond the limit, which is that of its decompressed bytes', async () => {
    const path = join(scratch(), 'm.json')
    for (const bytes of [Buffer.from(JSON.stringify(MODEL)), gzipSync(JSON.stringify(MODEL))]) {
      writeFileSync(path, bytes)
      expect(await readJson(path, BYTES - 1, same)).toEqual(MODEL)
      await expect(readJson(path, BYTES - 2, same)).rejects.toThrow(/m\.json: JSON: over the limit: it has more than/)
    }
    writeFileSync(path, gzipSync(Buffer.alloc(1 << 24, ' ')))
    await expect(readJson(path, 1 << 20, same)).rejects.toThrow('over the limit')
  })

  test('that is longer than a string can be is refused', async () => {
    // As JSON.stringify throws, without the memory.
    const long = {
      toJSON(): void {
        throw new RangeError('Invalid string length')
      },
    }
    const output = { path: join(scratch(), 'm.json'), compression: undefined }
    await expect(writeModel(output, long, 1 << 20)).rejects.toThrow('over the limit')
  })

  test('is recognized, compressed or not', async () => {
    const path = join(scratch(), 'm.json')
    const text = JSON.stringify(MODEL)
    const cases: [string | Buffer, boolean][] = [
      [text, true],
      [`\n ${text}`, true],
      [gzipSync(text), true],
      ['{"kind":"alloc"}\n', false],
      [gzipSync('{"kind":"alloc"}\n'), false],
      [gzipSync(text).subarray(0, 12), false],
      ['', false],
    ]
    for (const [bytes, isOne] of cases) {
      writeFileSync(path, bytes)
      expect(await hasModel(path)).toBe(isOne)
    }
  })
})
