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

  test('refuses a folder that is not there', async () => {
    const { code, stderr } = await shell('hf-symbolize --debug-dir /no/folder', LINES)
    expect(code).toBe(2)
    expect(stderr).toContain('--debug-dir: /no/folder is not a folder')
  })

  test.each([
    ['a stack', LINES],
    ['nothing', '{"kind":"free","address":"0x10"}\n'],
  ])('reports build ids that it had no use for: %s', async (_, lines) => {
    const { code, stderr } = await shell('hf-symbolize --build-id /no/such=aa --build-id /other=bb', lines)
    expect(code).toBe(0)
    expect(stderr).toContain('no frame that lacks a name is in /other, whose build id is given')
    expect(stderr.includes('is in /no/such')).toBe(lines !== LINES)
  })
})
