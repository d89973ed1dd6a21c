// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = ['pool', 'tzset_internal', 'lost']
  .map((name, i) => `{"kind":"alloc","address":"0x${i + 1}0","size":${10 ** i},"stack":["malloc","${name}","main"]}\n`)
  .join('')
const SAID = 'suppressed leaks: 2 blocks, 11 bytes, by 2 rules'

function files() {
  const folder = scratch()
  const [rules, trace] = [join(folder, 'rules'), join(folder, 'a.ndjson')]
  writeFileSync(rules, 'leak:^pool$\n')
  writeFileSync(trace, TRACE)
  return { trace, flags: `--suppress ${rules} --suppress-known`, page: join(folder, 'a.html') }
}

describe('known leaks', () => {
  test('are not live at the end of a profile', async () => {
    const { trace, flags } = files()
    const collapsed = `hf-profile --to collapsed --value live-bytes ${flags}`
    const { stdout, stderr, code } = await shell(`${collapsed} ${trace}`)
    expect([code, stdout.toString(), stderr]).toEqual([0, 'main;lost 100\n', `hf-profile: ${SAID}\n`])
    const threads = await shell(`${collapsed} --thread-root ${trace}`)
    expect(threads.stdout.toString()).toBe('[no thread];main;lost 100\n')
    for (const wrong of [
      `${collapsed} --at peak`,
      `hf-profile --to collapsed ${flags}`,
      `hf-profile --to massif ${flags}`,
    ])
      expect((await shell(`${wrong} ${trace}`)).code).toBe(2)
    expect((await shell(`hf-profile --to dhat ${flags} ${trace}`)).stderr).toBe(`hf-profile: ${SAID}\n`)
  })

  test('are leaked in neither of two traces', async () => {
    const { trace, flags } = files()
    const { stdout, stderr, code } = await shell(`hf-diff --json ${flags} /dev/null ${trace}`, '')
    expect([code, stderr]).toEqual([0, expect.stringContaining(`hf-diff: ${trace}: ${SAID}\n`)])
    const { new: next } = JSON.parse(stdout.toString()) as { new: { leaked: unknown } }
    expect(next.leaked).toEqual({ blocks: 1, bytes: 100 })
  })

  test('are not in a page, which says so and has no trace', async () => {
    const { trace, flags, page } = files()
    for (const command of [
      `hf-report -o ${page} ${flags} ${trace}`,
      `hf-diff --to html -o ${page} ${flags} ${trace} ${trace}`,
    ]) {
      const { stderr, code } = await shell(command)
      expect([code, stderr]).toEqual([0, expect.stringContaining(SAID)])
      const html = readFileSync(page, 'utf8')
      expect(html).toContain('Leaks of 2 blocks with 11 bytes are suppressed, by 2 rules')
    }
    await shell(`hf-report -o ${page} ${flags} ${trace}`)
    expect(readFileSync(page, 'utf8')).toContain('The trace itself, because its leaks are suppressed')
  })
})
