import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SimulationData } from '../../lib/exports/simulation/data.js'
import { simulate } from '../../lib/cli/commands/simulate.js'
import { POLICIES } from '../../lib/transforms/simulate/policies.js'
import { scratch, shell } from '../support/commands.js'
import { fragmented } from '../support/short-lived.js'

const TRACE = [
  '{"kind":"alloc","address":"0x10","size":100}',
  '{"kind":"alloc","address":"0x20","size":8}',
  '{"kind":"free","address":"0x10"}',
  '{"kind":"alloc","address":"0x30","size":40}',
  '',
].join('\n')

describe('hf-simulate', () => {
  test('shows the figures of a policy', async () => {
    const { code, stdout } = await shell('hf-simulate --policy best-fit --trim 0', TRACE)
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(/^simulation\n {2}policy {7}best-fit, immediate .*, trim 0\n/)
    expect(stdout.toString()).toMatch(/\n {2}page faults {2}1, if pages without live blocks are returned at once\n/)
    expect(stdout.toString()).toMatch(/\n {2}requested +108 +100 +100\n/)
  })

  test('shows a table of all policies', async () => {
    const lines = (await shell('hf-simulate --compare all', TRACE)).stdout.toString().split('\n')
    expect(lines[0]).toBe('2 live blocks of 108 bytes at the peak')
    expect(lines.slice(2, -1).map((line) => line.trim().split(' ')[0])).toEqual([...POLICIES])
    const some = (await shell('hf-simulate --compare bump --compare ideal', TRACE)).stdout.toString()
    expect(some.split('\n')).toHaveLength(5)
  })

  test('has no figures of ptmalloc for several processes', { tags: ['slow'] }, async () => {
    const trace = [1, 2].map((process) => `{"kind":"alloc","process":${process},"address":"0x10","size":8}\n`).join('')
    const { code, stdout } = await shell('hf-simulate --compare ptmalloc --compare bump', trace)
    expect(code).toBe(0)
    expect(stdout.toString()).toMatch(
      /\n {2}bump +8,192 .*\n {2}ptmalloc( +-){9}\n\nptmalloc: unknown: event 2: .* is simulated for one process, and/,
    )
    const single = await shell('hf-simulate --policy ptmalloc', trace)
    expect([single.code, single.stderr]).toEqual([1, expect.stringMatching(/event 2.*simulated for one process/)])
    const none = await shell('hf-simulate --compare ptmalloc --compare jemalloc', trace)
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/event 2.*simulated for one process/)])
  })

  test('tells of traces that have no figures', { tags: ['slow'] }, async () => {
    const one =
      '{"kind":"header","format":"x"}\n{"kind":"alloc","address":"0x10","size":8}\n{"kind":"end","events":1}\n'
    const { code, stdout, stderr } = await shell('hf-simulate --policy bump --json', one.repeat(260))
    expect([code, stderr]).toEqual([
      0,
      'hf-simulate: warning: the first 256 traces have figures, and 4 more have none\n',
    ])
    expect((JSON.parse(stdout.toString()) as SimulationData).traces).toHaveLength(256)
    expect((await shell('hf-simulate --policy bump', one.repeat(256))).stderr).toBe('')
  })

  test('compares the others where a policy cannot simulate a trace', async () => {
    const blocks = ['"size":100,"alignment":134217728', '"size":8'].map((of, i) => {
      return `{"kind":"alloc","address":"0x${i + 1}0",${of}}\n`
    })
    const line = 'hf-simulate --compare ptmalloc --compare bump --compare ideal'
    const { code, stdout, stderr } = await shell(line, blocks.join(''))
    expect([code, stderr]).toEqual([0, ''])
    const text = stdout.toString()
    expect(text).toMatch(/^2 live blocks of 108 bytes at the peak\n/)
    expect(text).toMatch(
      /\n {2}ideal +108 .*\n {2}ptmalloc( +-){9}\n\nptmalloc: .*event 1: .* alignments of up to 2\^26\n$/,
    )
    const json = JSON.parse((await shell(`${line} --json`, blocks.join(''))).stdout.toString()) as SimulationData
    const reason = 'unknown: event 1: over the limit: ptmalloc is simulated with alignments of up to 2^26'
    expect(json.traces[0]?.without).toEqual([{ policy: 'ptmalloc', reason }])
    const huge = await shell(line, '{"kind":"alloc","address":"0x10","size":140737488355328}\n')
    expect([huge.code, huge.stderr]).toEqual([1, expect.stringContaining('more than 2^45 bytes')])
  })

  test('writes the figures as JSON', async () => {
    const { stdout } = await shell('hf-simulate --compare first-fit --compare ideal --json', TRACE)
    const { traces } = JSON.parse(stdout.toString()) as { traces: { simulations: Record<string, unknown>[] }[] }
    expect(traces).toHaveLength(1)
    expect(traces[0]?.simulations.map(({ settings }) => (settings as { policy: string }).policy)).toEqual([
      'first-fit',
      'ideal',
    ])
    const [fit] = (traces[0] as { simulations: Record<string, unknown>[] }).simulations as [Record<string, unknown>]
    expect(fit).toMatchObject({
      events: 4,
      changes: 4,
      mostLive: { event: 2, requested: 108, granted: 144, internal: 0.25 },
    })
    expect(fit['timeline']).toHaveLength(4)
  })

  test('writes a trace', async () => {
    const { stdout } = await shell('hf-simulate --policy bump --to replay | hf-verify', TRACE)
    expect(stdout.toString()).toBe('4 events, no faults\n')
    const folder = scratch()
    const line = `cd ${folder} && hf-simulate --policy segregated --classes 16,64,128 -o x.ndjson.gz && hf-verify x.ndjson.gz`
    expect((await shell(line, TRACE)).stdout.toString()).toBe('4 events, no faults\n')
  })

  test('writes a page', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const page = (path: string) => readFileSync(join(folder, path), 'utf8')
    const line = (flags: string) => shell(`cd ${folder} && hf-simulate ${flags}`, TRACE)
    expect(await line('--compare bump --compare ideal -o x.html')).toMatchObject({ code: 0, stderr: '' })
    const policy = /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']*'; /
    expect(page('x.html')).toMatch(policy)
    expect(page('x.html')).toMatch(/<td>4<\/td>|<bdi>bump<\/bdi>/)
    const [, packed = ''] = /id="report-data">([^<]*)</.exec(page('x.html')) ?? []
    const { traces, name } = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as SimulationData
    expect(name).toBe('standard input')
    const { stdout } = await shell('hf-simulate --compare bump --compare ideal --json', TRACE)
    expect(JSON.parse(JSON.stringify(traces))).toEqual((JSON.parse(stdout.toString()) as { traces: unknown }).traces)
    expect((await line('--policy best-fit --to html')).stdout.toString()).toMatch(policy)
    expect(await line('--policy best-fit -o y.HTML.gz')).toMatchObject({ code: 0, stderr: '' })
    expect(gunzipSync(readFileSync(join(folder, 'y.HTML.gz'))).toString()).toMatch(policy)
  })

  test('keeps the page of what could be read', async () => {
    const folder = scratch()
    const line = `cd ${folder} && hf-simulate --compare bump -o x.html; ls`
    const { stdout, stderr } = await shell(line, `${TRACE}{"kind":"al`)
    expect(stdout.toString()).toBe('x.html.partial\n')
    expect(stderr).toMatch(/truncated/)
    expect(readFileSync(join(folder, 'x.html.partial'), 'utf8')).toContain('The trace is truncated')
    const none = await shell(`cd ${scratch()} && hf-simulate --compare bump -o x.html; ls`, 'nothing')
    expect(none.stdout.toString()).toBe('')
  })

  test.each([
    ['--compare all -o x.hatf', /--output needs --policy.*FILE\.html/],
    ['--compare all --json -o x.html', /--json is not for a page/],
    ['--policy bump --strict --to html', /--strict is not for a page/],
  ])('refuses %s', async (flags, message) => {
    const { code, stderr } = await shell(`cd ${scratch()} && hf-simulate ${flags}`, TRACE)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test('shows the figures of what could be read', async () => {
    const { code, stdout, stderr } = await shell('hf-simulate --policy bump', `${TRACE}{"kind":"al`)
    expect(code).toBe(1)
    expect(stdout.toString()).toMatch(/events +4, of which 4/)
    expect(stderr).toMatch(/truncated/)
  })

  test('shows the events before a block that is too large', async () => {
    const large = `${TRACE}{"kind":"alloc","address":"0x40","size":${2n ** 50n}}\n`
    const { code, stdout, stderr } = await shell('hf-simulate --policy bump', large)
    expect(code).toBe(1)
    expect(stdout.toString()).toMatch(/events +4, of which 4/)
    expect(stderr).toMatch(
      /^hf-simulate: .*event 5: over the limit: the simulated heap would have more than 2\^45 bytes/,
    )
    const written = await shell('hf-simulate --policy bump --to ndjson', large)
    expect(written.code).toBe(1)
    expect(written.stdout.toString().split('\n')).toHaveLength(6)
  })

  test.each([
    ['', /--policy or --compare is needed/],
    ['--policy bump --compare all', /--policy and --compare cannot be combined/],
    ['--policy ideal --to ndjson', /--to: ideal moves blocks at each event, so it has no addresses/],
    ['--compare all -o x.ndjson', /--output needs --policy/],
    ['--compare all --header 8', /--compare takes the default options: --header needs --policy/],
    ['--policy bump --json --to ndjson', /--json and --to cannot be combined/],
    ['--policy bump --zstd', /--zstd needs -o, --to or --arrow/],
    ['--policy bump --list lifo', /--list is an option of first-fit, not bump/],
    ['--policy bump --page 3K', /--page must be a power of two, not 3072/],
    ['--policy bump --header x', /--header needs a number of bytes/],
    ['--policy segregated --classes 16,x', /--classes needs sizes with commas between them, or one of/],
    ['--policy worst-fit', /worst-fit/],
  ])('%s is a usage error', async (flags, message) => {
    const { code, stderr } = await shell(`hf-simulate ${flags}`, TRACE)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  describe('with --predict', () => {
    const calls = [...Array(50).keys()].flatMap((i) => [
      `{"kind":"alloc","address":"0x10","size":100,"stack":["f","main"]}`,
      `{"kind":"free","address":"0x10"}`,
      `{"kind":"alloc","address":"0x${1000 + i}","size":24,"stack":["g","main"]}`,
    ])
    let folder = ''
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
      writeFileSync(join(folder, 't.ndjson'), calls.join('\n'))
    })
    afterAll(() => rmSync(folder, { recursive: true }))
    const run = (line: string, input = '') => shell(`cd ${folder} && ${line}`, input)

    test('learns from the same file, or from another trace for one from a pipe', { tags: ['slow'] }, async () => {
      const { stdout } = await run('hf-simulate --policy bump --predict t.ndjson t.ndjson')
      const text = stdout.toString()
      expect(text).toMatch(/\n {2}policy +bump, 16 arenas of 4096, sites are whole stacks, other blocks in first-fit/)
      expect(text).toMatch(/\n {2}allocated +100 +100.0 % +6,200 +100.0 %\n/)
      expect(text).toMatch(/\n {2}in arenas +50 +50.0 % +5,000 +80.6 %\n {2}not short.* 0 +0.0 % +0 +0.0 %\n/)
      expect(text).toMatch(/\n {2}largest heap: 8,192 bytes, 100.0 % more than the 4,096 of first-fit alone\n/)
      const piped = await run('hf-simulate --policy bump --predict t.ndjson', calls.join('\n'))
      expect(piped.stdout.toString()).toBe(text)
      const learned = await run('hf-simulate --policy bump --predict - t.ndjson', calls.join('\n'))
      expect(learned.stdout.toString()).toBe(text)
      const both = await run('hf-simulate --policy bump --predict -', calls.join('\n'))
      expect([both.code, both.stderr]).toEqual([2, expect.stringMatching(/cannot both be standard input/)])
    })

    test('has options, and gives the figures as JSON', async () => {
      const flags = '--threshold 10 --frames 1 --general best-fit --arenas 2 --arena-size 1K'
      const { stdout } = await run(`hf-simulate --policy bump --predict t.ndjson ${flags} --json t.ndjson`)
      const { traces } = JSON.parse(stdout.toString()) as { traces: [{ simulations: Record<string, unknown>[] }] }
      const [first, second] = traces[0].simulations
      expect(first!['settings']).toMatchObject({
        prediction: { general: 'best-fit', threshold: 10, frames: 1, arenas: 2, arenaSize: 1024 },
      })
      expect(first!['prediction']).toMatchObject({ blocks: { allocated: 100, short: 50, inArenas: 50, late: 0 } })
      expect(second).toMatchObject({ settings: { policy: 'best-fit' }, prediction: null })
    })

    test('is in the table of all policies, if the trace is a file with sites', { tags: ['slow'] }, async () => {
      const rows = async (line: string, input?: string) => (await run(line, input)).stdout.toString().match(/bump.*/g)
      expect(await rows('hf-simulate --compare all t.ndjson')).toEqual([
        expect.stringMatching(/^bump +8,192 /),
        expect.stringMatching(/^bump, predicted +8,192 /),
      ])
      expect(await rows('hf-simulate --compare all', calls.join('\n'))).toHaveLength(1)
      expect(await rows('hf-simulate --compare bump --predict t.ndjson', calls.join('\n'))).toHaveLength(2)
    })

    test('makes a trace without overlaps', async () => {
      const line = 'hf-simulate --policy bump --predict t.ndjson t.ndjson -o x.mtrc && hf-verify x.mtrc'
      expect((await run(line)).stdout.toString()).toMatch(/^150 events, no faults\n$/)
    })

    test('a model stands for the training trace', { tags: ['slow'] }, async () => {
      const folder = scratch()
      const path = join(folder, 'f.ndjson')
      writeFileSync(path, fragmented())
      const at = (line: string) => shell(`cd ${folder} && ${line}`)
      expect(await at('hf-simulate --predict f.ndjson --frames 3 --write-model m.json')).toMatchObject({ code: 0 })
      const byTrace = await at('hf-simulate --policy bump --json --predict f.ndjson --frames 3 f.ndjson')
      const byModel = await at('hf-simulate --policy bump --json --predict m.json < f.ndjson')
      expect(byModel).toMatchObject({ code: 0, stderr: '', stdout: byTrace.stdout })
      expect(byTrace.stdout.toString()).toContain('"pools":{')
      expect((await at('hf-simulate --policy bump --predict m.json f.ndjson -o x.mtrc && hf-verify x.mtrc')).code).toBe(
        0,
      )
      // A pipe is read once, whatever it has, and however it is named.
      for (const piped of ['cat m.json |', 'gzip < m.json |', 'cat f.ndjson | ']) {
        const frames = piped.includes('m.json') ? '' : '--frames 3'
        for (const name of ['-', '/dev/stdin', '<(cat)'])
          expect(
            await at(`${piped} hf-simulate --policy bump --json ${frames} --predict ${name} f.ndjson`),
          ).toMatchObject({ code: 0, stderr: '', stdout: byTrace.stdout })
      }
      // Written again, it is the same; on standard output, too.
      const again = await at('hf-simulate --predict m.json --write-model - | cmp - m.json')
      expect([again.code, again.stderr]).toEqual([0, ''])
      writeFileSync(join(folder, 'other.json'), '{"format":"heapflow-model","version":1}\n')
      writeFileSync(join(folder, 'cut.json'), readFileSync(join(folder, 'm.json')).subarray(0, 500))
      const cases: [string, number, RegExp][] = [
        ['--policy bump --predict m.json --threshold 1K f.ndjson', 2, /--threshold: the model of --predict has one/],
        ['--policy bump --predict m.json --frames 2 f.ndjson', 2, /--frames: the model of --predict has one/],
        [
          '--policy bump --predict other.json f.ndjson',
          1,
          /other\.json: JSON: malformed: format must be "heapflow-lifetimes"/,
        ],
        ['--policy bump --predict cut.json f.ndjson', 1, /cut\.json: JSON: malformed: \w+/],
        ['--write-model x.json', 2, /--write-model needs --predict TRAIN/],
        ['--predict f.ndjson --write-model x.json f.ndjson', 2, /needs no trace besides that of --predict/],
        ['--predict f.ndjson --write-model x.json --json', 2, /--json and --write-model cannot be combined/],
        ['--predict f.ndjson --write-model f.ndjson', 2, /f\.ndjson/],
      ]
      for (const [flags, code, reason] of cases) {
        const result = await at(`hf-simulate ${flags}`)
        expect([flags, result.code, result.stderr]).toEqual([flags, code, expect.stringMatching(reason)])
        expect(result.stderr.trim().split('\n').length).toBeLessThanOrEqual(2)
      }
    })

    test('a model is compressed by its name', { tags: ['slow'] }, async () => {
      const folder = scratch()
      writeFileSync(join(folder, 'f.ndjson'), fragmented())
      const at = (line: string) => shell(`cd ${folder} && ${line}`)
      const write = (name: string) => at(`hf-simulate --predict f.ndjson --frames 3 --write-model ${name}`)
      expect([(await write('m.json')).code, (await write('m.json.gz')).code]).toEqual([0, 0])
      const plain = readFileSync(join(folder, 'm.json'))
      expect(gunzipSync(readFileSync(join(folder, 'm.json.gz')))).toEqual(plain)
      const figures = (model: string) => at(`hf-simulate --policy bump --json --predict ${model} f.ndjson`)
      const { stdout } = await figures('m.json')
      expect(stdout.length).toBeGreaterThan(0)
      expect(await figures('m.json.gz')).toMatchObject({ code: 0, stderr: '', stdout })
      const given = await at('hf-simulate --policy bump --predict m.json.gz --frames 2 f.ndjson')
      expect([given.code, given.stderr]).toEqual([
        2,
        expect.stringContaining('--frames: the model of --predict has one'),
      ])
      writeFileSync(join(folder, 'other.json.gz'), gzipSync('{"format":"heapflow-model","version":1}\n'))
      expect((await figures('other.json.gz')).stderr).toMatch(
        /other\.json\.gz: JSON: malformed: format must be "heapflow-lifetimes"/,
      )
      writeFileSync(join(folder, 'cut.json.gz'), readFileSync(join(folder, 'm.json.gz')).subarray(0, -9))
      expect((await figures('cut.json.gz')).stderr).toMatch(/cut\.json\.gz: .*truncated/)
      // Training traces may be compressed, too.
      writeFileSync(join(folder, 'f.ndjson.gz'), gzipSync(fragmented()))
      const again = await at('hf-simulate --predict f.ndjson.gz --frames 3 --write-model - | cmp - m.json')
      expect([again.code, again.stderr]).toEqual([0, ''])
    })

    const VALUES: Readonly<Record<string, string>> = { to: 'mtrc', classes: 'jemalloc', output: 'x.mtrc' }
    const LEARNING = new Set(['predict', 'write-model', 'threshold', 'frames'])
    const others = simulate.flags.filter(({ name }) => !LEARNING.has(name))
    test('flags that have no effect on a model are refused', { tags: ['slow'] }, async () => {
      expect(others.length).toBeGreaterThan(20)
      for (const { name, value, values } of others) {
        const flag = value === undefined ? `--${name}` : `--${name} ${values?.[0] ?? VALUES[name] ?? 1}`
        const { code, stderr } = await run(`hf-simulate --predict t.ndjson --write-model no.json ${flag}; ls no.json`)
        expect([code, stderr]).toEqual([2, expect.stringContaining(`--${name} and --write-model cannot be combined`)])
      }
      const { code } = await run('hf-simulate --predict t.ndjson --write-model - --threshold 1K --frames 2')
      expect(code).toBe(0)
    })

    test('names the sites for which a pool saves memory', { tags: ['slow'] }, async () => {
      const path = join(scratch(), 'f.ndjson')
      writeFileSync(path, fragmented())
      for (const flags of ['--compare all', `--policy bump --predict ${path}`]) {
        const text = (await shell(`hf-simulate ${flags} ${path}`)).stdout.toString()
        expect(text.replace(/\n {2}/g, ' ')).toMatch(
          /\n\nMore: pools for .* parse at parse\.c:12 < .* with first-fit; .*\.\n$/,
        )
        const page = (await shell(`hf-simulate ${flags} --to html ${path}`)).stdout.toString()
        expect(page).toMatch(/More: pools for .* parse at parse\.c:12 &lt; /)
      }
      const { stdout } = await run('hf-simulate --compare all t.ndjson')
      expect(stdout.toString()).not.toContain('More')
    })

    test('is refused where it has no meaning', { tags: ['slow'] }, async () => {
      const refused = async (flags: string) => (await run(`hf-simulate ${flags} t.ndjson`)).stderr
      expect(await refused('--policy best-fit --predict t.ndjson')).toMatch(
        /--predict is an option of bump, not best-fit/,
      )
      expect(await refused('--policy bump --arenas 3')).toMatch(/--arenas needs --predict/)
      expect(await refused('--policy bump --predict t.ndjson --arena-size 1')).toMatch(/--arena-size must be a whole/)
      expect(await refused('--policy bump --predict t.ndjson --frames 0')).toMatch(/--frames must be a whole number/)
      expect(await refused('--compare best-fit --predict t.ndjson')).toMatch(/--predict needs bump/)
      expect(await refused('--policy bump --predict none.ndjson')).toMatch(/none.ndjson/)
    })
  })
})
