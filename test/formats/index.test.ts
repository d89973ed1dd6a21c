import { describe, expect, test } from 'vitest'
import { CATALOGUE, entryNamed, entryOfPath, sniffEntry } from '../../lib/formats/index.js'
import { isWritable, type WritableFormat } from '../../lib/event/format.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { formatOfPath, FORMATS, sniffFormat } from '../../lib/entry/registry.js'
import { encodeEvents } from '../support/drive.js'

test('has the formats of the registry, in their order', () => {
  expect(CATALOGUE.map(({ name }) => name)).toEqual(FORMATS.map(({ name }) => name))
})

describe.each([...FORMATS])('$name', (format) => {
  test('has an encoder unless it is read-only', () => {
    expect(isWritable(format)).toBe(format.readOnly !== true)
  })

  test('is loaded by its entry, and is told in the same words', async () => {
    const entry = entryNamed(format.name)
    expect(await entry?.load()).toBe(format)
    const { sniff: _sniff, load: _load, ...traits } = entry as NonNullable<typeof entry>
    expect(format).toMatchObject(traits)
  })

  test('is found by its names', () => {
    for (const ending of format.extensions) {
      for (const path of [`a${ending}`, `A${ending.toUpperCase()}.gz`]) {
        expect(entryOfPath(path)?.name).toBe(format.name)
        expect(formatOfPath(path)).toBe(format)
      }
    }
  })

  test.skipIf(!isWritable(format))('is found by its first bytes, in the same way as without loading', async () => {
    const bytes = encodeEvents(
      (format as WritableFormat).encoder(),
      [
        { kind: 'alloc', api: 'malloc', thread: 7n, time: 5n, address: 0x5500_0000n, size: 48n },
        { kind: 'free', api: 'free', thread: 7n, time: 6n, address: 0x5500_0000n },
      ],
      NO_HEADER,
    )
    expect(sniffFormat(bytes)).toBe(format)
    for (let end = 0; end <= bytes.length; end++) {
      const head = bytes.subarray(0, end)
      expect((await sniffEntry(head))?.name).toBe(sniffFormat(head)?.name)
    }
  })
})

test('an unknown name, ending or beginning is of no format', async () => {
  expect(entryNamed('elf')).toBeUndefined()
  expect(entryOfPath('a.elf')).toBeUndefined()
  expect(await sniffEntry(new Uint8Array(64))).toBeUndefined()
})
