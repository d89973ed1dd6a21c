import { readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

interface Figures {
  blocks: number
  bytes: number
}
interface Report {
  allocated: Figures
  leaked: Figures
  reallocs: { unknown: number }
  peakBytes: Figures
  temporary: { heaptrack: Figures }
  kinds: Record<string, number>
  events: number
}

const REPLAY = 'test/fixtures/replay/git.txt.gz'
const MTRC = 'test/fixtures/mtrc/git.mtrc.gz'

async function report(line: string): Promise<Report> {
  const { code, stdout } = await shell(line)
  expect(code).toBe(0)
  return JSON.parse(stdout.toString()) as Report
}

describe('hf-filter', () => {
  test('keeps what hf-stats says is leaked, temporary, and live at the peak', { tags: ['slow'] }, async () => {
    const whole = await report(`hf-stats --json ${REPLAY}`)
    const leaked = await report(`hf-filter --leaked ${REPLAY} | hf-stats --json`)
    expect(leaked.leaked).toEqual(whole.leaked)
    expect(leaked.kinds['free']).toBeUndefined()
    const { blocks, bytes } = whole.peakBytes
    expect((await report(`hf-filter --live-at peak ${REPLAY} | hf-stats --json`)).leaked).toEqual({ blocks, bytes })
    expect((await report(`hf-filter --temporary ${REPLAY} | hf-stats --json`)).events).toBe(
      whole.temporary.heaptrack.blocks,
    )
  })

  test('gives the same from a pipe, and leaves no temporary file', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const direct = await shell(`hf-filter --live-at 5000 --lifetimes ${REPLAY}`)
    const piped = await shell(`zcat ${REPLAY} | TMPDIR=${folder} hf-filter --live-at 5000 --lifetimes`)
    expect(piped).toMatchObject({ code: 0, stderr: '' })
    expect(piped.stdout.equals(direct.stdout)).toBe(true)
    const decoded = await shell(`replay-decode ${REPLAY} | TMPDIR=${folder} hf-filter --live-at 5000 --lifetimes`)
    expect(decoded.stdout.equals(direct.stdout)).toBe(true)
    expect(readdirSync(folder)).toEqual([])
  })

  test('selects the first process of a recording, whose events have none', async () => {
    const file = 'test/golden/recorder/ends.hfrec'
    const kinds = async (flags: string) => {
      const { stdout, stderr } = await shell(`hf-filter ${flags} ${file}`)
      expect(stderr).toBe('')
      const lines = stdout.toString().trim().split('\n')
      return lines.map((line) => (JSON.parse(line) as { kind: string }).kind).join(' ')
    }
    expect(await kinds('--process none')).toBe('header alloc alloc thread-destroy free process-end end')
    expect(await kinds('--process 3')).toBe('header comment alloc end')
    const { stderr } = await shell(`hf-filter --process none ${MTRC} --kind lost`)
    expect(stderr).toBe('')
  })

  test('keeps blocks whole from the realloc that makes them large enough', async () => {
    const trace = [
      '{"kind":"header","format":"x"}',
      '{"kind":"alloc","address":16,"size":8192}',
      '{"kind":"alloc","address":32,"size":8}',
      '{"kind":"realloc","address":48,"oldAddress":16,"size":20480}',
      '{"kind":"free","address":32}',
      '{"kind":"free","address":48}',
      '{"kind":"end","events":5}',
    ].join('\n')
    const { events, allocated, leaked, reallocs } = await report(
      `printf '${trace}\n' | hf-filter --size 16K.. --lifetimes | hf-stats --json`,
    )
    expect({ events, allocated, leaked, unknown: reallocs.unknown }).toEqual({
      events: 2,
      allocated: { blocks: 1, bytes: 20480 },
      leaked: { blocks: 0, bytes: 0 },
      unknown: 0,
    })
  })

  test('combines these with other criteria', { tags: ['slow'] }, async () => {
    const { kinds } = await report(`hf-filter --leaked --size 1K.. --kind alloc ${MTRC} | hf-stats --json`)
    const all = await shell(`hf-filter --leaked ${MTRC} | grep -c '"kind":"alloc".*"size":[0-9]\\{5,\\}'`)
    expect(kinds['alloc']).toBeGreaterThan(Number(all.stdout.toString()))
    expect(Object.keys(kinds)).toEqual(['alloc'])
    const both = await shell(`hf-filter --leaked --temporary ${MTRC} | tail -n 1`)
    // A block that is resized at once is a temporary allocation, and as another one it may leak.
    expect(both.stdout.toString()).toBe('{"kind":"end","events":1}\n')
  })

  test('of a trace that is cut, keeps what leaks before the cut, and says so', async () => {
    const { code, stdout, stderr } = await shell(`zcat ${MTRC} | head -c 100000 | hf-filter --leaked`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/truncated/)
    expect(stdout.toString().split('\n').length).toBeGreaterThan(10)
    expect(stdout.toString()).not.toContain('"kind":"end"')
  })

  test.each([
    ['hf-filter --live-at end x', 2, /--live-at: not a moment: 'end' \(write the number of an event, time:T or peak\)/],
    ['hf-filter --live-at 0 x', 2, /--live-at: events are counted from 1/],
    ['hf-filter --live-at 18446744073709551616 x', 2, /--live-at: no trace has an event number 18446744073709552000/],
    [`hf-filter --live-at 999999999 ${MTRC}`, 1, /there is no event 999999999: there are 282277/],
    [`hf-filter --live-at time:5 ${MTRC}`, 1, /no event has a time: give the number of an event/],
  ])('what cannot be: %s', async (line, expected, message) => {
    const { code, stdout, stderr } = await shell(line)
    expect({ code, stdout: stdout.toString() }).toEqual({ code: expected, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('never writes to its input', async () => {
    const path = join(scratch(), 'a.txt')
    writeFileSync(path, '1: malloc 0x10 20\n')
    expect(await shell(`hf-filter --leaked ${path} -o ${path}`)).toMatchObject({ code: 2 })
  })
})

describe('--part', () => {
  test('parts of a compact trace are all of its events, in order', { tags: ['large'] }, async () => {
    const folder = scratch()
    const trace = join(folder, 'a.hfc')
    await shell(`compact-encode --checkpoint 64K ${MTRC} -o ${trace}`)
    const parts = await shell(
      `cd ${folder}; for i in 1 2 3; do hf-filter --part $i/3 a.hfc -o $i.ndjson; done; wc -l *.ndjson`,
    )
    expect(parts.stderr).toBe('')
    // 282,277 events, and for each file a header and an end.
    expect(parts.stdout.toString().match(/\d+ \d/g)).toEqual(['94094 1', '94094 2', '94095 3'])
    const all = await shell(
      `cd ${folder}; cat 1.ndjson 2.ndjson 3.ndjson | grep -v '"kind":"\\(header\\|end\\)"' | md5sum`,
    )
    const whole = await shell(`compact-decode ${trace} | grep -v '"kind":"\\(header\\|end\\)"' | md5sum`)
    expect(all.stdout.toString()).toBe(whole.stdout.toString())
    // Blocks that begin in the part keep their later events.
    const [part, expected] = await Promise.all([
      shell(`hf-filter --part 2/3 --lifetimes ${trace} | md5sum`),
      shell(`hf-filter --events 94093..188184 --lifetimes ${MTRC} | md5sum`),
    ])
    expect(part.stdout.toString()).toBe(expected.stdout.toString())
    // There are more parts than events.
    const cut = await shell(`hf-filter --part 1/300000 ${trace}`)
    expect(cut.stderr).toContain('--part: the trace has only 282277 events')
  })

  test.each([
    ['--part 0/3', 'the number of a part and that of all'],
    ['--part 4/3', 'the number of a part and that of all'],
    ['--part 1/3 --events 1..5', '--part and --events cannot be combined'],
    ['--part 1/3 --invert --kind free', '--part and --invert cannot be combined'],
    ['--part 1/3 --leaked', '--part and --leaked cannot be combined'],
    [`--part 1/3 ${MTRC}`, 'needs a compact trace with checkpoints'],
    ['--part 1/3', 'needs a compact trace with checkpoints'],
  ])('refuses %s', async (flags, message) => {
    const { code, stderr } = await shell(`hf-filter ${flags}`)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  test('of a truncated trace is a fault of the trace', { tags: ['slow'] }, async () => {
    const path = join(scratch(), 'a.hfc')
    await shell(`compact-encode --checkpoint 4K test/fixtures/replay/twolf-head.txt -o ${path}`)
    truncateSync(path, statSync(path).size - 1)
    const { code, stderr, stdout } = await shell(`hf-filter --part 1/2 ${path}`)
    expect([code, stdout.length]).toEqual([1, 0])
    expect(stderr).toMatch(
      /^hf-filter: .*a\.hfc: compact: byte \d+, event \d+: truncated: .*: its events are not counted, so it has no parts: --events selects/,
    )
  })
})

test.each([
  ["--function '/f/g'", '--function: a regular expression may end in /, i, m, s and u, not in g: /f/g'],
  ["--stack '/f/iy'", '--stack: a regular expression may end in /, i, m, s and u, not in y: /f/iy'],
  ["--type '/f/A'", 'not in A: /f/A'],
  ["--arena '/f/x'", 'not in x: /f/x'],
  ["--module '/f/gg'", 'not in g: /f/gg'],
  ["--file '/f/d'", 'not in d: /f/d'],
  ["--function '/f/ii'", '--function: Invalid flags'],
  ['-v', '--invert needs what to invert, such as --kind free'],
  ['-v --lifetimes', '--invert needs what to invert'],
  ['--cpu 99999999999', 'hf-filter: --cpu: not an integer of 32 bits: 99999999999'],
  ['--device 99999999999', 'hf-filter: --device: not an integer of 32 bits: 99999999999'],
])('hf-filter %s is refused', async (flags, message) => {
  const { code, stdout, stderr } = await shell(`hf-filter ${flags}`)
  expect([code, stdout.length, stderr]).toEqual([2, 0, expect.stringContaining(message)])
})

test('names may be absolute paths', { tags: ['slow'] }, async () => {
  const line = (n: number, rest: string) => `{"kind":"alloc","address":"0x${n}0","size":8,${rest}}\n`
  const trace = line(1, '"module":"/usr/bin/app"') + line(2, '"file":"/src/main"') + line(3, '"function":"F"')
  for (const flags of ['--module /usr/bin/app', '--file /src/main', "--function '/^f$/i'"]) {
    const { code, stdout } = await shell(`hf-filter ${flags}`, trace)
    expect([code, stdout.toString().match(/"kind":"alloc"/g)]).toEqual([0, ['"kind":"alloc"']])
  }
})
