import { once } from 'node:events'
import { expect, test } from 'vitest'
import { compose, filter, ndjson } from '../../lib/entry/index.js'

const make = () => compose(ndjson.decode(), filter({ kind: 'alloc' }))
const stateOf = ({ closed, errored, readableEnded, writableEnded, writableFinished }: ReturnType<typeof make>) => ({
  closed,
  errored,
  readableEnded,
  writableEnded,
  writableFinished,
})

test('composed stages close when they have ended, and say so as streams of Node do', async () => {
  const stages = make()
  const fresh = { closed: false, errored: null, readableEnded: false, writableEnded: false, writableFinished: false }
  expect(stateOf(stages)).toEqual(fresh)
  stages.resume().end('{"kind":"alloc"}\n')
  expect(stateOf(stages)).toEqual({ ...fresh, writableEnded: true })
  await once(stages, 'close')
  expect(stages.destroyed).toBe(true)
  const done = { closed: true, errored: null, readableEnded: true, writableEnded: true, writableFinished: true }
  expect(stateOf(stages)).toEqual(done)
})

test('and what they failed with', async () => {
  const stages = make()
  stages.on('error', () => undefined)
  const closed = new Promise((resolve) => stages.once('close', resolve))
  stages.resume().end('nothing\n')
  await closed
  expect(stages.errored).toMatchObject({ code: 'ERR_TRACE_MALFORMED' })
  expect(stages.closed).toBe(true)
})

test('or were destroyed with', async () => {
  const stages = make()
  stages.on('error', () => undefined)
  const reason = new Error('mine')
  await new Promise((resolve) => stages.once('close', resolve).destroy(reason))
  expect(stages.errored).toBe(reason)
})

test('they can be disposed of', async () => {
  const stages = make()
  stages.on('error', () => undefined)
  await stages[Symbol.asyncDispose]()
  expect(stages.destroyed).toBe(true)
})

test('one stage is too few', () => {
  expect(() => (compose as (...stages: object[]) => unknown)(filter({}))).toThrow(TypeError)
})
