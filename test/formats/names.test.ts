import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isWritable } from '../../lib/event/format.js'
import type { TraceEvent } from '../../lib/event/batch.js'
import { batchesOf } from '../../lib/event/batch.js'
import { NO_HEADER } from '../../lib/event/header.js'
import { parquet } from '../../lib/formats/parquet/index.js'
import { FORMATS } from '../support/formats.js'
import { decodeAll, drive } from '../support/drive.js'
import { scratch } from '../support/commands.js'
import { readEvents } from './parquet/support.js'

async function readFile(bytes: Uint8Array) {
  const path = join(scratch(), 't.parquet')
  writeFileSync(path, bytes)
  return readEvents(path)
}

/** Names that are not plain text: marks, halves of pairs of UTF-16, and bytes that are not UTF-8 (U+DCNN). */
const NAMES = {
  'a byte order mark in front': '\ufeffname',
  'byte order marks': '\ufeff\ufeffa\ufeff',
  'the first half of a pair': 'a\ud800b',
  'the last first half of a pair': '\udbff',
  'a second half of a pair': 'a\ude00b',
  'the first and the last second half': '\udc00\udfff',
  'two first halves': '\ud800\udbff',
  'halves in the wrong order': '\ude00\ud800',
  'a first half before a character': 'a\ud83d\u00e9',
  'a first half before a pair': '\ud83d\u{1f600}',
  'a byte that is not UTF-8': 'a\udcffb',
  'bytes that are not UTF-8': '\udced\udca0',
  'characters for private use': '\u{10fe80}\u{10feff}',
  zero: 'a\0b',
}
const FIELDS = ['function', 'module', 'type', 'file', 'text'] as const

describe.each([...FORMATS.filter(isWritable), parquet])('$name', (format) => {
  it.each(Object.entries(NAMES))('keeps %s, or reports a loss', async (_, name) => {
    for (const field of FIELDS) {
      const event: TraceEvent = {
        ...(field === 'text' ? { kind: 'comment' } : { kind: 'alloc', address: 16n, size: 8n, time: 1n, thread: 1n }),
        [field]: name,
      }
      const encoder = format.encoder()
      const { out, error } = drive(encoder, batchesOf([event], NO_HEADER))
      expect(error).toBeUndefined()
      const bytes = new Uint8Array(Buffer.concat(out))
      const { events } = format === parquet ? await readFile(bytes) : decodeAll(format.decoder(), bytes)
      if (events[0]?.[field] === name) continue
      const reasons = [...encoder.losses.counts.keys()]
      expect([field, reasons.filter((reason) => new RegExp(`\\b${field}|name|comment`).test(reason))]).not.toEqual([
        field,
        [],
      ])
    }
  })
})
