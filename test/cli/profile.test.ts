// @module-tag slow
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

describe('hf-profile', () => {
  test('finds the tool by the name of the output', async () => {
    const folder = scratch()
    for (const name of ['a.pb.gz', 'a.collapsed', 'a.folded.gz', 'a.dhat', 'a.speedscope.json.gz']) {
      const run = await shell(`hf-profile -o ${join(folder, name)} ${TRACE}`)
      expect({ code: run.code, stderr: run.stderr }).toEqual({ code: 0, stderr: '' })
    }
    expect(gunzipSync(readFileSync(join(folder, 'a.pb.gz'))).includes('inuse_space')).toBe(true)
    const text = readFileSync(join(folder, 'a.collapsed'), 'utf8')
    expect(gunzipSync(readFileSync(join(folder, 'a.folded.gz'))).toString()).toBe(text)
  })

  test('takes live figures at any moment', async () => {
    const sum = async (flags: string) => {
      const { stdout, code, stderr } = await shell(`hf-profile --to collapsed --value live-bytes ${flags} ${TRACE}`)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      return stdout
        .toString()
        .match(/\d+$/gm)
        ?.reduce((all, n) => all + Number(n), 0)
    }
    expect(await sum('')).toBe(6527)
    expect(await sum('--at end')).toBe(6527)
    expect(await sum('--at peak')).toBe(3_000_000)
    // The peak is at event 16.
    expect(await sum('--at 16')).toBe(3_000_000)
  })

  test('says what it is not sure of', async () => {
    const { stdout, stderr, code } = await shell(
      'hf-filter --kind alloc | hf-profile --to collapsed',
      readFileSync('test/fixtures/mtrc/cxx64.mtrc'),
    )
    expect(code).toBe(0)
    expect(stdout.length).toBeGreaterThan(0)
    expect(stderr).toMatch(/^hf-profile: warning: stdin: events were removed: leaks/m)
  })

  test('writes the profile of the part that was read, then the error', async () => {
    const bytes = readFileSync('test/fixtures/mtrc/cxx64.mtrc').subarray(0, 1000)
    const { stdout, stderr, code } = await shell('hf-profile --to collapsed', bytes)
    expect(code).toBe(1)
    // The gzip member of a profile is whole, for pprof reads no other.
    const pprof = await shell('hf-profile --to pprof', bytes)
    expect(pprof.code).toBe(1)
    expect(gunzipSync(pprof.stdout).includes('inuse_space')).toBe(true)
    expect(stderr).toMatch(/mtrc/)
    expect(stdout.toString()).toMatch(/ \d+\n$/)
  })

  test.each([
    ['hf-profile', /name a tool to write for: --to pprof, collapsed/],
    ['hf-profile -o x.txt', /name a tool to write for/],
    ['hf-profile --to pprof --gzip --zstd', /--gzip and --zstd cannot be combined/],
    ['hf-profile --to gif', /--to must be one of pprof, collapsed/],
    [
      'hf-profile --to collapsed --at noon',
      /--at: not a moment: 'noon' \(write the number of an event, time:T, peak or end\)/,
    ],
    ['hf-profile --to collapsed --trace 0', /--trace needs a whole number from 1 on/],
    ['hf-profile --to pprof --lines', /--lines does not apply to pprof, which has the lines in any case/],
    ['hf-profile --to dhat --at peak', /--at does not apply to dhat, whose figures are fixed/],
    ['hf-profile --to collapsed --at peak', /--at needs --value live-bytes or live-blocks with --to collapsed/],
    ['hf-profile --to collapsed --value peak-bytes --at 5', /--at needs --value live-bytes or live-blocks/],
    ['hf-profile --to chrome --thread-root', /--thread-root does not apply to chrome, which has no stacks/],
    ['hf-profile --to chrome --hide x', /--hide does not apply to chrome/],
    ['hf-profile --to chrome --show all', /--show does not apply to chrome/],
    ['hf-profile --to collapsed a b', /one input at a time/],
  ])('%s is a mistake', async (line, message) => {
    const { code, stderr } = await shell(line)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('warns of sums that pprof does not have', async () => {
    const trace = ['f', 'g', 'h'].map((name, i) => ({
      kind: 'alloc',
      address: `0x${i + 1}`,
      size: 2 ** 61,
      function: name,
    }))
    const lines = (sizes: number) =>
      trace
        .slice(0, sizes)
        .map((event) => JSON.stringify(event).replace(String(2 ** 61), String(2n ** 62n)))
        .join('\n')
    const capped = 'hf-profile: warning: stdin: pprof adds up to 2^63 - 1 only'
    expect((await shell('hf-profile --to pprof', lines(3))).stderr).toContain(capped)
    expect((await shell('hf-profile --to collapsed', lines(3))).stderr).not.toContain('2^63')
    expect((await shell('hf-profile --to pprof', lines(1))).stderr).not.toContain('2^63')
  })

  test('a moment beyond the end is an error', async () => {
    const { code, stderr } = await shell(`hf-profile --to collapsed --value live-bytes --at 99999 ${TRACE}`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/there is no event 99999: there are 2798/)
  })
})
