// @module-tag slow
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TraceEvent } from '../../lib/event/batch.js'
import * as hatf from '../../lib/entry/hatf.js'
import * as mtrc from '../../lib/entry/mtrc.js'
import * as replay from '../../lib/entry/replay.js'
import { commandLine, interruptTwice, scratch, shell } from '../support/commands.js'
import { decodeAll, encodeEvents } from '../support/drive.js'

const DUMP = Array.from({ length: 5000 }, (_, i) => {
  const address = `0x${(0x5500_0000 + (i >> 1) * 64).toString(16)}`
  return i % 2 === 0 ? `${(i % 6) + 1}: malloc ${address} ${(i % 900) + 1}\n` : `${(i % 6) + 1}: free ${address}\n`
}).join('')
const EVENTS = decodeAll(replay.format.decoder(), Buffer.from(DUMP)).events
const NAMED = EVENTS.map((event, i) => ({
  ...event,
  index: BigInt((i >> 1) + 1),
  function: `f${i % 40}`,
  file: 'a.c',
  line: i % 100,
}))
const TRACE = encodeEvents(
  mtrc.format.encoder(),
  NAMED.map((event) => ({ ...event, api: undefined }) as TraceEvent),
  { format: 'mtrc' },
)

describe('pipelines', () => {
  test('mtrc-decode | hf-filter | hatf-encode', async () => {
    const { code, stdout } = await shell('mtrc-decode | hf-filter --thread 3 | hatf-encode', TRACE)
    expect(code).toBe(0)
    const { events } = decodeAll(hatf.format.decoder(), stdout)
    expect(events).toHaveLength(EVENTS.filter(({ thread }) => thread === 3n).length)
    expect(events.every(({ thread }) => thread === 3n)).toBe(true)
  })

  test('a trace comes back byte for byte, compressed or not', async () => {
    expect((await shell('mtrc-decode | mtrc-encode', TRACE)).stdout.equals(TRACE)).toBe(true)
    const packed = await shell('mtrc-decode -z | mtrc-encode -z', gzipSync(TRACE))
    expect(gunzipSync(packed.stdout).equals(TRACE)).toBe(true)
    expect((await shell('replay-decode | replay-encode', DUMP)).stdout.toString()).toBe(DUMP)
  })

  test('HATF with --attributes loses nothing', async () => {
    const { stdout, stderr } = await shell('mtrc-decode | hatf-encode --attributes | hatf-decode | mtrc-encode', TRACE)
    expect(stderr).toBe('')
    expect(stdout.equals(TRACE)).toBe(true)
  })

  test('lines rewritten on the way are read all the same', async () => {
    for (const edit of ['s/,/ , /g; s/:/ : /g', String.raw`s/"kind"/"kin\\u0064"/`]) {
      const rewritten = (await shell(`replay-decode | sed '${edit}'`, DUMP)).stdout
      const { stdout, stderr, code } = await shell('replay-encode', rewritten)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout.toString()).toBe(DUMP)
    }
  })

  test('rewritten lines that come compressed, read by a slow sink', async () => {
    const many = DUMP.repeat(8)
    const { stdout, stderr, code } = await shell(
      String.raw`replay-decode | sed 's/"kind"/"kin\\u0064"/' | gzip -c | replay-encode | (sleep 0.3; cat)`,
      many,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.toString()).toBe(many)
  })

  test('what a format cannot represent is said once, with counts', async () => {
    const { stderr, code } = await shell('mtrc-decode | replay-encode > /dev/null', TRACE)
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^replay-encode: warning: not representable in replay, dropped or changed: index \(5000\), function \(5000\), file \(5000\), line \(5000\), size of free \(2500\), no api, written as malloc, calloc or memalign \(2500\)\n$/,
    )
  })

  test('--strict makes it an error', async () => {
    const { stderr, code } = await shell('set -o pipefail; mtrc-decode | replay-encode --strict', TRACE)
    expect(code).toBe(1)
    expect(stderr).toContain(
      'replay-encode: replay: event 1: cannot represent index, function, file, line of alloc events',
    )
  })

  test('hf-convert sets the options of the format that is read and of the one that is written apart', async () => {
    const folder = scratch()
    const convert = async (flags: string) =>
      (
        await shell(
          `hf-convert - ${folder}/t.kmemtrace ${flags} && kmemtrace-decode ${folder}/t.kmemtrace | head -n 1`,
          TRACE,
        )
      ).stdout.toString()
    expect(await convert('--layout ftrace --byte-order big')).toContain(
      '"layout":{"byteOrder":"big","layout":"ftrace"}',
    )
    const back = await shell(
      `hf-convert --read-layout ftrace --read-byte-order big ${folder}/t.kmemtrace ${folder}/back.kmemtrace --layout relay; kmemtrace-decode ${folder}/back.kmemtrace | head -n 1`,
    )
    expect(back.stdout.toString()).toContain('"layout":"relay"')
    const wrong = await shell(
      `hf-convert - ${folder}/x.hatf --layout relay; hf-convert --read-layout relay - ${folder}/x.hatf`,
      TRACE,
    )
    expect(wrong.code).toBe(2)
    expect(wrong.stderr).toMatch(/--layout does not apply to hatf output/)
  })

  test('--strict says in which of the files of a split', async () => {
    const folder = scratch()
    const { stderr, code } = await shell(`hf-split --by thread --strict -o '${folder}/{}.txt'`, TRACE)
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`^hf-split: ${folder}/1\\.txt: replay: event 1: cannot represent index`))
  })
})

