import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const LINES = [
  '{"kind":"header","format":"test"}',
  '{"kind":"alloc","address":"0x10","size":8,"weight":5,"arena":"main"}',
  '{"kind":"alloc","address":"0x20","size":8,"device":-1,"stream":18446744073709551615}',
  '{"kind":"free","address":"0x10"}',
]

function trace(): string {
  const path = join(scratch(), 'groups.ndjson')
  writeFileSync(path, [...LINES, '{"kind":"end","events":3}', ''].join('\n'))
  return path
}

const run = async (line: string) => {
  const { code, stdout, stderr } = await shell(line)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout.toString()
}
const eventsIn = (text: string) => text.split('\n').slice(1, -2)

describe('fields of groups', () => {
  test('pass through commands and files of every lossless format', { tags: ['slow'] }, async () => {
    const path = trace()
    const folder = scratch()
    const files = ['a.hfc', 'b.arrows', 'c.parquet'].map((name) => join(folder, name))
    const all = [path, ...files]
    for (let i = 0; i < files.length; i++) await run(`hf-convert ${all[i]} ${files[i]}`)
    expect(eventsIn(await run(`HEAPFLOW_WIRE=arrow hf-filter ${files[2]} | hf-map`))).toEqual(LINES.slice(1))
  })

  test('are criteria of hf-filter', { tags: ['slow'] }, async () => {
    const kept = async (flags: string) => eventsIn(await run(`hf-filter ${flags} ${trace()}`))
    expect(await kept('--weight 2..')).toEqual([LINES[1]])
    expect(await kept('--arena /^m/')).toEqual([LINES[1]])
    expect(await kept('--device -1 --stream 0x8000000000000000..')).toEqual([LINES[2]])
    expect(await kept('--weight 5 --invert')).toEqual([LINES[2], LINES[3]])
    const none = await shell(`hf-map --drop weight ${trace()} | hf-filter --weight 1..`)
    expect(none.stderr).toMatch('no event has the field weight, so no event matches it')
  })

  test('are changed by hf-map', async () => {
    expect(eventsIn(await run(`hf-map --set weight=7 --drop arena --drop stream ${trace()}`))).toEqual([
      '{"kind":"alloc","address":"0x10","size":8,"weight":7}',
      '{"kind":"alloc","address":"0x20","size":8,"weight":7,"device":-1}',
      '{"kind":"free","address":"0x10","weight":7}',
    ])
    const hidden = await run(`hf-map --anonymize names --key k ${trace()}`)
    expect(hidden).toMatch(/"arena":"arena_[0-9a-f]{12}"/)
    expect(hidden).not.toMatch('main')
  })

  test('are columns of hf-sql', { tags: ['slow'] }, async () => {
    const sql = 'select weight, arena, device from events where weight is not null or device is not null'
    expect(await run(`hf-sql --to ndjson ${trace()} "${sql}"`)).toBe(
      '{"weight":5,"arena":"main","device":null}\n{"weight":null,"arena":null,"device":-1}\n',
    )
  })

  test.each([
    'hf-stats',
    'hf-stats --json',
    'hf-stats --mpatrol',
    'hf-stats --every 1',
    'hf-profile --to collapsed',
    'hf-report -o -',
    'hf-check --max-peak 1G',
  ])('%s says that it counts sampled events once', async (line) => {
    const { stdout, stderr } = await shell(`${line} ${trace()}`)
    const [command] = line.split(' ')
    const note =
      'the trace is sampled: 1 event has a weight and stands for several, but figures count every recorded event once'
    expect(stderr.replaceAll(/[^ ]*groups.ndjson/g, 'IN')).toBe(`${command}: warning: IN: ${note}\n`)
    if (line.endsWith('json')) expect(JSON.parse(stdout.toString())).toMatchObject({ weighted: 1, events: 3 })
    if (line.endsWith('-')) expect(stdout.toString()).toMatch(`T${note.slice(1)}.`)
  })

  test('of a sampled event are not those of the free that hf-simulate puts before it', async () => {
    const again = '{"kind":"alloc","address":"0x10","size":8,"weight":7}'
    const path = join(scratch(), 'again.ndjson')
    writeFileSync(path, [LINES[0], LINES[1], again, '{"kind":"end","events":2}', ''].join('\n'))
    const { stdout, stderr } = await shell(`hf-simulate --policy bump --to ndjson ${path}`)
    expect(stderr).toMatch(/^hf-simulate: warning: \S+: the trace is sampled: 2 events have weights and .*\n$/)
    const events = eventsIn(stdout.toString())
    expect(events.map((line) => /"kind":"(\w+)".*?(?:"weight":(\d+).*)?}$/.exec(line)?.slice(1))).toEqual([
      ['alloc', '5'],
      ['free', undefined],
      ['alloc', '7'],
    ])
  })

  test('are losses elsewhere, which --attributes does not keep', async () => {
    const { stderr } = await shell(`hf-convert ${trace()} ${join(scratch(), 'groups.hatf')}`)
    expect(stderr).toBe(
      'hf-convert: warning: not representable in hatf, dropped or changed: weight (1), arena (1), device (1), stream (1)\n',
    )
    const strict = await shell(`hf-convert --strict ${trace()} ${join(scratch(), 'groups.hatf')}`)
    expect(strict.stderr).toMatch('hatf: event 1: cannot represent weight, arena of alloc events')
  })
})
