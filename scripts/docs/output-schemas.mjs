// The JSON schemas of what commands write with --json, made of what they write of many traces: a field is required if
// it is always there. A new field makes docs/ not current until `npm run docs`.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { schemaText } from './json-schema.mjs'
import { pooledTrace } from './pooled-trace.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const FIXTURES = 'test/fixtures'
const TRACES = [
  'mtrc/cxx64.mtrc',
  'mtrc/small64.mtrc.gz',
  'mtrc/fork-parent64.mtrc',
  'heaptrack/cxx.heaptrack.gz',
  'heaptrack/cxx.raw.gz',
  'replay/mstress-head.txt.gz',
  'tracepoints/perf-ns-pidtid.txt.gz',
  'glibc-mtrace/mt-edge.mtrace',
  'ltrace/mtv-r-T-x.ltrace',
  'ltrace/sh-fork-t.ltrace',
  'valgrind/mtv-edge.log',
  'hatf/espresso-head.hatf',
]
const OLD = 'mtrc/small32.mtrc.gz'
/** A trace with sampled events. */
const WEIGHTED = 'test/golden/ndjson/groups.jsonl'
/** Traces that are made, by the words that stand for their paths. */
const MADE = {
  /** A pool saves memory. */
  POOLED: pooledTrace(),
  /** No events. */
  EMPTY: '{"kind":"header","format":"made"}\n{"kind":"end","events":0}\n',
  /** No end. */
  CUT: '{"kind":"header","format":"made"}\n',
  /** Two processes, whose threads have the same numbers, share their sites, and free the blocks of the other thread. */
  PROCESSES: [
    '{"kind":"header","format":"made"}',
    ...[0, 2].flatMap((process) =>
      [1, 2].flatMap((thread) => [
        `{"kind":"alloc"${of(process)},"thread":${thread},"address":"0x${thread}000","size":8,"stack":["f"]}`,
        `{"kind":"free"${of(process)},"thread":${3 - thread},"address":"0x${thread}000"}`,
        `{"kind":"alloc"${of(process)},"thread":${thread},"address":"0x${thread}000","size":8,"stack":["f"]}`,
      ]),
    ),
    '{"kind":"end","events":12}\n',
  ].join('\n'),
  /** Blocks of the same site: all figures of THREE are half as large again. */
  TWO: blocksOf(2),
  THREE: blocksOf(3),
  /** Times without a unit; threads that are not known; frees that say how much of the block was resident. */
  ODD: [
    '{"kind":"header","format":"made"}',
    '{"kind":"alloc","time":1,"address":"0x1000","size":8}',
    '{"kind":"alloc","time":1,"thread":1,"address":"0x2000","size":8}',
    '{"kind":"free","time":2,"address":"0x2000","present":4}',
    '{"kind":"end","events":3}\n',
  ].join('\n'),
  /** A trace with times, and one without. */
  PARTIAL: [
    '{"kind":"header","format":"made","timeUnit":"us"}',
    '{"kind":"alloc","time":1,"address":"0x1000","size":8}',
    '{"kind":"end","events":1}',
    '{"kind":"header","format":"made"}',
    '{"kind":"alloc","address":"0x1000","size":8}',
    '{"kind":"end","events":1}\n',
  ].join('\n'),
  /** A resident set and a block, without times, and the command of a process. */
  UNTIMED: [
    '{"kind":"header","format":"recorder"}',
    '{"kind":"alloc","address":"0x1000","size":8}',
    '{"kind":"other","code":82,"present":4096}',
    '{"kind":"comment","process":2,"text":"process 2 is pid 4711, started by 1: gcc -c a.c"}',
    '{"kind":"end","events":3}\n',
  ].join('\n'),
  /** The recorder lost events. */
  LOST: ['{"kind":"header","format":"recorder"}', '{"kind":"lost","count":3}', '{"kind":"end","events":1}\n'].join(
    '\n',
  ),
  /** The recording ended while the program ran on. */
  EARLY: ['{"kind":"header","format":"recorder"}', '{"kind":"other","code":69}', '{"kind":"end","events":1}\n'].join(
    '\n',
  ),
  /** Threads with names free blocks of each other. */
  NAMED: [
    '{"kind":"header","format":"recorder"}',
    ...[1, 2].flatMap((thread) => [
      `{"kind":"comment","thread":${thread},"text":"thread worker"}`,
      `{"kind":"alloc","thread":${thread},"address":"0x1000","size":8,"stack":["f"]}`,
      `{"kind":"free","thread":${3 - thread},"address":"0x1000"}`,
    ]),
    '{"kind":"end","events":6}\n',
  ].join('\n'),
  /** Only what the resident set was, without a time. */
  RESIDENT: [
    '{"kind":"header","format":"recorder"}',
    '{"kind":"other","code":82,"present":4096}',
    '{"kind":"end","events":1}\n',
  ].join('\n'),
}
function blocksOf(size) {
  return [
    '{"kind":"header","format":"made"}',
    `{"kind":"alloc","address":"0x1000","size":${size},"stack":["f"]}`,
    '{"kind":"free","address":"0x1000"}',
    `{"kind":"alloc","address":"0x1000","size":${size},"stack":["f"]}`,
    '{"kind":"end","events":3}\n',
  ].join('\n')
}
function of(process) {
  return process === 0 ? '' : `,"process":${process}`
}

