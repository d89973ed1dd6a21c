import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const EARLY = 'the recording ended while the program ran on, so blocks that were live then may have been freed'
const REMOVED = 'may be missing or wrong; use --lifetimes with hf-filter and hf-split'

/** A folder with recordings of one block that is live at the end: `early`, `part`, from which events are missing. */
function recordings(): string {
  const folder = scratch()
  const write = (name: string, header: object, ...events: object[]) => {
    const records = [{ kind: 'header', format: 'recorder', timeUnit: 'ns', ...header }, ...events, { kind: 'end' }]
    writeFileSync(join(folder, name), records.map((one) => `${JSON.stringify(one)}\n`).join(''))
  }
  const block = { address: '0x1000', time: 5 }
  const end = { kind: 'other', code: 69, time: 7 }
  write('early', {}, { kind: 'alloc', ...block, size: 8 }, end)
  write('freed', {}, { kind: 'alloc', ...block, size: 8 }, { kind: 'free', ...block }, end)
  write('part', { filtered: true }, { kind: 'alloc', ...block, size: 8 })
  return folder
}

test.each([
  ['hf-blocks early', EARLY],
  ['hf-sql early "select * from blocks"', EARLY],
  ['hf-sql early "select * from handoffs"', EARLY],
  ['hf-sql early "select * from events"', undefined],
  ['hf-stats --mpatrol early', EARLY],
  ['hf-stats --table early', EARLY],
  ['hf-stats --mpatrol freed', undefined],
  ['hf-blocks part', `events were removed from the trace, so blocks ${REMOVED}`],
  ['hf-sql part "select * from spans"', `events were removed from the trace, so rows ${REMOVED}`],
  ['hf-sql part "select * from events"', undefined],
])('%s', async (line, warning) => {
  const { code, stderr } = await shell(`cd ${recordings()}; ${line}`)
  const [command = '', ...rest] = line.split(' ')
  const name = rest.find((word) => ['early', 'freed', 'part'].includes(word))
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: warning === undefined ? '' : `${command}: warning: ${name}: ${warning}\n`,
  })
})

test('a mean lifetime needs a block that was freed', async () => {
  const folder = recordings()
  const lifetime = async (name: string) =>
    /^ {2}mean lifetime +(.*)$/m.exec((await shell(`hf-stats ${folder}/${name}`)).stdout.toString())?.[1]
  expect(await lifetime('early')).toBe('-')
  expect(await lifetime('freed')).toMatch(/^1\.00 events, /)
})
