import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { PipeSource } from '../../../lib/streams/io/pipe-source.js'
import { DescriptorSink } from '../../../lib/streams/io/descriptor-sink.js'

it.skipIf(process.platform === 'win32').each([true, false])(
  'a pipe that another program made non-blocking gets all that is written, slow as its reader may be (blocking: %s)',
  async (blocking) => {
    const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    try {
      // Several times what a pipe holds, so that writing has to stop in the midst of a chunk.
      const bytes = Buffer.from(Uint32Array.from({ length: 600_000 }, (_, i) => i).buffer)
      const sink = new DescriptorSink(fd, { blocking })
      let isWritten = false
      // In pieces, so that the first ones have been read when the last ones are written.
      for (let at = 0; at < bytes.length; at += 300_000) sink.write(bytes.subarray(at, at + 300_000))
      sink.end(() => (isWritten = true))
      const read: Buffer[] = []
      let length = 0
      while (length < bytes.length) {
        await sleep(1)
        expect(isWritten && length === 0).toBe(false)
        try {
          const part = Buffer.alloc(50_000)
          const n = readSync(fd, part)
          read.push(part.subarray(0, n))
          length += n
        } catch (error) {
          expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN')
        }
      }
      expect(Buffer.concat(read).equals(bytes)).toBe(true)
      while (!isWritten) await sleep(1)
      expect(sink.bytesWritten).toBe(bytes.length)
    } finally {
      closeSync(fd)
      rmSync(folder, { recursive: true })
    }
  },
)

it.skipIf(process.platform === 'win32')('a pipe counts the bytes that were read of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  const writer = openSync(pipe, constants.O_RDWR)
  const source = new PipeSource(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK))
  try {
    const counts: number[] = []
    const read = new Promise<void>((resolve) => {
      let length = 0
      source.on('data', (chunk: Buffer) => {
        length += chunk.length
        counts.push(source.bytesRead - length)
        if (length === 100_000) resolve()
      })
    })
    for (let i = 0; i < 10; i++) {
      writeSync(writer, Buffer.alloc(10_000))
      await sleep(1)
    }
    await read
    expect(source.bytesRead).toBe(100_000)
    expect(Math.max(...counts)).toBeLessThanOrEqual(65_536)
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(0)
  } finally {
    source.destroy()
    closeSync(writer)
    rmSync(folder, { recursive: true })
  }
})
