// @module-tag slow
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/small64.mtrc.gz'

describe('a temporary file that cannot be written is an error that names its folder, once', () => {
  test.each([
    [`cat ${TRACE} | hf-filter --leaked`, 'hf-filter'],
    ['hf-merge --by time MANY', 'hf-merge'],
    [`hf-sql ${TRACE} 'select count(*) from events'`, 'hf-sql'],
  ])('%s', async (line, command) => {
    const folder = scratch()
    const compact = join(folder, 'e.hfc')
    const many = Array.from({ length: 9 }, (_, i) => join(folder, `e${i}.hfc`))
    expect((await shell(`compact-encode ${TRACE} -o ${compact}`)).code).toBe(0)
    for (const path of many) copyFileSync(compact, path)
    const run = line.replace('MANY', many.join(' '))
    const missing = `${folder}/missing`
    const { code, stderr, stdout } = await shell(`export TMPDIR=${missing}; ${run}`)
    expect({ code, stderr, stdout: stdout.length }).toEqual({
      code: 1,
      stderr: `${command}: cannot write a temporary file in ${missing}: no such file or directory\n`,
      stdout: 0,
    })
    const place = scratch()
    const full = await shell(`export TMPDIR=${place}; (ulimit -f 1; ${run} | cat)`)
    const text = full.stderr.replace(/\/heapflow-sql-\w{6}/, '')
    expect(text).toBe(`${command}: cannot write a temporary file in ${place}: the file would be too large\n`)
    expect(readdirSync(place)).toEqual([])
  })
})