/** Objects whose keys are data, such as the kinds of events: by schema and path. */
const MAPS = new Set(['stats:kinds', 'stats:apis', 'verify:faults', 'check:runs', 'check:baseline'])

/** The schemas: what they are called, what they describe, and the commands that write such JSON. */
export const OUTPUTS = [
  {
    name: 'stats',
    title: 'hf-stats --json',
    description: 'The statistics of a trace: docs/statistics.md says what each figure means.',
    commands: [
      ...TRACES,
      WEIGHTED,
      ...'EMPTY CUT PROCESSES ODD LOST EARLY NAMED RESIDENT UNTIMED PARTIAL'.split(' '),
      ...['function', 'module'].flatMap((by) => [1, 3, 4, 8].map((trace) => `--by ${by} ${TRACES[trace]}`)),
      `--suppress-known ${TRACES[4]}`,
    ].map((words) => `hf-stats --json ${words}`),
  },
  {
    name: 'diff',
    title: 'hf-diff --json',
    description: 'Two traces compared by stack, or by size: docs/commands/hf-diff.md.',
    commands: [
      ...TRACES.map((trace) => `hf-diff --json ${OLD} ${trace}`),
      `hf-diff --json ${TRACES[3]} heaptrack/mtv-small.heaptrack.gz`,
      `hf-diff --json --temporary-by memray ${OLD} ${TRACES[0]}`,
      'hf-diff --json EMPTY EMPTY',
      'hf-diff --json EMPTY PROCESSES',
      'hf-diff --json PROCESSES ODD',
      'hf-diff --json TWO THREE',
    ],
  },
  {
    name: 'verify',
    title: 'hf-verify --json',
    description: 'What is wrong in a trace: docs/commands/hf-verify.md.',
    commands: [...TRACES, 'EMPTY', 'CUT', 'PROCESSES', 'ODD'].map((trace) => `hf-verify --json ${trace}`),
  },
  {
    name: 'simulate',
    title: 'hf-simulate --json',
    description: 'The heap of a trace under other policies of allocation: docs/commands/hf-simulate.md.',
    commands: [
      `hf-simulate --json --policy first-fit ${TRACES[1]}`,
      `hf-simulate --json --policy best-fit ${TRACES[0]}`,
      `hf-simulate --json --compare all ${TRACES[0]}`,
      `hf-simulate --json --compare all ${TRACES[6]}`,
      'hf-simulate --json --policy bump --predict POOLED POOLED',
      'hf-simulate --json --compare all EMPTY',
      'hf-simulate --json --compare all PROCESSES',
    ],
  },
  {
    name: 'check-result',
    title: 'hf-check --to json',
    description: 'The result of budgets: docs/ci.md.',
    commands: [
      `--max-peak 1K ${TRACES[0]}`,
      `--max-temporary 0 --temporary-by memray ${TRACES[0]}`,
      `--max-peak 1G --max-leaked 0 --max-temporary 20% ${TRACES[1]}`,
      `--baseline ${TRACES[1]} --grow peak=5%,allocations=2% ${OLD}`,
      `--baseline ${TRACES[1]} --grow peak=0,leaked=0 ${TRACES[5]}`,
      `--at main --max-peak 1 ${TRACES[3]}`,
      '--max-peak 1 --each * --max-peak 1 PROCESSES',
      `--each * --max-peak 1G --baseline ${TRACES[3]} --grow peak=0 ${TRACES[3]}`,
      `--max-peak 1 --max-wasted 0 --max-temporary 1% ${TRACES[3]}`,
      `--max-leaked 0 --suppress-known ${TRACES[0]}`,
      '--baseline PROCESSES --baseline EMPTY --baseline EMPTY --grow peak=0 EMPTY PROCESSES PROCESSES',
      '--max-peak 1 EMPTY',
    ].map((words) => `hf-check --to json ${words}`),
  },
]

