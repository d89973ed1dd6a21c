// @module-tag slow
import type { ChildProcess } from 'node:child_process'
import { expect, test, vi } from 'vitest'
import { SignalRelay } from '../../../lib/cli/record/signals.js'
import { Program } from '../../../lib/streams/record/program.js'
import { TracerEnding } from '../../../lib/streams/record/tracer-ending.js'

/** A program, and the child process that it keeps to itself. */
function start(script: string, isTracer = false) {
  const late: string[] = []
  const words = ['sh', '-c', script]
  const relay = new SignalRelay((signal) => late.push(signal))
  const program = new Program({ words, env: process.env, stdio: [0, 2, 2], isTracer })
  relay.relayTo(program, true)
  return { program, relay, child: (program as unknown as { child: ChildProcess }).child, late }
}

const needsSignals = test.skipIf(process.platform === 'win32')

needsSignals('that a signal could not be sent is not the end of a program', async () => {
  const { program, relay, child } = start('sleep 0.2; exit 5')
  // Node emits this when kill(2) fails, each time.
  for (let i = 0; i < 2; i++) child.emit('error', new Error('kill EPERM'))
  expect(await program.ended).toEqual({ status: 5 })
  relay.close()
})

needsSignals('a signal goes to the tracer where its program has just ended', async () => {
  const { program, relay, child } = start('sleep 60 & wait', true)
  for (let i = 0; i < 100 && program.pid === undefined; i++) await new Promise((resolve) => setTimeout(resolve, 10))
  const sleeping = program.pid
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' })
  })
  process.emit('SIGTERM', 'SIGTERM')
  kill.mockRestore()
  expect(await program.ended).toEqual({ status: 143, signal: 'SIGTERM' })
  expect(child.signalCode).toBe('SIGTERM')
  relay.close()
  if (sleeping !== undefined) process.kill(sleeping)
})

needsSignals('signals that come later are not for the program, and in the end for no one', async () => {
  const { program, relay, late } = start('exit 0')
  await program.ended
  process.emit('SIGTERM', 'SIGTERM')
  expect(late).toEqual(['SIGTERM'])
  relay.close()
  process.emit('SIGUSR2', 'SIGUSR2')
  expect(late).toEqual(['SIGTERM'])
})

needsSignals('a program that cannot be started has ended', async () => {
  const program = new Program({ words: ['/nowhere'], env: {}, stdio: [0, 2, 2], isTracer: false })
  expect(await program.ended).toMatchObject({ status: 127, error: { message: '/nowhere: no such program' } })
  expect(program.send('SIGTERM')).toBe(false)
  expect(await program.end()).toMatchObject({ status: 127 })
})

const LOG =
  '7 1.000000 malloc(1) = 0x10\n8 1.000000 --- Called exec() ---\n8 1.000000 +++ exited (status 9) +++\n' +
  '7 1.000000 +++ exited (status 3) +++\n8 1.000000 +++ killed by SIGTERM +++\n'

test.each([
  [undefined, { status: 3 }],
  [7, { status: 3 }],
  [8, { status: 143, signal: 'SIGTERM' }],
  [9, undefined],
])('the end of the program is read in the log of its tracer, whose number may be known: %s', (pid, wanted) => {
  for (const size of [1, 7, 50, 1000]) {
    const ending = new TracerEnding()
    for (let at = 0; at < LOG.length; at += size) ending.read(Buffer.from(LOG.slice(at, at + size)), pid)
    expect(ending.ending).toEqual(wanted)
  }
})
