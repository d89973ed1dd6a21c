// @module-tag slow
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unknownFigures } from '../../lib/cli/report/identity.js'
import { jsonPieces } from '../../lib/cli/report/json.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { shell } from '../support/commands.js'
import { runs } from '../support/runs.js'
import { anyEvent, HEADER, inBatches } from '../transforms/events.js'

/** The part of JSON Schema that the schemas of outputs use. */
interface Schema {
  readonly type: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
}

/** The faults of a value. */
function faultsOf(schema: Schema, value: unknown, path = '$'): string[] {
  const types = [schema.type].flat()
  const isType = (type: string) =>
    type === 'null'
      ? value === null
      : type === 'array'
        ? Array.isArray(value)
        : type === 'object'
          ? typeof value === 'object' && value !== null && !Array.isArray(value)
          : type === 'integer'
            ? Number.isInteger(value)
            : typeof value === type
  if (!types.some(isType)) return [`${path} is no ${types.join(' or ')}: ${JSON.stringify(value)?.slice(0, 80)}`]
  if (Array.isArray(value))
    return schema.items === undefined
      ? []
      : value.flatMap((item, n) => faultsOf(schema.items as Schema, item, `${path}[${n}]`))
  if (typeof value !== 'object' || value === null) return []
  const missing = (schema.required ?? []).filter((name) => !(name in value)).map((name) => `${path}.${name} is missing`)
  const { properties = {}, additionalProperties } = schema
  return [
    ...missing,
    ...Object.entries(value).flatMap(([name, item]) => {
      const known = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (known !== undefined) return faultsOf(known, item, `${path}.${name}`)
      if (typeof additionalProperties === 'object') return faultsOf(additionalProperties, item, `${path}.${name}`)
      return additionalProperties === false ? [`${path}.${name} is not in the schema`] : []
    }),
  ]
}

const read = (name: string) => JSON.parse(readFileSync(`docs/${name}.schema.json`, 'utf8')) as Schema

test('the schemas of outputs are current', async () => {
  const { code, stderr } = await shell('node scripts/docs.mjs --check --outputs')
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test.each([
  [
    'stats',
    'hf-stats --json',
    ['mtrc/git.mtrc.gz', 'tracepoints/trace_pipe.txt', 'ltrace/cxx-demangle.ltrace', 'replay/twolf-head.txt'],
  ],
  ['verify', 'hf-verify --json', ['mtrc/git.mtrc.gz', 'tracepoints/trace_pipe.txt', 'glibc-mtrace/cxx-small.mtrace']],
  ['stats', 'hf-stats --json --by function', ['mtrc/git.mtrc.gz', 'heaptrack/mtv-small.heaptrack.gz']],
  ['stats', 'hf-stats --json --by module', ['tracepoints/trace_pipe.txt', 'heaptrack/mtv-small.raw.gz']],
  ['stats', 'hf-stats --json --suppress-known', ['mtrc/git.mtrc.gz', 'heaptrack/mtv-small.raw.gz']],
  ['diff', 'hf-diff --json test/fixtures/mtrc/small64.mtrc.gz', ['mtrc/git.mtrc.gz', 'valgrind/cxx.log']],
  ['diff', 'hf-diff --json test/fixtures/valgrind/mtv-edge.log', ['mtrc/cxx64.mtrc', 'replay/git.txt.gz']],
  [
    'check-result',
    'hf-check --to json --baseline test/fixtures/mtrc/small32.mtrc.gz --grow peak=0,leaked=0',
    ['mtrc/cxx64.mtrc', 'replay/git.txt.gz'],
  ],
] as const)('docs/%s.schema.json holds for traces that it is not made of', async (name, command, traces) => {
  const schema = read(name)
  for (const trace of traces) {
    const { stdout } = await shell(`${command} test/fixtures/${trace}`)
    expect(faultsOf(schema, JSON.parse(stdout.toString())), trace).toEqual([])
  }
})

test('docs/stats.schema.json holds for any events', () => {
  const schema = read('stats')
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.boolean(), (events, isComplete) => {
      const collector = new StatisticsCollector()
      try {
        for (const batch of inBatches(events, 7, HEADER)) collector.add(batch)
      } catch (error) {
        // Blocks of several processes at very high addresses.
        expect(error).toMatchObject({ code: 'ERR_TRACE_LIMIT' })
        return
      }
      const result = collector.finish(isComplete)
      const text = [...jsonPieces(result, unknownFigures(result.identified))].join('')
      expect(faultsOf(schema, JSON.parse(text))).toEqual([])
    }),
    { numRuns: runs(1000) },
  )
})

test.each(['', '--pace', '--touch none --order lifetimes'])('docs/replay.schema.json holds for %s', async (flags) => {
  for (const trace of ['mtrc/small64.mtrc.gz', 'replay/mstress-head.txt.gz', 'valgrind/cxx.log']) {
    const { stdout, stderr } = await shell(
      `hf-replay --json --runs 1 --allocator glibc ${flags} test/fixtures/${trace}`,
    )
    if (flags === '--pace' && stderr.includes('the trace has no times')) continue
    expect(faultsOf(read('replay'), JSON.parse(stdout.toString())), trace).toEqual([])
  }
})

test('what pools save is described alike for simulated and for real allocators', () => {
  const [simulated, real] = [read('simulate'), read('replay')].map((schema) => JSON.stringify(schema))
  for (const name of ['general', 'sites', 'saved', 'without', 'pooled'])
    for (const schema of [simulated, real]) expect(schema).toContain(`"${name}":`)
})

test('another output has faults', () => {
  const schema = read('stats')
  expect(faultsOf(schema, {})).toContain('$.events is missing')
  expect(faultsOf(read('verify'), { events: '5', other: 1 })).toEqual(
    expect.arrayContaining(['$.events is no integer: "5"', '$.other is not in the schema']),
  )
})
