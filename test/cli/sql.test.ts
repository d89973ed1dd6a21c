import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { DuckDBInstance } from '@duckdb/node-api'
import { failure, refuseOld } from '../../lib/cli/sql/database.js'
import { commandLine, scratch, shell } from '../support/commands.js'
import { corpusPath } from '../support/corpus.js'

const FIXTURES = 'test/fixtures/'
const TRACE = `${FIXTURES}mtrc/small64.mtrc.gz`

interface Figures {
  readonly allocated: { readonly blocks: number; readonly bytes: number }
  readonly leaked: { readonly blocks: number; readonly bytes: number }
  readonly peakBytes: { readonly event: number; readonly blocks: number; readonly bytes: number }
  /** Null, as `lifetimes`, for traces that do not say which block is freed. */
  readonly temporary: Record<'heaptrack' | 'memray', { readonly blocks: number }> | null
  readonly lifetimes: {
    readonly events: { readonly count: number; readonly sum: number; readonly mean: number }
  } | null
  readonly kinds: Record<string, number>
  readonly sites: readonly (Record<string, unknown> & Record<'leaked' | 'atPeak', { blocks: number; bytes: number }>)[]
}

const rowsIn = (bytes: Buffer) =>
  bytes
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

async function query(trace: string, sql: string, flags = '--to ndjson'): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await shell(`hf-sql ${flags} ${trace} ${JSON.stringify(sql)}`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return rowsIn(stdout)
}

/** A site as the statistics name it: by its stack, else function, file and line, else the call site. */
const keyOf = ({ stack, function: name, file, line, module, callSite }: Record<string, unknown>) => {
  if (Array.isArray(stack)) return stack.length === 0 ? '[]' : JSON.stringify(stack)
  if ((name ?? file ?? line ?? null) !== null)
    return (name ?? file ?? null) === null && line === 0
      ? '[]'
      : JSON.stringify([name ?? null, file ?? null, line || null])
  return (callSite ?? null) === null ? '[]' : JSON.stringify([module ?? null, BigInt(callSite as string).toString()])
}
const SITE = 'stack, function, sourceFile as file, line, module, callSite::varchar as callSite'

/** Compares the table of blocks with hf-stats. */
async function expectStatistics(trace: string): Promise<void> {
  const stats = JSON.parse((await shell(`hf-stats --json ${trace}`)).stdout.toString()) as Figures
  const leaks = await query(
    trace,
    `select ${SITE}, count(*) as blocks, sum(size) as bytes from blocks where ending = 'live' group by all`,
  )
  const bySite = (rows: readonly (readonly [string, unknown])[]) => Object.fromEntries(rows.toSorted())
  expect(bySite(leaks.map(({ blocks, bytes, ...site }) => [keyOf(site), { blocks, bytes }]))).toEqual(
    bySite(stats.sites.filter(({ leaked }) => leaked.blocks > 0).map((site) => [keyOf(site), site.leaked])),
  )
  const { event, blocks, bytes } = stats.peakBytes
  const peak = 'select max(peakEvent) from blocks'
  expect(
    await query(
      trace,
      `select count(*) as blocks, sum(peakSize) as bytes, max(peakEvent) as event from blocks where peakEvent = (${peak})`,
    ),
  ).toEqual([{ blocks, bytes, event }])
  const atPeak = await query(
    trace,
    `select ${SITE}, count(*) as blocks, sum(peakSize) as bytes from spans where peakEvent = (${peak}) group by all`,
  )
  expect(
    bySite(atPeak.map(({ blocks: n, bytes: size, ...site }) => [keyOf(site), { blocks: n, bytes: size }])),
  ).toEqual(bySite(stats.sites.filter((site) => site.atPeak.blocks > 0).map((site) => [keyOf(site), site.atPeak])))
  if (stats.lifetimes !== null && stats.temporary !== null) {
    const { count, sum, mean } = stats.lifetimes.events
    expect(
      await query(
        trace,
        'select count(lifetimeEvents) as count, sum(lifetimeEvents) as sum, avg(lifetimeEvents) as mean from blocks',
      ),
    ).toEqual([{ count, sum, mean }])
    expect(
      await query(
        trace,
        'select count(*) as blocks, sum(size) as bytes, sum(temporary) as heaptrack, sum(temporaryMemray) as memray from spans',
      ),
    ).toEqual([
      { ...stats.allocated, heaptrack: stats.temporary.heaptrack.blocks, memray: stats.temporary.memray.blocks },
    ])
  }
  const kinds = await query(trace, 'select kind, count(*) as n from events group by kind')
  expect(Object.fromEntries(kinds.map(({ kind, n }) => [kind, n]))).toEqual(stats.kinds)
}