describe('faults', () => {
  test('a trace that is cut: whole events, one message, exit 1', async () => {
    const { code, stdout, stderr } = await shell('mtrc-decode', TRACE.subarray(0, 30_000))
    expect(code).toBe(1)
    const lines = stdout.toString().trimEnd().split('\n')
    expect(stderr).toMatch(new RegExp(`^mtrc-decode: stdin: mtrc: byte \\d+, event ${lines.length}: truncated: .*\n$`))
    expect(lines.at(-1)).toMatch(/^\{"kind":"(alloc|free)".*\}$/)
  })

  test('a stage that died upstream does not pass for a short trace', async () => {
    const { stderr, stdout } = await shell('mtrc-decode | mtrc-encode', TRACE.subarray(0, 30_000))
    expect(stderr).toContain('mtrc-encode: stdin: ndjson: line')
    expect(stderr).toContain('truncated: no end record')
    // All events that were whole, and no end mark.
    const { events, error } = decodeAll(mtrc.format.decoder(), stdout)
    expect(events.length).toBeGreaterThan(1000)
    expect(error).toMatchObject({ code: 'ERR_TRACE_TRUNCATED' })
  })

  test('a stage that was killed', async () => {
    const { stderr, code } = await shell(
      'set -o pipefail; { mtrc-decode | head -c 100000; } | hf-filter --kind alloc > /dev/null',
      TRACE,
    )
    expect(stderr).toContain('hf-filter: stdin: ndjson: line')
    expect(code).toBe(1)
  })

  test('a full disk', async () => {
    const { code, stderr } = await shell('replay-decode > /dev/full', DUMP)
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'replay-decode: cannot write: no space left on device\n' })
  })

  test('files that are not there, and folders', async () => {
    expect(await shell('mtrc-decode /no/such/file')).toMatchObject({
      code: 1,
      stderr: 'mtrc-decode: /no/such/file: no such file or directory\n',
    })
    expect(await shell('mtrc-decode /')).toMatchObject({ code: 1 })
    expect(await shell('mtrc-decode -o /no/such/folder/file', TRACE)).toMatchObject({ code: 1 })
  })

  test.each(['hatf', 'replay', 'kmemtrace', 'heapmon', 'mtrc', 'compact', 'heaptrack', 'glibc-mtrace'])(
    'a trace without events stays one through %s',
    async (format) => {
      const encode = format.replace(/ .*|$/, (rest) => `-encode${rest}`)
      const { code, stdout } = await shell(
        `hf-filter --thread 77 test/fixtures/mtrc/small64.mtrc.gz | ${encode} | hf-stats --json`,
      )
      expect(code).toBe(0)
      expect(JSON.parse(stdout.toString())).toMatchObject({ events: 0, complete: true })
    },
  )

  test('input of no known format, and none at all', async () => {
    expect(
      (await shell('hf-filter', 'hello, world, this is no trace of any kind whatsoever, nor will it be')).stderr,
    ).toMatch(/^hf-filter: stdin: unrecognized format; supported are .*HATF/)
    expect(await shell('hatf-encode')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /^hatf-encode: warning: stdin: the input is empty: a trace without events/,
      ) as string,
    })
  })

  test.each([
    ['hf-filter --size x', /--size: not a range/],
    ['hf-filter --kind malloc', /--kind must be one of alloc, free/],
    ['hf-filter --function "/(/"', /--function: Invalid regular expression/],
    ['hf-filter --no-such-flag', /unknown flag --no-such-flag;/],
    ['hf-filter --thread 18446744073709551617', /--thread does not fit 64 bits/],
    ['hf-filter --cpu 99999999999', /./],
    ['hf-filter --part 1/1000000000000 a', /--part: a trace has at most 999999999 parts, not 1000000000000/],
    ['hf-filter a b', /one input at a time/],
    ['hf-map --anonymize all', /--anonymize needs a --key/],
    ['hf-map --key k', /--key needs --anonymize/],
    ['hf-map --set nothing', /--set needs FIELD=VALUE/],
    ['hf-split --by thread', /name the files with -o and a pattern with \{\}/],
    ['hf-convert a', /two arguments required: FROM and TO/],
    ['hf-convert', /two arguments required: FROM and TO/],
    ['hf-convert a b.unknown', /no format has names like "b.unknown": name one with --to/],
    [
      'hf-convert a b.arrow',
      /no format has names like "b.arrow": Arrow is written as a stream, to a name .* \.arrows /,
    ],
    [
      'hf-filter -o b.ARROW.gz a',
      /that end in \.ARROW, as .* do: Arrow is written as a stream, to a name .* \.arrows /,
    ],
    [
      'hf-blocks -o b.feather a',
      /that end in \.feather, as .* do: Arrow is written as a stream, to a name .* \.arrows /,
    ],
    ['heapflow nonsense', /there is no command "nonsense"/],
    ['mtrc-decode -o a -o b', /--output was given more than once/],
  ])('a command line that makes no sense: %s', async (line, message) => {
    const { code, stdout, stderr } = await shell(line, DUMP)
    expect(code).toBe(2)
    expect(stdout.toString()).toBe('')
    expect(stderr).toMatch(message)
  })
})

