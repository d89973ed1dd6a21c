// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RecorderDecoder } from '../../../lib/formats/recorder/decode.js'
import { shell } from '../../support/commands.js'
import { decodeAll } from '../../support/drive.js'
import { recordingBytes } from '../../support/recording.js'
import { HEADERS } from './own-programs.js'
import { can, compileRecorder } from './programs.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-replaced-'))
const native = (name: string) => fileURLToPath(new URL(`../../../native/recorder/${name}`, import.meta.url))
const at = (name: string) => join(folder, name)

/** Programs that take the place of each other. Those that are there "again" are without the recorder. */
const PROGRAMS = {
  // The reader, whose child it is, sees the programs that it was only when it is the last one.
  becomes: `int main(int count, char **words) {
    int left = count > 1 ? atoi(words[1]) : 12;
    char next[16];
    if (count == 1) kill(getppid(), SIGSTOP);
    free(malloc(100 + left)); *(volatile char *)malloc(1000) = 1;
    sprintf(next, "%d", left - 1);
    if (left > 0) execl("/proc/self/exe", "becomes", next, NULL);
    kill(getppid(), SIGCONT);
    usleep(300000);
    *(volatile char *)malloc(5000) = 1;
    return 0;
  }`,
  escapes: `int main(int count, char **words) {
    *(volatile char *)malloc(1000) = 1;
    if (count == 1) execle("/proc/self/exe", "escapes", "again", NULL, none);
    usleep(1500000);
    return 0;
  }`,
  // The reader does not see the first program while it is there.
  'escapes-soon': `int main(int count, char **words) {
    if (count == 1) {
      kill(getppid(), SIGSTOP);
      *(volatile char *)malloc(1000) = 1;
      execle("/proc/self/exe", "escapes", "again", NULL, none);
    }
    kill(getppid(), SIGCONT);
    usleep(1500000);
    return 0;
  }`,
  // Its child is another program with much memory.
  parent: `int main(int count, char **words) {
    if (count > 1) {
      memset(malloc(64 << 20), 1, 64 << 20);
      usleep(1500000);
      return 0;
    }
    *(volatile char *)malloc(1000) = 1;
    if (fork() == 0) {
      *(volatile char *)malloc(2000) = 1;
      usleep(100000);
      execle("/proc/self/exe", "parent", "again", NULL, none);
    }
    usleep(1000000);
    *(volatile char *)malloc(5000) = 1;
    wait(NULL);
    return 0;
  }`,
  // Its first call is late.
  slow: `__attribute__((constructor)) static void pass(void) { usleep(1500000); }
  int main(void) { *(volatile char *)malloc(6000) = 1; return 0; }`,
  before: `int main(void) { *(volatile char *)malloc(1000) = 1; usleep(300000); execl("./slow", "./slow", NULL); return 1; }`,
  hides: `#include <sys/prctl.h>
  int main(int count, char **words) {
    if (count > 1) prctl(PR_SET_DUMPABLE, 0);
    *(volatile char *)malloc(1000) = 1;
    usleep(300000);
    prctl(PR_SET_DUMPABLE, 0);
    usleep(1000000);
    return 0;
  }`,
}

const run = (line: string) => shell(`cd ${folder}; export XDG_CACHE_HOME=${folder}/cache; ${line}`)

function eventsOf(name: string) {
  const { events, error } = decodeAll(new RecorderDecoder(), recordingBytes(at(name)))
  expect(error).toBeUndefined()
  return events
}

/** What is said of a program without the recorder, once. */
const unrecorded = (program: string) =>
  new RegExp(`^heapflow: process \\d+ is another program now, \\S+/${program}, which is not recorded: it is.*\n$`)