describe('the figures of hf-stats', () => {
  test.each(['mtrc/small64.mtrc.gz', 'heaptrack/cxx.heaptrack.gz', 'tracepoints/perf-ns-pidtid.txt.gz'])(
    '%s',
    { tags: ['slow'] },
    (trace) => expectStatistics(`${FIXTURES}${trace}`),
  )

  test.each(['heaptrack/python-large.zst', 'mtrc/espresso-tiny64pie.mtrc.gz'])('%s', { tags: ['corpus'] }, (trace) =>
    expectStatistics(corpusPath(trace)),
  )
})

describe('the table of stacks', () => {
  const cxx = `${FIXTURES}heaptrack/cxx.raw.gz`

  test('a table shows names that are no UTF-8 as other tables do', { tags: ['slow'] }, async () => {
    const line = '{"kind":"alloc","address":"0x10","size":8,"function":"m\\udc9b1m caf\\udce9"}'
    const { code, stdout } = await shell('hf-sql "select function from blocks"', Buffer.from(`${line}\n`))
    expect({ code, text: stdout.toString('latin1') }).toEqual({
      code: 0,
      text: 'function\n------------\nm\\x9b1m caf\xe9\n',
    })
  })

  test('has each stack once, by the number that blocks and spans have', { tags: ['slow'] }, async () => {
    const wrong =
      'select count(*) as n from (select stackId, stack from blocks union all select stackId, stack from spans) b ' +
      'left join stacks s using (stackId) where b.stack is distinct from s.stack'
    expect(await query(cxx, wrong)).toEqual([{ n: 0 }])
    const [{ n } = {}] = await query(cxx, 'select count(*) as n, count(distinct stack) as d from stacks having n = d')
    expect(n).toBeGreaterThan(5)
    expect(await query(cxx, 'select count(distinct stack) as n from spans')).toEqual([{ n }])
    expect(await query(cxx, 'select max(stackId) as n from stacks')).toEqual([{ n }])
  })

  test('gives a stack the same number in all traces', { tags: ['slow'] }, async () => {
    const sql = 'select count(*) as n, count(distinct stack) as d from stacks'
    const [one] = await query(cxx, sql)
    const [both] = await query(`${cxx} ${FIXTURES}heaptrack/mtv-small.raw.gz`, sql)
    expect(both?.['n']).toBe(both?.['d'])
    expect(Number(both?.['n'])).toBeGreaterThan(Number(one?.['n']))
  })
})

