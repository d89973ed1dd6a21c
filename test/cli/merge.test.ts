// @module-tag slow
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { EventBatch } from '../../lib/event/batch.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as ndjson from '../../lib/entry/ndjson.js'
import { commandLine, interruptTwice, scratch, shell } from '../support/commands.js'
import { decodeAll, encodeEvents } from '../support/drive.js'
import { LIMIT, peak } from '../support/peak.js'

/** A dump with a time for each event. */
function dump(thread: number, times: readonly number[]): string {
  return times.map((time, i) => `${thread}: malloc 0x${(4096 * (i + 1)).toString(16)} 8 ${time} ${time + 1}\n`).join('')
}

/** Events as the relay files of `cpus` CPUs: in bursts, and at times the other way round, as interrupts leave them. */
function relayFiles(folder: string, cpus: number, events: number): string[] {
  const files = Array.from({ length: cpus }, () => ({ bytes: Buffer.alloc(96 * Math.ceil(events / cpus)), length: 0 }))
  let seed = 1
  const random = (below: number) => (seed = (Math.imul(seed, 48_271) >>> 0) % 2_147_483_647) % below
  let cpu = 0
  for (let i = 0; i < events; i++) {
    if (random(3) === 0) cpu = random(cpus)
    const file = files[cpu] as (typeof files)[number]
    const at = file.length
    const size = i % 2 === 0 ? 48 : 24
    if (at + 2 * size > file.bytes.length) {
      cpu = (cpu + 1) % cpus
      i--
      continue
    }
    file.bytes.writeUInt8(i % 2, at)
    file.bytes.writeUInt16LE(size, at + 2)
    // The numbers wrap in the middle.
    file.bytes.writeInt32LE((2 ** 31 - (events >> 1) + i) | 0, at + 4)
    file.bytes.writeBigUInt64LE(0xffff_ffff_8100_0000n + BigInt(random(5000)), at + 8)
    file.bytes.writeBigUInt64LE(0xffff_8800_0000_0000n + BigInt(i >> 1), at + 16)
    if (size === 48) {
      file.bytes.writeBigUInt64LE(BigInt(1 + random(4000)), at + 24)
      file.bytes.writeBigUInt64LE(4096n, at + 32)
      file.bytes.writeInt32LE(-1, at + 44)
    }
    file.length += size
    // Two records of the same size change places.
    if (
      at >= 96 &&
      random(20) === 0 &&
      file.bytes.readUInt16LE(at - size + 2) === size &&
      file.bytes[at - size] === i % 2
    ) {
      const before = Buffer.from(file.bytes.subarray(at - size, at))
      file.bytes.copyWithin(at - size, at, at + size)
      before.copy(file.bytes, at)
    }
  }
  return files.map(({ bytes, length }, i) => {
    const path = join(folder, `cpu${i}`)
    writeFileSync(path, bytes.subarray(0, length))
    return path
  })
}

