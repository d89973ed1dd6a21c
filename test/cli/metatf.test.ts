// @module-tag slow
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { formatFileHeader, parseFileHeader } from '../../lib/entry/metatf.js'
import { headerLength } from '../../lib/metatf/binary/header.js'
import { commandLine, scratch, shell } from '../support/commands.js'
import { corpusFile, corpusPath } from '../support/corpus.js'

/** Allocations, and marks that a program sets among them. */
const MARKS = `// A format of our own
tag.width = 1;
size.width = 8; size.interpretation = none;
address.width = 8; address.interpretation = none;
id.width = 4; id.interpretation = none;
n.width = 1; n.interpretation = none;
x.width = 2; x.interpretation = none;
section heap 1 {
  alloc : (tag, size, address) { tag.value = 4; }
  free : (tag, address) { tag.value = 5; }
  mark : (tag, id, vfield, n, n*(x, x)) { tag.value = 6; }
}
`
const MARKS_12 = `## MetaTF: 1.2
int size = none; int address = none; int id = none; string text = none;
section heap 1 {
  alloc : { tag, size, address } { tag = 4; }
  free : { tag, address } { tag = 5; }
  mark : { tag, id, text } { tag = 6; }
}
`
const EVENTS = `{"kind":"alloc","address":"0x10","size":5}
{"kind":"other","type":"mark","code":6,"fields":{"id":7,"vfield":{"data":"aGk="},"n":[{"x":1,"x_2":2},{"x":3,"x_2":4}]}}
{"kind":"free","address":"0x10"}
`
const GIT = gunzipSync(readFileSync(new URL('../fixtures/mtrc/git.mtrc.gz', import.meta.url))).subarray(0, 60_000)

/** A folder with `marks.dtd`, `marks.mtf` by it, and the path of either. */
async function marks() {
  const folder = scratch()
  const dtd = join(folder, 'marks.dtd')
  const trace = join(folder, 'marks.mtf')
  writeFileSync(dtd, MARKS)
  expect(await shell(`metatf-encode --dtd ${dtd} -o ${trace}`, EVENTS)).toMatchObject({ code: 0, stderr: '' })
  return { folder, dtd, trace, bytes: readFileSync(trace) }
}

const lines = (text: Buffer) =>
  text
    .toString()
    .split('\n')
    .slice(1, -2)
    .map((line) => `${line}\n`)
    .join('')

/** mtrc-encode writes no end mark for what is cut, so the part of the trace that is whole is taken through lines. */
async function someEvents(): Promise<Buffer> {
  return Buffer.from(
    `${(await shell('mtrc-decode 2> /dev/null', GIT)).stdout.toString().split('\n').slice(1, 2001).join('\n')}\n`,
  )
}

