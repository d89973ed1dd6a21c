import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

describe('hf-generate', () => {
  test('writes a benchmark of any length', { tags: ['slow'] }, async () => {
    const line = 'hf-generate --model larson --scale 0.01 --threads 2 --events 5K --to mtrc | hf-verify'
    expect((await shell(line, '')).stdout.toString()).toMatch(/^5000 events, no faults/)
    const twice = 'hf-generate --model mstress --events 500 --seed'
    expect((await shell(`${twice} 3`, '')).stdout).toEqual((await shell(`${twice} 3`, '')).stdout)
    expect((await shell(`${twice} 4`, '')).stdout).not.toEqual((await shell(`${twice} 3`, '')).stdout)
  })

  test('writes a model, and generates from it what --like gives', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const made = await shell(
      `cd ${folder} && hf-generate --model random --scale 0.01 --events 3000 -o a.hfc &&
       hf-generate --like a.hfc --write-model m.json && hf-generate --from-model m.json --times >b.ndjson &&
       hf-generate --like a.hfc --times | cmp - b.ndjson && wc -l <b.ndjson`,
      '',
    )
    expect(made.stderr).toBe('')
    expect(made.stdout.toString().trim()).toBe('3002')
  })

  test('compresses a model by its name, and reads it', { tags: ['slow'] }, async () => {
    const folder = scratch()
    const { stderr, stdout } = await shell(
      `cd ${folder} && hf-generate --model random --scale 0.01 --events 500 -o a.hfc &&
       hf-generate --like a.hfc --write-model m.json && hf-generate --like a.hfc --write-model m.json.gz &&
       gzip -dc m.json.gz | cmp - m.json && hf-generate --from-model m.json >b.ndjson &&
       hf-generate --from-model m.json.gz | cmp - b.ndjson && hf-generate --from-model - <m.json.gz | cmp - b.ndjson &&
       echo same`,
      '',
    )
    expect([stderr, stdout.toString()]).toEqual(['', 'same\n'])
  })

  test('warns of what a model does not have as it is in the trace', async () => {
    const events = [
      ...Array.from({ length: 1100 }, (_, i) => `{"kind":"alloc","thread":${i},"address":"0x${i + 1}0","size":8}`),
      '{"kind":"alloc","thread":1,"address":"0x2","size":70368744177664}',
      '{"kind":"free","thread":1,"address":"0x2"}',
      '{"kind":"alloc","thread":1,"address":"0x4","size":70368744177663}',
      '{"kind":"alloc","thread":1,"address":"0x6","size":8,"alignment":1073741824}',
      '{"kind":"alloc","thread":1,"address":"0x8","size":8,"alignment":2147483648}',
      '{"kind":"alloc","thread":1,"address":"0xa","size":8,"alignment":24}',
      '',
    ]
    const folder = scratch()
    writeFileSync(`${folder}/a.ndjson`, events.join('\n'))
    const warnings =
      'hf-generate: warning: a.ndjson: 1 block of 2^46 bytes or more has fewer in the model\n' +
      'hf-generate: warning: a.ndjson: 2 blocks have no alignment in the model: above 2^30, or no power of two\n' +
      'hf-generate: warning: a.ndjson: a model has at most 1024 threads: the last one is for all further ones\n'
    for (const flags of ['--like a.ndjson -o b.ndjson', '--like a.ndjson --write-model m.json']) {
      const { code, stderr } = await shell(`cd ${folder} && hf-generate ${flags}`, '')
      expect([flags, code, stderr]).toEqual([flags, 0, warnings])
    }
    expect(readFileSync(`${folder}/b.ndjson`, 'utf8').match(/"alignment":\d+/g)).toEqual(['"alignment":1073741824'])
  })

  test.each([
    ['', 'one of --model, --like and --from-model'],
    ['--model larson --like x', 'one of --model'],
    ['--model larson --scale 0', '--scale must be above 0'],
    ['--model larson --events 1x', '--events needs a number'],
    ['--model larson --events 99999999G', ': --events must be a whole number'],
    ['--model larson --seed -1', ': --seed must be a whole number'],
    ['--model larson x', 'no operand'],
    ['--model larson --write-model m.json', '--write-model needs --like'],
    ['--like x --write-model m.json --scale 2', '--scale and --write-model'],
    ['--from-model x --threads 2', '--threads needs --model'],
  ])('refuses %s', async (flags, message) => {
    const { code, stderr } = await shell(`hf-generate ${flags}`, '')
    expect(code).toBe(2)
    expect(stderr).toContain(message)
  })

  test('warns of a trace that allocated nothing', async () => {
    const { code, stderr, stdout } = await shell(
      'hf-generate --like - --events 9',
      '{"kind":"free","address":"0x10"}\n',
    )
    const warning = 'hf-generate: warning: the trace allocated nothing, so nothing is generated\n'
    expect([code, stderr, stdout.toString().split('\n').length]).toEqual([0, warning, 3])
  })

  test('refuses what is no model', { tags: ['slow'] }, async () => {
    const folder = scratch()
    writeFileSync(`${folder}/m.json`, '{"format":"heapflow-model"}')
    const { code, stderr } = await shell(`cd ${folder} && hf-generate --from-model m.json`, '')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^hf-generate: m.json: JSON: malformed: the model must have the property/)
    writeFileSync(`${folder}/m.json`, '{"format":"heapflow-lifetimes"}')
    const other = 'm.json: JSON: malformed: format must be "heapflow-model", not "heapflow-lifetimes"'
    expect((await shell(`cd ${folder} && hf-generate --from-model m.json`, '')).stderr).toContain(other)
    writeFileSync(`${folder}/m.json`, '{"form')
    expect((await shell(`cd ${folder} && hf-generate --from-model m.json`, '')).stderr).toContain('JSON: malformed: ')
  })
})
