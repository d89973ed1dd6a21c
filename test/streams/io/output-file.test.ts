import { chmodSync, closeSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { OutputFile } from '../../../lib/streams/io/output-file.js'
import { scratch } from '../../support/commands.js'

/** The calls of the system that matter, in their order. */
const calls = vi.hoisted((): [name: string, ...args: unknown[]][] => [])

vi.mock(import('node:fs'), async (original) => {
  const fs = await original()
  const paths = new Map<number, unknown>()
  return {
    ...fs,
    openSync(path, flags, mode) {
      const fd = fs.openSync(path, flags, mode)
      paths.set(fd, path)
      if (flags === 'wx') calls.push(['create', fs.fstatSync(fd).mode & 0o777])
      return fd
    },
    fsyncSync(fd) {
      calls.push(['sync', paths.get(fd)])
      fs.fsyncSync(fd)
    },
    renameSync(from, to) {
      calls.push(['rename', from, to])
      fs.renameSync(from, to)
    },
  }
})

beforeEach(() => void calls.splice(0))

/** Writes a file. */
function write(path: string): void {
  const file = new OutputFile(path)
  const fd = file.open()
  writeSync(fd, 'new')
  closeSync(fd)
  file.commit()
}

test.each([0o600, 0o640, 0o755, 0o200])(
  'a file of mode %o is replaced by one that never had more permissions',
  (mode) => {
    const path = join(scratch(), 't.mtrc')
    writeFileSync(path, 'old')
    chmodSync(path, mode)
    write(path)
    const [, created] = calls.find(([name]) => name === 'create') as [string, number]
    expect(created & ~mode).toBe(0)
    expect(created & 0o077).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(mode)
    chmodSync(path, 0o600)
    expect(readFileSync(path, 'utf8')).toBe('new')
  },
)

test('a file is on disk before it has its name, and then its name', () => {
  const path = join(scratch(), 't.mtrc')
  write(path)
  const written = calls.find(([name]) => name === 'rename')?.[1]
  expect(calls.slice(1)).toEqual([
    ['sync', written],
    ['rename', written, path],
    ['sync', dirname(path)],
  ])
})