describe.skipIf(!can('recorder'))('programs that take the place of recorded ones', () => {
  beforeAll(() => {
    for (const [name, text] of Object.entries(PROGRAMS)) {
      writeFileSync(at(`${name}.c`), `#define _GNU_SOURCE\n${HEADERS}static char *none[] = { NULL };\n${text}`)
      execFileSync('cc', ['-w', '-O0', '-o', at(name), at(`${name}.c`)])
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('programs in the place of each other end where the next one begins, however late they are seen', async () => {
    expect((await run('hf-record -o becomes.hfrec -- ./becomes')).stderr).toBe('')
    const events = eventsOf('becomes.hfrec')
    const places = events.flatMap(
      ({ text = '' }) => /^process (\d+) is .* in place of (\d+):/.exec(text)?.slice(1) ?? [],
    )
    expect(places.map(Number)).toEqual(Array.from({ length: 12 }, (_, i) => [i + 2, i + 1]).flat())
    const last = events.findIndex(({ size }) => size === 5000n)
    expect(events.slice(0, last).filter(({ kind }) => kind === 'process-end')).toHaveLength(12)
  })

  test.each(['escapes', 'escapes-soon'])('one that is not recorded is named: %s', async (program) => {
    const { code, stderr } = await run(`hf-record -o escapes.hfrec -- ./${program}`)
    expect(code).toBe(0)
    expect(stderr).toMatch(unrecorded(program))
    expect(eventsOf('escapes.hfrec').some(({ size }) => size === 1000n)).toBe(true)
  })

  test('where one begins that is not recorded, the one before ends, and the memory of the new one is not its own', async () => {
    const { code, stderr } = await run('hf-record -o parent.hfrec -- ./parent')
    expect(code).toBe(0)
    expect(stderr).toMatch(unrecorded('parent'))
    const events = eventsOf('parent.hfrec')
    const child = events.find(({ size }) => size === 2000n)?.process
    expect(child).toBe(2n)
    const end = events.findIndex(({ kind, process }) => kind === 'process-end' && process === child)
    const later = events.findIndex(({ size }) => size === 5000n)
    expect([end > 0, later > end]).toEqual([true, true])
    expect(events.slice(end + 1).some(({ process }) => process === child)).toBe(false)
    const resident = events.flatMap(({ process, present }) =>
      process === child && present !== undefined ? [Number(present)] : [],
    )
    expect(resident.length).toBeGreaterThan(0)
    expect(Math.max(...resident)).toBeLessThan(32 << 20)
  })

  const canContain = spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0
  test.skipIf(!canContain)('one that is in a container is named', async () => {
    // Where /proc shows the processes outside, programs are recorded.
    const { stderr } = await run(`hf-record -o in.hfrec -- unshare -pf ${at('slow')}`)
    expect(stderr).toBe('')
    const again = await run(`hf-record -o in.hfrec -- unshare -pf --mount-proc ${at('slow')}`)
    expect(again.stderr).toMatch(/slow, which is not recorded: it has another \/proc, as in a container: .*\n$/)
  })

  test('one that is slow to begin is recorded, and not said to be unrecorded', async () => {
    const { code, stderr } = await run('hf-record -o before.hfrec -- ./before')
    expect([code, stderr]).toEqual([0, ''])
    const events = eventsOf('before.hfrec')
    expect(events.some(({ text = '' }) => text.endsWith('in place of 1: ./slow'))).toBe(true)
    expect(events.find(({ size }) => size === 6000n)?.process).toBe(2n)
  })

  test.each(['', 'at-once'])(
    'one that the user may not trace is not taken for another one: ./hides %s',
    async (when) => {
      const isRoot = process.getuid?.() === 0
      if (isRoot && spawnSync('setpriv', ['--version']).error !== undefined) return
      const shared = ['-std=gnu11', '-O2', '-shared', '-fPIC', '-fno-omit-frame-pointer', '-fvisibility=hidden']
      expect(compileRecorder('-O1', '-o', at('reader'), native('reader.c'))).toBe(true)
      expect(compileRecorder(...shared, '-o', at('recorder.so'), native('recorder.c'))).toBe(true)
      chmodSync(folder, 0o755)
      const user = isRoot ? 'setpriv --reuid 65534 --regid 65534 --clear-groups ' : ''
      const { code, stderr } = await run(`${user}./reader /dev/null ./recorder.so 9 -c ./hides ${when}`)
      expect([code, stderr]).toEqual([0, ''])
    },
  )
})
