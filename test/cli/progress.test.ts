import { expect, test, vi } from 'vitest'
import { progressLine, showProgress } from '../../lib/cli/progress.js'
import { wipeProgress } from '../../lib/cli/say.js'

const work = (bytes: number, events: number, total?: number) => ({ bytes: () => bytes, events: () => events, total })

test('tells bytes, events, speed, percent and time left', () => {
  expect(progressLine(work(120e6, 2.1e6, 480e6), 14)).toBe('120 MB of 480 MB (25 %), 2.1 M events, 150 k/s, 0:42 left')
  expect(progressLine(work(1.25e6, 40_000), 2)).toBe('1.3 MB, 40 k events, 20 k/s')
})

test('shows a line on a terminal when the work is long, and wipes it at the end', () => {
  vi.useFakeTimers()
  const written: string[] = []
  const terminal = { isTTY: true, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream
  const end = showProgress(work(1e6, 1000), () => terminal)
  vi.advanceTimersByTime(1000)
  expect(written).toEqual([])
  vi.advanceTimersByTime(2000)
  expect(written.length).toBeGreaterThan(0)
  end()
  expect(written.at(-1)).toBe('\r\u001b[K')
  const before = written.length
  vi.advanceTimersByTime(5000)
  expect(written).toHaveLength(before)
  vi.useRealTimers()
})

test('wipes the line before something else is written, until it is due again', () => {
  vi.useFakeTimers()
  const written: string[] = []
  const terminal = { isTTY: true, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream
  const end = showProgress(work(1e6, 1000), () => terminal)
  vi.advanceTimersByTime(2100)
  wipeProgress()
  const before = written.length
  wipeProgress()
  expect(written).toHaveLength(before)
  vi.advanceTimersByTime(2000)
  expect(written.at(-1)).toContain('events')
  wipeProgress()
  end()
  expect(written.filter((text) => text === '\r\u001b[K')).toHaveLength(2)
  vi.useRealTimers()
})

test("shows the line though the system's time is set back", () => {
  vi.useFakeTimers()
  const written: string[] = []
  const terminal = { isTTY: true, write: (text: string) => written.push(text) } as unknown as NodeJS.WriteStream
  const end = showProgress(work(1e6, 20_000), () => terminal)
  vi.advanceTimersByTime(1000)
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(1000)
  end()
  vi.useRealTimers()
  expect(written.at(-2)).toContain('20 k events, 10 k/s')
})

test('looks for a terminal once, when the line is due', () => {
  vi.useFakeTimers()
  const find = vi.fn(() => undefined)
  const end = showProgress(work(1, 1), find)
  vi.advanceTimersByTime(1000)
  expect(find).toHaveBeenCalledTimes(0)
  vi.advanceTimersByTime(9000)
  expect(find).toHaveBeenCalledTimes(1)
  end()
  vi.useRealTimers()
})
