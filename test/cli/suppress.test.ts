// @module-tag slow
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RUNTIME_SUPPRESSIONS } from '../../lib/names/runtime-suppressions.js'
import { KNOWN_SUPPRESSIONS, parseSuppressions } from '../../lib/names/suppressions.js'
import { scratch, shell } from '../support/commands.js'
import { reportData } from '../support/report-data.js'

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

  test('are those of a file of valgrind with symbols, also in a page', async () => {
    const { trace, page } = files()
    const rules = join(scratch(), 'valgrind.supp')
    const block = (...lines: string[]) => `{\nname\nMemcheck:Leak\n${lines.map((line) => `${line}\n`).join('')}}\n`
    writeFileSync(rules, block('fun:_Znwm', 'fun:_ZN3app1fEi', 'fun:main') + block('fun:_Znwm', 'fun:_ZN3app*'))
    const alloc = (size: number, ...stack: string[]) =>
      `{"kind":"alloc","address":"0x${size}0","size":${size},"stack":${JSON.stringify(stack)}}\n`
    const lost = alloc(10, 'app::f(int)', 'main')
    writeFileSync(trace, `${lost}${alloc(1, 'operator new(unsigned long)', 'app::f(int)', 'main')}{"kind":"end"}\n`)
    const { stdout, stderr, code } = await shell(`hf-check --max-leaked 0 --suppress ${rules} ${trace}`)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`hf-check: warning: ${rules}: fun:_ZN3app* cannot be demangled`),
    ])
    expect(stdout.toString()).toContain('bytes leaked: 10 bytes, at most 0 bytes')
    expect(stdout.toString()).toContain('Suppressed leaks: 1 block, 1 byte.')
    await shell(`hf-report -o ${page} --suppress ${rules} ${trace}`)
    expect(reportData(readFileSync(page, 'utf8')).suppression?.rules).toContain('fun:_ZN3app1fEi\tapp::f(int)\n')
    // What the program allocated without this function is no leak of the rule.
    writeFileSync(rules, block('fun:_Znwm', '...'))
    writeFileSync(trace, `${lost}{"kind":"end"}\n`)
    expect((await shell(`hf-check --max-leaked 0 --suppress ${rules} ${trace}`)).code).toBe(1)
  })

  test('are leaked in neither of two traces', async () => {
    const { trace, flags } = files()
    const { stdout, stderr, code } = await shell(`hf-diff --json ${flags} /dev/null ${trace}`, '')
    expect([code, stderr]).toEqual([0, expect.stringContaining(`hf-diff: ${trace}: ${SAID}\n`)])
    const { new: next } = JSON.parse(stdout.toString()) as { new: { leaked: unknown } }
    expect(next.leaked).toEqual({ blocks: 1, bytes: 100 })
  })

  test('are those that the program names in a file of heaptrack', async () => {
    const { trace, page } = files()
    const header = (version: number) =>
      `{"kind":"header","format":"heaptrack","timeUnit":"us","layout":{"raw":true,"version":${version}}}\n`
    const note = (text: string) => `{"kind":"comment","text":${JSON.stringify(text)}}\n`
    const end = '{"kind":"end"}\n'
    const late = `${TRACE}${note('S 9 leak:pool')}${end}`
    const rules = ['S 9 leak:lost', 'S b # a comment', 'S 5 wrong', 'X ./app'].map(note).join('')
    writeFileSync(trace, `${header(3)}${rules}${late}`)
    const said = 'suppressed leaks: 1 block, 100 bytes, by 1 rule'
    const stats = async (flags: string) =>
      (await shell(`hf-stats --section summary ${flags} ${trace}`)).stdout.toString()
    expect(await stats('--suppress-embedded')).toContain('suppressed leaks       1 block, 100 bytes, by 1 rule')
    expect(await stats('--suppress-known')).toContain('suppressed leaks       1 block, 10 bytes, by 1 rule')
    for (const command of [
      'hf-profile --to collapsed --value live-bytes',
      `hf-report -o ${page}`,
      `hf-diff ${trace}`,
      `hf-diff --to html -o ${page} ${trace}`,
    ])
      expect((await shell(`${command} --suppress-embedded ${trace}`)).stderr).toContain(said)
    const check = await shell(`hf-check --max-leaked 11 --suppress-embedded ${trace}`)
    expect([check.code, check.stdout.toString()]).toEqual([
      0,
      expect.stringContaining('Suppressed leaks: 1 block, 100'),
    ])
    // Before version 3, strings have no length.
    writeFileSync(trace, `${header(2)}${note('S leak:pool')}${TRACE}${end}`)
    expect(await stats('--suppress-embedded')).toContain('suppressed leaks       1 block, 1 byte, by 1 rule')
    writeFileSync(trace, `${header(2).replace('heaptrack', 'other')}${note('S leak:pool')}${TRACE}${end}`)
    expect(await stats('--suppress-embedded')).toContain('suppressed leaks       0 blocks, 0 bytes')
  })

  test('are not in a page, which says so, and has the rules beside the trace', async () => {
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
    const html = readFileSync(page, 'utf8')
    const { suppression, sites, omitted } = reportData(html)
    expect(html).toContain('id="report-trace"')
    expect(omitted).toEqual([])
    expect(parseSuppressions(suppression!.rules).map(({ name }) => name)).toEqual([
      'leak:^pool$',
      ...KNOWN_SUPPRESSIONS.map(({ name }) => name),
      ...RUNTIME_SUPPRESSIONS.map(({ name }) => name),
    ])
    expect(suppression!.flags).toEqual(flags.split(' '))
    expect([sites.endBytes, sites.suppressedBytes]).toEqual([
      [100, 0, 0],
      [0, 10, 1],
    ])
    await shell(`hf-report -o ${page} --suppress-embedded ${trace}`)
    expect(reportData(readFileSync(page, 'utf8')).suppression).toEqual({ rules: '' })
    await shell(`hf-report -o ${page} --embed 0 ${flags} ${trace}`)
    expect(reportData(readFileSync(page, 'utf8')).suppression).toBeUndefined()
    const many = join(scratch(), 'many')
    writeFileSync(many, Array.from({ length: 9000 }, (_, n) => `leak:${'x'.repeat(120)}${n}\n`).join(''))
    await shell(`hf-report -o ${page} --suppress ${many} ${trace}`)
    const isWhole = () => {
      const made = readFileSync(page, 'utf8')
      return [made.includes('id="report-trace"'), reportData(made).omitted]
    }
    const reason = 'The trace itself, because the rules that suppress leaks are too many for the page.'
    expect(isWhole()).toEqual([false, [reason]])
    // Each file may have 10,000 patterns, and so may all rules of a page. Lines of blocks count for patterns.
    const known = [...KNOWN_SUPPRESSIONS, ...RUNTIME_SUPPRESSIONS]
    const lines = known.reduce((sum, { text }) => sum + Math.max(1, text.split('\n').length - 1), 0)
    const fitting = 5000 - lines
    for (const patterns of [fitting, fitting + 1]) {
      writeFileSync(many, Array.from({ length: patterns }, (_, n) => `leak:a${n}\n`).join(''))
      const second = join(scratch(), 'second')
      writeFileSync(second, Array.from({ length: 5000 }, (_, n) => `leak:b${n}\n`).join(''))
      const { code } = await shell(
        `hf-report -o ${page} --suppress ${many} --suppress ${second} --suppress-known ${trace}`,
      )
      expect([code, ...isWhole()]).toEqual([0, patterns === fitting, patterns === fitting ? [] : [reason]])
      const { suppression } = reportData(readFileSync(page, 'utf8'))
      if (patterns === fitting)
        expect(parseSuppressions(suppression!.rules)).toHaveLength(fitting + 5000 + known.length)
    }
  })
})