/** What a command writes, as JSON. Some end with another status than 0 if they find something. */
function outputOf(line) {
  const [command, ...args] = line.split(' ')
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  const paths = args.map((arg) => {
    if (!Object.hasOwn(MADE, arg)) return /^\w[\w-]*\/[\w.-]+$/.test(arg) ? `${FIXTURES}/${arg}` : arg
    const path = join(folder, `${arg.toLowerCase()}.ndjson`)
    writeFileSync(path, MADE[arg])
    return path
  })
  try {
    const options = { cwd: root, maxBuffer: 2 ** 28, stdio: ['ignore', 'pipe', 'ignore'] }
    return JSON.parse(execFileSync(process.execPath, [`dist/bin/${command}.js`, ...paths], options))
  } catch (error) {
    if (error.stdout?.length > 0) return JSON.parse(error.stdout)
    throw error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The text of a schema. */
export function outputSchema({ name, title, description, commands }) {
  const seen = commands.map((command) => shapeOf(outputOf(command)))
  return schemaText(title, description, schemaOf(seen.reduce(joined), name, ''))
}

/** What types a value has, and those of what is in it. */
function shapeOf(value) {
  if (value === null) return { types: new Set(['null']) }
  if (Array.isArray(value)) {
    const items = value.map(shapeOf)
    return { types: new Set(['array']), ...(items.length > 0 && { items: items.reduce(joined) }) }
  }
  if (typeof value === 'object') {
    const fields = new Map(Object.entries(value).map(([key, item]) => [key, { shape: shapeOf(item), isAlways: true }]))
    return { types: new Set(['object']), fields }
  }
  if (typeof value === 'number') return { types: new Set([Number.isInteger(value) ? 'integer' : 'number']) }
  return { types: new Set([typeof value]) }
}

function joined(a, b) {
  const items = a.items && b.items ? joined(a.items, b.items) : (a.items ?? b.items)
  let fields = a.fields ?? b.fields
  if (a.fields && b.fields) {
    fields = new Map(a.fields)
    for (const [key, one] of fields) if (!b.fields.has(key)) fields.set(key, { ...one, isAlways: false })
    for (const [key, { shape, isAlways }] of b.fields) {
      const before = a.fields.get(key)
      if (before === undefined) fields.set(key, { shape, isAlways: false })
      else fields.set(key, { shape: joined(before.shape, shape), isAlways: before.isAlways && isAlways })
    }
  }
  return { types: new Set([...a.types, ...b.types]), ...(items && { items }), ...(fields && { fields }) }
}

function schemaOf({ types, items, fields }, name, path) {
  const all = [...types].filter((type) => type !== 'integer' || !types.has('number')).toSorted()
  const schema = { type: all.length === 1 ? all[0] : all }
  if (items !== undefined) schema.items = schemaOf(items, name, `${path}[]`)
  if (fields === undefined) return schema
  if (MAPS.has(`${name}:${path}`)) {
    const shapes = [...fields.values()].map(({ shape }) => shape)
    schema.additionalProperties = shapes.length === 0 ? true : schemaOf(shapes.reduce(joined), name, `${path}.*`)
    return schema
  }
  const inner = (key) => (path === '' ? key : `${path}.${key}`)
  schema.properties = Object.fromEntries(
    [...fields].map(([key, { shape }]) => [key, schemaOf(shape, name, inner(key))]),
  )
  schema.required = [...fields].filter(([, { isAlways }]) => isAlways).map(([key]) => key)
  schema.additionalProperties = false
  return schema
}
