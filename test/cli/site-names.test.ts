import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SiteNames } from '../../lib/cli/site-names.js'
import { trainOn } from '../../lib/cli/lifetime-training.js'
import { batchesOf } from '../../lib/event/batch.js'
import { elfFile } from '../symbols/elf-bytes.js'

let folder = ''
let app = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'site-names-'))
  app = join(folder, 'app')
  writeFileSync(app, elfFile({ is64: true, little: true }))
  utimesSync(app, 1e9, 1e9)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The sites that are named, with what a recording says of the module. */
async function named(id: string, stacks: readonly (string[] | undefined)[]) {
  const names = new SiteNames()
  const text = `module 0x1000 ${id} ${app}`
  for (const batch of batchesOf([{ kind: 'comment', text }], { format: 'recorder' })) names.note(batch)
  const sites = stacks.map((stack) => ({
    site: stack === undefined ? { function: 'f' } : { stack },
    blocks: 1,
    bytes: 2,
  }))
  return (await names.named(sites, app)).map(({ site }) => site.stack ?? site)
}

test('sites have the names of their modules', async () => {
  const frame = `in ${app}+0x1004`
  expect(await named('abcd0102', [[frame, 'main'], undefined, ['g']])).toEqual([
    [`main ${frame}`, 'main'],
    { function: 'f' },
    ['g'],
  ])
  // A module with another build id has none.
  expect(await named('abcd0103', [[frame]])).toEqual([[frame]])
})

test('what was learned of a recording names the sites, whose kinds stay as they are', async () => {
  const trace = join(folder, 'app.ndjson')
  const stack = [`in ${app}+0x1004`]
  const events = [
    { kind: 'alloc', address: '0x10', size: 8, stack },
    { kind: 'free', address: '0x10' },
  ]
  writeFileSync(trace, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const { kinds, training } = await trainOn(trace, {}, true)
  expect(kinds.map(({ site }) => site.stack)).toEqual([stack])
  expect(training.shortSites.map(({ site }) => site.stack)).toEqual([[`main ${stack[0]}`]])
})
