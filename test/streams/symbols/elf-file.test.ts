import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { SymbolFile } from '../../../lib/streams/symbols/elf-file.js'
import { elfFile } from '../../symbols/elf-bytes.js'

const folder = mkdtempSync(join(tmpdir(), 'heapflow-elf-'))

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  rmSync(folder, { recursive: true, force: true })
})

test('a file whose symbols cannot be read is closed', () => {
  const path = join(folder, 'module')
  writeFileSync(path, elfFile({ is64: true, little: true }))
  const { signal } = new AbortController()
  const close = vi.spyOn(fs, 'closeSync')
  vi.spyOn(fs, 'readSync').mockImplementation(() => {
    throw new Error('EIO: i/o error, read')
  })
  syncBuiltinESMExports()
  expect(() => new SymbolFile(path, signal)).toThrow('EIO')
  expect(close).toHaveBeenCalledTimes(1)
})
