// @module-tag slow
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Runs a program whose stream `stream` has a listener that throws. @returns what it printed, and its exit status */
function thrownBy(stream: string, event: string): { printed: string; status: number | null } {
  const program = `
    import { PassThrough } from 'node:stream'
    import { glibcMtrace, filter } from './dist/lib/entry/index.js'
    const stream = ${stream}
    process.on('uncaughtException', (error) => console.log('uncaught', error.message))
    stream.on('error', (error) => console.log('error', error.message))
    stream.on('${event}', () => { throw new Error('of a listener') })
    stream.resume()
    stream.end({ kind: 'alloc', address: 16n, size: 1n, thread: 3n })
  `
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  return { printed: stdout, status }
}

test('what listeners of losses throw is an uncaught exception, as of events of a stream of Node', () => {
  const ofNode = thrownBy('new PassThrough({ objectMode: true })', 'end')
  expect(ofNode).toEqual({ printed: 'uncaught of a listener\n', status: 0 })
  expect(thrownBy('glibcMtrace.encode()', 'losses')).toEqual(ofNode)
  expect(thrownBy('glibcMtrace.encode()', 'end')).toEqual(ofNode)
  expect(thrownBy('filter({})', 'end')).toEqual(ofNode)
})
