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

/** Links from a document to others, and in it. Those in code do not count. */
function linksOf(path: string): string[] {
  const text = read(path)
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`\n]*`/g, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target as string)
    .filter((target) => !/^(https?:|mailto:)/.test(target))
}

/** What links to the headings of a document end in: the words of each in lower case, and a number if it is not new. */
function anchorsOf(path: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading] of read(path)
    .replace(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.+)$/gm)) {
    const words = (heading as string).replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    let name = anchor
    for (let n = 1; anchors.has(name); n++) name = `${anchor}-${n}`
    anchors.add(name)
  }
  return anchors
}

describe('links', () => {
  test.each(documents)('in %s lead to files', (path) => {
    const targets = linksOf(path).filter((target) => !target.startsWith('#'))
    const missing = targets.filter(
      (target) => !existsSync(new URL(target.split('#')[0] as string, new URL(path, root))),
    )
    expect(missing).toEqual([])
  })

  test.each(documents)('in %s lead to headings', (path) => {
    const missing = linksOf(path).filter((target) => {
      const [file, anchor] = target.split('#') as [string, string?]
      if (anchor === undefined || !/(^|\.md)$/.test(file)) return false
      const other = file === '' ? path : new URL(file, new URL(path, 'file:///')).pathname.slice(1)
      return !anchorsOf(other).has(anchor)
    })
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
