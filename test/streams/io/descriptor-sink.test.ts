import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { DescriptorSink } from '../../../lib/streams/io/descriptor-sink.js'

it.skipIf(process.platform === 'win32')(
  "only while the reader is quick, the event loop waits for it, also when the system's time is set back",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heapflow-'))
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const fd = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    let now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => (now -= 1000))
    try {
      const sink = new DescriptorSink(fd, { blocking: true })
      const blocking = vi.spyOn((sink as unknown as { writer: { writeNow: () => void } }).writer, 'writeNow')
      const part = Buffer.alloc(50_000)
      const write = async (length: number) => {
        let isWritten = false
        sink.write(Buffer.alloc(length), () => (isWritten = true))
        let rest = length
        while (rest > 0) {
          // The pipe is full for most of the time that a long chunk takes.
          await sleep(length > part.length ? 10 : 0)
          try {
            rest -= readSync(fd, part)
          } catch (error) {
            expect((error as NodeJS.ErrnoException).code).toBe('EAGAIN')
          }
        }
        while (!isWritten) await sleep(1)
      }
      for (let n = 0; n < 6; n++) await write(400_000)
      expect(blocking).not.toHaveBeenCalled()
      // Of short ones, at least one is written quickly, so that the next one may block.
      for (let n = 0; n < 50; n++) await write(100)
      expect(blocking).toHaveBeenCalled()
    } finally {
      vi.restoreAllMocks()
      closeSync(fd)
      rmSync(folder, { recursive: true })
    }
  },
)
