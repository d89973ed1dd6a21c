import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { corpusPath } from '../support/corpus.js'
import { scratch, shell } from '../support/commands.js'

/** A free by another thread that was recorded behind the reuse of its address, and a free of nothing that is known. */
const RACE =
  '1: malloc 0x1000 8 10 11\n2: malloc 0x1000 16 20 21\n1: free 0x1000 18 22\n3: free 0x5000 30 31\n2: free 0x1000 40 41\n'

describe('hf-verify', () => {
  test('says nothing is wrong, and exits with 0', async () => {
    const { code, stdout, stderr } = await shell('hf-verify', '1: malloc 0x1000 8\n1: free 0x1000\n')
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 0,
      stdout: '2 events, no faults\n',
      stderr: '',
    })
  })

  test('warns that blocks of an interpreted file of heaptrack are not known', async () => {
    const { stderr } = await shell('hf-verify test/fixtures/heaptrack/mtv-small.heaptrack.gz')
    expect(stderr).toMatch(/^hf-verify: warning: .* which block is freed, so invalid frees, .* not known; recordings /)
    expect((await shell('hf-verify test/fixtures/heaptrack/mtv-small.raw.gz')).stderr).toBe('')
  })

  test('tells faults with their first places, and exits with 1', async () => {
    const { code, stdout, stderr } = await shell('hf-verify --places 1', `${RACE}3: free 0x6000 50 51\n`)
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout.toString()).toBe(
      'unknown-free: 2\n  event 4: free of 0x5000 by thread 3: the block is not live\n  and 1 more\n' +
        'double-free: 1\n  event 5: free of 0x1000 by thread 2: the block was freed before\n' +
        'live-address: 1\n  event 2: alloc of 16 bytes at 0x1000 by thread 2, where a block is live\n' +
        'time-backwards: 1\n  event 3: time 18 is before that of the event before\n6 events, 5 faults\n',
    )
    const json = await shell('hf-verify --json --allow unknown-free --allow double-free --allow time-backwards', RACE)
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout.toString())).toEqual({
      events: 5,
      lost: 0,
      lostEvents: 0,
      faults: { 'live-address': 1 },
      places: [
        { fault: 'live-address', event: 2, what: 'alloc of 16 bytes at 0x1000 by thread 2, where a block is live' },
      ],
    })
  })

  test('reports a trace that is cut off, and one that is no trace', { tags: ['slow'] }, async () => {
    const lines = (await shell('replay-decode', RACE)).stdout.toString().split('\n').slice(0, 2).join('\n') + '\n'
    const cut = await shell('hf-verify', lines)
    expect(cut.code).toBe(1)
    expect(cut.stdout.toString()).toMatch(
      /^missing-end: 1\n {2}event 2: stdin: ndjson: .*truncated.*\n1 event could be read, 1 fault\n$/,
    )
    const cutJson = JSON.parse((await shell('hf-verify --json', lines)).stdout.toString()) as { error: string }
    expect(cutJson.error).toMatch(/^stdin: ndjson: .*truncated/)
    const bad = await shell('hf-verify', `${RACE}what is this\n`)
    expect(bad.code).toBe(1)
    expect(bad.stdout.toString()).toContain('5 events could be read, 4 faults')
    expect(bad.stderr).toMatch(/^hf-verify: stdin: replay: line 6.*malformed/)
    const json = await shell('hf-verify --json', `${RACE}what is this\n`)
    expect(json.code).toBe(1)
    const { events, error } = JSON.parse(json.stdout.toString()) as { events: number; error: string }
    expect({ events, error: `hf-verify: ${error}\n` }).toEqual({ events: 5, error: bad.stderr })
  })

  test('reports in JSON why a compact trace cannot be read, even if no event can', async () => {
    const trace = join(scratch(), 'damaged.hfc')
    expect((await shell(`compact-encode -o ${trace}`, RACE)).code).toBe(0)
    const bytes = readFileSync(trace)
    bytes[60] = bytes[60] ^ 1
    writeFileSync(trace, bytes)
    const { code, stdout, stderr } = await shell(`hf-verify --json ${trace}`)
    expect(code).toBe(1)
    const { faults, error } = JSON.parse(stdout.toString()) as { faults: object; error: string }
    expect(faults).toEqual({})
    expect(error).toContain('byte 10, event 1: malformed: the checksum of a section is wrong')
    expect(stderr).toBe(`hf-verify: ${error}\n`)
  })

  test('repairs a trace, says what it changed, and finds nothing in it then', async () => {
    const folder = scratch()
    const trace = join(folder, 'race.txt')
    const repaired = join(folder, 'repaired.txt')
    writeFileSync(trace, RACE)
    const { code, stderr, stdout } = await shell(
      `hf-verify --repair -o ${repaired} ${trace}; cat ${repaired}; hf-verify ${repaired}`,
    )
    expect(code).toBe(0)
    expect(stderr).toBe(
      'hf-verify: free-moved  1  frees moved before the reuse of their address\n' +
        'hf-verify: free-dropped  1  frees of blocks that are not live, left out\n',
    )
    expect(stdout.toString()).toBe(
      '1: malloc 0x1000 8 10 11\n1: free 0x1000 10 10\n2: malloc 0x1000 16 20 21\n2: free 0x1000 40 41\n4 events, no faults\n',
    )
  })

  test('completes a trace that is cut off, in its archive too', async () => {
    const folder = scratch()
    const lines = (await shell('replay-decode', RACE)).stdout
    const packed = gzipSync(lines.subarray(0, -30))
    writeFileSync(join(folder, 'cut.gz'), packed.subarray(0, packed.length - 9))
    const { code, stderr } = await shell(
      `cd ${folder}; hf-verify --repair -o whole.ndjson cut.gz && hf-verify whole.ndjson`,
    )
    expect(stderr).toMatch(/end-added {2}1 {2}the trace is cut off/)
    expect(code).toBe(0)
  })

  test.each([
    ['--repair', /needs -o FILE/],
    ['-o x.txt', /--output needs --repair/],
    ['--repair -o x.txt --json', /--json and --repair cannot be combined/],
    ['--repair -o x.txt --window 0', /--window needs a whole number from 1 to /],
    ['--allow everything', /--allow must be one of/],
    ['--max-size=-1', /--max-size needs a number of bytes/],
    ['--max-size 1..2', /--max-size needs a number of bytes/],
  ])('%s makes no sense', async (flags, message) => {
    const { code, stderr } = await shell(`hf-verify ${flags}`, RACE)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  describe('on real traces', { tags: ['corpus'] }, () => {
    test.each(['mtrc/small64pie.mtrc', 'mtrc/espresso-tiny32.mtrc.gz', 'memory-replay/systemui.zip'])(
      '%s has sizes of 0 only, and can be repaired',
      async (name) => {
        const trace = corpusPath(name)
        const repaired = join(scratch(), name.includes('mtrc') ? 'repaired.mtrc' : 'repaired.txt')
        const { code, stdout } = await shell(
          `hf-verify --allow zero-size ${trace} && hf-verify --repair -o ${repaired} ${trace} && hf-verify ${repaired}`,
        )
        expect(code).toBe(0)
        const [before, after] = stdout.toString().trimEnd().split('\n')
        expect(before).toMatch(/^\d+ events, no faults$/)
        expect(after).toBe(before)
        expect((await shell(`hf-verify ${trace}`)).stdout.toString()).toMatch(/^zero-size: /)
      },
    )
  })
})