describe('metatf-decode and metatf-encode', () => {
  test('a trace comes back byte for byte, with the DTD beside it', async () => {
    const { trace, dtd, bytes, folder } = await marks()
    const { stdout, stderr } = await shell(`metatf-decode ${trace}`)
    expect({ events: lines(stdout), stderr }).toEqual({ events: EVENTS, stderr: '' })
    expect((await shell(`metatf-decode ${trace} | metatf-encode --dtd ${dtd}`)).stdout.equals(bytes)).toBe(true)
    expect(lines((await shell(`cd ${folder} && metatf-decode < marks.mtf`)).stdout)).toBe(EVENTS)
    expect(lines((await shell(`cd ${folder} && gzip -c marks.mtf | metatf-decode`)).stdout)).toBe(EVENTS)
    writeFileSync(`${trace}.gz`, gzipSync(bytes))
    expect(lines((await shell(`metatf-decode ${trace}.gz`)).stdout)).toBe(EVENTS)
  })

  test('generic records pass through jq', async () => {
    const { trace, dtd, bytes } = await marks()
    if (spawnSync('jq', ['--version']).status !== 0) return
    expect((await shell(`metatf-decode ${trace} | jq -c . | metatf-encode --dtd ${dtd}`)).stdout.equals(bytes)).toBe(
      true,
    )
    expect(
      (await shell(`metatf-decode ${trace} | jq . | jq -c -S . | metatf-encode --dtd ${dtd}`)).stdout.equals(bytes),
    ).toBe(true)
    const { stdout } = await shell(
      `metatf-decode ${trace} | jq -c 'if .fields then .fields.n += [{x: 9, x_2: 10}] else . end' | metatf-encode --dtd ${dtd} | metatf-decode --dtd ${dtd}`,
    )
    expect(lines(stdout)).toBe(EVENTS.replace('"x_2":4}]', '"x_2":4},{"x":9,"x_2":10}]'))
    const some = await shell(
      `metatf-decode ${trace} | jq -c 'select(.type == "mark") | .fields.vfield.data |= (@base64d | ascii_upcase | @base64)' | metatf-encode --dtd ${dtd} --headerless`,
    )
    expect(some.stdout.toString('latin1')).toContain('HI')
  })

  test('the DTD is found by --dtd, --dtd-path and the environment', async () => {
    const { trace, folder, dtd } = await marks()
    const apart = join(scratch(), 'apart.mtf')
    writeFileSync(apart, readFileSync(trace))
    for (const line of [
      `metatf-decode --dtd ${dtd} ${apart}`,
      `metatf-decode --dtd-path /none --dtd-path ${folder} ${apart}`,
      `metatf-decode --dtd marks.dtd --dtd-path ${folder} ${apart}`,
    ]) {
      expect(lines((await shell(line)).stdout)).toBe(EVENTS)
    }
    expect(lines((await shell(`export HEAPFLOW_DTD_PATH=/none:${folder}; metatf-decode ${apart}`)).stdout)).toBe(EVENTS)
    const { code, stderr, stdout } = await shell(`metatf-decode --dtd-path /none ${apart}`)
    expect({ code, stdout: stdout.length }).toEqual({ code: 1, stdout: 0 })
    expect(stderr).toMatch(
      /^metatf-decode: \S+: the trace is by the DTD "marks\.dtd", but there is no marks\.dtd in \/tmp\/[^ ]*, \/none or among the DTDs that come with heapflow \(.*hatf10\.dtd.*\): use metatf-decode --dtd, or set HEAPFLOW_DTD_PATH\n$/,
    )
  })

  test('a trace cannot name files elsewhere', async () => {
    const { dtd, folder } = await marks()
    mkdirSync(join(folder, 'inner'))
    for (const name of [dtd, '../marks.dtd', `file://${dtd}`]) {
      await shell(`metatf-encode --dtd ${dtd} --name ${name} -o ${folder}/inner/t.mtf`, EVENTS)
      expect(parseFileHeader(readFileSync(join(folder, 'inner/t.mtf')))?.dtd).toBe(name)
      const { code, stderr } = await shell(`metatf-decode ${folder}/inner/t.mtf`)
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no marks.dtd in') })
    }
  })

  test('the DTDs of heapflow are there by their names', async () => {
    const events = await someEvents()
    const { stdout, stderr, code } = await shell(
      'metatf-encode --dtd HATF10.dtd | metatf-decode | hatf-encode | hatf-decode',
      events,
    )
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^metatf-encode: warning: not representable in metatf, dropped or changed: index \(2000\), line \(2000\), size of free \(\d+\), size of realloc \(\d+\)\n/,
    )
    // This DTD has no size in reallocs.
    const native = await shell('hatf-encode 2> /dev/null | hatf-decode', events)
    expect(stdout.toString()).toBe(native.stdout.toString().replaceAll(/("realloc".*"size":)\d+/g, '$10'))
  })

  test('the DTD is not overwritten', async () => {
    const { folder, dtd } = await marks()
    for (const line of [
      `metatf-encode --dtd marks.dtd -o ${dtd}`,
      'metatf-decode --dtd ./marks.dtd -o marks.dtd',
      'metatf-compile marks.dtd --language ts -o ./marks.dtd',
    ]) {
      expect(await shell(`cd ${folder} && ${line}`, EVENTS)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/marks\.dtd is the (DTD|input) too: write to another file/),
      })
    }
    expect(readFileSync(dtd, 'utf8')).toBe(MARKS)
  })

  test('fields that the event model has no name for, and that are not there, are counted', async () => {
    const { dtd, folder } = await marks()
    const event = '{"kind":"other","type":"mark","code":6,"fields":{"n":[{"x":1}]}}\n'
    const { stderr, code } = await shell(`metatf-encode --dtd ${dtd} -o ${folder}/out.mtf`, event)
    expect({ stderr, code }).toEqual({
      stderr:
        'metatf-encode: warning: not representable in metatf, dropped or changed: no id, written as 0 or empty (1), no x, written as 0 or empty (1)\n',
      code: 0,
    })
  })

  test('the headers of several traces: one is written, and the others are counted', async () => {
    const { folder, trace, dtd } = await marks()
    const merged = `hf-merge --end-to-end ${trace} ${trace}`
    const { stderr, code } = await shell(`${merged} | metatf-encode --dtd ${dtd} -o ${folder}/out.mtf`)
    expect({ stderr, code }).toEqual({
      stderr:
        'metatf-encode: warning: not representable in metatf, dropped or changed: beginning of another trace (1)\n',
      code: 0,
    })
    expect((await shell(`${merged} | metatf-encode --strict --dtd ${dtd} -o ${folder}/out.mtf`)).code).toBe(1)
  })

  test('--strict makes a loss an error', async () => {
    const { code, stderr } = await shell('metatf-encode --dtd hatf10.dtd --strict -o /dev/null', await someEvents())
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'metatf-encode: metatf: event 1: cannot represent index, line of alloc events\n',
    })
  })

  test('traces without a header, in either byte order', async () => {
    const { trace, dtd } = await marks()
    const big = (await shell(`metatf-encode --dtd ${dtd} --headerless`, EVENTS)).stdout
    const little = (await shell(`metatf-encode --dtd ${dtd} --headerless --byte-order little`, EVENTS)).stdout
    expect(readFileSync(trace).subarray(-big.length).equals(big)).toBe(true)
    expect(big.equals(little)).toBe(false)
    expect(lines((await shell(`metatf-decode --dtd ${dtd}`, big)).stdout)).toBe(EVENTS)
    expect(lines((await shell(`metatf-decode --dtd ${dtd} --headerless --byte-order little`, little)).stdout)).toBe(
      EVENTS,
    )
    expect(
      (
        await shell(`metatf-decode --dtd ${dtd} --byte-order little | metatf-encode --dtd ${dtd}`, little)
      ).stdout.equals(little),
    ).toBe(true)
    expect(
      (await shell(`metatf-decode --dtd ${dtd} | metatf-encode --dtd ${dtd} --header`, big)).stdout.equals(
        readFileSync(trace),
      ),
    ).toBe(true)
    expect(await shell('metatf-decode', big)).toMatchObject({
      code: 1,
      stderr: 'metatf-decode: stdin: the trace has no header that names its DTD: give it with --dtd\n',
    })
    expect(await shell(`metatf-decode --dtd ${dtd} --headerless ${trace}`)).toMatchObject({
      code: 1,
      stderr: `metatf-decode: ${trace}: metatf: byte 0, event 1: malformed: unknown tag 127\n`,
    })
  })

  test('in ASCII, by a DTD of 1.2', async () => {
    const folder = scratch()
    const dtd = join(folder, 'marks12.dtd')
    writeFileSync(dtd, MARKS_12)
    const events = EVENTS.replace(/"vfield".*/, '"text":"hi \\"you\\""}}')
    const text = '## DTDURL: marks12.dtd\n\n4 5 0x10\n6 7 "hi \\"you\\""\n5 0x10\n'
    expect(await shell(`metatf-encode --dtd ${dtd} --ascii -o ${folder}/t.txt`, events)).toMatchObject({
      code: 0,
      stderr: '',
    })
    expect(readFileSync(join(folder, 't.txt'), 'utf8')).toBe(text)
    expect(lines((await shell(`metatf-decode ${folder}/t.txt`)).stdout)).toBe(events)
    expect(lines((await shell(`metatf-decode --dtd ${dtd}`, text.slice(text.indexOf('4')))).stdout)).toBe(events)
    expect((await shell(`metatf-decode ${folder}/t.txt | metatf-encode --dtd ${dtd}`)).stdout.toString()).toBe(text)
    expect(
      (await shell(`metatf-encode --dtd ${dtd} --name http://x.org/y.dtd ${folder}/t.txt`)).stdout.toString(),
    ).toBe(text.replace('marks12.dtd', 'http://x.org/y.dtd'))
    expect((await shell(`hf-stats ${folder}/t.txt`)).stdout.toString()).toContain('1 (metatf-ascii)')
    // That it is no binary trace is found out later.
    expect((await shell(`metatf-decode --buffer 1M ${folder}/t.txt`)).code).toBe(0)
    const cut = text.slice(0, -1)
    expect((await shell(`metatf-decode --dtd-path ${folder}`, cut)).stderr).toContain(
      'the last line does not end with a line feed; --last-line takes it as complete\n',
    )
    const whole = await shell(`metatf-decode --last-line --dtd-path ${folder}`, cut)
    expect({ code: whole.code, events: lines(whole.stdout) }).toEqual({ code: 0, events })
  })

  test('another DTD is named, with the rest of the head as it was', async () => {
    const { trace, folder } = await marks()
    writeFileSync(join(folder, 'other.dtd'), MARKS.replace('id.width = 4', 'id.width = 2'))
    writeFileSync(join(folder, 'a.dtd'), MARKS_12)
    writeFileSync(join(folder, 'b.dtd'), MARKS_12)
    const { stdout } = await shell(`metatf-encode --dtd ${folder}/other.dtd ${trace}`)
    expect(parseFileHeader(stdout)?.dtd).toBe('other.dtd')
    const text = '## Tracename: t\n## DTDURL: http://x.org/A.dtd\n\n5 0x10\n'
    writeFileSync(join(folder, 't.txt'), text)
    expect(
      (
        await shell(`cp ${folder}/a.dtd ${folder}/A.dtd && metatf-encode --dtd ${folder}/a.dtd ${folder}/t.txt`)
      ).stdout.toString(),
    ).toBe(text)
    expect((await shell(`metatf-encode --dtd ${folder}/b.dtd ${folder}/t.txt`)).stdout.toString()).toBe(
      text.replace('http://x.org/A.dtd', 'b.dtd'),
    )
  })

  test.each([
    ['metatf-encode', 2, 'name the definition of the format with --dtd'],
    ['metatf-encode --dtd none.dtd', 2, '--dtd: there is no none.dtd in . or among the DTDs'],
    ['metatf-encode --dtd /tmp', 2, '--dtd: /tmp is a folder'],
    ['hf-convert - x.mtf', 2, 'for a DTD use metatf-encode --dtd'],
    ['metatf-encode --dtd ./none.dtd', 1, './none.dtd: no such file or directory'],
    ['metatf-encode --dtd hatf10.dtd --ascii', 2, '--ascii needs a DTD of Meta-TF 1.2: hatf10.dtd is of 1.0'],
    ['metatf-encode --dtd hatf.dtd --contiguous', 2, '--contiguous is for binary traces: hatf.dtd is of Meta-TF 1.2'],
    ['metatf-encode --dtd hatf10.dtd --header --headerless', 2, '--header and --headerless cannot be combined'],
    ['metatf-encode --dtd hatf10-split.dtd --contiguous --headerless', 2, 'contiguous sections need a header'],
    [
      'metatf-decode --dtd hatf10.dtd --last-line',
      2,
      '--last-line is for traces in ASCII: hatf10.dtd is of Meta-TF 1.0',
    ],
    ['metatf-encode --dtd hatf10.dtd --window 0', 2, '--window needs a whole number from 1 on, not "0"'],
    [`metatf-encode --dtd hatf10.dtd --name ${'x'.repeat(256)}`, 2, "the DTD's name has 256 bytes, more than 255"],
    ['metatf-encode --dtd hatf10.dtd --byte-order middle', 2, '--byte-order must be one of big, little'],
    ['metatf-decode --headerless', 2, '--headerless needs --dtd'],
    [
      'metatf-decode --dtd hatf.dtd --headerless',
      2,
      '--headerless is for binary traces: hatf.dtd is of Meta-TF 1.2, which describes ASCII',
    ],
    ['metatf-decode --dtd hatf.dtd --byte-order little', 2, '--byte-order is for binary traces: hatf.dtd'],
    ['metatf-decode --dtd hatf.dtd --buffer 1M', 2, '--buffer is for binary traces: hatf.dtd'],
    ['metatf-decode --buffer x', 2, '--buffer needs a number of bytes'],
    ['metatf-decode --buffer 18446744073709551616', 2, '--buffer needs a number of bytes'],
    ['metatf-decode < /dev/null', 1, 'stdin: the input is empty'],
    [
      "printf '## A: b\\n\\n' | metatf-decode",
      1,
      'stdin: the header of the trace names no DTD: use metatf-decode --dtd',
    ],
    [
      "printf '## A: b\\n\\n4 5\\n' | metatf-decode --dtd hatf10.dtd",
      1,
      'the trace is in ASCII, and hatf10.dtd, of Meta-TF 1.0, describes binary traces',
    ],
    [
      'metatf-encode --dtd hatf10.dtd --name hatf.dtd | metatf-decode',
      1,
      'the trace is binary, and hatf.dtd, of Meta-TF 1.2, describes traces in ASCII',
    ],
  ])('what makes no sense: %s', async (line, code, message) => {
    const result = await shell(line, EVENTS.split('\n')[0])
    expect(result.stderr).toContain(message)
    expect({ code: result.code, stdout: result.stdout.toString() }).toEqual({ code, stdout: '' })
  })

  test('a DTD that is wrong, with its place', async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'x.dtd'), 'tag.width = 1;\nr : (tag, x) { }\n')
    const { code, stderr } = await shell(`metatf-encode --dtd ${folder}/x.dtd`, EVENTS)
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^metatf-encode: ${folder}/x\\.dtd:2:6: the tag of record 'r' has no value`),
      ),
    })
  })

  test('a trace that is cut: what was whole, one message, exit 1', async () => {
    const { bytes, dtd, folder } = await marks()
    const { code, stdout, stderr } = await shell(`metatf-decode --dtd ${dtd}`, bytes.subarray(0, -3))
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `metatf-decode: stdin: metatf: byte ${bytes.length - 9}, event 3: truncated: the trace ends inside a record\n`,
    })
    expect(stdout.toString().split('\n').slice(1).join('\n')).toBe(
      EVENTS.split('\n')
        .slice(0, 2)
        .map((line) => `${line}\n`)
        .join(''),
    )
    expect(await shell(`cd ${folder} && metatf-decode`, bytes.subarray(0, 20))).toMatchObject({
      code: 1,
      stderr: 'metatf-decode: stdin: metatf: byte 0, event 1: truncated: the trace ends inside its header\n',
    })
  })

  test('events flow while the writer is still at work', async () => {
    const { dtd } = await marks()
    const child = spawn('bash', ['-c', commandLine(`metatf-encode --dtd ${dtd} | metatf-decode --dtd ${dtd}`)], {
      stdio: 'pipe',
    })
    child.stdin.write(EVENTS)
    const text = await new Promise<string>((resolve) => {
      let got = ''
      child.stdout.on('data', (chunk: Buffer) => {
        got += chunk.toString()
        if (got.split('\n').length > 4) resolve(got)
      })
    })
    expect(text.split('\n').slice(1).join('\n')).toBe(EVENTS)
    child.stdin.end()
    await new Promise((resolve) => child.on('close', resolve))
  })

  test('binary output is refused on a terminal', async () => {
    const probe = await shell('command -v script')
    if (probe.code !== 0) return
    const { stdout } = await shell(
      `script -qec ${JSON.stringify(commandLine('metatf-encode --dtd hatf10.dtd /dev/null'))} /dev/null`,
    )
    expect(stdout.toString()).toContain('refusing to write binary data to a terminal')
  })
})

describe('tables', () => {
  /** Records first, and the table that they take their values from behind them. */
  function tableLast(): { dtd: string; bytes: Buffer } {
    const dtd = `tag.width = 1;
      free : (tag, address) { tag.value = 4; address.interpretation = sectionStride 2 1; }
      section table 2 { element : (v) { v.width = 2; v.interpretation = none; } }`
    const at = headerLength(5, 1)
    const header = formatFileHeader({
      addressSize: 64,
      byteOrder: 'big',
      dtd: 'x.dtd',
      start: at,
      records: 3,
      sections: [{ id: 2, start: at + 3, size: 6 }],
    })
    return { dtd, bytes: Buffer.from([...header, 4, 4, 4, 0, 1, 0, 2, 0, 3]) }
  }

  test('that come behind the records are read from the file', async () => {
    const folder = scratch()
    const { dtd, bytes } = tableLast()
    writeFileSync(join(folder, 'x.dtd'), dtd)
    writeFileSync(join(folder, 't.mtf'), bytes)
    writeFileSync(join(folder, 't.mtf.gz'), gzipSync(bytes))
    const events = [1, 2, 3].map((n) => `{"kind":"free","address":"0x${n}"}\n`).join('')
    expect(lines((await shell(`metatf-decode ${folder}/t.mtf`)).stdout)).toBe(events)
    expect(lines((await shell(`hf-filter --kind free ${folder}/t.mtf`)).stdout)).toBe(events)
    expect(
      (await shell(`hf-merge --end-to-end ${folder}/t.mtf ${folder}/t.mtf`)).stdout.toString().match(/"kind":"free"/g),
    ).toHaveLength(6)
    // Standard input may begin in the middle of a file, even of one whose beginning is the same.
    writeFileSync(join(folder, 'both'), Buffer.concat([bytes, bytes]))
    const middle = `cd ${folder} && { dd bs=${bytes.length} count=1 of=/dev/null 2> /dev/null; metatf-decode ; } < both`
    for (const line of [
      `cat ${folder}/t.mtf | metatf-decode --dtd-path ${folder}`,
      `metatf-decode ${folder}/t.mtf.gz`,
      `cd ${folder} && metatf-decode < t.mtf`,
      middle,
    ]) {
      const { code, stderr } = await shell(line)
      expect(code).toBe(1)
      expect(stderr).toContain(
        'has not come yet: sections that come after the records that need them can be read from a file only',
      )
    }
  })

  test('of a real trace: contiguous, interleaved, and from one to the other', async () => {
    const folder = scratch()
    const events = await someEvents()
    const encode = (flags: string, input = '-') =>
      shell(`metatf-encode --dtd hatf10-split.dtd ${flags} ${input} 2> /dev/null`, events)
    const apart = (await encode('--contiguous')).stdout
    const mixed = (await encode('')).stdout
    expect(parseFileHeader(apart)?.sections).toHaveLength(2)
    expect(parseFileHeader(mixed)?.sections).toHaveLength(0)
    writeFileSync(join(folder, 'apart.mtf'), apart)
    writeFileSync(join(folder, 'mixed.mtf'), mixed)
    expect((await encode('', `${folder}/apart.mtf`)).stdout.equals(apart)).toBe(true)
    expect((await encode('--interleaved', `${folder}/apart.mtf`)).stdout.equals(mixed)).toBe(true)
    expect((await encode('--contiguous', `${folder}/mixed.mtf`)).stdout.equals(apart)).toBe(true)
    const small = (await encode('--window 10')).stdout
    expect(small.length).toBeGreaterThan(mixed.length)
    const decoded = await Promise.all(
      [apart, mixed, small].map(async (bytes) => lines((await shell('metatf-decode', bytes)).stdout)),
    )
    expect(decoded[0]?.split('\n')).toHaveLength(2001)
    expect(new Set(decoded).size).toBe(1)
    expect(await shell('metatf-decode --buffer 100', apart)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('more than 100 bytes of section 2 come before the records that need them'),
    })
  })
})

describe('other commands', () => {
  test('find the DTD beside the trace and in the environment, or say what to do', async () => {
    const { trace, folder } = await marks()
    expect((await shell(`hf-filter --kind free ${trace}`)).stdout.toString()).toContain(
      '{"kind":"free","address":"0x10"}\n',
    )
    expect((await shell(`hf-stats ${trace}`)).stdout.toString()).toContain('1 (metatf)')
    expect((await shell(`hf-verify ${trace}`)).code).toBe(0)
    expect((await shell(`hf-verify --repair -o ${folder}/repaired.ndjson ${trace}`)).code).toBe(0)
    expect((await shell(`hf-sort --by size ${trace}`)).code).toBe(0)
    expect((await shell(`hf-split --by kind -o '${folder}/{}.ndjson' ${trace}`)).code).toBe(0)
    expect(readFileSync(join(folder, 'other.ndjson'), 'utf8')).toContain('"type":"mark"')
    expect((await shell(`hf-convert ${trace} ${folder}/t.hatf`)).stderr).toBe(
      'hf-convert: warning: not representable in hatf, dropped or changed: other events (1); --attributes keeps them\n',
    )
    expect((await shell(`kmemtrace-encode ${trace} 2> /dev/null | kmemtrace-decode`)).stdout.toString()).toContain(
      '"size":5',
    )
    const bytes = readFileSync(trace)
    expect(
      (await shell(`export HEAPFLOW_DTD_PATH=${folder}; hf-filter --kind free`, bytes)).stdout.toString(),
    ).toContain('{"kind":"free","address":"0x10"}\n')
    for (const command of [
      'hf-filter --kind free',
      'hf-stats',
      'hf-verify',
      'hf-sort',
      'hf-merge -',
      'mtrc-encode',
      'hf-convert - t.hatf',
    ]) {
      const { code, stderr, stdout } = await shell(`cd / && ${command}`, bytes)
      expect({ command, code, stdout: stdout.toString() }).toEqual({ command, code: 1, stdout: '' })
      expect(stderr).toContain('the trace is by the DTD "marks.dtd", but there is no marks.dtd in ')
      expect(stderr).toContain('use metatf-decode --dtd, or set HEAPFLOW_DTD_PATH')
    }
  })

  test('flags of other formats do not go with it', async () => {
    const { trace, folder } = await marks()
    expect(await shell(`hf-convert --no-fold ${trace} ${folder}/t.hatf`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--no-fold does not apply to metatf'),
    })
  })

  test('hf-convert writes and reads HATF in ASCII by its name and by flags', async () => {
    const folder = scratch()
    const events = await someEvents()
    writeFileSync(join(folder, 'e.ndjson'), events)
    const run = (line: string) => shell(`cd ${folder} && ${line} 2> /dev/null`)
    for (const line of [
      'hf-convert e.ndjson a.hatf.txt',
      'hf-convert e.ndjson b --to hatf-ascii',
      'hf-convert a.hatf.txt c.ndjson',
      'hf-convert --from hatf-ascii b d.hatf.txt.gz',
    ]) {
      expect((await run(line)).code).toBe(0)
    }
    const text = readFileSync(join(folder, 'a.hatf.txt'), 'utf8')
    expect(text).toMatch(/^## DTDURL: hatf\.dtd\n## .*\n\n1 \d+ 0x/)
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe(text)
    expect(gunzipSync(readFileSync(join(folder, 'd.hatf.txt.gz'))).toString()).toBe(text)
    expect(lines(readFileSync(join(folder, 'c.ndjson'))).split('\n')).toHaveLength(2001)
    // The same through its DTD.
    expect((await run('metatf-decode a.hatf.txt | metatf-encode --dtd hatf.dtd')).stdout.toString()).toBe(text)
  })
})

describe('real HATF in ASCII', { tags: ['corpus'] }, () => {
  test.each(['mt64', 'legacy-cpp', 'small32'])('%s', async (name) => {
    const path = corpusPath(`hatf-ascii/${name}.hatf.gz`)
    const { stdout, code } = await shell(
      `set -o pipefail; metatf-decode ${path} | metatf-encode --dtd ${corpusPath('hatf-ascii/hatf.dtd')}`,
    )
    expect(code).toBe(0)
    expect(stdout.equals(corpusFile(`hatf-ascii/${name}.hatf`))).toBe(true)
    expect(
      (await shell(`hf-convert ${path} - --to hatf-ascii`)).stdout.equals(corpusFile(`hatf-ascii/${name}.hatf`)),
    ).toBe(true)
  })
})
