import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PROFILE_FORMATS } from '../../lib/exports/profile-formats.js'
import { scratch, shell } from '../support/commands.js'
import { peak } from '../support/peak.js'

const STACKS = 1_000_000
const LIVE = 1000

/** Writes a trace in which every block has a stack of its own. */
function makeTrace(path: string): void {
  const file = openSync(path, 'w')
  let text = ''
  for (let i = 0; i < STACKS; i++) {
    const address = `"0x${(16 * ((i % LIVE) + 1)).toString(16)}"`
    text += `{"kind":"alloc","address":${address},"size":10,"stack":["leaf${i}","mid${i % 1000}","main"]}\n`
    text += `{"kind":"free","address":${address}}\n`
    if (text.length < 1e6) continue
    writeSync(file, text)
    text = ''
  }
  writeSync(file, text)
  closeSync(file)
}

describe(`${STACKS} distinct stacks`, { tags: ['slow'], timeout: 600_000 }, () => {
  test('take bounded memory in every format, and nothing is lost', { tags: ['large'] }, async () => {
    const path = join(scratch(), 'many.ndjson')
    makeTrace(path)
    // Blocks of 250,000 stacks take up to 2 KB each, whatever comes after them.
    for (const { name } of PROFILE_FORMATS) {
      const most = await peak(`hf-profile --to ${name}`, path)
      expect(most, name).toBeGreaterThan(100e6)
      expect(most, name).toBeLessThan(750e6)
    }
    const { stdout, stderr } = await shell(
      `hf-profile --to collapsed ${path} | awk '{ sum += $NF } END { print NR, sum }'`,
    )
    expect(stdout.toString()).toBe(`250001 ${10 * STACKS}\n`)
    expect(stderr).toMatch(/there are more stacks than/)
  })
})
