import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CHROMIUM, closeAfterAll, NO_BROWSER, openPage } from '../../support/browser.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const TRACES = ['replay/git.txt.gz', 'replay/mstress-head.txt.gz', 'mtrc/small64.mtrc.gz']

/** SHA-256 of each trace at the fast and at the best level. They change only when the format does. */
const DIGESTS = [
  'eaa77bd2d9bcecc3db8dc746bfbfb00ea14eda79385b12ea0d90a5e54370af2d',
  '8e7e3291ad536678c1705b4e6614aac584b6807f7c2224212006fe7644d09d08',
  '6855ee7928ca1bdcdb9e83aaf0a1d50bc3554e831c2bc1751fcc825c79ee6a0c',
  'c9318c873e122510a62d712f4aff418f558e18f9c23bbd0412ee1144e27ea474',
  '65662cfdceda6baa9970ad2f6c179d392fbd3ac3b8fd6d70b78bf5c32b871b6a',
  'c3577737ec8b6289742910e7502ac4d263022eb8797a350292b4595015182580',
]

/** Other versions of Node: in folder `22`, what `npm install node@22` made there. */
const NODES = process.env['HEAPFLOW_NODES'] ?? join(tmpdir(), 'heapflow-nodes')

function digestsBy(node: string): string[] {
  const paths = TRACES.map((name) => `${ROOT}test/fixtures/${name}`)
  const script = `${ROOT}test/support/compact-digests.mjs`
  return execFileSync(node, [script, `${ROOT}dist`, ...paths], { encoding: 'utf8' })
    .trim()
    .split('\n')
}

test('a trace always gives the same bytes', { tags: ['slow'] }, () => {
  expect(digestsBy(process.execPath)).toEqual(DIGESTS)
})

for (const version of [20, 22, 24, 26]) {
  test(`Node ${version} gives the same bytes`, { tags: ['slow'] }, ({ skip }) => {
    const node = join(NODES, String(version), 'node_modules/node/bin/node')
    skip(!existsSync(node), `there is no ${node}`)
    expect(digestsBy(node)).toEqual(DIGESTS)
  })
}

/** What runs in a page. */
const ENCODE = `(async () => {
  const { readTrace, FORMATS } = await import('/heapflow.js')
  const compact = await FORMATS.find(({ name }) => name === 'compact').load()
  const digests = []
  for (let i = 0; i < ${TRACES.length}; i++) {
    for (const level of [1, 2]) {
      const encoder = compact.encoder({ level })
      const parts = []
      const take = () => {
        for (let bytes = encoder.next(); bytes !== null; bytes = encoder.next()) parts.push(bytes.slice())
      }
      for await (const batch of readTrace((await fetch('/' + i)).body)) {
        encoder.feed(batch)
        take()
      }
      encoder.end()
      take()
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()))
      digests.push(Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''))
    }
  }
  return digests
})()`

let server: Server
let origin = ''

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? '').slice(1)
    const name = TRACES[Number(path)]
    if (path === '')
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>heapflow</title>')
    else if (path === 'heapflow.js')
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync(`${ROOT}dist/browser/index.js`))
    else if (name !== undefined) response.writeHead(200).end(readFileSync(`${ROOT}test/fixtures/${name}`))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterAll(() => void server.close())
closeAfterAll()

test('Chromium gives the same bytes', { tags: ['slow'] }, async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER)
  const { page } = await openPage(origin)
  expect(await page.evaluate<string[]>(ENCODE)).toEqual(DIGESTS)
})
