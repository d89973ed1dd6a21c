import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { nodeInflater } from '../../lib/compression/zstd-inflaters.js'
import { events } from '../../lib/entry/index.js'
import { LINES, ZSTD_FILE } from '../compression/zstd-bytes.js'
import { scratch, shell } from '../support/commands.js'

/** Node writes zstd from the same version on from which it reads it. */
const canWrite = nodeInflater !== undefined

/** What `xz -9` made of the same lines. */
const XZ_FILE = fileURLToPath(new URL('../compression/xz/crc64.xz', import.meta.url))

describe('zstd input', () => {
  test('is read from files and from standard input, by every sort of command', { tags: ['slow'] }, async () => {
    const plain = await shell('replay-decode', LINES)
    expect(plain.code).toBe(0)
    for (const line of [
      `replay-decode ${ZSTD_FILE}`,
      `replay-decode < ${ZSTD_FILE}`,
      `cat ${ZSTD_FILE} | replay-decode`,
      `hf-convert --to ndjson ${ZSTD_FILE} -`,
    ]) {
      const { code, stdout, stderr } = await shell(line)
      expect([line, code, stderr]).toEqual([line, 0, ''])
      expect(stdout.equals(plain.stdout)).toBe(true)
    }
  })

  test('of two files is read at once', { tags: ['slow'] }, async () => {
    const { code, stdout } = await shell(`hf-merge --end-to-end ${ZSTD_FILE} ${ZSTD_FILE} | replay-encode`)
    expect(code).toBe(0)
    expect(stdout.equals(Buffer.concat([LINES, LINES]))).toBe(true)
  })

  test('is read by programs', async () => {
    let count = 0
    for await (const { kind } of events(ZSTD_FILE)) count += kind === 'alloc' ? 1 : 0
    expect(count).toBe(8000)
  })

  test('and so is xz', { tags: ['slow'] }, async () => {
    let count = 0
    for await (const { kind } of events(XZ_FILE)) count += kind === 'alloc' ? 1 : 0
    expect(count).toBe(8000)
    for (const line of [`replay-decode ${XZ_FILE} | replay-encode`, `replay-encode < ${XZ_FILE}`])
      expect((await shell(line)).stdout.equals(LINES)).toBe(true)
  })

  test('that is cut gives what came before, a message and the status 1', { tags: ['slow'] }, async () => {
    const folder = scratch()
    writeFileSync(join(folder, 'cut.zst'), readFileSync(ZSTD_FILE).subarray(0, 39_000))
    const { code, stdout, stderr } = await shell(`cd ${folder} && replay-decode cut.zst | hf-stats --json`)
    expect(stderr).toContain(
      'replay-decode: cut.zst: zstd: byte 39000: truncated: the zstd stream ends inside a frame\n',
    )
    expect(code).toBe(1)
    expect(JSON.parse(stdout.toString())).toMatchObject({ complete: false })
  })
})

describe('zstd output', () => {
  test.skipIf(canWrite)('is refused before anything is written where Node cannot write it', async () => {
    const folder = scratch()
    for (const flags of ['-o out.mtrc.zst', '--zstd -o out.mtrc', '--zstd > out']) {
      const { code, stderr } = await shell(`cd ${folder} && mtrc-encode ${ZSTD_FILE} ${flags}`)
      expect(code).toBe(2)
      expect(stderr).toMatch(
        /^mtrc-encode: writing zstd needs Node 22\.15 or newer; this is v\S+: use gzip \(-z\), or pipe the output to zstd; see /,
      )
    }
  })

  test('is not combined with gzip', async () => {
    expect(await shell('hf-convert -z --zstd a.mtrc b.hatf')).toMatchObject({
      code: 2,
      stderr: 'hf-convert: --gzip and --zstd cannot be combined; see hf-convert --help\n',
    })
  })

  test.runIf(canWrite)('comes back, from commands that write one stream and from those that write many', async () => {
    const folder = scratch()
    const { code, stderr } = await shell(
      `cd ${folder} && hf-convert ${ZSTD_FILE} a.replay.zst && replay-encode a.replay.zst --zstd > b && ` +
        `hf-split --by thread -o 't-{}.ndjson.zst' b && hf-stats --zstd b | cat > s`,
    )
    expect([code, stderr]).toEqual([0, ''])
    for (const name of ['a.replay.zst', 'b', 't-3.ndjson.zst', 's'])
      expect(readFileSync(join(folder, name)).readUInt32BE(0)).toBe(0x28b52ffd)
    expect((await shell(`cd ${folder} && replay-encode b`)).stdout.equals(LINES)).toBe(true)
    const { stdout } = await shell(`cd ${folder} && replay-encode t-3.ndjson.zst`)
    expect(stdout.toString()).toBe(
      LINES.toString()
        .split('\n')
        .filter((line) => line.startsWith('3:'))
        .map((line) => `${line}\n`)
        .join(''),
    )
  })

  test.runIf(canWrite && hasZstd())('is what zstd reads', async () => {
    const folder = scratch()
    await shell(`hf-convert ${ZSTD_FILE} ${folder}/a.replay.zst --to replay`)
    expect(execFileSync('zstd', ['-dc', join(folder, 'a.replay.zst')]).equals(LINES)).toBe(true)
  })
})

function hasZstd(): boolean {
  try {
    execFileSync('zstd', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
