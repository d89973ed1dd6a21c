// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'
const MTRC = gunzipSync(readFileSync(TRACE))

async function run(args: string, input: Uint8Array | string = '') {
  const { code, stdout, stderr } = await shell(`hf-check ${args}`, input)
  return { code, stdout: stdout.toString(), stderr }
}

/** A trace with a leak whose function has a hostile name. */
const HOSTILE = '</failure>|`*@me*` & "x"\u0007\ud800'
function hostile(...sizes: number[]): string {
  const stack = [`${HOSTILE} at src/a b.c:3`]
  return sizes.map((size, i) => `${JSON.stringify({ kind: 'alloc', address: 16 * i + 16, size, stack })}\n`).join('')
}

test('percentages say of what they are', async () => {
  const line = '{"kind":"alloc","address":16,"size":1500,"usable":2048}\n'
  const { stdout } = await run('--max-wasted 30% --max-temporary 5%', line)
  expect(stdout).toContain('bytes wasted: 548 bytes, at most 614 bytes (30% of 2,048 bytes taken)\n')
  expect(stdout).toContain('temporary allocations: 0, at most 0 (5% of 1 allocation)\n')
})

describe('the exit status', () => {
  test.each([
    [0, '--max-peak 3M --max-leaked 10K --max-temporary 20%'],
    [1, '--max-peak 2M'],
    [1, '--max-leaked 0 --max-wasted 1'],
    [3, '--max-wasted 1'],
    [3, '--at nosuch --max-peak 1G'],
    [2, '--max-peak 20%'],
    [2, '--max-peek 1'],
    [2, '--at lex --max-blocks 1'],
    [2, '--max-peak 1 --at lex'],
    [2, '--grow peak=1%'],
    [2, '--grow peak'],
    [2, ''],
    [2, '--budgets no.json'],
    [2, `${TRACE} - - --max-peak 1`],
    [2, '--to junit --full --max-peak 1'],
  ])('is %i with %s', async (status, args) => {
    const { code, stdout, stderr } = await run(`${TRACE} ${args}`)
    expect([code, stderr.split('\n').length - 1]).toEqual([status, status === 2 ? 1 : 0])
    expect(stdout === '').toBe(status === 2)
  })

  test('is 3 for samples', async () => {
    const { code, stdout } = await run('--max-peak 1M --max-leaked 1M', '{"kind":"alloc","size":8,"weight":1000}\n')
    expect([code, stdout]).toEqual([
      3,
      expect.stringContaining('unknown  peak memory: - (not known: the trace is sampled'),
    ])
  })

  test('is that of the leaks that are not suppressed', async () => {
    const file = join(scratch(), 'leaks.supp')
    writeFileSync(file, 'leak:failure\n')
    expect((await run('--max-leaked 7', hostile(10, 5))).code).toBe(1)
    const { code, stdout } = await run(`--max-leaked 7 --suppress ${file}`, hostile(10, 5))
    expect([code, stdout]).toEqual([0, expect.stringContaining('Suppressed leaks: 2 blocks, 15 bytes.')])
    expect((await run('--max-leaked 7 --suppress nosuch', hostile(1))).code).toBe(2)
  })

  test('is 3 for traces that cannot be read to their end', async () => {
    const folder = scratch()
    const cut = (n: number) => {
      const file = join(folder, `${n}.mtrc`)
      writeFileSync(file, MTRC.subarray(0, n))
      return file
    }
    const damaged = Buffer.from(MTRC)
    damaged.fill(0xff, 5000, 5040)
    writeFileSync(join(folder, 'damaged.mtrc'), damaged)
    writeFileSync(join(folder, 'empty'), '')
    writeFileSync(join(folder, 'text'), 'no trace at all\n')
    writeFileSync(join(folder, 'half.gz'), readFileSync(TRACE).subarray(0, 3000))
    const files = [1, 3, 100, 5000, MTRC.length - 1].map(cut)
    for (const name of ['damaged.mtrc', 'empty', 'text', 'half.gz', 'missing', '.']) files.push(join(folder, name))
    for (const file of files) {
      for (const line of [`${file} --max-peak 1G`, `${TRACE} --baseline ${file} --grow peak=900%`]) {
        const { code, stderr } = await run(line)
        expect([line, code, stderr === '']).toEqual([line, 3, false])
      }
    }
  })

  test('is 3 if the output cannot be written, and remains if its reader closes it', async () => {
    expect((await run(`${TRACE} --max-peak 1G -o /nosuch/file`)).code).toBe(3)
    const closed = await shell(`(hf-check ${TRACE} --max-peak 1; echo $? >&2) | true`)
    expect(closed.stderr).toBe('1\n')
  })
})

