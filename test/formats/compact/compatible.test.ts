import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compact } from '../../../lib/formats/compact/index.js'
import { decodeAll } from '../../support/drive.js'
import { replayFile } from '../../support/simulate.js'

const FILES = new URL('written-by-0.2.0/', import.meta.url)
const RECORDINGS = new URL('../../allocators/recordings/', import.meta.url)

// Both levels, words of 32 and 64 bits, threads, two allocators, and checkpoints; written by version 0.2.0.
test.each(readdirSync(FILES))('%s, which an earlier version wrote, is read', (name) => {
  const { events, error } = decodeAll(compact.decoder(), readFileSync(new URL(name, FILES)))
  expect(error).toBeUndefined()
  const recorded = replayFile(new URL(name.replace('.hfc', '.txt.gz'), RECORDINGS))
  expect(events).toEqual(recorded.flatMap((batch) => [...batch]))
})
