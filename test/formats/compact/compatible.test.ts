import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compact } from '../../../lib/formats/compact/index.js'
import { decodeAll } from '../../support/drive.js'
import { replayFile } from '../../support/simulate.js'
import { processes } from './processes.js'

const FILES = new URL('written-by-0.2.0/', import.meta.url)
const RECORDINGS = new URL('../../allocators/recordings/', import.meta.url)

// Both levels, words of 32 and 64 bits, threads, two allocators, and checkpoints; written by version 0.2.0.
test.each(readdirSync(FILES))('%s, which an earlier version wrote, is read', (name) => {
  const { events, error } = decodeAll(compact.decoder(), readFileSync(new URL(name, FILES)))
  expect(error).toBeUndefined()
  const recorded = replayFile(new URL(name.replace('.hfc', '.txt.gz'), RECORDINGS))
  expect(events).toEqual(recorded.flatMap((batch) => [...batch]))
})

// Both levels, in blocks of type `B`, where the model keeps the blocks of processes that have ended.
test('a file of a development version, whose blocks outlive their processes, is read', () => {
  const { events, error } = decodeAll(compact.decoder(), readFileSync(new URL('outlived.hfc', import.meta.url)))
  expect(error).toBeUndefined()
  const written = processes(7, 2000).events
  expect(events).toEqual([...written, ...written])
})
