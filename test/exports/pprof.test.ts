import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Profile } from '../../lib/transforms/profile/profile.js'
import { scratch, shell } from '../support/commands.js'
import { hostileEvents, isInstalled, profileOf, written } from './support.js'

const hasGo = isInstalled('go', 'version')
const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

/** What `go tool pprof -raw` prints of a file. */
function raw(bytes: Uint8Array): string {
  const file = join(scratch(), 'profile.pb.gz')
  writeFileSync(file, bytes)
  const { status, stdout, stderr } = spawnSync('go', ['tool', 'pprof', '-raw', file], { encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return stdout
}

/** The figures by type, summed up over all samples. */
function sums(text: string): Record<string, bigint> {
  const [, heads = '', ...lines] = text.slice(text.indexOf('Samples:\n')).split('\n')
  const types = heads.split(' ').map((head) => head.replace(/\/.*$/, ''))
  const totals: Record<string, bigint> = Object.fromEntries(types.map((type) => [type, 0n]))
  for (const line of lines) {
    const [, figures] = /^([ \d]+): [\d ]+$/.exec(line) ?? []
    if (figures === undefined) break
    figures
      .trim()
      .split(/\s+/)
      .forEach((figure, i) => (totals[types[i]]! += BigInt(figure)))
  }
  return totals
}

const expected = ({ statistics: { allocated, leaked, peakBytes, temporary } }: Pick<Profile, 'statistics'>) => ({
  alloc_objects: BigInt(allocated.blocks),
  alloc_space: BigInt(allocated.bytes),
  temporary_objects: BigInt(temporary.heaptrack.blocks),
  temporary_space: BigInt(temporary.heaptrack.bytes),
  peak_objects: BigInt(peakBytes.blocks),
  peak_space: BigInt(peakBytes.bytes),
  inuse_objects: BigInt(leaked.blocks),
  inuse_space: BigInt(leaked.bytes),
})

describe.skipIf(!hasGo)('go tool pprof (needs Go)', { tags: ['slow'] }, () => {
  test('has the sums of hf-stats --json', async () => {
    const { stdout } = await shell(`hf-profile --to pprof ${TRACE}`)
    const statistics = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as Profile['statistics']
    expect(sums(raw(stdout))).toMatchObject(expected({ statistics }))
  })

  test('shows the functions, by the figure that live bytes are by default', async () => {
    const file = join(scratch(), 'small.pb.gz')
    const top = async (flags: string, types = '') => {
      const run = await shell(`hf-profile -o ${file} ${flags} ${TRACE} && go tool pprof -top ${types} ${file}`)
      expect(run.code).toBe(0)
      return run.stdout.toString()
    }
    const text = await top('', '-sample_index=alloc_space')
    expect(text).toMatch(/^File: small64\.mtrc\.gz$/m)
    expect(text).toMatch(/^Type: alloc_space$/m)
    expect(text).toMatch(/\d+%\s+edge$/m)
    expect(await top('')).toMatch(/^Type: inuse_space$/m)
    expect(await top('--value peak-blocks')).toMatch(/^Type: peak_objects$/m)
  })

  test('accepts any names', async () => {
    const profile = profileOf(hostileEvents(), { threadRoot: true })
    const text = raw(gzipSync(await written('pprof', profile)))
    expect(sums(text)).toMatchObject(expected(profile))
    expect(text).toContain('</script><img src=x onerror=alert(1)>')
  })

  test('has the modules and offsets of frames without a function', async () => {
    const stack = ['in /bin/a b+0x1f0', 'in /lib/c.so+0x2e0 [0x7f00]', 'main at a.c:3 in /bin/a b+0x10']
    const text = raw(gzipSync(await written('pprof', profileOf([{ kind: 'alloc', address: 4096n, size: 8n, stack }]))))
    expect(text).toMatch(/0x1f0 M=2 \/bin\/a b\+0x1f0/)
    expect(text).toMatch(/0x2e0 M=3 \/lib\/c\.so\+0x2e0/)
    expect(text).toMatch(/2: 0x0\/0x0\/0x0 \/bin\/a b/)
  })

  test('accepts a profile of nothing', async () => {
    expect(raw(gzipSync(await written('pprof', profileOf([]))))).toContain('inuse_space/bytes[dflt]')
  })

  test('gets the largest figure that it has room for', async () => {
    const size = 2n ** 64n - 1n
    const profile = profileOf([1n, 2n, 3n].map((address) => ({ kind: 'alloc', address, size, function: 'f' })))
    expect(sums(raw(gzipSync(await written('pprof', profile))))).toMatchObject({
      alloc_objects: 3n,
      alloc_space: 2n ** 63n - 1n,
    })
  })

  test('gets sums that it does not take for negative ones', async () => {
    const size = 2n ** 62n
    const names = ['f', 'g', 'h']
    const profile = profileOf(names.map((name, i) => ({ kind: 'alloc', address: BigInt(i + 1), size, function: name })))
    const text = raw(gzipSync(await written('pprof', profile)))
    expect(sums(text)).toMatchObject({ alloc_objects: 3n, alloc_space: 2n ** 63n - 1n, inuse_space: 2n ** 63n - 1n })
    expect(text).toContain('Figures whose sum would be beyond 2^63 - 1 are capped.')
    expect(raw(gzipSync(await written('pprof', profileOf([]))))).not.toContain('capped')
  })
})

describe('the messages', () => {
  test('number everything from 1 without gaps, and say every string once', async () => {
    const bytes = await written('pprof', profileOf(hostileEvents()))
    const fields = parse(bytes)
    for (const field of [3, 4, 5]) {
      const ids = fields.filter(([number]) => number === field).map(([, body]) => parse(body as Uint8Array)[0]?.[1])
      expect(ids).toEqual(ids.map((_, i) => BigInt(i + 1)))
    }
    const strings = fields
      .filter(([number]) => number === 6)
      .map(([, body]) => Buffer.from(body as Uint8Array).toString())
    expect(strings[0]).toBe('')
    expect(new Set(strings).size).toBe(strings.length)
    expect(strings.every((text) => (text.isWellFormed() && !text.includes('\ufffd')) || text.includes('é'))).toBe(true)
  })
})

/** The fields of a message: varints as integers, the rest as bytes. */
function parse(bytes: Uint8Array): [field: number, value: bigint | Uint8Array][] {
  const fields: [number, bigint | Uint8Array][] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    if (tag % 8 === 0) fields.push([tag >> 3, varint()])
    else {
      expect(tag % 8).toBe(2)
      const length = Number(varint())
      fields.push([tag >> 3, bytes.subarray(at, at + length)])
      at += length
    }
  }
  return fields
}
