// @module-tag slow
import { expect, test } from 'vitest'
import { readJson } from '../../lib/cli/json-model.js'
import { MOST_RESULT_BYTES } from '../../lib/transforms/drive/read-result.js'
import { MOST_LIFETIME_BYTES } from '../../lib/transforms/simulate/lifetimes/model.js'

/** An empty object and spaces, in chunks. */
async function* json(bytes: number): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(1 << 20, ' ')
  yield Buffer.from('{}')
  for (let left = bytes - 2; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
}

test.each([
  ['a result of hf-replay', MOST_RESULT_BYTES],
  ['a model of lifetimes', MOST_LIFETIME_BYTES],
])('%s has a limit', async (_, most) => {
  const read = (bytes: number) => readJson('app.json', most, (value) => value, json(bytes))
  for (const bytes of [most - 1, most]) expect(await read(bytes)).toEqual({})
  await expect(read(most + 1)).rejects.toThrow(`it has more than ${most} bytes`)
})