test('reads a trace from a pipe, compares it with a baseline, and names the site', async () => {
  const { stdout: lines } = await shell('mtrc-decode', MTRC)
  const more = lines
    .toString()
    .replace(
      /\n(?=\{"kind":"end")/,
      '\n{"kind":"alloc","index":99999999,"address":"0x10","size":7,"function":"lex_more","file":"a.c"}\n',
    )
  const events = more.replace(/("kind":"end","events":)(\d+)/, (_, key: string, n: string) => `${key}${Number(n) + 1}`)
  const same = await run(`--baseline ${TRACE} --grow leaked=0,peak=0`, lines)
  expect([same.code, same.stderr]).toEqual([0, ''])
  const { code, stdout } = await run(`--baseline ${TRACE} --grow leaked=0,peak=0 --at 'lex_*' --grow leaked=0`, events)
  expect(code).toBe(1)
  expect(stdout.split('\n').filter((line) => line.endsWith('lex_more')).length).toBe(4)
  expect(stdout).toContain('beyond   blocks leaked: 19, now 20 (+5.3 %), at most 19 (0 more)\n')
  expect(stdout).toContain('4 of 5 budgets are exceeded (1 run, compared with 1 run of the baseline).\n')
})

test.each([
  ['in /usr/bin/app+0x10', true],
  ['parse in /usr/bin/app+0x10', false],
])('says how sites get names, if they have none: %s', async (frame, isNameless) => {
  const line = `${JSON.stringify({ kind: 'alloc', address: '0x10', size: 9, stack: [frame] })}\n`
  const { code, stdout } = await shell('hf-check --max-leaked 0', line)
  expect(code).toBe(1)
  expect(stdout.toString().endsWith('hf-symbolize adds them, in the job that records.\n')).toBe(isNameless)
})

test('takes budgets from a file, and from heapflow.check.json if there are no others', async () => {
  const folder = scratch()
  const file = join(folder, 'heapflow.check.json')
  writeFileSync(file, '{"budgets": [{"max": {"peak": "2M", "leaked": "10K"}}]}')
  const trace = join(process.cwd(), TRACE)
  const inFolder = (args: string) => shell(`cd ${folder} && hf-check ${trace} ${args}`)
  expect((await inFolder('')).code).toBe(1)
  expect((await inFolder('--max-peak 3M')).code).toBe(0)
  const both = await run(`${TRACE} --budgets ${file} --max-blocks 1`)
  expect(both.stdout.match(/^[a-zS]+ /gm)).toEqual(['beyond ', 'within ', 'beyond ', 'Sites ', 'Sites '])
  writeFileSync(file, '{"budgets": [{"max": {"peek": "2M"}}]}')
  const wrong = await inFolder('')
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'hf-check: heapflow.check.json: budgets[0].max: no figure is called "peek" (did you mean "peak"?); see hf-check --help\n',
  ])
  writeFileSync(file, '{')
  expect((await inFolder('')).code).toBe(2)
})

