import { expect, test } from 'vitest'
import { shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'
const RULES = 'leak:nothing'
const BUDGETS = '{ "budgets": [{ "max": { "peak": "1G" } }] }'

test.each([
  [`cat ${TRACE} | hf-diff - /dev/stdin`, /: - and \/dev\/stdin are the same pipe, which can be read only once/],
  [`cat ${TRACE} | hf-check /dev/stdin --baseline /dev/fd/0`, /: \/dev\/stdin and \/dev\/fd\/0 are the same pipe/],
  [`cat ${TRACE} | hf-merge - /proc/self/fd/0`, /: - and \/proc\/self\/fd\/0 are the same pipe/],
  [`cat ${TRACE} | hf-report --compare /dev/stdin -o x.html`, /: \/dev\/stdin and - are the same pipe/],
  ["echo 'select 1' | hf-sql -f - /dev/stdin", /: \/dev\/stdin and - are the same pipe/],
  ["echo 'select 1' | hf-sql -f /dev/stdin -", /: - and \/dev\/stdin are the same pipe/],
])('%s is a mistake', async (line, message) => {
  const { code, stderr, stdout } = await shell(line)
  expect({ code, stdout: stdout.length }).toEqual({ code: 2, stdout: 0 })
  expect(stderr).toMatch(message)
})

test.each([
  [`echo ${RULES} | hf-stats --suppress /dev/stdin`, 1],
  [`echo ${RULES} | hf-report --suppress /dev/stdin -o x.html`, 1],
  [`echo ${RULES} | hf-check --max-peak 1G --suppress /dev/stdin`, 3],
  [`echo '${BUDGETS}' | hf-check --budgets /dev/stdin`, 3],
  [`echo '${BUDGETS}' | hf-check --budgets /dev/stdin --suppress /dev/fd/0`, 2],
])('%s: the text left nothing in the pipe', async (line, status) => {
  const { code, stderr, stdout } = await shell(line)
  expect({ code, stdout: stdout.length }, stderr).toEqual({ code: status, stdout: 0 })
  expect(stderr).toMatch(/\/dev\/stdin and (-|\/dev\/fd\/0) are the same pipe, which can be read only once/)
})

test('a file is read twice, also by other names, and so are two pipes', { tags: ['slow'] }, async () => {
  for (const line of [
    `hf-diff - /dev/stdin < ${TRACE}`,
    `hf-diff <(cat ${TRACE}) <(cat ${TRACE})`,
    `hf-stats --suppress <(echo ${RULES}) < <(cat ${TRACE}) > /dev/null`,
  ])
    expect(await shell(line)).toMatchObject({ code: 0, stderr: '' })
})
