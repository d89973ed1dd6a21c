import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { poolSentence, type PoolGain } from '../../lib/exports/simulation/pools.js'
import { checkReplayResult } from '../../lib/transforms/drive/read-result.js'
import type { ReplayResult } from '../../lib/transforms/drive/comparison.js'
import { reportData } from '../support/report-data.js'
import { readOperations } from '../support/operations.js'
import { commandLine, scratch, shell } from '../support/commands.js'
import { fragmented } from '../support/short-lived.js'
import { BROKEN, canDrive, EMPTY, OVERLAPPING, talking, workFolder } from './drive/programs.js'

const TRACE = [
  '{"kind":"header","format":"x","timeUnit":"ns"}',
  ...Array.from(
    { length: 200 },
    (_, i) => `{"kind":"alloc","time":${i},"address":"0x${(i + 1).toString(16)}0","size":5000}`,
  ),
  ...Array.from({ length: 150 }, (_, i) => `{"kind":"free","time":${i + 300},"address":"0x${(i + 1).toString(16)}0"}`),
  '{"kind":"end"}',
  '',
].join('\n')
/** One allocator, and two runs with it. */
const ONE = '--allocator glibc'
const FAST = `${ONE} --runs 2`

const { library } = workFolder()

describe.skipIf(!canDrive)('hf-replay (needs Linux and cc)', () => {
  test('does not append its report to the trace', { tags: ['slow'] }, async () => {
    const path = `${scratch()}/t.ndjson`
    writeFileSync(path, TRACE)
    for (const flags of [FAST, `${ONE} --verify`, `${FAST} -o ${path}.ops`]) {
      const { code, stderr } = await shell(`hf-replay ${flags} ${path} >> ${path}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining('standard output is the input too') as string])
    }
    expect(readFileSync(path, 'utf8')).toBe(TRACE)
  })

  test('answers in words, then shows a table', async () => {
    const { code, stdout, stderr } = await shell(`hf-replay ${FAST}`, TRACE)
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.toString().split('\n')
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(120)
    const [memory, time, waste] = stdout
      .toString()
      .split('\n\n')[0]!
      .replace(/\n {2}/g, ' ')
      .split('\n')
    expect(memory).toMatch(/^Resident set: glibc needs [\d.]+ MiB at the peak \(margin: .* of the program's peak\)\.$/)
    expect(time).toMatch(/^Processor time: glibc takes [\d.,]+ ns a call, [\d.]+ ms for all calls \(margin: /)
    expect(waste).toMatch(/^Waste: of glibc's resident set at the peak, [\d.]+ % /)
    expect(lines).toContain('350 calls of 1 thread, 2 runs each; 200 live blocks, 1,000,000 bytes at their peaks')
    expect(lines.some((line) => /^ {2}glibc +1 .* 1 /.test(line))).toBe(true)
  })

  test('names the sites for which a pool saves memory', { tags: ['slow'] }, async () => {
    const path = join(scratch(), 't.ndjson')
    writeFileSync(path, fragmented())
    const { code, stdout, stderr } = await shell(`hf-replay ${FAST} --json ${path}`)
    expect([code, stderr]).toEqual([0, ''])
    const { verdict, pools } = JSON.parse(stdout.toString()) as { verdict: string[]; pools: PoolGain | null }
    expect(pools?.sites).toEqual(['parse at parse.c:12 < main at main.c:3'])
    expect(verdict).toContain(poolSentence(pools!))
    // hf-simulate has the same figure, by the same name.
    const simulated = await shell(`hf-simulate --json --policy bump --general best-fit --predict ${path} ${path}`)
    const [trace] = (JSON.parse(simulated.stdout.toString()) as { traces: [{ pools: PoolGain | null }] }).traces
    expect(trace.pools).toEqual(pools)
    expect(verdict.filter((line) => line.includes('pools'))).toEqual([
      expect.stringMatching(/^More: pools for .* parse at parse\.c:12 < main at main\.c:3, save .* with best-fit; /),
    ])
    const text = (await shell(`hf-replay ${FAST} ${path}`)).stdout.toString()
    expect(text).toMatch(/\nMore: pools for short-lived blocks/)
    // A pipe is read once.
    expect((await shell(`hf-replay ${FAST}`, fragmented())).stdout.toString()).not.toContain('pools')
  })

  test('a block that a realloc to 0 bytes ends is not freed again', { tags: ['slow'] }, async () => {
    const lines = [
      '{"kind":"alloc","address":"0x10","size":50}',
      '{"kind":"alloc","address":"0x100","size":50}',
      '{"kind":"realloc","oldAddress":"0x10","address":"0x20","size":0}',
      '{"kind":"free","address":"0x20"}',
      '{"kind":"free","address":"0x100"}',
      '',
    ]
    for (const flags of [FAST, `${ONE} --verify`]) {
      const { code, stderr } = await shell(`hf-replay ${flags}`, lines.join('\n'))
      expect([code, stderr]).toEqual([0, ''])
    }
  })

  test('writes all figures as JSON', async () => {
    const { stdout } = await shell(`hf-replay ${FAST} --json --order total --touch page`, TRACE)
    const result = JSON.parse(stdout.toString()) as Record<string, Record<string, unknown>> & {
      allocators: Record<string, Record<string, number>>[]
    }
    expect(result['trace']).toMatchObject({
      events: 350,
      calls: { malloc: 200, calloc: 0, memalign: 0, realloc: 0, free: 150 },
      threads: 1,
      slots: 200,
      peak: { blocks: 200, bytes: 1_000_000 },
      final: { blocks: 50, bytes: 250_000 },
      duration: 449,
    })
    expect(result['options']).toEqual({ order: 'total', touch: 'page', paced: false, runs: 2 })
    const [glibc] = result.allocators
    expect(glibc).toMatchObject({ name: 'glibc', library: null, timeRank: 1, peakRank: 1, failed: 0 })
    // All pages of the blocks were written to, and little else; a few of them may have been resident before.
    expect(glibc!['peak']!['median']).toBeGreaterThan(950_000)
    expect(glibc!['peak']!['median']).toBeLessThan(1_400_000)
    expect((glibc as unknown as { moments: unknown[] }).moments).toHaveLength(175)
    expect(result['verdict']).toHaveLength(2)
    expect(result['pools']).toBe(null)
  })

  test('is a section of the report', { tags: ['slow'] }, async () => {
    const path = join(scratch(), 't.ndjson')
    writeFileSync(path, TRACE)
    const { stdout } = await shell(`hf-replay ${FAST} --json ${path}`)
    const { code, stdout: page, stderr } = await shell(`hf-report --replay - ${path}`, stdout)
    expect([code, stderr]).toEqual([0, ''])
    const written = JSON.parse(stdout.toString()) as ReplayResult
    expect(reportData(page.toString()).replay).toEqual(checkReplayResult(written))
    const [sentence] = written.verdict
    expect(page.toString()).toContain(`<li>${sentence!.replaceAll("'", '&#39;')}</li>`)
    expect(page.toString()).toMatch(/<td><bdi>glibc<\/bdi><\/td><td>\d+<\/td><td>(?:<bdi>)?[\d.,]+</)
  })

  test('writes what memory_replay does', async () => {
    const { code, stdout } = await shell('hf-replay --android --runs 1', TRACE)
    expect(code).toBe(0)
    const numbers = stdout.toString().replace(/\d+(\.\d+)?/g, 'N')
    expect(numbers).toBe(
      [
        'Processing: -',
        'Maximum threads available:   N',
        'Maximum allocations in dump: N',
        'Total pointers available:    N',
        '',
        'Initial Native RSS: N bytes NMB',
        'Initial Native VA Space: N bytes NMB',
        'Final Native RSS: N bytes NMB',
        'Final Native VA Space: N bytes NMB',
        'Total Allocation/Free Time: Nns Ns',
        '',
      ].join('\n'),
    )
  })

  test('verifies blocks', { tags: ['slow'] }, async () => {
    const good = await shell('hf-replay --verify --allocator glibc', TRACE)
    expect([good.code, good.stdout.toString()]).toEqual([
      0,
      'contents of all blocks\n  allocator  damaged  misaligned  failed\n  glibc            0           0       0\n',
    ])
    const broken = await shell(`hf-replay --verify --allocator ${library('broken', BROKEN)}`, TRACE)
    expect(broken.code).toBe(1)
    expect(broken.stdout.toString()).toMatch(/\n {2}broken +[1-9]\d* +[1-9]\d* +0\n$/)
  })

  test('verifies the blocks that are live at the end', async () => {
    const blocks = Array.from(
      { length: 150 },
      (_, i) => `{"kind":"alloc","address":"0x${(i + 1).toString(16)}000","size":${i + 8}}\n`,
    ).join('')
    const flags = `--verify --allocator ${library('overlapping', OVERLAPPING)}`
    const { code, stdout } = await shell(`hf-replay ${flags}`, blocks)
    // The last of the blocks at the same address keeps its contents.
    expect([code, stdout.toString()]).toEqual([1, expect.stringMatching(/\n {2}overlapping +49 +0 +0\n$/)])
  })

  test('an allocator that gives no memory has no rank, and is not compared', { tags: ['slow'] }, async () => {
    const empty = library('empty', EMPTY)
    const sentence = 'Failed: empty gave no memory to 200 of 200 allocations, so it has no rank.'
    const second = await shell(`hf-replay ${FAST} --allocator ${empty}`, TRACE)
    const text = second.stdout.toString()
    expect(text).toMatch(new RegExp(`^${sentence}\nResident set: glibc needs [\\d.]+ MiB at the peak \\(`))
    expect(text).toMatch(/\n {2}glibc +1 .*\n {2}empty +- /)
    const first = (await shell(`hf-replay --runs 1 --allocator ${empty} --allocator glibc`, TRACE)).stdout.toString()
    expect(first.startsWith(`${sentence}\n\n350 calls`)).toBe(true)
    const json = await shell(`hf-replay ${FAST} --allocator ${empty} --json`, TRACE)
    const result = JSON.parse(json.stdout.toString()) as { allocators: unknown[]; verdict: string[] }
    expect(result.allocators).toMatchObject([
      { name: 'glibc', failed: 0, timeRank: 1, peakRank: 1 },
      { name: 'empty', failed: 200, timeRank: null, peakRank: null },
    ])
    expect(result.verdict[0]).toBe(sentence)
    const android = await shell(`hf-replay --android --runs 1 --allocator ${empty}`, TRACE)
    expect(android.stderr).toBe(
      'hf-replay: warning: empty gave no memory to 200 of 200 allocations, so the figures are not those of the trace\n',
    )
    const verified = await shell(`hf-replay --verify --allocator ${empty}`, TRACE)
    expect([verified.code, verified.stdout.toString()]).toEqual([
      1,
      'empty gave no memory to 200 of 200 allocations, so these blocks could not be verified.\n' +
        'contents of all blocks\n  allocator  damaged  misaligned  failed\n  empty            0           0     200\n',
    ])
  })

  test('says that there is nothing to replay', { tags: ['slow'] }, async () => {
    const trace = '{"kind":"header","format":"x"}\n{"kind":"free","address":"0x10"}\n{"kind":"end"}\n'
    const nothing = 'Nothing to replay: the trace has no calls that can be made again.'
    for (const flags of [FAST, `${ONE} --verify`]) {
      const { code, stdout, stderr } = await shell(`hf-replay ${flags}`, trace)
      expect([code, stdout.toString()]).toEqual([0, `${nothing}\n`])
      expect(stderr).toBe('hf-replay: warning: skipped: 1 free or realloc of an unknown block\n')
    }
    const { stdout } = await shell(`hf-replay ${FAST} --json`, trace)
    expect(JSON.parse(stdout.toString())).toMatchObject({ allocators: [], verdict: [nothing] })
  })

  test('names an allocator that prints, or ends the process', { tags: ['slow'] }, async () => {
    const talks = await shell(`hf-replay --runs 1 --allocator ${library('talks', talking(0))}`, TRACE)
    expect([talks.code, talks.stderr]).toEqual([0, ''])
    expect(talks.stdout.toString()).toMatch(/^Resident set: talks needs /)
    const leaves = await shell(`hf-replay --runs 1 --allocator ${library('leaves', talking(9))}`, TRACE)
    expect([leaves.code, leaves.stderr]).toEqual([
      1,
      'hf-replay: the replay with leaves failed: the process ended before all calls were made, after it printed hello\n',
    ])
  })

  test.each(['', '-o operations'])('a signal leaves no files of its own: %s', { tags: ['slow'] }, async (flag) => {
    const signals = { INT: 130, TERM: 143, HUP: 129 }
    for (const [signal, status] of Object.entries(signals)) {
      const folder = scratch()
      writeFileSync(join(folder, 'begin'), TRACE.slice(0, TRACE.indexOf('{"kind":"free"')))
      mkdirSync(join(folder, 'own'))
      const line =
        `cd ${folder}; export TMPDIR=${folder}/own; hf-replay ${flag} <(cat begin; exec sleep 60 2> /dev/null) & P=$!; ` +
        `until ls own/*/trace.ops operations.* 2> /dev/null | grep -q .; do sleep 0.05; done; ` +
        `kill -${signal} $P; wait $P; echo $?`
      const { stderr, stdout } = await shell(line)
      expect([stdout.toString(), readdirSync(join(folder, 'own'))]).toEqual([`${status}\n`, []])
      // The shell reports some signals, too.
      const messages = stderr.split('\n').filter((one) => one.startsWith('hf-replay'))
      expect(messages).toEqual(flag === '' ? [] : ['hf-replay: the incomplete output is in operations.partial'])
      const kept = readdirSync(folder).filter((name) => name.startsWith('operations'))
      expect(kept).toEqual(flag === '' ? [] : ['operations.partial'])
    }
  })

  test('keeps the operations', async () => {
    const folder = scratch()
    const { code } = await shell(`hf-replay ${FAST} -o ${folder}/t.ops`, TRACE)
    expect(code).toBe(0)
    expect(readOperations(readFileSync(join(folder, 't.ops')))).toMatchObject({
      calls: 350,
      slots: 200,
      peakBlocks: 200,
    })
  })

  test('follows the times of the trace', { tags: ['slow'] }, async () => {
    const slow = TRACE.replace('"time":449', '"time":600000000')
    const started = Date.now()
    const { code } = await shell('hf-replay --pace --runs 1 --allocator glibc --json', slow)
    expect(code).toBe(0)
    expect(Date.now() - started).toBeGreaterThan(1200)
    const without = await shell('hf-replay --pace --runs 1', '{"kind":"alloc","address":"0x10","size":1}\n')
    expect([without.code, without.stderr]).toEqual([2, expect.stringMatching(/--pace: the trace has no times/)])
  })

  test('its program ends where it is killed', { tags: ['slow'] }, async () => {
    const folder = scratch()
    writeFileSync(`${folder}/t.ndjson`, TRACE.replace('"time":449', '"time":60000000000'))
    const command = commandLine('exec hf-replay --pace --runs 1 --allocator glibc t.ndjson')
    const child = spawn(command, { shell: true, cwd: folder, env: { ...process.env, TMPDIR: folder }, stdio: 'ignore' })
    const pid = String(child.pid)
    const program = await vi.waitFor(
      () => {
        const [one = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
        expect(readFileSync(`/proc/${one}/comm`, 'utf8')).toMatch(/^replay-driver/)
        return one
      },
      { timeout: 20_000 },
    )
    child.kill('SIGKILL')
    // A process that has ended, but has not been waited for, still has a folder, in which this file is empty.
    const words = `/proc/${program}/cmdline`
    await vi.waitFor(() => expect(existsSync(words) && readFileSync(words, 'utf8')).toBeOneOf([false, '']), 5000)
  })

  test('says what it skips, and replays what could be read', async () => {
    const events = ['free', 'free'].map((kind) => `{"kind":"${kind}","address":"0x10"}\n`)
    const { code, stdout, stderr } = await shell(
      `hf-replay ${FAST}`,
      `${TRACE.replace('{"kind":"end"}\n', '')}${events.join('')}{"kind":`,
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/^hf-replay: warning: skipped: 2 double frees\n/)
    expect(stderr).toMatch(/truncated/)
    expect(stdout.toString()).toMatch(/\n350 calls /)
  })

  test('refuses what is no allocator', { tags: ['slow'] }, async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'text.so'), 'no library, but long enough')
    const cases: [string, number, RegExp][] = [
      ['--allocator jmalloc', 2, /--allocator: unknown allocator "jmalloc": name one of glibc, jemalloc, /],
      [`--allocator ${folder}/none.so`, 2, /none\.so is no library/],
      [`--allocator ${folder}/text.so`, 2, /text\.so is no library for this machine/],
      [`--allocator ${library('nothing', 'int nothing;')}`, 1, /nothing\.so has no malloc that can be preloaded/],
      ['--runs 0', 2, /--runs needs a whole number from 1 to 1000, not "0"/],
      ['--json --verify', 2, /--verify and --json cannot be combined/],
      ['--verify --touch none', 2, /--touch and --verify cannot be combined/],
      ['--android --allocator glibc --allocator jemalloc', 2, /--android is the report of one allocator/],
    ]
    for (const [flags, code, reason] of cases) {
      const result = await shell(`hf-replay ${flags}`, TRACE)
      expect([flags, result.code, result.stderr]).toEqual([flags, code, expect.stringMatching(reason)])
    }
  })

  test('says what is missing without a compiler', async () => {
    const folder = scratch()
    const { code, stderr } = await shell(`export XDG_CACHE_HOME=${folder} CC=no-such-compiler; hf-replay`, TRACE)
    expect([code, stderr]).toEqual([1, 'hf-replay: hf-replay needs a C compiler, which is called cc or named in CC\n'])
    expect(existsSync(join(folder, 'heapflow'))).toBe(false)
  })
})
