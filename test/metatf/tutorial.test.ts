import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseDtd } from '../../lib/metatf/index.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...read('docs/metatf.md').matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block]) => block as string,
  )

// The example runs as a test of its own: what it prints is what stands in its output file.
describe('docs/metatf.md', () => {
  test.each(blocks('text'))('shows what the example prints: %s', (block) => {
    expect(block).toMatch(/^\$ /)
    expect(read('examples/metatf.out')).toContain(block)
  })

  test('shows the definition and the script of the example', () => {
    const [definition] = blocks('')
    expect(read('examples/blocks.dtd')).toContain(definition)
    expect(read('examples/metatf.sh')).toContain(blocks('js')[0])
    // The ten lines that it promises.
    expect(definition?.split('\n').filter((line) => line !== '')).toHaveLength(10)
    expect(
      parseDtd(definition as string, 'blocks.dtd').sections[0]?.records.filter(({ role }) => role === 'data'),
    ).toHaveLength(5)
  })
})