describe('readers and writers', () => {
  test('a reader that goes away ends the pipe in peace', async () => {
    const { code, stderr, stdout } = await shell('set -o pipefail; replay-decode | head -n 2', DUMP.repeat(20))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.toString().split('\n')).toHaveLength(3)
  })

  test('a slow reader loses nothing', async () => {
    const { stdout } = await shell(
      'replay-decode | (sleep 0.5; while read -r -N 20000 part; do printf %s "$part"; sleep 0.01; done; printf %s "$part") | replay-encode',
      DUMP,
    )
    expect(stdout.toString()).toBe(DUMP)
  })

  test('events flow while the writer is still at work', async () => {
    const child = spawn('bash', ['-c', commandLine('replay-decode | hf-filter --kind alloc')], { stdio: 'pipe' })
    child.stdin.write('1: malloc 0x10 5\n'.repeat(10))
    const text = await new Promise<string>((resolve) => {
      let got = ''
      child.stdout.on('data', (chunk: Buffer) => {
        got += chunk.toString()
        if (got.split('\n').length > 11) resolve(got)
      })
    })
    expect(text).toContain('"size":5}\n')
    child.stdin.end()
    await new Promise((resolve) => child.on('close', resolve))
  })

  test('the first SIGINT leaves it to the writers of its input to end, the second one ends it', async () => {
    const child = spawn(process.execPath, [commandLine('replay-decode').split('"')[3] as string], { stdio: 'pipe' })
    child.stdin.write(DUMP)
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const closed = once(child, 'close')
    await interruptTwice(child)
    expect(await closed).toEqual([null, 'SIGINT'])
  })

  test.each([
    ['hf-stats --section summary', /events {2,}\d+ /],
    ["hf-sql --to csv 'select count(*) as blocks from blocks'", /blocks\n[1-9]\d*\n/],
  ])('Ctrl-C ends the writer of a pipe, and each reader reads to the end and reports: %s', async (last, shown) => {
    const folder = scratch()
    const writer = `sh -c 'while :; do echo "1: malloc 0x10 8"; sleep .02; done'`
    const line = `${writer} | hf-filter --size 1.. | ${last} > ${folder}/report`
    const child = spawn('bash', ['-c', commandLine(line)], { stdio: 'ignore', detached: true })
    const exited = once(child, 'exit')
    await sleep(2000)
    // What a terminal does: all processes of the group get the signal.
    process.kill(-(child.pid as number), 'SIGINT')
    await exited
    expect(readFileSync(join(folder, 'report'), 'utf8')).toMatch(shown)
  })

  test('SIGINT ends it also while it waits for a reader', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'dump.txt'), '1: malloc 0x10 5\n'.repeat(200_000))
    const command = commandLine('replay-decode').split('"')[3] as string
    const child = spawn(process.execPath, [command, join(folder, 'dump.txt')], { stdio: 'pipe' })
    // No one reads what it writes.
    await sleep(1500)
    child.kill('SIGINT')
    const [code, signal] = await once(child, 'exit')
    expect(code === 130 || signal === 'SIGINT').toBe(true)
  })

  test('binary output is refused on a terminal', async () => {
    // `script` gives a command a terminal; it is part of util-linux.
    const probe = await shell('command -v script')
    if (probe.code !== 0) return
    const { stdout } = await shell(`script -qec ${JSON.stringify(commandLine('hatf-encode /dev/null'))} /dev/null`)
    expect(stdout.toString()).toContain('refusing to write binary data to a terminal')
  })
})

