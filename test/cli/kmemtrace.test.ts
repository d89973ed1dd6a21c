// @module-tag slow
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import { ALLOC, BIG, feature, FREE, LITTLE, pack, type Fields, type Packing } from '../formats/kmemtrace/bytes.js'
import { commandLine, scratch, shell } from '../support/commands.js'
import { decodeAll } from '../support/drive.js'
import { LIMIT } from '../support/peak.js'

/** The records of so many CPUs, numbered from `first`, which wraps; each CPU's in the order of their numbers. */
function perCpu(packing: Packing, cpus: number, records: number, first: number): Uint8Array[] {
  const files = Array.from({ length: cpus }, (): Fields[] => [])
  for (let i = 0; i < records; i++) {
    const seq = (first + i) | 0
    // Runs of different lengths, as the scheduler has it.
    const cpu = Math.floor(i / ((i % 7) + 1)) % cpus
    const even = {
      ...ALLOC,
      seq,
      type: i % 3,
      ptr: BigInt(0xffff_8800_0000_0000n) + BigInt(i * 64),
      bytesReq: BigInt((i % 100) + 1),
      node: (i % 4) - 1,
    }
    const odd = {
      ...FREE,
      seq,
      type: i % 3,
      ...(i % 11 === 0 && { tail: feature(packing, 1, `${i}`) }),
      ...(i % 13 === 0 && { event: 9, type: 7 }),
    }
    files[cpu]?.push(i % 2 === 0 ? even : odd)
  }
  return files.map((list) => pack(packing, ...list))
}

function folderOf(files: readonly Uint8Array[], more: Record<string, string> = {}): string {
  const folder = scratch()
  files.forEach((bytes, cpu) => writeFileSync(join(folder, `cpu${cpu}`), bytes))
  for (const [name, text] of Object.entries(more)) writeFileSync(join(folder, name), text)
  return folder
}

async function decode(line: string): Promise<{ code: number | null; stderr: string; events: TraceEvent[] }> {
  const { code, stderr, stdout } = await shell(line)
  return { code, stderr, events: decodeAll(ndjson.format.decoder(), stdout).events }
}

