// @module-tag slow
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { commandLine, interruptTwice, scratch, shell } from '../support/commands.js'

const lines = (n: number) =>
  Array.from({ length: n }, (_, i) => `1: malloc 0x${(16 * i + 16).toString(16)} 5\n`).join('')
const DUMP = lines(2000)
const DROP = 'setpriv --reuid=65534 --regid=65534 --clear-groups'
/** Before a command: runs it without the rights of the superuser. Undefined where that is not possible. */
const UNPRIVILEGED =
  process.getuid?.() !== 0
    ? ''
    : works(`${DROP} test -r ${fileURLToPath(new URL('../../dist/bin/replay-decode.js', import.meta.url))}`)
      ? DROP
      : undefined

/** The same with a fault at its end. */
const CUT = `${DUMP}1: mall`

describe('the file after -o', () => {
  test('has its name when it is complete, and nothing is left beside it', async () => {
    const folder = scratch()
    expect(await shell(`cd ${folder} && replay-decode -o out.ndjson`, DUMP)).toMatchObject({ code: 0, stderr: '' })
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    expect(readFileSync(join(folder, 'out.ndjson'), 'utf8')).toContain('"kind":"end","events":2000')
  })

  test('is left as FILE.partial where the input is truncated, and a message says so', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'out.ndjson'), 'precious')
    writeFileSync(join(folder, 'out.ndjson.partial'), 'of an earlier run')
    const { code, stderr } = await shell(`cd ${folder} && replay-decode -o out.ndjson`, CUT)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^replay-decode: stdin: replay: line 2001, .*\nreplay-decode: the incomplete output is in out\.ndjson\.partial\n$/,
    )
    expect(readdirSync(folder).toSorted()).toEqual(['out.ndjson', 'out.ndjson.partial'])
    expect(readFileSync(join(folder, 'out.ndjson'), 'utf8')).toBe('precious')
    const partial = readFileSync(join(folder, 'out.ndjson.partial'), 'utf8')
    expect(partial.split('\n')).toHaveLength(2002)
    expect(partial).not.toContain('"kind":"end"')
  })

  test('is not there where nothing could be read', async () => {
    const folder = scratch()
    expect((await shell(`cd ${folder} && replay-decode -o out.ndjson`, 'what is this')).code).toBe(1)
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('is left as FILE.partial at %s', async (signal, status) => {
    const folder = scratch()
    const out = join(folder, 'out.ndjson')
    const child = spawn('bash', ['-c', `exec ${commandLine(`replay-decode -o ${out}`)}`], { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write(DUMP)
    while (!readdirSync(folder).some((name) => statSync(join(folder, name)).size > 1000)) await sleep(10)
    const closed = once(child, 'close')
    if (signal === 'SIGINT') await interruptTwice(child)
    else child.kill(signal)
    expect(await closed).toEqual([status, null])
    expect(readdirSync(folder)).toEqual(['out.ndjson.partial'])
    expect(stderr).toBe(`replay-decode: the incomplete output is in ${out}.partial\n`)
  })

  test('is named where the command is busy when the signal comes', async () => {
    const folder = scratch()
    const out = join(folder, 'out.ndjson')
    const busy = 'const end = performance.now() + 0.4; while (performance.now() < end);'
    const line = `exec ${commandLine(`hf-map -e '${busy}' -o ${out}`)}`
    const child = spawn('bash', ['-c', line], { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.end(lines(40_000))
    while (readdirSync(folder).length === 0) await sleep(10)
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    expect([
      [143, null],
      [null, 'SIGTERM'],
    ]).toContainEqual(await closed)
    expect(readdirSync(folder)).toEqual(['out.ndjson.partial'])
    expect(stderr).toBe(`hf-map: the incomplete output is in ${out}.partial\n`)
  })

  test('of Parquet, interrupted, is said to be of no use', async () => {
    const folder = scratch()
    const out = join(folder, 'out.parquet')
    const child = spawn('bash', ['-c', `exec ${commandLine(`hf-convert - ${out}`)}`], { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write(DUMP)
    while (!readdirSync(folder).some((name) => statSync(join(folder, name)).size > 0)) await sleep(10)
    const closed = once(child, 'close')
    await interruptTwice(child)
    await closed
    expect(stderr).toBe(`hf-convert: the incomplete output is in ${out}.partial; without its index, nothing reads it\n`)
  })

  test('of a process that is killed has neither name', async () => {
    const folder = scratch()
    const out = join(folder, 'out.ndjson')
    const child = spawn('bash', ['-c', `exec ${commandLine(`replay-decode -o ${out}`)}`], { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    child.stdin.write(DUMP)
    while (!readdirSync(folder).some((name) => statSync(join(folder, name)).size > 1000)) await sleep(10)
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^out\.ndjson\.[0-9a-f]{12}\.partial$/)])
  })

  test('is of one of two processes that write it at once, and not a mixture', async () => {
    const folder = scratch()
    const one = (first: string) =>
      shell(`cd ${folder} && { printf '%s\\n' '${first}'; sleep 0.3; cat; } | replay-decode -o out.ndjson`, DUMP)
    const results = await Promise.all([one('7: malloc 0x10 7'), one('8: malloc 0x10 8')])
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    const text = readFileSync(join(folder, 'out.ndjson'), 'utf8')
    expect([7, 8]).toContain(JSON.parse(text.split('\n')[1] as string).thread)
    expect(text.split('\n')).toHaveLength(2004)
    expect(text).toContain('"kind":"end","events":2001')
  })

  test('keeps its permissions, and a symbolic link to it stays a link', async () => {
    const folder = scratch()
    mkdirSync(join(folder, 'far'))
    const target = join(folder, 'far', 'target.ndjson')
    writeFileSync(target, 'before')
    chmodSync(target, 0o640)
    symlinkSync('far/target.ndjson', join(folder, 'link.ndjson'))
    expect(await shell(`cd ${folder} && replay-decode -o link.ndjson`, DUMP)).toMatchObject({ code: 0, stderr: '' })
    expect(readlinkSync(join(folder, 'link.ndjson'))).toBe('far/target.ndjson')
    expect(statSync(target).mode & 0o777).toBe(0o640)
    expect(readFileSync(target, 'utf8')).toContain('"events":2000')
    expect(await shell(`cd ${folder} && replay-decode -o link.ndjson`, CUT)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/the incomplete output is in .*\/far\/target\.ndjson\.partial\n$/),
    })
    expect(readdirSync(join(folder, 'far')).toSorted()).toEqual(['target.ndjson', 'target.ndjson.partial'])
  })

  test('may be the target of a link that is not there yet', async () => {
    const folder = scratch()
    symlinkSync('new.ndjson', join(folder, 'link'))
    expect((await shell(`cd ${folder} && replay-decode -o link`, DUMP)).code).toBe(0)
    expect(readFileSync(join(folder, 'new.ndjson'), 'utf8')).toContain('"events":2000')
    expect(readlinkSync(join(folder, 'link'))).toBe('new.ndjson')
  })

  test('may be a pipe, a device or a name of an open descriptor', async () => {
    const folder = scratch()
    const { code, stdout, stderr } = await shell(
      `cd ${folder} && mkfifo pipe && { cat pipe > copy & replay-decode -o pipe ${folder}/in.txt; wait; } && ` +
        'replay-decode -o /dev/null in.txt && { echo first; replay-decode -o /dev/fd/3 in.txt; } 3> three && ' +
        'replay-decode -o /dev/stdout in.txt | cat && replay-decode -o - in.txt | tail -n 1',
      writeInput(folder),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const text = readFileSync(join(folder, 'copy'), 'utf8')
    expect(text).toContain('"events":2000')
    expect(readFileSync(join(folder, 'three'), 'utf8')).toBe(text)
    expect(stdout.toString()).toBe(`first\n${text}${text.split('\n').at(-2)}\n`)
    expect(readdirSync(folder).toSorted()).toEqual(['copy', 'in.txt', 'pipe', 'three'])
    expect(statSync(join(folder, 'pipe')).isFIFO()).toBe(true)
  })

  test('is refused before any work where its folder is missing, or it is a folder', async () => {
    const folder = scratch()
    writeInput(folder)
    expect(await shell(`cd ${folder} && hf-convert in.txt nodir/out.hatf`)).toMatchObject({
      code: 1,
      stderr: 'hf-convert: nodir/out.hatf: no such file or directory\n',
    })
    expect(await shell(`cd ${folder} && hf-convert in.txt in.txt/out.hatf`)).toMatchObject({
      code: 1,
      stderr: 'hf-convert: in.txt/out.hatf: a part of the path is not a directory\n',
    })
    mkdirSync(join(folder, 'out.hatf'))
    expect(await shell(`cd ${folder} && hf-convert in.txt out.hatf`)).toMatchObject({
      code: 1,
      stderr: 'hf-convert: out.hatf: is a directory\n',
    })
  })

  test('with a name as long as the system allows', async () => {
    const folder = scratch()
    const name = `${'n'.repeat(248)}.ndjson`
    expect((await shell(`cd ${folder} && replay-decode -o ${name}`, DUMP)).code).toBe(0)
    expect(readdirSync(folder)).toEqual([name])
    const failed = await shell(`cd ${folder} && replay-decode -o ${name}`, CUT)
    expect(failed.stderr).toMatch(/the incomplete output is in \S+\/output\.[0-9a-f]{12}\.partial\n$/)
    expect(readFileSync(join(folder, name), 'utf8')).toContain('"events":2000')
  })

  test.skipIf(UNPRIVILEGED === undefined)('is refused if it may not be written', async () => {
    const folder = scratch()
    chmodSync(folder, 0o777)
    const out = join(folder, 'out.ndjson')
    writeFileSync(out, 'precious')
    chmodSync(out, 0o444)
    const denied = { code: 1, stderr: `replay-decode: ${out}: permission denied\n` }
    expect(await shell(`${UNPRIVILEGED} replay-decode -o ${out}`, DUMP)).toMatchObject(denied)
    expect(readFileSync(out, 'utf8')).toBe('precious')
    chmodSync(folder, 0o555)
    const fresh = join(folder, 'new.ndjson')
    expect(await shell(`${UNPRIVILEGED} replay-decode -o ${fresh}`, DUMP)).toMatchObject({
      code: 1,
      stderr: `replay-decode: ${fresh}: permission denied\n`,
    })
    chmodSync(folder, 0o755)
  })

  test.skipIf(UNPRIVILEGED === undefined)('is written in place where its folder takes no new file', async () => {
    const folder = scratch()
    const out = join(folder, 'out.ndjson')
    writeFileSync(out, 'before')
    chmodSync(out, 0o666)
    chmodSync(folder, 0o555)
    expect(await shell(`${UNPRIVILEGED} replay-decode -o ${out}`, DUMP)).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(out, 'utf8')).toContain('"events":2000')
    const { code, stderr } = await shell(`${UNPRIVILEGED} replay-decode -o ${out}`, CUT)
    expect(code).toBe(1)
    expect(stderr).toContain(`\nreplay-decode: the incomplete output is in ${out}\n`)
    expect(readdirSync(folder)).toEqual(['out.ndjson'])
    chmodSync(folder, 0o755)
  })

  test('is left as FILE.partial by a full disk', async () => {
    const folder = scratch()
    // 100 blocks of 1024 bytes.
    const { code, stderr } = await shell(
      `cd ${folder} && trap '' XFSZ; ulimit -f 100; replay-decode -o out.ndjson`,
      lines(40_000),
    )
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'replay-decode: cannot write: the file would be too large\n' +
        'replay-decode: the incomplete output is in out.ndjson.partial\n',
    })
    expect(readdirSync(folder)).toEqual(['out.ndjson.partial'])
  })

  test('of code that ends the process is left as FILE.partial, with exit status 1', async () => {
    const folder = scratch()
    const code = (text: string) => shell(`cd ${folder} && rm -f *; hf-map -e '${text}' -o out.ndjson`, lines(20_000))
    const ended = await code('n === 15000 && process.exit(0)')
    expect(ended.code).toBe(1)
    expect(ended.stderr).toBe('hf-map: the process was ended before the command was done; its output is incomplete\n')
    expect(readdirSync(folder)).toEqual(['out.ndjson.partial'])
    const late = await code('n === 15000 && setTimeout(() => { throw new Error("late") })')
    expect(late.code).toBe(1)
    expect(late.stderr).toContain('Error: late')
    expect(existsSync(join(folder, 'out.ndjson'))).toBe(late.stderr === '')
  })
})

describe('several files', () => {
  test('of hf-blocks, interrupted, are named, with the status of the signal', async () => {
    const folder = scratch()
    const line = `cd ${folder}; exec ${commandLine('hf-blocks -o b.csv --stacks s.csv')}`
    const child = spawn('bash', ['-c', line], { stdio: 'pipe' })
    child.stdin.on('error', () => {})
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    // Rows are written when their blocks have ended.
    child.stdin.write(lines(20_000) + lines(20_000))
    while (readdirSync(folder).length === 0) await sleep(10)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([143, null])
    expect(readdirSync(folder)).toEqual(['b.csv.partial', 's.csv.partial'])
    expect(stderr).toContain('hf-blocks: the incomplete output is in b.csv.partial, s.csv.partial\n')
  })

  test.each(['', '.gz'])('parts of hf-split are partial where the input is truncated (%s)', async (ending) => {
    const folder = scratch()
    const both = DUMP.replaceAll('1: malloc 0x20 5', '2: free 0x10')
    const whole = await shell(`cd ${folder} && hf-split --by kind -o '{}.hatf${ending}'`, both)
    expect({ code: whole.code, files: readdirSync(folder).toSorted() }).toEqual({
      code: 0,
      files: [`alloc.hatf${ending}`, `free.hatf${ending}`],
    })
    const { code, stderr } = await shell(`cd ${folder} && rm * && hf-split --by kind -o '{}.hatf${ending}'`, `${both}x`)
    expect(code).toBe(1)
    expect(stderr).toContain(
      `hf-split: the incomplete output is in alloc.hatf${ending}.partial, free.hatf${ending}.partial\n`,
    )
    expect(readdirSync(folder).toSorted()).toEqual([`alloc.hatf${ending}.partial`, `free.hatf${ending}.partial`])
    if (ending !== '') gunzipSync(readFileSync(join(folder, 'alloc.hatf.gz.partial')))
  })

  test('parts that wait for their turn to be open are whole', async () => {
    const folder = scratch()
    const dump = Array.from({ length: 40_000 }, (_, i) => `${i % 5}: malloc 0x${(16 * i + 16).toString(16)} 5\n`).join(
      '',
    )
    const { code } = await shell(`cd ${folder} && hf-split --by thread -o '{}.txt' --max-open 1`, dump)
    expect(code).toBe(0)
    expect(readdirSync(folder).toSorted()).toEqual(['0.txt', '1.txt', '2.txt', '3.txt', '4.txt'])
    const parts = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    expect(parts.toSorted()).toEqual(dump.trimEnd().split('\n').toSorted())
  })

  test('parts of hf-split at a signal', async () => {
    const folder = scratch()
    const child = spawn('bash', ['-c', `exec ${commandLine(`hf-split --by kind -o '${folder}/{}.ndjson.gz'`)}`], {
      stdio: 'pipe',
    })
    child.stdin.on('error', () => {})
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdin.write(DUMP)
    while (readdirSync(folder).length === 0) await sleep(10)
    child.kill('SIGTERM')
    expect(await once(child, 'close')).toEqual([143, null])
    expect(readdirSync(folder)).toEqual(['alloc.ndjson.gz.partial'])
    expect(stderr).toBe(`hf-split: the incomplete output is in ${folder}/alloc.ndjson.gz.partial\n`)
  })

  test('files of kmemtrace-encode for each CPU', async () => {
    const folder = scratch()
    const events = `${[0, 1].map((cpu) => `{"kind":"alloc","cpu":${cpu},"address":"0x10","size":8}`).join('\n')}\n`
    const line = `cd ${folder} && kmemtrace-encode -o 'cpu%d'`
    expect((await shell(line, `${events}{"kind":"al`)).code).toBe(1)
    expect(readdirSync(folder).toSorted()).toEqual(['cpu0.partial', 'cpu1.partial'])
    expect((await shell(line, events)).code).toBe(0)
    expect(readdirSync(folder).toSorted()).toEqual(['cpu0', 'cpu0.partial', 'cpu1', 'cpu1.partial'])
  })
})

describe('an output that is an input', () => {
  test.each([
    'hf-filter in.ndjson >> in.ndjson',
    'hf-filter < in.ndjson >> in.ndjson',
    'hf-filter other.ndjson >> other.ndjson',
    'hf-map --drop time link.ndjson >> in.ndjson',
    'hf-merge --end-to-end second.ndjson in.ndjson >> in.ndjson',
    'hf-sort in.ndjson >> in.ndjson',
    'hf-stats in.ndjson >> in.ndjson',
    'hf-verify in.ndjson >> in.ndjson',
    'hf-convert in.ndjson - --to ndjson >> in.ndjson',
    'hf-stats -o in.ndjson in.ndjson',
  ])('is refused: %s', async (line) => {
    const folder = scratch()
    const text = (await shell('replay-decode', DUMP)).stdout
    for (const name of ['in.ndjson', 'other.ndjson', 'second.ndjson']) writeFileSync(join(folder, name), text)
    linkSync(join(folder, 'in.ndjson'), join(folder, 'link.ndjson'))
    const { code, stderr } = await shell(`cd ${folder} && timeout 20 ${line}`)
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^hf-\w+: (standard output|in\.ndjson) is the input too: write to another file; see hf-\w+ --help\n$/,
    )
    expect(readFileSync(join(folder, 'in.ndjson')).equals(text)).toBe(true)
  })
})

