import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ReportData } from '../../lib/transforms/report/result.js'
import { commandOf } from '../../page/filter/command.js'
import { elfFile } from '../../lib/streams/symbols/elf-file.js'
import { shell } from '../support/commands.js'

const PROGRAM = `#include <stdlib.h>
__attribute__((noinline)) void *planted_site(int n) { return malloc(n); }
int main(void) { return planted_site(3) == 0; }
`

const has = (tool: string): boolean => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error === undefined
const missing = ['cc', 'addr2line', 'nm'].filter((tool) => !has(tool))

interface Site {
  stack: string[]
  allocated: { blocks: number; bytes: number }
}

describe.skipIf(missing.length > 0)(`names without being asked (need ${missing.join(' ') || 'nothing more'})`, () => {
  let folder = ''
  let app = ''
  let trace = ''
  let frames: string[] = []
  const hour = Date.now() / 1000 - 3600

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'named-'))
    app = join(folder, 'app')
    writeFileSync(join(folder, 'app.c'), PROGRAM)
    execFileSync('cc', ['-g', '-O2', '-fPIE', '-pie', join(folder, 'app.c'), '-o', app])
    utimesSync(app, hour, hour)
    const start = (name: string) => {
      const symbols = execFileSync('nm', [app], { encoding: 'utf8' })
      return Number.parseInt(new RegExp(`^([0-9a-f]+) T ${name}$`, 'm').exec(symbols)?.[1] ?? '', 16)
    }
    // Two places of one function, and a module that is not there.
    frames = [start('planted_site'), start('planted_site') + 1, start('main')].map(
      (at) => `in ${app}+0x${at.toString(16)}`,
    )
    trace = join(folder, 'app.ndjson')
    write(trace, [frames[0], '/gone+0x1'].join(' < '), frames[1], [frames[0], frames[2]].join(' < '))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Writes a trace with an allocation for each stack, whose frames have " < " between them. */
  function write(path: string, ...stacks: string[]): void {
    const lines = stacks.map((stack, i) =>
      JSON.stringify({ kind: 'alloc', address: `0x${i + 1}00`, size: 10 + i, stack: stack.split(' < ') }),
    )
    writeFileSync(path, `${lines.join('\n')}\n`)
  }

  async function sites(line: string): Promise<{ sites: Site[]; stderr: string }> {
    const { code, stdout, stderr } = await shell(line)
    expect(code).toBe(0)
    return { sites: (JSON.parse(stdout.toString()) as { sites: Site[] }).sites, stderr }
  }

  test('hf-stats: the sites have names, and the figures that they have without', { tags: ['slow'] }, async () => {
    const named = await sites(`hf-stats --json ${trace}`)
    const raw = await sites(`hf-stats --json --no-symbolize ${trace}`)
    expect(raw.sites.map(({ stack }) => stack[0])).toEqual([frames[0], frames[1], frames[0]])
    expect(named.sites.map(({ allocated }) => allocated)).toEqual(raw.sites.map(({ allocated }) => allocated))
    expect(
      named.sites.every(({ stack }) => stack[0]?.startsWith(`planted_site at ${folder}/app.c:2 in ${app}+0x`)),
    ).toBe(true)
    expect(named.stderr).toBe('')
  })

  test(
    'hf-profile, hf-diff, hf-report and hf-view: names, and none with --no-symbolize',
    { tags: ['slow'] },
    async () => {
      const other = join(folder, 'other.ndjson')
      write(other, frames[0])
      const lines = [
        `hf-profile --to collapsed ${trace}`,
        `hf-diff ${trace} ${other}`,
        `hf-report --embed 0 --compare ${other} ${trace}`,
      ]
      for (const line of lines) {
        const named = await shell(line)
        expect([named.code, named.stderr]).toEqual([0, ''])
        expect(named.stdout.toString()).toContain('planted_site')
        const raw = await shell(`${line} --no-symbolize`)
        expect(raw.code).toBe(0)
        expect(raw.stdout.toString()).not.toContain('planted_site')
      }
      expect((await shell('hf-view --help')).stdout.toString()).toContain('--no-symbolize')
    },
  )

  test('a filter of the page by names has commands that find the names', { tags: ['slow'] }, async () => {
    const page = join(folder, 'app.html')
    expect((await shell(`hf-report -o ${page} ${trace}`)).code).toBe(0)
    const packed = /id="report-data">([^<]*)</.exec(readFileSync(page, 'utf8'))?.[1] ?? ''
    const data = JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as ReportData
    const command = commandOf([['stack', 'planted_site']], data).replace('app.ndjson', trace)
    const { stdout } = await shell(`${command} --json`)
    expect((JSON.parse(stdout.toString()) as { events: number }).events).toBe(3)
  })

  test(
    'hf-blocks and hf-sql: names, the same blocks without, and none with --no-symbolize',
    { tags: ['slow'] },
    async () => {
      const query = `"select frame, count(*) as blocks from blocks group by frame order by blocks desc, frame"`
      const stacks = join(folder, 'stacks.csv')
      for (const line of [`hf-blocks --to csv --stacks ${stacks}`, `hf-sql --to csv ${trace} ${query}`]) {
        const rows = async (flags: string) => {
          const { code, stdout, stderr } = await shell(`${line} ${flags} ${line.includes(trace) ? '' : trace}`)
          expect([code, stderr]).toEqual([0, ''])
          return stdout.toString()
        }
        const named = await rows('')
        expect(named).toContain(`planted_site at ${folder}/app.c:2 in ${app}+0x`)
        if (line.startsWith('hf-blocks'))
          expect(readFileSync(stacks, 'utf8')).toMatch(/planted_site.*main at .*app\.c:3/)
        const raw = await rows('--no-symbolize')
        expect(raw).not.toContain('planted_site')
        expect(raw).toContain(frames[0])
        expect(raw.split('\n')).toHaveLength(named.split('\n').length)
      }
      const numbers = await shell(`hf-sql --to csv ${trace} "select count(*) as blocks from blocks"`)
      expect(numbers.stdout.toString()).toBe('blocks\n3\n')
      const events = `hf-sql --to csv ${trace} "select stack[1] as frame from events limit 1"`
      expect((await shell(events)).stdout.toString()).toContain('planted_site at')
    },
  )

  test(
    'call sites in a module have no names unless they are asked for: nothing tells other builds of it',
    { tags: ['slow'] },
    async () => {
      const calls = join(folder, 'calls.mtrace')
      const site = Number.parseInt(frames[0].split('+0x')[1] as string, 16) + 1
      writeFileSync(calls, `= Start\n@ ${app}:[0x${site.toString(16)}] + 0x1000 0x10\n`)
      expect((await shell(`hf-stats ${calls}`)).stdout.toString()).not.toContain('planted_site')
      expect((await shell(`hf-symbolize ${calls} | hf-stats`)).stdout.toString()).toContain('planted_site')
    },
  )

  test('a trace that a command writes stays as it is', async () => {
    const { stdout } = await shell(`hf-filter --kind alloc ${trace}`)
    expect(stdout.toString()).not.toContain('planted_site')
  })

  test(
    'a module that was changed after the trace was written gives no names, and one warning',
    { tags: ['slow'] },
    async () => {
      utimesSync(trace, hour - 60, hour - 60)
      const { sites: found, stderr } = await sites(`hf-stats --json ${trace}`)
      expect(found[0]?.stack[0]).toBe(frames[0])
      expect(stderr).toMatch(/^hf-stats: warning: .*\/app was changed after the trace was written.*hf-symbolize.*\n$/)
      // hf-symbolize was asked.
      expect((await shell(`hf-symbolize ${trace}`)).stdout.toString()).toContain('planted_site at')
      // The time of a pipe is not known.
      expect((await sites(`cat ${trace} | hf-stats --json`)).sites[0]?.stack[0]).toContain('planted_site at')
      utimesSync(trace, hour + 60, hour + 60)
    },
  )

  test('a file with parts at other addresses than the module of a raw heaptrack file gives no names', async () => {
    const parts = elfFile(app)?.loaded.map(({ address, size }) => `${address.toString(16)} ${size.toString(16)}`)
    const offset = Number.parseInt(frames[0].split('+0x')[1] as string, 16)
    const raw = (list: string) =>
      `v 10400 3\nx ${app.length.toString(16)} ${app}\nm 1 -\nm 1 x 1000000 ${list}\n` +
      `t ${(0x1000000 + offset).toString(16)} 0\n+ 10 1 2000\n`
    const same = join(folder, 'same.raw')
    const other = join(folder, 'other.raw')
    writeFileSync(same, raw(parts?.join(' ') ?? ''))
    writeFileSync(other, raw(`0 1 ${parts?.slice(1).join(' ')}`))
    expect((await sites(`hf-stats --json ${same}`)).sites[0]?.stack[0]).toContain('planted_site at')
    const refused = await sites(`hf-stats --json ${other}`)
    expect(refused.sites[0]?.stack[0]).toContain(`in ${app}+0x`)
    expect(refused.stderr).toBe('')
    const asked = await shell(`hf-symbolize ${other}`)
    expect(asked.stderr).toContain('it has parts at other addresses')
    expect(asked.stdout.toString()).not.toContain('planted_site')
  })

  test('a tool that fails, and no tool, leave the functions of the symbol table, and status 0', async () => {
    const tools = join(folder, 'tools')
    execFileSync('mkdir', ['-p', tools])
    for (const name of ['llvm-symbolizer', 'addr2line'])
      writeFileSync(join(tools, name), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
    const failed = await sites(`PATH=${tools}:$PATH hf-stats --json ${trace}`)
    expect(failed.sites[0]?.stack[0]).toBe(`planted_site ${frames[0]}`)
    expect(failed.stderr).toContain('its symbols are read instead')
    const absent = await sites(`PATH=/nowhere hf-stats --json ${trace}`)
    expect(absent.sites[0]?.stack[0]).toBe(`planted_site ${frames[0]}`)
    expect(absent.stderr).toBe('')
  })
})
