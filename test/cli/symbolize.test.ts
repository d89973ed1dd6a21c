import { describe, expect, test } from 'vitest'
import { shell } from '../support/commands.js'

const LINES = '{"kind":"alloc","address":"0x10","size":1,"stack":["in /no/such+0x1","main"]}\n'

describe('hf-symbolize', () => {
  test('keeps the frames of modules that are not there, and reports them', async () => {
    const { code, stdout, stderr } = await shell('hf-symbolize', LINES)
    expect(code).toBe(0)
    expect(stdout.toString()).toContain('"stack":["in /no/such+0x1","main"]')
    expect(stderr).toContain('there is no ELF file /no/such')
  })

  test('refuses a build id that is none', async () => {
    const { code, stderr } = await shell('hf-symbolize --build-id app=xyz', LINES)
    expect(code).toBe(2)
    expect(stderr).toContain('--build-id needs MODULE=ID')
  })
})