describe('files', () => {
  test('hf-convert finds both formats, and compresses by name', async () => {
    const folder = scratch()
    const from = join(folder, 'a.mtrc')
    writeFileSync(from, TRACE)
    expect(
      await shell(
        `hf-convert ${from} ${folder}/b.hatf.gz --attributes && hf-convert ${folder}/b.hatf.gz ${folder}/c.mtrc`,
      ),
    ).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(join(folder, 'b.hatf.gz')).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
    expect(readFileSync(join(folder, 'c.mtrc')).equals(TRACE)).toBe(true)
  })

  test('hf-split divides by thread into files that together hold every event', async () => {
    const folder = scratch()
    const { code } = await shell(`hf-split --by thread -o '${folder}/t{}.mtrc' --max-open 2`, TRACE)
    expect(code).toBe(0)
    const names = readdirSync(folder).toSorted()
    expect(names).toEqual(['t1.mtrc', 't2.mtrc', 't3.mtrc', 't4.mtrc', 't5.mtrc', 't6.mtrc'])
    const parts = names.map((name) =>
      decodeAll(mtrc.format.decoder({ resolve: false }), readFileSync(join(folder, name))),
    )
    expect(parts.every(({ error }) => error === undefined)).toBe(true)
    expect(parts.reduce((sum, { events }) => sum + events.length, 0)).toBe(EVENTS.length)
  })

  test('hf-split into compressed shards, and too many files', async () => {
    const folder = scratch()
    await shell(`hf-split --by shard --shards 3 -o '${folder}/s{}.txt.gz' --to replay`, DUMP)
    const parts = readdirSync(folder).map((name) => gunzipSync(readFileSync(join(folder, name))).toString())
    expect(parts).toHaveLength(3)
    expect(parts.join('').split('\n').toSorted()).toEqual(DUMP.split('\n').toSorted())
    const { code, stderr } = await shell(`hf-split --by thread -o '${folder}/x{}.txt' --max-files 4`, DUMP)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'hf-split: more than 4 parts: split by something else, or raise --max-files\n' +
        `hf-split: the incomplete output is in ${[1, 2, 3].map((n) => `${folder}/x${n}.txt.partial`).join(', ')} and 1 more\n`,
    })
  })

  test('hf-split of a trace that is cut leaves what was whole', async () => {
    const folder = scratch()
    const { code } = await shell(`hf-split --by kind -o '${folder}/{}.ndjson'`, TRACE.subarray(0, 30_000))
    expect(code).toBe(1)
    const text = readFileSync(join(folder, 'alloc.ndjson.partial'), 'utf8')
    expect(text).not.toContain('"kind":"end"')
    expect(text.endsWith('}\n')).toBe(true)
  })

  test('the input is not written over', async () => {
    const folder = scratch()
    const name = join(folder, 'a.mtrc')
    writeFileSync(name, TRACE)
    for (const line of [
      `hf-convert ${name} ${folder}/./a.mtrc`,
      `hf-filter --kind alloc ${name} -o ${name}`,
      `mtrc-decode < ${name} -o ${name}`,
    ]) {
      const { code, stderr } = await shell(line)
      expect(code).toBe(2)
      expect(stderr).toContain('is the input too')
    }
    expect(readFileSync(name).equals(TRACE)).toBe(true)
    writeFileSync(join(folder, '1.txt'), DUMP)
    const { code, stderr } = await shell(`hf-split --by thread -o '${folder}/{}.txt' ${folder}/1.txt`)
    expect(code).toBe(2)
    expect(stderr).toContain('is the input too')
    expect(readFileSync(join(folder, '1.txt'), 'utf8')).toBe(DUMP)
  })

  test('a wrong command line or input does not empty the output', async () => {
    const folder = scratch()
    const out = join(folder, 'out.ndjson')
    writeFileSync(out, 'precious')
    await shell(`hf-filter --size x -o ${out}`, DUMP)
    await shell(`mtrc-decode /no/such/file -o ${out}`)
    await shell(
      `hf-filter -o ${out}`,
      'this is no trace of any kind, whatever one may think of it, and it is long enough',
    )
    await shell(`hf-split --by thread -o '${folder}/{}.ndjson' ${out.replace('out', '1')}`)
    expect(readFileSync(out, 'utf8')).toBe('precious')
  })
})

