import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTrace } from '../../lib/streams/io/open-trace.js'
import { StatisticsCollector } from '../../lib/transforms/statistics/collector.js'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../support/browser.js'

const ROOT = new URL('../../', import.meta.url)
const TRACE = new URL('test/fixtures/mtrc/git.mtrc.gz', ROOT)

const FILES: Readonly<Record<string, { readonly type: string; readonly content: () => Uint8Array }>> = {
  '/': { type: 'text/html', content: () => Buffer.from('<!doctype html><title>heapflow</title>') },
  '/heapflow.js': { type: 'text/javascript', content: () => readFileSync(new URL('dist/browser/index.js', ROOT)) },
  '/trace': { type: 'application/octet-stream', content: () => readFileSync(TRACE) },
}

let server: Server
let origin = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const file = FILES[request.url ?? '']
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': file.type }).end(file.content())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterAll(() => void server.close())
closeAfterAll()

/** What runs in the page: the statistics of the trace, as JSON. */
const READ = `(async () => {
  const { readTrace, StatisticsCollector } = await import('/heapflow.js')
  const collector = new StatisticsCollector()
  for await (const batch of readTrace((await fetch('/trace')).body)) collector.add(batch)
  return JSON.stringify(collector.finish(), (_, value) => (typeof value === 'bigint' ? String(value) : value))
})()`

test('Chromium reads a trace as Node does', { tags: ['slow'] }, async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER)
  const collector = new StatisticsCollector()
  for await (const batch of openTrace(TRACE).batches) collector.add(batch)
  const expected = JSON.stringify(collector.finish(), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  const { page } = await openPage(origin)
  expect(await page.evaluate<string>(READ)).toBe(expected)
})
