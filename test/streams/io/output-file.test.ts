import { chmodSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch, shell } from '../../support/commands.js'

/** Writes the calls of the system that matter to a file, in their order. */
const HOOK = `
const fs = require('node:fs')
const { openSync, fsyncSync, renameSync } = fs
const calls = []
const paths = new Map()
fs.openSync = (path, flags, mode) => {
  const fd = openSync(path, flags, mode)
  paths.set(fd, path)
  if (flags === 'wx') calls.push(['create', fs.fstatSync(fd).mode & 0o777])
  return fd
}
fs.fsyncSync = (fd) => {
  calls.push(['sync', paths.get(fd)])
  fsyncSync(fd)
}
fs.renameSync = (from, to) => {
  calls.push(['rename', from, to])
  renameSync(from, to)
}
require('node:module').syncBuiltinESMExports()
process.on('exit', () => fs.writeFileSync(process.env.CALLS, JSON.stringify(calls)))
`

/** Writes a trace to `path` in a folder. @returns the calls */
async function write(folder: string, path: string): Promise<[name: string, ...args: unknown[]][]> {
  const [hook, calls] = [join(folder, 'hook.cjs'), join(folder, 'calls.json')]
  writeFileSync(hook, HOOK)
  const command = `CALLS='${calls}' NODE_OPTIONS='--require "${hook}"' replay-decode -o '${path}'`
  expect(await shell(command, Buffer.from('1: malloc 0x10 8\n'))).toMatchObject({ code: 0 })
  return JSON.parse(readFileSync(calls, 'utf8')) as [name: string, ...args: unknown[]][]
}

test.each([0o600, 0o640, 0o755])(
  'a file of mode %o is replaced by one that never had more permissions',
  async (mode) => {
    const folder = scratch()
    const path = join(folder, 't.ndjson')
    writeFileSync(path, 'old')
    chmodSync(path, mode)
    const [, created] = (await write(folder, path)).find(([name]) => name === 'create') as [string, number]
    expect(created & 0o077).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(mode)
    expect(readFileSync(path, 'utf8')).toContain('"events":1')
  },
)

test('a file is on disk before it has its name, and then its name', async () => {
  const folder = realpathSync(scratch())
  const path = join(folder, 't.ndjson')
  const calls = await write(folder, path)
  const written = calls.find(([name]) => name === 'rename')?.[1]
  expect(calls.slice(calls.findIndex(([name]) => name === 'sync'))).toEqual([
    ['sync', written],
    ['rename', written, path],
    ['sync', folder],
  ])
})
