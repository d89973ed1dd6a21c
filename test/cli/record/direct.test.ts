// @module-tag slow
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandLine, shell } from '../../support/commands.js'
import { can } from './programs.js'

const PROGRAM = `#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  for (int i = 0; i < 20000; i++) free(malloc(i % 500 + 1));
  void *kept = malloc(4321);
  printf("hello\\n");
  return kept == 0 ? 9 : argc > 1 ? atoi(argv[1]) : 0;
}
`
const folder = mkdtempSync(join(tmpdir(), 'heapflow-direct-'))
const run = (line: string) => shell(`cd ${folder}; ${line}`)

describe.skipIf(!can('recorder'))('hf-record --to recorder (needs Linux on x86-64 or arm64, and cc)', () => {
  beforeAll(() => {
    writeFileSync(join(folder, 'app.c'), PROGRAM)
    execFileSync('cc', ['-o', join(folder, 'app'), join(folder, 'app.c')])
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const figures = async (line: string) => {
    const { code, stdout, stderr } = await run(line)
    const { allocated, leaked, complete } = JSON.parse(stdout.toString()) as Record<string, unknown>
    return { code, allocated, leaked, complete, stderr }
  }

  test('writes what the recorder writes to a pipe, of which hf-stats makes the same as of a file', async () => {
    const piped = await figures('hf-record --to recorder -- ./app 3 | hf-stats --json')
    // What the program prints is not in the trace.
    expect(piped.stderr).toBe('hello\n')
    expect(piped.complete).toBe(true)
    const filed = await figures('hf-record -o app.hfrec -- ./app 3 >&2; hf-stats --json app.hfrec')
    expect(piped).toEqual(filed)
    const named = await figures('hf-record --to recorder -o other.bin -- ./app 3 >&2; hf-stats --json other.bin')
    expect(named).toEqual(filed)
    expect(
      (await run('hf-record --to recorder -- ./app 3 | cat > cat.hfrec; echo ${PIPESTATUS[0]}')).stdout.toString(),
    ).toBe('3\n')
  })

  test('commands with bytes that Node changes are refused, and variables are named', async () => {
    const { code, stderr } = await run("hf-record -o bytes.hfrec -- ./app $'3\\xff'")
    expect([code, stderr]).toEqual([2, expect.stringContaining('bytes that are not UTF-8')])
    // U+FFFD itself stays.
    const { code: status, stderr: text } = await run("A='\uFFFD' hf-record -o bytes.hfrec -- ./app '3\uFFFD'")
    expect([status, text]).toEqual([3, ''])
    const named = await run("B=$'\\xff' hf-record -o bytes.hfrec -- ./app 3")
    expect([named.code, named.stderr]).toEqual([3, expect.stringContaining('warning: B: not UTF-8')])
  })

  test('a pipe that does not block gets everything', async () => {
    const { stdout } = await run(
      `perl -MFcntl -e 'fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK) or die; exec @ARGV' ` +
        `${commandLine('hf-record --to recorder -- ./app 3')} | (sleep 1; recorder-decode | wc -l); echo \${PIPESTATUS[0]}`,
    )
    const [lines, status] = stdout.toString().split('\n').map(Number)
    expect(lines).toBeGreaterThan(40_000)
    expect(status).toBe(3)
  })

  test('the program runs on when the reader has gone, and its status stays', async () => {
    const { stdout, stderr } = await run('hf-record --to recorder -- ./app 3 | head -c 4 > head; echo ${PIPESTATUS[0]}')
    expect([stdout.toString(), stderr.split('\n').slice(0, 1)]).toEqual(['3\n', ['hello']])
    expect(stderr).not.toContain('hf-record:')
  })

  test.each([
    ['--to recorder -- ./nosuch | tail -c 0', 127, /no such program/],
    [
      '--to recorder -- ./app > /dev/full',
      1,
      /^hello\nhf-record: standard output: the recording could not be written: No space left on device\n$/,
    ],
    ['--to recorder -z -- ./app | cat', 2, /--gzip: .* in its own format/],
    ['--to recorder -o x.hfrec.gz -- ./app', 2, /in its own format: name it x\.hfrec;/],
    ['-o x.hfrec.zst -- ./app', 2, /in its own format: name it x\.hfrec;/],
    ['--with heaptrack -o x.hfrec -- ./app', 2, /: -o x\.hfrec is the format of --with recorder, and not of heaptrack/],
    ['--to recorder --with ltrace -- ./app | cat', 2, /is the format of --with recorder, and not of ltrace/],
    ['--to recorder --stack -- ./app | cat', 2, /--stack and --to recorder exclude each other/],
    ['--to recorder -u -- ./app | cat', 2, /cannot be combined/],
    ['--to recorder --pid 1 | cat', 2, /-o FILE/],
  ])('hf-record %s', async (line, status, reason) => {
    const { stdout, stderr } = await run(`hf-record ${line}; echo status $\{PIPESTATUS[0]}`)
    expect(stdout.toString().split('\n').at(-2)).toBe(`status ${status}`)
    expect(stderr).toMatch(reason)
  })
})