describe('forms', () => {
  const ARGS = "--max-peak 10 --max-wasted 5% --max-temporary 20% --each '*' --max-allocated 5"
  const written = async (form: string) => {
    const { code, stdout, stderr } = await run(`- ${ARGS} --to ${form}`, hostile(100, 20))
    expect([code, stderr]).toEqual([1, ''])
    return stdout
  }

  test('json', async () => {
    const { budgets, ...result } = JSON.parse(await written('json')) as { budgets: Record<string, unknown>[] }
    expect(result).toEqual({ verdict: 'beyond', status: 1, runs: ['-'], baseline: [] })
    expect(budgets.map(({ figure, verdict, value, most, limit }) => [figure, verdict, value, most, limit])).toEqual([
      ['peak', 'beyond', 120, 10, '10'],
      ['wasted', 'unknown', null, null, '5%'],
      ['temporary', 'within', 0, 0, '20%'],
      ['allocated', 'beyond', 120, 5, '5'],
    ])
    expect(budgets[0]?.['sites']).toEqual([
      { stack: [expect.stringContaining('</failure>')], new: { blocks: 2, bytes: 120 }, file: 'src/a b.c', line: 3 },
    ])
  })

  test('junit: well-formed, with the attributes that its readers need', async () => {
    const xml = await written('junit')
    expect(xml.isWellFormed()).toBe(true)
    // eslint-disable-next-line no-control-regex
    expect(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(xml)).toBe(false)
    const tags: string[] = []
    const seen: Record<string, Record<string, string>[]> = {}
    const rest = xml
      .replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\n/, '')
      .replace(
        /<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g,
        (_, end: string, name: string, list: string, empty: string) => {
          if (end !== '') expect(tags.pop()).toBe(name)
          else {
            const attributes = [...list.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])
            ;(seen[name] ??= []).push(Object.fromEntries(attributes) as Record<string, string>)
            if (empty === '') tags.push(name)
          }
          return ''
        },
      )
    expect(tags).toEqual([])
    expect(rest).not.toMatch(/[<>]|&(?!(amp|lt|gt|quot);)/)
    const counts = { tests: '4', failures: '2', errors: '1', time: '0' }
    expect(seen['testsuites']).toEqual([{ name: 'hf-check', ...counts }])
    expect(seen['testsuite']).toEqual([{ name: 'hf-check', ...counts, skipped: '0' }])
    expect(seen['testcase']?.map(({ name, classname }) => [name, classname])).toEqual([
      ['max peak 10', 'hf-check'],
      ['max wasted 5%', 'hf-check'],
      ['max temporary 20%', 'hf-check'],
      [expect.stringMatching(/^max allocated 5 each \*: &lt;\/failure&gt;/), 'hf-check'],
    ])
    expect([seen['failure']?.length, seen['error']?.length]).toEqual([2, 1])
  })

  test('sarif: a path that is not UTF-8 is that of the same file', async () => {
    const trace = '{"kind":"alloc","address":"0x1000","size":8,"function":"f","file":"src/b \\udcff.c","line":3}\n'
    const { stdout } = await shell('hf-check --to sarif --max-peak 1', trace)
    expect(stdout.toString()).toContain('"uri": "src/b%20%FF.c"')
  })

  test('sarif: the objects and properties that the specification requires', async () => {
    interface Sarif {
      version: string
      runs: {
        tool: { driver: { name: string; rules: { id: string; shortDescription: { text: string } }[] } }
        invocations: { executionSuccessful: boolean; toolExecutionNotifications: { message: { text: string } }[] }[]
        results: {
          ruleId: string
          ruleIndex: number
          level: string
          message: { text: string }
          locations: { physicalLocation: { artifactLocation: { uri: string }; region?: { startLine: number } } }[]
        }[]
      }[]
    }
    const { version, runs } = JSON.parse(await written('sarif')) as Sarif
    expect([version, runs.length]).toEqual(['2.1.0', 1])
    const [{ tool, invocations, results }] = runs as [Sarif['runs'][0]]
    const { rules } = tool.driver
    expect(rules.map(({ id }) => id)).toEqual(['max-peak', 'max-wasted', 'max-temporary', 'max-allocated'])
    for (const { ruleId, ruleIndex, level, message } of results) {
      expect(rules[ruleIndex]?.id).toBe(ruleId)
      expect(level).toBe('error')
      expect(message.text).toMatch(/\d/)
      expect(message.text.isWellFormed()).toBe(true)
    }
    expect(results.map(({ locations }) => locations[0]?.physicalLocation)).toEqual([
      { artifactLocation: { uri: 'src/a%20b.c' }, region: { startLine: 3 } },
      { artifactLocation: { uri: 'src/a%20b.c' }, region: { startLine: 3 } },
    ])
    const [invocation] = invocations
    expect([invocation?.executionSuccessful, invocation?.toolExecutionNotifications.length]).toEqual([false, 1])
  })

  test('markdown: names are code, and stay in their cells', async () => {
    const lines = (await written('markdown')).split('\n')
    const rows = lines.filter((line) => line.startsWith('|'))
    const cells = rows.map((row) => row.replaceAll('\\|', '').split('|').length)
    expect(cells).toEqual([5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5])
    for (const line of lines.filter((one) => one.includes('@me'))) {
      const outside = line.replace(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g, '')
      expect(outside).not.toMatch(/@|<|\*/)
    }
    expect(lines[0]).toBe('**hf-check: 2 of 4 budgets are exceeded; 1 of 4 cannot be checked (1 run).**')
  })

  test('text: no control characters', async () => {
    expect(await written('text')).not.toContain('\u0007')
  })
})