describe('hf-merge', () => {
  test(
    '64 files of one million events: strictly rising numbers within the limit of memory',
    { tags: ['large'] },
    async () => {
      const folder = scratch()
      const paths = relayFiles(folder, 64, 1_000_000)
      const out = join(folder, 'merged.ndjson')
      expect(await peak(`hf-merge ${paths.join(' ')} -o ${out}`)).toBeLessThan(LIMIT)
      let last: number | undefined
      let count = 0
      for await (const batch of createReadStream(out).pipe(ndjson.decode()) as AsyncIterable<EventBatch>) {
        for (let i = 0; i < batch.count; i++, count++) {
          const number = batch.sequence[i]
          if (last !== undefined && ((number - last) | 0) !== 1) throw new Error(`${number} after ${last}`)
          last = number
        }
      }
      expect(count).toBe(1_000_000)
    },
  )

  test.each(['hfc', 'parquet', 'arrows', 'ndjson'])(
    '400 .%s files within 300 MB',
    { tags: ['large'] },
    async (ending) => {
      const folder = scratch()
      writeFileSync(join(folder, 'a.txt'), dump(1, [10, 30, 50]))
      const { code } = await shell(
        `cd ${folder}; hf-convert a.txt 0.${ending} && for i in $(seq 399); do cp 0.${ending} $i.${ending}; done`,
      )
      expect(code).toBe(0)
      expect(await peak(`hf-merge ${folder}/*.${ending} -o ${folder}/merged.json --to ndjson`)).toBeLessThan(
        300_000_000,
      )
      expect((await shell(`grep -c alloc ${folder}/merged.json`)).stdout.toString().trim()).toBe('1200')
    },
  )

  test('puts events in the order of their times, and ids apart', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a.txt'), dump(1, [10, 30, 50]))
    writeFileSync(join(folder, 'b.txt'), dump(1, [20, 30, 40]))
    const { code, stdout, stderr } = await shell(`cd ${folder}; hf-merge a.txt b.txt --thread-offset 0x100 --to replay`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(
      stdout
        .toString()
        .split('\n')
        .map((line) => line.replace(/malloc \S+ 8 /, '')),
    ).toEqual(['1: 10 11', '257: 20 21', '1: 30 31', '257: 30 31', '257: 40 41', '1: 50 51', ''])
    const numbered = await shell(
      `cd ${folder}; hf-merge a.txt - --number-processes < b.txt | jq -c .process | tr '\\n' ' '`,
    )
    if ((await shell('command -v jq')).code === 0) expect(numbered.stdout.toString()).toMatch(/1 2 1 2 2 1/)
  })

  test('keeps the processes of two recordings apart, or fails', async () => {
    const folder = scratch()
    const lines = (...records: object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('')
    const header = { kind: 'header', format: 'recorder', timeUnit: 'ns' }
    const block = { thread: 1, address: '0x1000' }
    writeFileSync(
      join(folder, 'a.ndjson'),
      lines(
        header,
        { kind: 'alloc', thread: 1, time: 1, address: '0x9000', size: 1 },
        { kind: 'alloc', process: 2, ...block, time: 2, size: 100 },
        { kind: 'process-end', process: 2, time: 8 },
        { kind: 'end', events: 3 },
      ),
    )
    writeFileSync(
      join(folder, 'b.ndjson'),
      lines(
        header,
        { kind: 'alloc', ...block, time: 3, size: 20 },
        { kind: 'free', ...block, time: 9 },
        { kind: 'end', events: 2 },
      ),
    )
    const merge = (flags: string) => shell(`cd ${folder}; hf-merge --number-processes ${flags} a.ndjson b.ndjson`)
    const { code, stderr } = await merge('--by time')
    expect(code).toBe(1)
    expect(stderr).toContain('ndjson: recorder: event 1: malformed: process 2 is also')
    expect((await merge('--end-to-end')).code).toBe(0)
    const apart = await merge('--by time --process-offset 1000')
    expect({ code: apart.code, stderr: apart.stderr }).toEqual({ code: 0, stderr: '' })
    expect(apart.stdout.toString().match(/(?<="process":)\d+/g)).toEqual(['1', '2', '1001', '2', '1001'])
    const stats = (await shell('hf-stats --json', apart.stdout)).stdout.toString()
    expect(JSON.parse(stats)).toMatchObject({
      freed: { bytes: 20 },
      leaked: { bytes: 101 },
      faults: { unknownFrees: 0 },
    })
  })

  test('says nothing about all events of an input that it has not read to its end', async () => {
    const folder = scratch()
    const lines = (...records: object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join('')
    const header = { kind: 'header', format: 'recorder', timeUnit: 'ns' }
    const block = { kind: 'alloc', address: '0x1000', size: 8, time: 5 }
    writeFileSync(join(folder, 'a.ndjson'), lines(header, { ...block, process: 2 }, { kind: 'end' }))
    writeFileSync(join(folder, 'b.ndjson'), lines(header, { kind: 'comment', text: 'x' }, block, { kind: 'end' }))
    writeFileSync(join(folder, 'cut.ndjson'), lines(header, { kind: 'comment', text: 'x' }, block).slice(0, -9))
    for (const [line, reason] of [
      ['--number-processes a.ndjson b.ndjson', 'process 2 is also the number of events without a process'],
      ['a.ndjson cut.ndjson', 'truncated'],
    ]) {
      const { code, stderr } = await shell(`cd ${folder}; hf-merge --by time ${line}`)
      expect(code).toBe(1)
      expect(stderr).toContain(reason)
      expect(stderr).not.toContain('no event has a time')
    }
  })

  test('tells what is missing', async () => {
    const folder = scratch()
    const paths = relayFiles(folder, 4, 1000)
    const { code, stderr } = await shell(`hf-merge ${paths.slice(0, 3).join(' ')} > /dev/null`)
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^hf-merge: warning: \d+ sequence numbers are missing, in \d+ gaps, the first after 21474\d+ \(event \d+\): an input is cut or was not given\n$/,
    )
  })

  test('merges a file that is cut as far as it goes, and fails with its name', async () => {
    const folder = scratch()
    const [a, b] = relayFiles(folder, 2, 1000) as [string, string]
    const whole = (await shell(`hf-merge ${a} ${b}`)).stdout.toString().trimEnd().split('\n')
    writeFileSync(b, readFileSync(b).subarray(0, 5000))
    const { code, stdout, stderr } = await shell(`hf-merge ${a} ${b}`)
    expect(code).toBe(1)
    expect(stderr).toContain(`hf-merge: ${b}: kmemtrace: byte `)
    const lines = stdout.toString().trimEnd().split('\n')
    expect(lines.at(-1)).toBe(whole.at(-2))
    expect(lines.length).toBeGreaterThan(500)
    expect(whole).toEqual(expect.arrayContaining(lines))
  })

  test(
    'call stacks of megabytes stay within a small multiple of what one event takes',
    { tags: ['large'] },
    async () => {
      const folder = scratch()
      const paths = [1, 2].map((thread) => {
        const path = join(folder, `${thread}.heapmon.gz`)
        const crawl = (i: number) =>
          Array.from({ length: 900 }, (_, j) => `f${thread}_${i}_${j}`.padEnd(1000, 'a')).join(' ')
        writeFileSync(
          path,
          Buffer.concat(
            Array.from({ length: 150 }, (_, i) =>
              gzipSync(`1-${thread} ${i + 1} 0x${(4096 * (i + 1)).toString(16)} 16 novtbl ${crawl(i)}\n`),
            ),
          ),
        )
        return path
      })
      expect(await peak(`hf-merge --by time ${paths.join(' ')}`)).toBeLessThan(3 * LIMIT)
      expect(await peak(`hf-sort --memory 16M ${paths[0]}`)).toBeLessThan(2 * LIMIT)
    },
  )

  test('tells all files that are no traces', async () => {
    const folder = scratch()
    for (const name of ['b', 'c'])
      writeFileSync(join(folder, name), 'no trace at all, but long enough that no more of it would change that')
    writeFileSync(join(folder, 'a'), dump(1, [1]))
    const { code, stderr } = await shell(`cd ${folder}; hf-merge a b c -o d`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^hf-merge: warning: c: unrecognized format; .*\nhf-merge: b: unrecognized format; .*\n$/)
    expect(existsSync(join(folder, 'd'))).toBe(false)
  })

  test.skipIf(process.platform === 'win32')(
    'more files than can be open: refused before anything is written, but not end to end',
    async () => {
      const folder = scratch()
      // Node itself has many modules open at once while it starts.
      for (let i = 0; i < 300; i++) writeFileSync(join(folder, `in${i}`), dump(1, [i]))
      const refused = await shell(`cd ${folder}; ulimit -n 200; hf-merge in* -o out`)
      expect(refused).toMatchObject({
        code: 2,
        stderr:
          "hf-merge: 300 files are more than the system's limit of 200 (ulimit -n) allows to be open at once: raise it, or merge them in parts; see hf-merge --help\n",
      })
      expect(await shell(`cd ${folder}; ulimit -n 200; hf-merge --from replay in* -o out`)).toEqual(refused)
      expect(existsSync(join(folder, 'out'))).toBe(false)
      expect(await shell(`cd ${folder}; ulimit -n 200; hf-merge --end-to-end in* --to replay -o out`)).toMatchObject({
        code: 0,
        stderr:
          'hf-merge: warning: not representable in replay, dropped or changed: beginning of another trace (299)\n',
      })
      expect(readFileSync(join(folder, 'out'), 'utf8').split('\n')).toHaveLength(301)
    },
  )

  test('puts traces end to end', async () => {
    const folder = scratch()
    const trace = encodeEvents(
      mtrc.format.encoder(),
      [
        { kind: 'alloc', index: 1n, address: 16n, size: 8n },
        { kind: 'free', index: 1n },
      ],
      { format: 'mtrc' },
    )
    writeFileSync(join(folder, 'a.mtrc'), trace)
    expect(await shell(`cd ${folder}; hf-merge --end-to-end a.mtrc a.mtrc -o b.mtrc`)).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(readFileSync(join(folder, 'b.mtrc')).equals(Buffer.concat([trace, trace]))).toBe(true)
    const refused = await shell(`cd ${folder}; hf-merge a.mtrc a.mtrc -o c.mtrc`)
    expect(refused).toMatchObject({
      code: 2,
      stderr: `hf-merge: the events have neither sequence numbers nor times: split the trace again with hf-split --number, or use --end-to-end; see hf-merge --help\n`,
    })
    expect(existsSync(join(folder, 'c.mtrc'))).toBe(false)
    writeFileSync(join(folder, 'cut.mtrc'), trace.subarray(0, -4))
    const cut = await shell(`cd ${folder}; hf-merge --end-to-end cut.mtrc a.mtrc --to mtrc`)
    expect(cut.code).toBe(1)
    expect(cut.stdout.equals(trace.subarray(0, -4))).toBe(true)
    expect(cut.stderr).toContain('hf-merge: cut.mtrc: mtrc: ')
  })

  test.each([
    ['hf-merge', /name the traces to merge/],
    ['hf-merge - -', /standard input can be read only once/],
    ['hf-merge --by size a b', /--by must be one of sequence, time/],
    ['hf-merge --by time --end-to-end a b', /--end-to-end cannot be combined with --by/],
    ['hf-merge --window 65537 a b', /--window needs a whole number from 0 to 65536, not "65537"/],
    ['hf-merge --thread-offset x a b', /--thread-offset needs an integer/],
  ])('a command line that makes no sense: %s', async (line, message) => {
    const { code, stdout, stderr } = await shell(line)
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })

  test('files that are not there, or are the output', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a'), dump(1, [1]))
    expect(await shell(`cd ${folder}; hf-merge a b -o c`)).toMatchObject({
      code: 1,
      stderr: 'hf-merge: b: no such file or directory\n',
    })
    expect(await shell(`cd ${folder}; hf-merge a . -o c`)).toMatchObject({
      code: 1,
      stderr: 'hf-merge: .: is a directory\n',
    })
    expect(existsSync(join(folder, 'c'))).toBe(false)
    writeFileSync(join(folder, 'b'), dump(1, [1]))
    expect((await shell(`cd ${folder}; hf-merge a b -o ./b`)).stderr).toContain('./b is the input too')
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe(dump(1, [1]))
  })

  test('readers that go away, full disks and interrupts', async () => {
    const folder = scratch()
    const path = join(folder, 'a')
    writeFileSync(
      path,
      dump(
        1,
        Array.from({ length: 50_000 }, (_, i) => i),
      ),
    )
    expect(await shell(`set -o pipefail; hf-merge ${path} ${path} | head -n 1 > /dev/null`)).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(await shell(`hf-merge ${path} ${path} > /dev/full`)).toMatchObject({
      code: 1,
      stderr: 'hf-merge: cannot write: no space left on device\n',
    })
    const child = spawn('bash', ['-c', `exec ${commandLine(`hf-merge --window 0 ${path} -`)}`], { stdio: 'pipe' })
    child.stdin.write(dump(2, [5, 6, 7]))
    child.stdout.resume()
    await once(child.stdout, 'data')
    await interruptTwice(child)
    expect(await once(child, 'close')).toEqual([130, null])
  })

  test('events flow while the writers are still at work', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'a'), dump(1, [1, 2, 3, 9]))
    const child = spawn('bash', ['-c', commandLine(`hf-merge --window 0 ${folder}/a - --to replay`)], { stdio: 'pipe' })
    child.stdin.write(dump(2, [4, 5, 6]))
    let text = ''
    for await (const chunk of child.stdout) {
      text += String(chunk)
      if (text.split('\n').length === 7) break
    }
    expect(text).toMatch(/^1: .* 1 2\n1: .* 2 3\n1: .* 3 4\n2: .* 4 5\n2: .* 5 6\n2: .* 6 7\n$/)
    child.stdin.end()
    await once(child, 'close')
  })
})