describe('hf-map', () => {
  test('expressions, settings and dropped fields', async () => {
    const { stdout } = await shell(
      'hf-map -e \'event.kind === "alloc" && (event.size *= 2n)\' --drop api --set process=7 --number-threads',
      DUMP,
    )
    const lines = stdout.toString().split('\n')
    expect(lines[1]).toBe('{"kind":"alloc","process":7,"thread":1,"address":"0x55000000","size":2}')
  })

  test('anonymized traces are alike in every run with the same key', async () => {
    const run = async (key: string) =>
      (await shell(`hf-map --anonymize all --key ${key} --to replay`, DUMP)).stdout.toString()
    const first = await run('one')
    expect(await run('one')).toBe(first)
    expect(await run('two')).not.toBe(first)
    expect(first.split('\n')).toHaveLength(DUMP.split('\n').length)
  })

  test('an error in user code names the event', async () => {
    const { code, stderr } = await shell("hf-map -e 'n === 3 && event.nothing.here'", DUMP)
    expect(code).toBe(1)
    expect(stderr).toContain('event 3')
  })
})

describe('help', () => {
  test.each([
    'mtrc-decode',
    'mtrc-encode',
    'replay-decode',
    'replay-encode',
    'hatf-decode',
    'hatf-encode',
    'hf-filter',
    'hf-map',
    'hf-split',
    'heapflow',
    'hf-convert',
  ])('%s --help and --version', async (name) => {
    const help = await shell(`${name} --help`)
    expect(help.code).toBe(0)
    expect(help.stdout.toString()).toContain(`Usage: ${name} `)
    expect(help.stdout.toString().includes('Memory:')).toBe(name !== 'heapflow')
    expect(help.stdout.toString()).toContain('Examples:')
    expect((await shell(`${name} --version`)).stdout.toString()).toMatch(/ \d+\.\d+\.\d+\n$/)
  })
})

test('hf-convert reads standard input where no input is named', async () => {
  const folder = scratch()
  const { stdout } = await shell('replay-decode', DUMP)
  for (const line of ['hf-convert --to ndjson', `hf-convert -o ${folder}/a.ndjson && cat ${folder}/a.ndjson`]) {
    const converted = await shell(line, DUMP)
    expect([converted.code, converted.stderr]).toEqual([0, ''])
    expect(converted.stdout.equals(stdout)).toBe(true)
  }
})