describe.each([
  ['little', LITTLE],
  ['big', BIG],
] as const)('%s-endian files of several CPUs', (_, packing) => {
  const FIRST = 2 ** 31 - 500
  const files = perCpu(packing, 5, 1000, FIRST)

  test('are merged by sequence number, over its end, and come back byte for byte', async () => {
    const folder = folderOf(files)
    const { code, stderr, events } = await decode(`kmemtrace-decode ${folder}/cpu*`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(events.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1000 }, (__, i) => (FIRST + i) | 0))
    expect(new Set(events.map(({ cpu }) => cpu))).toEqual(new Set([0, 1, 2, 3, 4]))
    const back = await shell(`cd ${folder}; mkdir back; kmemtrace-decode cpu? | kmemtrace-encode -o 'back/cpu%d'`)
    expect({ code: back.code, stderr: back.stderr }).toEqual({ code: 0, stderr: '' })
    files.forEach((bytes, cpu) => expect(Buffer.compare(readFileSync(join(folder, `back/cpu${cpu}`)), bytes)).toBe(0))
  })

  test('can be a folder as the kernel had it, compressed or not', async () => {
    const folder = folderOf(files, { abi_version: '1\n', total_overruns: '4711\n' })
    const { code, stderr, events } = await decode(`kmemtrace-decode ${folder}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(events).toHaveLength(1001)
    expect(events.at(-1)).toEqual({ kind: 'lost', size: 4711n })
    const back = await shell(
      `cd ${folder}; kmemtrace-decode . | kmemtrace-encode -o back/; kmemtrace-decode . | kmemtrace-encode -z -o packed/; kmemtrace-decode packed`,
    )
    expect({ code: back.code, stderr: back.stderr }).toEqual({ code: 0, stderr: '' })
    for (const name of readdirSync(join(folder, 'back'))) {
      expect(Buffer.compare(readFileSync(join(folder, 'back', name)), readFileSync(join(folder, name)))).toBe(0)
    }
    expect(readdirSync(join(folder, 'back')).toSorted()).toEqual([
      'abi_version',
      'cpu0',
      'cpu1',
      'cpu2',
      'cpu3',
      'cpu4',
      'total_overruns',
    ])
    expect(decodeAll(ndjson.format.decoder(), back.stdout).events).toEqual(events)
  })
})

describe('kmemtrace-decode', () => {
  const files = perCpu(LITTLE, 3, 300, 1)

  test('gives one file its CPU by its name or --cpu, and leaves its order alone', async () => {
    const folder = folderOf([files[0], Buffer.concat([files[1], files[2]])])
    const named = await decode(`kmemtrace-decode ${folder}/cpu1`)
    expect(new Set(named.events.map(({ cpu }) => cpu))).toEqual(new Set([1]))
    expect(
      (await shell(`kmemtrace-decode ${folder}/cpu1 | kmemtrace-encode --cpu 1 | cmp - ${folder}/cpu1`)).code,
    ).toBe(0)
    expect((await shell(`kmemtrace-decode < ${folder}/cpu1 | kmemtrace-encode | cmp - ${folder}/cpu1`)).code).toBe(0)
    const same = await shell(
      `cd ${folder}; kmemtrace-decode cpu1 | kmemtrace-encode --strict -o new.cpu1 && cmp new.cpu1 cpu1`,
    )
    expect(same).toMatchObject({ code: 0, stderr: '' })
    const other = await shell(`cd ${folder}; kmemtrace-decode cpu1 | kmemtrace-encode -o new.cpu2`)
    expect(other.stderr).toContain('cpu other than 2 (')
    expect((await decode(`kmemtrace-decode --cpu 7 < ${folder}/cpu1`)).events[0]?.cpu).toBe(7)
    expect((await decode(`kmemtrace-decode < ${folder}/cpu1`)).events[0]?.cpu).toBeUndefined()
  })

  test('reports a missing file by the numbers that it had, and a file that came twice', async () => {
    const folder = folderOf(files)
    const missing = await decode(`kmemtrace-decode ${folder}/cpu0 ${folder}/cpu2`)
    expect(missing.code).toBe(0)
    expect(missing.stderr).toMatch(/missing/)
    const twice = await decode(
      `cp ${folder}/cpu2 ${folder}/copy-of-cpu2; kmemtrace-decode ${folder}/cpu0 ${folder}/cpu1 ${folder}/cpu2 ${folder}/copy-of-cpu2`,
    )
    expect(twice.events).toHaveLength(300 + (await decode(`kmemtrace-decode ${folder}/cpu2`)).events.length)
    expect(twice.stderr).toMatch(/more than once|come again|repeated/)
  })

  test('reads an empty file among others, and says which one is cut', async () => {
    const folder = folderOf([...files, new Uint8Array(0), gzipSync(files[0].subarray(0, 0))])
    expect(await decode(`kmemtrace-decode ${folder}/cpu*`)).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(folder, 'cpu1'), files[1].subarray(0, -5))
    const cut = await decode(`kmemtrace-decode ${folder}/cpu*`)
    expect(cut.code).toBe(1)
    expect(cut.events).toHaveLength(299)
    expect(cut.stderr).toMatch(/cpu1: kmemtrace: byte \d+, event \d+: truncated/)
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['an unknown ABI version', { abi_version: '2\n' }, /abi_version: ABI version 2 is not known/],
    ['overruns that are no number', { total_overruns: 'many\n' }, /total_overruns: not a number: "many"/],
  ])('refuses a folder with %s', async (_, more, message) => {
    const { code, stderr } = await shell(`kmemtrace-decode ${folderOf(files, more)}`)
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
  })

  test('refuses a folder without files, a missing file, and --cpu with several', async () => {
    const folder = folderOf(files)
    expect(await shell(`kmemtrace-decode ${scratch()}`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has no files cpu0/) as string,
    })
    expect(await shell(`kmemtrace-decode ${folder}/cpu9 ${folder}/cpu1`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no such file/) as string,
    })
    expect(await shell(`kmemtrace-decode --cpu 1 ${folder}/cpu0 ${folder}/cpu1`)).toMatchObject({ code: 2 })
    expect(await shell(`kmemtrace-decode --window 5 ${folder}/cpu0`)).toMatchObject({ code: 2 })
    for (const line of [`kmemtrace-decode --cpu 4294967296 ${folder}/cpu0`, 'kmemtrace-encode --cpu 2147483648 x']) {
      const { code, stderr } = await shell(line)
      expect([code, stderr]).toEqual([2, expect.stringContaining('--cpu needs a whole number from 0 to 2147483647')])
    }
    expect(await shell(`kmemtrace-decode --window 65537 ${folder}`)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/from 0 to 65536/) as string,
    })
  })
})

describe('kmemtrace-encode into files per CPU', () => {
  test('numbers what has no number, and puts what has no CPU into the file of CPU 0', async () => {
    const folder = scratch()
    const dump =
      '1: malloc 0x1000 8\n1: realloc 0x2000 0x1000 16\n1: free 0x2000\n1: realloc 0x3000 0x0 8\n1: realloc 0x0 0x3000 0\n1: malloc 0x1000 8\n'
    const { code } = await shell(`replay-decode | kmemtrace-encode -o ${folder}/cpu%d`, dump)
    expect(code).toBe(0)
    expect(readdirSync(folder)).toEqual(['cpu0'])
    const { events } = await decode(`kmemtrace-decode ${folder}/cpu0`)
    expect(events.map(({ kind, sequence }) => [kind, sequence])).toEqual([
      ['alloc', 1],
      ['free', 2],
      ['alloc', 3],
      ['free', 4],
      ['alloc', 5],
      ['free', 6],
      ['alloc', 7],
    ])
  })

  test('numbers the records of reallocs on several CPUs in the order of all', async () => {
    const folder = scratch()
    const event = (kind: string, cpu: number, more: object) => JSON.stringify({ kind, cpu, ...more })
    const lines = [
      event('alloc', 0, { address: '0x10', size: 1 }),
      event('alloc', 1, { address: '0x20', size: 1 }),
      event('realloc', 0, { address: '0x30', oldAddress: '0x10', size: 2 }),
      event('alloc', 1, { address: '0x40', size: 1 }),
      event('thread-destroy', 1, {}),
      event('realloc', 1, { address: '0x50', oldAddress: '0x0', size: 2 }),
      event('free', 0, { address: '0x20' }),
    ]
    const { stderr, events } = await decode(
      `kmemtrace-encode -o ${folder}/ << 'END' 2> /dev/null\n${lines.join('\n')}\nEND\nkmemtrace-decode ${folder}`,
    )
    expect(stderr).toBe('')
    expect(events.map(({ kind, cpu, sequence, address }) => [kind, cpu, sequence, address])).toEqual([
      ['alloc', 0, 1, 0x10n],
      ['alloc', 1, 2, 0x20n],
      ['free', 0, 3, 0x10n],
      ['alloc', 0, 4, 0x30n],
      ['alloc', 1, 5, 0x40n],
      ['alloc', 1, 6, 0x50n],
      ['free', 0, 7, 0x20n],
    ])
  })

  test('keeps the order of ftrace records of several CPUs', async () => {
    const folder = scratch()
    const records = Array.from({ length: 100 }, (_, i): Fields => ({
      ...ALLOC,
      cpu: (i * i) % 3,
      time: BigInt(i),
      ptr: BigInt(i + 1) * 64n,
    }))
    writeFileSync(join(folder, 'trace'), pack({ little: true, word: 8 }, ...records))
    const { code, stderr } = await shell(
      `cd ${folder}; kmemtrace-decode trace | kmemtrace-encode --layout relay -o cpu%d`,
    )
    expect(code).toBe(0)
    expect(stderr).toMatch(/warning: not representable in kmemtrace, dropped or changed: time \(100\)/)
    const { events } = await decode(`kmemtrace-decode ${folder}/cpu*`)
    expect(events.map(({ address }) => address)).toEqual(records.map(({ ptr }) => ptr))
  })

  test('does not mix a trace with one that is there, and knows no CPU below 0', async () => {
    const folder = scratch()
    const line = '{"kind":"alloc","cpu":-1,"address":"0x10","size":1}'
    const { stderr, code } = await shell(`kmemtrace-encode -o ${folder}/ && kmemtrace-encode -o ${folder}/`, line)
    expect(stderr).toMatch(/cpu0 is there already: write to another folder/)
    expect(code).toBe(2)
    expect((await decode(`kmemtrace-decode ${folder}`)).events.map(({ cpu }) => cpu)).toEqual([0])
  })

  test('tells overruns that have no place, and does not write over its input', async () => {
    const folder = folderOf(perCpu(LITTLE, 2, 10, 1), { total_overruns: '5' })
    const { stderr, code } = await shell(
      `cd ${folder}; kmemtrace-decode . | kmemtrace-encode -o new%d; kmemtrace-encode -o cpu%d cpu0`,
    )
    expect(stderr).toMatch(/warning: not representable in kmemtrace, dropped or changed: .*lost/)
    expect(stderr).toMatch(/cpu0 is the input too/)
    expect(code).toBe(2)
    expect(existsSync(join(folder, 'new1'))).toBe(true)
  })
})

test(
  '64 files with 1,000,000 events in all merge to rising numbers in bounded memory',
  { timeout: 60_000, tags: ['large'] },
  async () => {
    const folder = scratch()
    mkdirSync(join(folder, 'k'))
    const EVENTS = 1_000_000
    // As 64 CPUs leave them: runs of events on one CPU after another, of any length.
    const sizes = new Uint32Array(64)
    const buffers = Array.from({ length: 64 }, () => new DataView(new ArrayBuffer(48 * (EVENTS / 16))))
    let state = 12_345
    let cpu = 0
    for (let i = 0; i < EVENTS; i++) {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      if (state >>> 28 === 0) cpu = (state >>> 16) % 64
      const view = buffers[cpu]
      const at = sizes[cpu]
      const size = i % 2 === 0 ? 48 : 24
      view.setUint8(at, i % 2)
      view.setUint16(at + 2, size, true)
      view.setInt32(at + 4, (2 ** 31 - 1000 + i) | 0, true)
      view.setUint32(at + 16, (i >> 1) * 64 + 64, true)
      if (size === 48) view.setUint32(at + 24, 32, true)
      sizes[cpu] = at + size
    }
    buffers.forEach((view, n) => writeFileSync(join(folder, 'k', `cpu${n}`), new Uint8Array(view.buffer, 0, sizes[n])))
    const report =
      'data:text/javascript,process.on("exit",()=>process.stderr.write("peak="+process.resourceUsage().maxRSS*1024))'
    const line = commandLine('kmemtrace-decode k').replace('"', `NODE_OPTIONS='--import=${JSON.stringify(report)}' "`)
    const { stderr, stdout, code } = await shell(
      `cd ${folder}; ${line} | grep -o '"sequence":[-0-9]*' | cut -d: -f2 | awk 'NR > 1 && $1 != (last == 2147483647 ? -2147483648 : last + 1) { bad++ } { last = $1 } END { print NR, bad + 0 }'`,
    )
    expect(code).toBe(0)
    expect(stdout.toString()).toBe(`${EVENTS} 0\n`)
    expect(stderr).toMatch(/^peak=\d+$/)
    expect(Number(stderr.slice('peak='.length))).toBeLessThan(LIMIT)
  },
)
