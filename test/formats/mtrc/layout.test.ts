import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_VERSION,
  MIN_VERSION,
  headerLength,
  layoutOf,
  readHeader,
  writeHeader,
} from '../../../lib/formats/mtrc/layout.js'
import { hex } from './bytes.js'
import { randomLayout } from './random.js'

describe('headers', () => {
  it.each([
    ['ILP32 little', '4d545243 01000000 05290000', { wordSize: 4, longSize: 4, byteOrder: 'little' }],
    ['ILP32 big', '4d545243 00000001 00002905', { wordSize: 4, longSize: 4, byteOrder: 'big' }],
    ['LP64 little', '4d545243 0100000000000000 0529000000000000', { wordSize: 8, longSize: 8, byteOrder: 'little' }],
    ['LP64 big', '4d545243 0000000000000001 0000000000002905', { wordSize: 8, longSize: 8, byteOrder: 'big' }],
    ['LLP64 little', '4d545243 0100000000000000 05290000', { wordSize: 8, longSize: 4, byteOrder: 'little' }],
    ['LLP64 big', '4d545243 0000000000000001 00002905', { wordSize: 8, longSize: 4, byteOrder: 'big' }],
  ] as const)('%s', (_, digits, form) => {
    const bytes = hex(digits)
    const layout = { version: 10501, ...form }
    // A record's letter comes after it, which is never 0.
    const file = Uint8Array.of(...bytes, 0x41)
    expect(readHeader(file, 0, file.length)).toEqual(layout)
    expect(headerLength(layout)).toBe(bytes.length)
    expect(writeHeader(layout)).toEqual(bytes)
    for (let end = 0; end < bytes.length; end++) expect(readHeader(file, 0, end)).toBe('short')
  })

  it('come back as they are', () => {
    fc.assert(
      fc.property(randomLayout, (layout) => {
        const bytes = Uint8Array.of(0, ...writeHeader(layout), 0x4d)
        expect(readHeader(bytes, 1, bytes.length)).toEqual(layout)
        expect(layoutOf({ format: 'mtrc', layout: { ...layout } })).toEqual(layout)
      }),
    )
  })

  it.each([
    ['no magic', '4d545258 01000000 05290000'],
    ['neither order of 1', '4d545243 02000000 05290000'],
    ['a version below the first', '4d545243 00000001 0000270f'],
    ['a version beyond all bounds', '4d545243 00000001 000f4240'],
    ['a version of more than 32 bits', '4d545243 0000000000000001 0000000100002905'],
  ])('are not: %s', (_, digits) => {
    const bytes = hex(digits)
    expect(readHeader(bytes, 0, bytes.length)).toBe('bad')
  })
})

describe('layouts to write', () => {
  const layout = { version: 10501, wordSize: 8, longSize: 8, byteOrder: 'little' }

  it('default to 1.5.1 on 64-bit Unix', () => {
    expect(layoutOf({ format: 'replay', layout: { version: 7 } })).toEqual(layout)
    expect(layoutOf({ format: 'mtrc' })).toEqual(layout)
  })

  it.each([MIN_VERSION - 1, MAX_VERSION + 1, 10501.5, '10501'])('cannot have version %o', (version) => {
    expect(layoutOf({ format: 'mtrc', layout: { ...layout, version } })).toMatch(/version/)
  })

  it.each([{ wordSize: 4 }, { longSize: 2 }, { byteOrder: 'middle' }])('cannot have %o', (change) => {
    expect(layoutOf({ format: 'mtrc', layout: { ...layout, ...change } })).toMatch(/no header has/)
  })
})
