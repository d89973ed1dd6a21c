import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { browserFile, CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'
import { shell } from '../support/commands.js'

closeAfterAll()

/** The viewer, as its package has it: it loads a profile from a script, whose address is after the #. */
const VIEWER = join(
  dirname(createRequire(import.meta.url).resolve('speedscope/package.json')),
  'dist/release/index.html',
)
/** It draws with WebGL, here without a graphics card, and reads files that are beside neither it nor each other. */
const FLAGS = ['--allow-file-access-from-files', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
const TRACE = fileURLToPath(new URL('../fixtures/heaptrack/mtv-small.heaptrack.gz', import.meta.url))

test('speedscope opens its file', { tags: ['slow'] }, async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER)
  const { code, stdout } = await shell(`hf-profile --to speedscope "${TRACE}"`)
  expect(code).toBe(0)
  const { profiles } = JSON.parse(stdout.toString()) as { profiles: { name: string }[] }
  const script = browserFile('profile.js', `speedscope.loadFileFromBase64('heap', '${stdout.toString('base64')}')`)
  const { page, faults } = await openPage(
    `${pathToFileURL(VIEWER).href}#localProfilePath=${fileURLToPath(script)}`,
    {},
    FLAGS,
  )
  const title = page.getByText(`${profiles[0]!.name} (1/${profiles.length})`, { exact: false }).first()
  await title.waitFor({ state: 'visible' })
  expect(profiles.length).toBeGreaterThan(4)
  expect(faults.filter((fault) => fault.startsWith('error'))).toEqual([])
})
