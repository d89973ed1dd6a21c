import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const GENERATION_FORBIDDEN =
  'Meta-TF definitions and hatf-ascii need generated code, which a content security policy or ' +
  '--disallow-code-generation-from-strings forbids: run node without this option, use a module made by ' +
  'metatf-compile, or give a page another format, such as by hf-convert'

const DIST = fileURLToPath(new URL('../../dist/lib/entry/metatf.js', import.meta.url))

test(
  'readers and writers by a definition fail when they are made, with the name of the option',
  { tags: ['slow'] },
  () => {
    const program = `
    import { binaryDecoder, binaryEncoder, parseDtd } from ${JSON.stringify(DIST)}
    const dtd = parseDtd('tag.width = 1; createThread : (tag) { tag.value = 4; }')
    for (const make of [binaryDecoder, binaryEncoder])
      try { make(dtd) } catch (error) { console.log(error.name + ': ' + error.message) }`
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '-e', program]
    expect(execFileSync(process.execPath, flags, { encoding: 'utf8' })).toBe(
      `Error: ${GENERATION_FORBIDDEN}\n`.repeat(2),
    )
  },
)

describe('commands without generated code', () => {
  const GOLDEN = fileURLToPath(new URL('../golden', import.meta.url))
  const node = (line: string) =>
    shell(`export NODE_OPTIONS=--disallow-code-generation-from-strings; cd ${scratch()} && ${line}; ls >&2`)

  test.each([
    [`hf-stats ${GOLDEN}/hatf-ascii/records.hatf.txt`, 'hf-stats', GENERATION_FORBIDDEN],
    [`hf-convert ${GOLDEN}/hatf-ascii/records.hatf.txt x.ndjson`, 'hf-convert', GENERATION_FORBIDDEN],
    [`hf-convert ${GOLDEN}/mtrc/sources.mtrc x.hatf.txt`, 'hf-convert', GENERATION_FORBIDDEN],
    [
      `hf-map -e 'event.size = 1n' ${GOLDEN}/mtrc/sources.mtrc -o x.ndjson`,
      'hf-map',
      'expression: code cannot be compiled, because node was started with --disallow-code-generation-from-strings: ' +
        'run node without this option; see hf-map --help',
    ],
  ])('%s: one message, and no file', async (line, command, message) => {
    expect((await node(line)).stderr).toBe(`${command}: ${message}\n`)
  })

  test('other formats need none', async () => {
    const { stdout, stderr } = await node(`mtrc-decode ${GOLDEN}/mtrc/sources.mtrc`)
    expect({ text: stdout.toString(), stderr }).toEqual({
      text: readFileSync(`${GOLDEN}/mtrc/sources.ndjson`, 'utf8'),
      stderr: '',
    })
  })
})
