// @module-tag slow
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch, shell } from '../support/commands.js'

const fixture = (path: string) => {
  const bytes = readFileSync(fileURLToPath(new URL(`../fixtures/${path}`, import.meta.url)))
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

/** A folder with a file of these bytes. */
function folderWith(name: string, bytes: Uint8Array | string): string {
  const folder = scratch()
  writeFileSync(join(folder, name), bytes)
  return folder
}

const mtrc = (name = 'small32') => folderWith('in.mtrc', fixture(`mtrc/${name}.mtrc.gz`))

describe('hf-split --number, then hf-merge', () => {
  test.each([
    ['mtrc/small64.mtrc.gz', 'in.mtrc', '--by size-class'],
    ['mtrc/fork-parent64.mtrc', 'in.mtrc', '--by kind'],
    ['mtrc/git.mtrc.gz', 'in.mtrc', '--by shard --shards 5'],
    ['replay/mstress-head.txt.gz', 'in.txt', '--by thread'],
  ])('give back the bytes of %s', async (path, name, how) => {
    const folder = folderWith(name, fixture(path))
    const back = name.replace('in', 'back')
    const line = `cd ${folder} && hf-split ${how} --number -o 'part-{}.ndjson' ${name} && hf-merge part-* -o ${back}`
    expect(await shell(line)).toMatchObject({ code: 0 })
    expect(readdirSync(folder).length).toBeGreaterThan(3)
    expect(readFileSync(join(folder, back)).equals(readFileSync(join(folder, name)))).toBe(true)
  })

  test('give back HATF as it is written without a way through parts', async () => {
    const folder = folderWith('in.hatf', fixture('hatf/espresso-head.hatf'))
    const line =
      "hf-filter in.hatf -o same.hatf && hf-split --by kind --lifetimes --number -o 'part-{}.ndjson' in.hatf && " +
      'hf-merge part-* -o back.hatf && cmp same.hatf back.hatf'
    expect(await shell(`cd ${folder} && ${line}`)).toMatchObject({ code: 0, stderr: '' })
  })

  test('give back NDJSON, of parts that were compressed and filtered by nothing', async () => {
    const folder = mtrc()
    const line =
      'mtrc-decode in.mtrc -o in.ndjson && hf-split --by thread --number --gzip -o part-{}.ndjson.gz in.ndjson && ' +
      'for f in part-*; do hf-filter $f -o $f.ndjson; done && hf-merge *.gz.ndjson | cmp - in.ndjson'
    expect(await shell(`cd ${folder} && ${line}`)).toMatchObject({ code: 0, stderr: '' })
  })

  test('give back the records of a kernel, which have numbers of their own, also without --number', async () => {
    const lines = Array.from({ length: 60 }, (_, i) => ({
      kind: 'alloc',
      api: 'kmalloc',
      cpu: (i * 7) % 4,
      node: -1,
      sequence: i + 1,
      address: `0x${(4096 + 16 * i).toString(16)}`,
      size: 8,
    }))
    const all = [{ kind: 'header', format: 'kmemtrace' }, ...lines, { kind: 'end', events: 60 }]
    const folder = folderWith('in.ndjson', all.map((line) => `${JSON.stringify(line)}\n`).join(''))
    // Whether these are all parts is not known, so the header has a mark.
    const go = `cd ${folder} && hf-split --by cpu -o 'part-{}.ndjson' in.ndjson && hf-merge part-* > out && head -1 out &&
      tail -n +2 in.ndjson > events && tail -n +2 out | cmp - events`
    const { code, stderr, stdout } = await shell(go)
    expect([code, stderr, String(stdout)]).toEqual([0, '', '{"kind":"header","format":"kmemtrace","filtered":true}\n'])
    expect(await shell(`cd ${folder} && hf-split --by cpu --number -o 'x-{}.ndjson' in.ndjson`)).toMatchObject({
      code: 1,
      stderr:
        'hf-split: kmemtrace: event 1: it has a sequence number already: merge the parts by these, and do not number them\n',
    })
  })

  test('is refused where the format of the parts cannot carry numbers', async () => {
    expect(await shell(`cd ${mtrc()} && hf-split --by thread --number -o 'part-{}.mtrc' in.mtrc; ls`)).toMatchObject({
      stderr:
        'hf-split: mtrc cannot carry the numbers of events: with --number, write ndjson, arrow, parquet or compact; see hf-split --help\n',
      stdout: Buffer.from('in.mtrc\n'),
    })
  })

  test('says which events are missing where a part is', async () => {
    const folder = mtrc()
    const line = `cd ${folder} && hf-split --by kind --number -o 'part-{}.ndjson' in.mtrc && hf-merge part-alloc* part-free* > out`
    const { code, stderr } = await shell(line)
    expect(code).toBe(0)
    expect(stderr).toMatch(
      /^hf-merge: warning: \d+ events of the trace that was split are missing, the first is event \d+: give all parts/,
    )
    const [number] = /\d+/.exec(stderr) as RegExpExecArray
    expect((await shell(`cd ${folder} && hf-blocks out`)).stderr).toContain(`lost ${number} events in 1 place`)
  })
})

describe('Without numbers', () => {
  test('hf-merge says how to get parts of one trace into order', async () => {
    const { code, stderr } = await shell(
      `cd ${mtrc()} && hf-split --by kind -o 'part-{}.ndjson' in.mtrc && hf-merge part-* > out`,
    )
    expect(code).toBe(2)
    expect(stderr).toMatch(/^hf-merge: the inputs are parts of one trace, without numbers, and the events have neither/)
    expect(stderr).toContain('split the trace again with hf-split --number')
  })

  test('what it advises for traces of which it knows nothing works', async () => {
    const folder = mtrc()
    const line =
      "hf-map -e 'event.sequence = n' in.mtrc | hf-split --by kind -o 'part-{}.ndjson' && hf-merge part-* | hf-map --drop sequence -o back.mtrc && cmp in.mtrc back.mtrc"
    expect(await shell(`cd ${folder} && ${line}`)).toMatchObject({ code: 0, stderr: '' })
  })
})

test('A field that no event has is told, with those that there are', async () => {
  const folder = mtrc()
  const filtered = await shell(`cd ${folder} && hf-filter --time 5.. --kind alloc in.mtrc`)
  expect(filtered.code).toBe(0)
  expect(filtered.stderr).toBe(
    'hf-filter: warning: in.mtrc: no event has the field time, so no event matches it: filter on what the events have: ' +
      'thread, index, address, oldAddress, size, function, file, line, type\n',
  )
  expect(await shell(`cd ${folder} && hf-split --by cpu -o 'part-{}.mtrc' in.mtrc && ls`)).toMatchObject({
    code: 0,
    stdout: Buffer.from('in.mtrc\npart-none.mtrc\n'),
    stderr:
      'hf-split: warning: in.mtrc: no event has the field cpu, so all are in the part none: divide by what the events have: thread, size\n',
  })
  expect((await shell(`cd ${folder} && hf-filter --size 5.. in.mtrc > out`)).stderr).toBe('')
})