describe('hf-sql', () => {
  test('has several traces, the names of which are in a column', { tags: ['slow'] }, async () => {
    const other = `${FIXTURES}mtrc/cxx64.mtrc`
    expect(
      await query(`${TRACE} ${other}`, 'select file, count(*) as n from blocks group by file order by file desc'),
    ).toEqual([
      { file: TRACE, n: 1252 },
      { file: other, n: 55 },
    ])
  })

  test('has what threads are called', { tags: ['slow'] }, async () => {
    const lines = [
      '{"kind":"header","format":"recorder"}',
      '{"kind":"alloc","thread":7,"address":"0x10","size":5}',
      '{"kind":"comment","thread":8,"text":"thread worker"}',
      '{"kind":"comment","thread":8,"text":"thread collector"}',
      '{"kind":"comment","text":"thread without a number"}',
      '{"kind":"end","events":4}',
    ]
    const line = "hf-sql --to csv 'select thread, name, events from threads order by thread'"
    const { stdout } = await shell(line, `${lines.join('\n')}\n`)
    expect(stdout.toString()).toBe('thread,name,events\n7,,1\n8,"collector, worker",2\n')
  })

  test('reads the query from a file, and a trace from a pipe', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'query.sql')
    writeFileSync(file, 'select count(*) as n -- a comment\nfrom events;\n')
    expect(await query(TRACE, '', `--to ndjson -f ${file}`).catch(() => undefined)).toBeUndefined()
    const piped = await shell(`gunzip -c ${TRACE} | hf-sql --to ndjson -f ${file}`)
    expect([piped.stderr, rowsIn(piped.stdout)]).toEqual(['', [{ n: 2798 }]])
    const both = await shell(`hf-sql -f - -`)
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('standard input can be read only once')])
  })

  test('integers of 64 bits are exact, and all columns have their values', { tags: ['slow'] }, async () => {
    const trace = join(scratch(), 'kernel.ndjson')
    const most = 2n ** 64n - 1n
    writeFileSync(
      trace,
      `{"kind":"header","format":"ndjson"}\n{"kind":"alloc","address":"0x${most.toString(16)}","size":${most},` +
        `"stack":["a","b"],"attributes":"AP8="}\n{"kind":"alloc","address":"0x10","size":${most}}\n{"kind":"end","events":2}\n`,
    )
    const sql = `select max(address) as most, sum(size) as sum, any_value(stack) as stack, any_value(to_hex(attributes)) as bytes from events`
    const { stdout } = await shell(`hf-sql --to ndjson ${trace} "${sql}"`)
    expect(stdout.toString()).toBe(`{"most":${most},"sum":${2n * most},"stack":["a","b"],"bytes":"00FF"}\n`)
    const texts = `'a,\\"' as odd, '' as empty, null as none`
    const csv = await shell(`hf-sql --to csv ${trace} "select address, stack, ${texts} from blocks order by birth"`)
    const head = 'address,stack,odd,empty,none'
    expect(csv.stdout.toString()).toBe(`${head}\n${most},"[""a"",""b""]","a,""","",\n16,,"a,""","",\n`)
  })

  test('a query gets the columns that it needs, however it names them', { tags: ['slow'] }, async () => {
    const whole = await query(TRACE, 'select b from blocks b order by b.birth limit 1')
    expect(whole).toEqual([{ b: (await query(TRACE, 'from blocks order by birth limit 1'))[0] }])
    expect(await query(TRACE, 'select count(*) as n from (select size, site from (select * from blocks)) x')).toEqual([
      { n: 1252 },
    ])
    expect(
      await query(
        TRACE,
        "select sum(b.size) as sum from blocks b join events e on e.sequence is null and b.birth < 9 and e.kind = 'alloc'",
      ),
    ).toHaveLength(1)
  })

  test('writes Parquet and other files', { tags: ['slow'] }, async () => {
    const file = join(scratch(), 'result.parquet')
    const { code, stderr } = await shell(`hf-sql ${TRACE} "select size, stack from blocks -- all" -o ${file}`)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const connection = await (await DuckDBInstance.create()).connect()
    const result = await connection.runAndReadAll(`select count(*), sum(size), typeof(any_value(size)) from '${file}'`)
    expect(result.getRows()).toEqual([[1252n, 3_439_722n, 'UBIGINT']])
    const csv = join(scratch(), 'result.csv.gz')
    await shell(`hf-sql ${TRACE} "select count(*) as n from blocks" -o ${csv}`)
    expect(gunzipSync(readFileSync(csv)).toString()).toBe('n\n1252\n')
    expect((await shell(`hf-sql ${TRACE} "select 1" -o ${file}.xml`)).code).toBe(2)
    const query = join(scratch(), 'query.sql')
    for (const end of ['; -- all; or most', ' -- one;\n;; /* ; */', " where site <> ';' /* -- ; */;"]) {
      writeFileSync(query, `select count(*) as n from blocks${end}\n`)
      expect((await shell(`hf-sql ${TRACE} -f ${query} -o ${file}`)).stderr).toBe('')
      const n = await connection.runAndReadAll(`select n from '${file}'`)
      expect(n.getRows()).toEqual([[1252n]])
    }
    // A sum has 128 bits, which Parquet does not have.
    await shell(`hf-sql ${TRACE} "select sum(size * 0 + 9007199254740993) as n from blocks limit 1" -o ${file}`)
    const sum = await connection.runAndReadAll(`select n::varchar from '${file}'`)
    expect(sum.getRows()).toEqual([[String(1252n * 9_007_199_254_740_993n)]])
  })

  test.each([
    ['', 2, 'the query is empty'],
    ['-- nothing;', 2, 'the query is empty'],
    ['selec 1', 2, 'line 1, column 1: syntax error at or near "selec"'],
    [
      'select * from nope',
      2,
      'line 1, column 15: Table with name nope does not exist! The tables are events, blocks, spans, stacks, handoffs and threads',
    ],
    ['select 1 as one,\n  nope from blocks', 2, 'line 2, column 3: Referenced column "nope" not found'],
    [`select ${'1 + '.repeat(200)} nope from blocks`, 2, 'line 1, column 809: Referenced column "nope" not found'],
    ['select 1; select 2', 2, 'the query must be a single one'],
    ["copy (select 1) to '/tmp/x.csv'", 2, 'disabled by configuration'],
    ['create table mine as select 1', 2, 'the query must be a single one'],
    ["set memory_limit = '1GB'", 2, 'the query must be a single one'],
    ["select * from read_csv('/etc/passwd')", 2, 'disabled by configuration'],
    ["select * from '/etc/passwd'", 2, 'passwd'],
    ["select * from read_parquet('http://localhost:1/x.parquet')", 2, ''],
    ["select\n error('boom')\nfrom blocks", 1, `query "select error('boom') from blocks": boom`],
    [`select sqrt(-1)${' '.repeat(80)}`, 1, 'query "select sqrt(-1)": Out of Range Error: '],
    [
      "select * from read_csv(current_setting('temp_directory') || '/x.csv')",
      2,
      'No files found that match the pattern "x.csv"',
    ],
  ])('refuses %s', { tags: ['slow'] }, async (sql, status, message) => {
    const file = join(scratch(), 'query.sql')
    writeFileSync(file, sql)
    const { code, stdout, stderr } = await shell(`hf-sql ${TRACE} -f ${file}`)
    expect([code, stdout.toString()]).toEqual([status, ''])
    expect(stderr).toMatch(/^hf-sql: [^\n]*\n$/)
    expect(stderr).toContain(message)
    expect(stderr).not.toMatch(/root:|heapflow-sql-/)
  })

  test('the position of a fault is that in the query, whatever is written', { tags: ['slow'] }, async () => {
    const path = join(scratch(), 'a')
    for (const to of ['table', 'parquet']) {
      const sql = `select *\nfrom (select site::int from blocks) where ${'1 = 1 and '.repeat(20)}true`
      const { code, stderr } = await shell(
        `hf-sql ${TRACE} --to ${to} -o ${path} ${JSON.stringify(sql).replace('\\n', '\n')}`,
      )
      expect([code, stderr]).toEqual([1, expect.stringContaining('hf-sql: line 2, column 18: Conversion Error: ')])
    }
  })

  test('a fault in what was put around the query has no position in it', { tags: ['slow'] }, async () => {
    const sql = 'select 170141183460469231731687303715884105727::hugeint as x'
    const { code, stderr } = await shell(`hf-sql ${TRACE} -o ${join(scratch(), 'a.parquet')} "${sql}"`)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`hf-sql: query "${sql}": Conversion Error: `)])
  })

  test('messages do not show where temporary files are', () => {
    const error = new Error('IO Error: Could not write file "/tmp/heapflow-sql-x1/duckdb.tmp" in /tmp/heapflow-sql-x1')
    expect(failure(error, 'select 1', '/tmp/heapflow-sql-x1')).toBe(
      'query "select 1": IO Error: Could not write file "duckdb.tmp" in the temporary folder',
    )
  })

  test('refuses a query that was forgotten, and a trace that is named twice', { tags: ['slow'] }, async () => {
    for (const [operands, message] of [
      [TRACE, 'the last argument is the query'],
      [`-f /dev/null ${TRACE}`, 'the query is empty'],
      ['', 'a query is missing'],
      ['none.mtrc', 'syntax error'],
      [`${TRACE} ./${TRACE} "select 1"`, `${TRACE} and ./${TRACE} are the same file`],
      [`${TRACE} ${TRACE} "select 1"`, `${TRACE} is named twice`],
    ] as const) {
      const { code, stderr } = await shell(`hf-sql ${operands}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    }
  })

  test('a damaged trace counts up to the fault', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const cut = join(folder, 'cut.mtrc')
    const whole = gunzipSync(readFileSync(TRACE))
    writeFileSync(cut, whole.subarray(0, whole.length / 2))
    const { code, stdout, stderr } = await shell(
      `hf-sql --to csv ${cut} ${TRACE} "select file, count(*) as n from events group by file order by n"`,
    )
    const stats = JSON.parse((await shell(`hf-stats --json ${cut}`)).stdout.toString()) as { events: number }
    expect(code).toBe(1)
    expect(stdout.toString()).toBe(`file,n\n${cut},${stats.events}\n${TRACE},2798\n`)
    expect(stderr).toMatch(/^hf-sql: .*cut\.mtrc: mtrc: byte \d+.*\n$/)
    expect((await shell(`hf-sql ${folder}/none "select 1 from events"`)).stderr).toContain('no such file')
    const result = join(folder, 'result.csv')
    const { stderr: message } = await shell(`hf-sql ${cut} "select count(*) as n from events" -o ${result}`)
    expect(message).toContain(`the incomplete output is in ${result}.partial`)
    expect(existsSync(result)).toBe(false)
  })

  test('temporary files are removed, also by a signal', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const left = () => readdirSync(folder)
    await shell(`TMPDIR=${folder} hf-sql ${TRACE} "select count(*) from blocks"`)
    await shell(`TMPDIR=${folder} hf-sql ${TRACE} "select nope"`)
    expect(left()).toEqual([])
    for (const [line, ready, wait] of [
      // The trace does not end.
      [`sleep 60 | hf-sql "select count(*) from blocks"`, 'blocks.parquet', 0],
      // The query does not.
      [
        `hf-sql ${TRACE} "select count(*) from events a, events b, events c, events d where a.size < b.size + c.size + d.size"`,
        'events.parquet',
        2000,
      ],
    ] as const) {
      const child = spawn('bash', ['-c', commandLine(line)], {
        stdio: 'ignore',
        detached: true,
        env: { ...process.env, TMPDIR: folder },
      })
      const ended = new Promise((resolve) => child.on('close', resolve))
      const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
      while (!left().some((name) => existsSync(join(folder, name, ready)))) await pause(50)
      await pause(wait)
      process.kill(-(child.pid as number), 'SIGTERM')
      await ended
      while (left().length > 0) await pause(50)
    }
  })

  test('without DuckDB, one sentence says how to install it', async () => {
    const folder = scratch()
    mkdirSync(join(folder, 'node_modules/@duckdb/node-api'), { recursive: true })
    // What Node finds first, as if it could not be loaded.
    const hook = join(folder, 'hook.cjs')
    writeFileSync(
      hook,
      `const { Module } = require('node:module'); const load = Module._resolveFilename
      Module._resolveFilename = (name, ...rest) => { if (name.startsWith('@duckdb')) throw new Error('none'); return load(name, ...rest) }`,
    )
    const { code, stderr } = await shell(`NODE_OPTIONS="--require ${hook}" hf-sql ${TRACE} "select 1"`)
    expect([code, stderr]).toEqual([
      1,
      'hf-sql: SQL needs DuckDB: install it beside heapflow, with npm install @duckdb/node-api\n',
    ])
  })

  test('versions of DuckDB before 1.5 are refused', () => {
    for (const version of ['v0.10.3', 'v1.4.4']) expect(() => refuseOld(version)).toThrow(`newer, not ${version}`)
    for (const version of ['v1.5.0', 'v1.10.0', 'v2.0.0', '']) expect(() => refuseOld(version)).not.toThrow()
  })
})
