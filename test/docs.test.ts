import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMMANDS } from '../lib/cli/command-list.js'
import { ALL_COMMANDS, heapflow } from '../lib/cli/heapflow.js'
import { KINDS } from '../lib/event/fields.js'
import { NdjsonEncoder } from '../lib/formats/ndjson/encode.js'
import { encodeEvents } from './support/drive.js'
import { anyEvent } from './support/random-event.js'
import { conforms, type Schema } from './support/schema.js'

const root = new URL('../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

/** Every document of the repository, by its path. */
const documents = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !['node_modules', 'dist', '.git'].includes(name))
  .flatMap((entry) => {
    if (!entry.isDirectory()) return entry.name
    return readdirSync(new URL(`${entry.name}/`, root), { recursive: true, encoding: 'utf8' }).map(
      (path) => `${entry.name}/${path}`,
    )
  })
  .filter((path) => path.endsWith('.md'))

describe('generated documents', () => {
  test('are current', async () => {
    await promisify(execFile)(process.execPath, [fileURLToPath(new URL('scripts/docs.mjs', root)), '--check'])
  })

  test.each(ALL_COMMANDS.map((command) => command.name.replace(' ', '-')))('%s has a page', (name) => {
    expect(existsSync(new URL(`docs/commands/${name}.md`, root))).toBe(true)
  })

  test('the README names every command', () => {
    const readme = read('README.md')
    expect([...COMMANDS, heapflow].map(({ name }) => name).filter((name) => !readme.includes(name))).toEqual([])
  })

  test('bin/, package.json and the list of commands agree', () => {
    const names = readdirSync(new URL('bin/', root)).map((file) => file.replace(/\.ts$/, ''))
    const known = [...COMMANDS, heapflow].map((command) => command.name)
    expect(names.toSorted()).toEqual(known.toSorted())
    const { bin } = JSON.parse(read('package.json')) as { bin: Record<string, string> }
    expect(bin).toEqual(Object.fromEntries(known.map((name) => [name, `dist/bin/${name}.js`])))
  })

  test.each([...COMMANDS, heapflow].map(({ name }) => name))(
    'bin/%s.ts starts the command of that name',
    async (name) => {
      const [, started, path, exported] =
        /^void start\('([^']+)', async \(\) => \(await import\('([^']+)'\)\)\.(\w+)\)$/m.exec(read(`bin/${name}.ts`)) ??
        []
      const module = (await import(`../bin/${path}`)) as Record<string, { name: string }>
      expect([started, module[exported as string]?.name]).toEqual([name, name])
    },
  )
})

describe('links', () => {
  test.each(documents)('in %s lead to files', (path) => {
    // Links in code do not count.
    const text = read(path)
      .replace(/^```.*?^```/gms, '')
      .replace(/`[^`\n]*`/g, '')
    const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => target as string)
      .filter((target) => !/^(https?:|mailto:|#)/.test(target))
    const missing = targets.filter(
      (target) => !existsSync(new URL(target.split('#')[0] as string, new URL(path, root))),
    )
    expect(missing).toEqual([])
  })
})

describe('console blocks', () => {
  const blocks = documents
    .filter((path) => path === 'README.md' || path.startsWith('docs/'))
    .flatMap((path) =>
      [...read(path).matchAll(/^```console\n(.*?)^```/gms)].map(([, block]) => ({ path, block: block as string })),
    )

  test('there are some, in the README too', () => {
    expect(blocks.filter(({ path }) => path === 'README.md').length).toBeGreaterThanOrEqual(2)
    expect(blocks.length).toBeGreaterThanOrEqual(5)
  })

  async function showsTrueOutput({ block }: { block: string }): Promise<void> {
    const lines = block.split('\n').flatMap((line) => (line.startsWith('$ ') ? line.slice(2) : []))
    // A command may fail on purpose; its messages are part of the block.
    const script = `source "$0"; ln -s "$root/test" test; set +e; for line; do echo "\\$ $line"; eval "$line" 2>&1; done; true`
    const commands = fileURLToPath(new URL('examples/support/commands.sh', root))
    const { stdout } = await promisify(execFile)('bash', ['-c', script, commands, ...lines])
    expect(stdout).toBe(block)
  }

  const isReadme = ({ path }: { path: string }) => path === 'README.md'
  const others = blocks.filter((block) => !isReadme(block))
  test.each(blocks.filter(isReadme))('in $path show true output', showsTrueOutput)
  test.each(others)('in $path show true output', { tags: ['slow'] }, showsTrueOutput)
})

describe('ndjson.schema.json', () => {
  const schema = JSON.parse(read('docs/ndjson.schema.json')) as Schema
  const lineConforms = (line: string) => conforms(JSON.parse(line), schema, schema)

  test('is true of all that is written', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
        const header = {
          format: 'mtrc',
          timeUnit: 'ns',
          layout: { version: 10_501, byteOrder: 'little', odd: true },
        } as const
        const text = Buffer.from(encodeEvents(new NdjsonEncoder(), events, header)).toString()
        expect(
          text
            .trimEnd()
            .split('\n')
            .filter((line) => !lineConforms(line)),
        ).toEqual([])
      }),
    )
  })

  test.each([
    '{"kind":"malloc"}',
    '{"kind":"free","size":-1}',
    '{"kind":"free","address":"0x0f"}',
    '{"kind":"free","colour":1}',
    '{"kind":"end"}',
    '{}',
    '[]',
  ])('is not true of %s', (line) => {
    expect(lineConforms(line)).toBe(false)
  })

  test('has every kind of event', () => {
    expect(schema.$defs?.['event']?.properties?.['kind']?.enum).toEqual(KINDS)
  })
})
