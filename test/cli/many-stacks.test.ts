// @module-tag slow
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

/** An interpreted heaptrack file with so many stacks, whose outer frames are the same. */
function trace(stacks: number, frames: number, nameLength: number): string {
  const lines = ['v 10400 3', 'X app', 'I 1000 40000']
  const hex = (n: number) => n.toString(16)
  const names = Array.from({ length: 1000 }, (_, i) => `f${i}`.padEnd(nameLength, 'x'))
  for (const name of names) lines.push(`s ${hex(name.length)} ${name}`)
  for (let i = 1; i <= names.length; i++) lines.push(`i ${hex(4096 * i)} 0 ${hex(i)}`)
  for (let i = 0; i < frames; i++) lines.push(`t ${hex((i % 1000) + 1)} ${hex(i)}`)
  // Each stack calls 1,000 others.
  for (let i = 0; i < stacks; i++)
    lines.push(`t ${hex((i % 1000) + 1)} ${hex(frames + (i < 1000 ? 0 : Math.floor(i / 1000)))}`)
  for (let i = 0; i < stacks; i++) lines.push(`a 10 ${hex(frames + 1 + i)}`)
  lines.push('c 0')
  for (let i = 0; i < stacks; i++) lines.push(`+ ${hex(i)}`)
  return `${lines.join('\n')}\n`
}

/** Runs a command line with a small heap; its output is counted. */
async function counted(line: string): Promise<[code: number | null, bytes: number, stderr: string]> {
  const { code, stdout, stderr } = await shell(`export NODE_OPTIONS=--max-old-space-size=256; ${line} | wc -c`)
  return [code, Number(stdout.toString()), stderr]
}

describe('many deep stacks', () => {
  test('20,000 stacks of 9,000 common frames take the memory of their tree', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'many.heaptrack')
    writeFileSync(path, trace(20_000, 9000, 4))
    for (const flags of ['', '--json --top 10', '--tsv --section sites --top 10']) {
      const [code, bytes, stderr] = await counted(`hf-stats ${flags} ${path}`)
      expect([code, stderr]).toEqual([0, expect.stringMatching(/^hf-stats: warning: [^\n]*\n$/)])
      expect(bytes).toBeGreaterThan(1000)
    }
    const [code, bytes] = await counted(`hf-blocks ${path}`)
    expect([code, bytes > 1_000_000]).toEqual([0, true])
    const [sqlCode, sqlBytes] = await counted(`hf-sql ${path} "select sum(size), any_value(frame) from blocks"`)
    expect([sqlCode, sqlBytes > 20]).toEqual([0, true])
  })

  test('tables that are longer than the longest string are written whole', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'long.heaptrack')
    const [stacks, frames, name] = [2400, 800, 300]
    writeFileSync(path, trace(stacks, frames, name))
    const text = stacks * frames * name
    expect(text).toBeGreaterThan(2 ** 29)
    for (const flags of ['--json', '--tsv --section sites']) {
      const [, bytes, stderr] = await counted(`hf-stats ${flags} ${path}`)
      expect(stderr).toMatch(/^hf-stats: warning: [^\n]*\n$/)
      expect(bytes).toBeGreaterThan(text)
    }
    const empty = join(scratch(), 'empty.ndjson')
    writeFileSync(empty, '{"kind":"header","format":"x"}\n{"kind":"end"}\n')
    const [, bytes, stderr] = await counted(`hf-diff --json ${empty} ${path}`)
    expect(stderr).toMatch(/^hf-diff: warning: [^\n]*\n$/)
    expect(bytes).toBeGreaterThan(text)
  })
})
