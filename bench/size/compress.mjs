// The compressed size of a file.
import { spawn, spawnSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** gzip's level, which is also the command's default. */
export const GZIP_LEVEL = 6

/**
 * Compressors that are commands, with arguments that make them write to standard output. gzip is among them because the
 * deflate of node:zlib finds other matches. One thread, because more would change the output.
 */
const COMMANDS = {
  'gzip -6': ['gzip', ['-6', '-n', '-c']],
  'zstd -19': ['zstd', ['-19', '--single-thread', '-q', '-c']],
  'xz -9': ['xz', ['-9', '-T1', '-c']],
}

/**
 * The compressors that this machine has besides node:zlib.
 * @returns {{ name: string, version: string }[]}
 */
export function otherCompressors() {
  return Object.entries(COMMANDS).flatMap(([name, [command]]) => {
    const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8' })
    return status === 0 ? [{ name, version: stdout.match(/\d+(\.\d+)+/)?.[0] ?? 'unknown' }] : []
  })
}

/**
 * @param {string} path
 * @returns {Promise<number>} bytes
 */
export async function gzipBytes(path) {
  let sum = 0
  await pipeline(createReadStream(path), createGzip({ level: GZIP_LEVEL }), async (compressed) => {
    for await (const { length } of compressed) sum += length
  })
  return sum
}

/**
 * @param {string} name a compressor that this machine has
 * @param {string} path
 * @returns {Promise<number>} bytes
 */
export async function otherBytes(name, path) {
  const [command, args] = COMMANDS[name]
  const child = spawn(command, [...args, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  let sum = 0
  for await (const { length } of child.stdout) sum += length
  const code = await closed
  if (code !== 0) throw new Error(`${name} ${path} failed with ${code}`)
  return sum
}