describe('an output that is a file of a flag', () => {
  const files = {
    'a.ndjson': '{"kind":"alloc","address":"0x10","size":8,"stack":["f"]}\n',
    'rules.supp': 'leak:f\n',
    'heapflow.check.json': '{"budgets":[{"max":{"peak":"1M"}}]}\n',
    'query.sql': 'select 1\n',
    'formats.mjs': 'export const formats = []\n',
  }
  test.each([
    ['hf-simulate --policy bump --predict b.ndjson -o b.ndjson a.ndjson', '--predict'],
    ['hf-simulate --policy bump --predict m.json --to ndjson -o m.json a.ndjson', '--predict'],
    ['hf-simulate --policy bump --predict m.json -o link.html a.ndjson', '--predict'],
    ['hf-simulate --policy bump --predict b.ndjson a.ndjson >> b.ndjson', '--predict'],
    ['hf-simulate --predict b.ndjson --write-model b.ndjson', '--predict'],
    ['hf-simulate --predict m.json --write-model link.html', '--predict'],
    ['hf-check --budgets heapflow.check.json -o heapflow.check.json a.ndjson', '--budgets'],
    ['hf-check --max-peak 1M --suppress rules.supp -o rules.supp a.ndjson', '--suppress'],
    ['hf-check --max-peak 1M --suppress rules.supp a.ndjson >> rules.supp', '--suppress'],
    ['hf-report --suppress rules.supp -o rules.supp a.ndjson', '--suppress'],
    ['hf-stats --suppress rules.supp -o rules.supp a.ndjson', '--suppress'],
    ['hf-diff --suppress rules.supp -o rules.supp a.ndjson b.ndjson', '--suppress'],
    ['hf-sql -f query.sql -o query.sql --to csv a.ndjson', '--file'],
  ])('is refused: %s', async (line, flag) => {
    const folder = scratch()
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    copyFileSync(join(folder, 'a.ndjson'), join(folder, 'b.ndjson'))
    await shell(`cd ${folder} && hf-simulate --predict a.ndjson --write-model m.json`)
    linkSync(join(folder, 'm.json'), join(folder, 'link.html'))
    const before = contentsOf(folder)
    const { code, stderr } = await shell(`cd ${folder} && timeout 20 ${line}`)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(` is the file of ${flag} too: write to another file; see hf-`),
    })
    expect(contentsOf(folder)).toEqual(before)
  })

  test('is refused: the budgets that hf-check finds by itself', async () => {
    const folder = scratch()
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const { code, stderr } = await shell(`cd ${folder} && hf-check -o heapflow.check.json a.ndjson`)
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('heapflow.check.json is the input too'),
    })
    expect(contentsOf(folder)['heapflow.check.json']).toBe(files['heapflow.check.json'])
  })
})

function contentsOf(folder: string): Record<string, string> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function writeInput(folder: string): string {
  writeFileSync(join(folder, 'in.txt'), DUMP)
  return ''
}

function works(line: string): boolean {
  try {
    execFileSync('sh', ['-c', line], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
