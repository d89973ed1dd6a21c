import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join as path } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KmemtraceDecoder, KmemtraceEncoder } from '../../../lib/formats/kmemtrace/index.js'
import { decodeAll, encodeAll, encodeEvents } from '../../support/drive.js'
import { ALLOC, BIG, FREE, LITTLE, PTR, SITE, feature, join, pack } from './bytes.js'
import { random } from './random.js'

describe('any trace', () => {
  it('comes back as it was, in chunks of any size, and gives the same bytes again', () => {
    fc.assert(
      fc.property(random(), fc.integer({ min: 1, max: 300 }), ({ header, events }, size) => {
        const bytes = encodeEvents(new KmemtraceEncoder({ strict: true }), events, header)
        const decoded = decodeAll(new KmemtraceDecoder(), bytes, size)
        expect(decoded.error).toBeUndefined()
        expect(decoded.events).toEqual(events)
        expect(decoded.headers).toEqual([header])
        expect(encodeAll(new KmemtraceEncoder({ strict: true }), decoded.batches)).toEqual(bytes)
      }),
    )
  })

  it('can be put behind another of the same layout', () => {
    const two = random(20).chain((trace) => random(20).map((other) => [trace, other] as const))
    fc.assert(
      fc.property(two, ([first, second]) => {
        fc.pre(JSON.stringify(first.header) === JSON.stringify(second.header))
        const bytes = [first, second].map(({ events, header }) => encodeEvents(new KmemtraceEncoder(), events, header))
        expect(decodeAll(new KmemtraceDecoder(), join(...bytes)).events).toHaveLength(
          first.events.length + second.events.length,
        )
      }),
    )
  })
})

describe('a long stream of hand-packed records', () => {
  it.each([
    ['little', LITTLE],
    ['big', BIG],
  ] as const)('%s-endian, comes back byte for byte', (_, order) => {
    // Sequence numbers wrap in the middle; some records move those behind them off every alignment.
    const records = Array.from({ length: 20_000 }, (_, i) => {
      const fields = {
        ...(i % 2 === 0 ? ALLOC : FREE),
        type: i % 3,
        seq: (2_147_483_647 - 10_000 + i) | 0,
        ptr: PTR + BigInt(i) * 64n,
      }
      return i % 50 === 7
        ? { ...fields, tail: feature(order, i % 256, 'x'.repeat(i % 9)) }
        : i % 500 === 3
          ? { ...fields, event: 9 }
          : fields
    })
    const bytes = pack(order, ...records)
    for (const size of [1000, 65_536, undefined]) {
      const { batches, events, error } = decodeAll(new KmemtraceDecoder(), bytes, size)
      expect(error).toBeUndefined()
      expect(events).toHaveLength(20_000)
      expect(Buffer.compare(encodeAll(new KmemtraceEncoder({ strict: true }), batches), bytes)).toBe(0)
    }
  })
})

const PROGRAM = `
#include <stdint.h>
#include <stdio.h>
struct core { uint8_t event, type; uint16_t event_size; int32_t seq; uint64_t call_site, ptr; } __attribute__((packed));
struct alloc { struct core core; uint64_t bytes_req, bytes_alloc; uint32_t gfp_flags; int32_t node; } __attribute__((packed));
struct user { uint8_t event, type; uint16_t event_size; uint32_t cpu; uint64_t timestamp; unsigned long call_site, ptr; };
struct user_alloc { struct user core; size_t bytes_req, bytes_alloc; unsigned gfp_flags; int node; };
int main(int argc, char **argv) {
  unsigned long site = 0xffffffff810a3c4eUL, ptr = 0xffff88003d7e1400UL;
  if (argc > 1) {
    struct user_alloc a = { { 0, 0, sizeof a, 3, 123456789, site, ptr }, 100, 128, 0xd0, -1 };
    struct user f = { 1, 0, sizeof f, 2, 123456790, site + 64, ptr };
    fwrite(&a, sizeof a, 1, stdout); fwrite(&f, sizeof f, 1, stdout);
  } else {
    struct alloc a = { { 0, 0, sizeof a, 1, site, ptr }, 100, 128, 0xd0, -1 };
    struct core f = { 1, 0, sizeof f, 2, site + 64, ptr };
    fwrite(&a, sizeof a, 1, stdout); fwrite(&f, sizeof f, 1, stdout);
  }
  return 0;
}`

/** Why the C structures cannot be tried here, if they cannot. */
const noCompiler = process.arch !== 'x64' || process.platform === 'win32' || spawnSync('cc', ['--version']).status !== 0

describe.skipIf(noCompiler)('the C structures (needs cc on x64)', () => {
  it('are what the tests pack by hand', () => {
    const folder = mkdtempSync(path(tmpdir(), 'heapflow-'))
    try {
      writeFileSync(path(folder, 'pack.c'), PROGRAM)
      expect(spawnSync('cc', ['-o', path(folder, 'pack'), path(folder, 'pack.c')], { encoding: 'utf8' }).stderr).toBe(
        '',
      )
      const run = (...args: string[]) => new Uint8Array(spawnSync(path(folder, 'pack'), args).stdout)
      expect(run()).toEqual(pack(LITTLE, ALLOC, FREE))
      const times = [
        { ...ALLOC, cpu: 3, time: 123_456_789n },
        { ...FREE, callSite: SITE + 64n, cpu: 2, time: 123_456_790n },
      ]
      expect(run('ftrace')).toEqual(pack({ little: true, word: 8 }, ...times))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