describe('hf-sort', () => {
  const shuffled = (n: number) => Array.from({ length: n }, (_, i) => (i * 7919) % n)

  test('sorts by time, in memory or not', async () => {
    const n = 60_000
    const wanted = Array.from({ length: n }, (_, i) => i)
    for (const flags of ['', '--memory 1M']) {
      const { code, stdout, stderr } = await shell(`hf-sort ${flags} --to replay`, dump(3, shuffled(n)))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(
        stdout
          .toString()
          .trimEnd()
          .split('\n')
          .map((line) => Number(line.split(' ')[4])),
      ).toEqual(wanted)
    }
  })

  test('keeps to its limit of memory', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'a.txt')
    writeFileSync(path, dump(1, shuffled(1_000_000)))
    expect(await peak('hf-sort --memory 32M', path)).toBeLessThan(LIMIT)
  })

  test('sorts what there is of a trace that is cut', async () => {
    const text = dump(1, shuffled(1000))
    const { code, stdout, stderr } = await shell('hf-sort', text.slice(0, 20_000))
    expect(code).toBe(1)
    expect(stderr).toMatch(/^hf-sort: stdin: replay: line \d+, .*: truncated/)
    const times = decodeAll(ndjson.format.decoder(), stdout).events.map(({ time }) => Number(time))
    expect(times.length).toBeGreaterThan(400)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test.each([
    ['hf-sort --memory 100', /--memory needs a number of bytes such as 4096 or 64M, at least 1M, not "100"/],
    ['hf-sort --memory lots', /--memory needs a number of bytes/],
    ['hf-sort --memory 18446744073709551616', /--memory needs a number of bytes/],
    ['hf-sort --by name', /--by must be one of process, thread/],
    ['hf-sort --temporary /no/such/folder', /--temporary: \/no\/such\/folder is not a folder/],
  ])('a command line that makes no sense: %s', async (line, message) => {
    const { code, stderr } = await shell(line, dump(1, [1]))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  describe.skipIf(process.platform !== 'linux')('leaves no temporary files', () => {
    test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('at %s', async (signal) => {
      const folder = scratch()
      const child = spawn('bash', ['-c', `exec ${commandLine(`hf-sort --memory 1M --temporary ${folder}`)}`], {
        stdio: 'pipe',
      })
      child.stdin.on('error', () => {})
      child.stdin.write(dump(1, shuffled(50_000)))
      const hasSpilled = () =>
        readdirSync(`/proc/${child.pid}/fd`).some((fd) => {
          try {
            return readlinkSync(`/proc/${child.pid}/fd/${fd}`).startsWith(folder)
          } catch {
            return false
          }
        })
      while (!hasSpilled()) await sleep(10)
      // The file loses its name right after it was opened: a moment that can be seen.
      await sleep(50)
      expect(readdirSync(folder)).toEqual([])
      const closed = once(child, 'close')
      if (signal === 'SIGINT') await interruptTwice(child)
      else child.kill(signal)
      expect(await closed).toEqual({ SIGINT: [130, null], SIGTERM: [143, null], SIGKILL: [null, 'SIGKILL'] }[signal])
      expect(readdirSync(folder)).toEqual([])
    })

    test('when the reader goes away, or the disk is full', async () => {
      const folder = scratch()
      const text = dump(1, shuffled(50_000))
      expect(
        await shell(`set -o pipefail; hf-sort --memory 1M --temporary ${folder} | head -n 1 > /dev/null`, text),
      ).toMatchObject({ code: 0, stderr: '' })
      expect(await shell(`hf-sort --memory 1M --temporary ${folder} > /dev/full`, text)).toMatchObject({
        code: 1,
        stderr: 'hf-sort: cannot write: no space left on device\n',
      })
      expect(readdirSync(folder)).toEqual([])
    })
  })
})
