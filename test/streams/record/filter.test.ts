// @module-tag slow
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Filter } from '../../../lib/streams/record/filter.js'
import { TracePipe } from '../../../lib/streams/record/trace-pipe.js'
import { scratch } from '../../support/commands.js'

test.skipIf(process.platform === 'win32').each([
  ['head -c 10; kill -9 $$', 0o700, 'filter was ended by SIGKILL'],
  ['head -c 10; exit 3', 0o700, 'filter ended with status 3'],
  ['head -c 10', 0o700, 'filter ended before the program'],
  ['cat; exit 3', 0o700, 'filter ended with status 3'],
  ['cat', 0o600, expect.stringMatching(/^filter cannot be run: .*EACCES/)],
  ['cat', 0o700, undefined],
])('a program runs on when the filter of its trace ends: %s', async (text, mode, fault) => {
  const place = scratch()
  writeFileSync(join(place, 'filter'), `#!/bin/sh\n${text}\n`, { mode })
  const pipe = new TracePipe(join(place, 'trace'))
  const filter = new Filter([join(place, 'filter')])
  const program = spawn('sh', ['-c', `head -c 1000000 /dev/zero > ${place}/trace`], { stdio: 'ignore' })
  program.once('exit', () => pipe.programEnded(false))
  let bytes = 0
  for await (const chunk of filter.through(pipe.bytes())) bytes += chunk.length
  expect(await filter.fault).toEqual(fault)
  if (text.startsWith('cat') && mode === 0o700) expect(bytes).toBe(1_000_000)
  expect(program.exitCode).toBe(0)
  pipe.close()
})

test.skipIf(process.platform === 'win32').each([1, 100, 65_536, 300_000])(
  'a trace of %i bytes ends with the program, whoever has the pipe open',
  async (n) => {
    const place = scratch()
    const pipe = new TracePipe(join(place, 'trace'))
    const child = spawn('sh', ['-c', `exec 3> ${place}/trace; sleep 60 & echo $!; head -c ${n} /dev/zero >&3`])
    const numbers: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => numbers.push(chunk))
    child.once('exit', () => pipe.programEnded(false))
    let bytes = 0
    for await (const chunk of pipe.bytes()) {
      expect(chunk.every((byte) => byte === 0)).toBe(true)
      bytes += chunk.length
    }
    expect(bytes).toBe(n)
    await pipe.discard()
    pipe.close()
    process.kill(Number(Buffer.concat(numbers).toString()))
  },
)

test.skipIf(process.platform === 'win32')('the rest of a trace can be discarded at any time', async () => {
  for (const stopAt of [1, 3, 5]) {
    const place = scratch()
    const pipe = new TracePipe(join(place, 'trace'))
    const child = spawn('sh', ['-c', `exec 3> ${place}/trace; sleep 60 & echo $!; head -c 300000 /dev/zero >&3`])
    const numbers: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => numbers.push(chunk))
    child.once('exit', () => pipe.programEnded(false))
    let chunks = 0
    for await (const _ of pipe.bytes()) if (++chunks === stopAt) break
    await pipe.discard()
    expect(child.exitCode).toBe(0)
    pipe.close()
    process.kill(Number(Buffer.concat(numbers).toString()))
  }
})
