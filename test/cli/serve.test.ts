import { request, type IncomingHttpHeaders } from 'node:http'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test, onTestFinished, vi } from 'vitest'
import { openBrowser } from '../../lib/cli/open-browser.js'
import { servePage, type ServedPage } from '../../lib/cli/serve.js'
import { scratch } from '../support/commands.js'

const PAGE = Buffer.from('<!doctype html><title>page</title>')

async function serve(): Promise<ServedPage & { port: number; path: string }> {
  const page = await servePage(PAGE)
  onTestFinished(() => page.close())
  const { port, pathname } = new URL(page.url)
  return { ...page, port: Number(port), path: pathname }
}

interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
}

/** A request with any path and any host, which `fetch` would not send. */
function ask(port: number, path: string, host = `127.0.0.1:${port}`, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers: { host } }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
    })
    sent.on('error', reject)
    sent.end()
  })
}

test('the page is served under its token, and may not be kept or framed', async () => {
  const { url, port, path, delivered } = await serve()
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/)
  const { status, body, headers } = await ask(port, path)
  expect([status, body]).toEqual([200, PAGE.toString()])
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  })
  await delivered
  expect(await ask(port, path, undefined, 'HEAD')).toMatchObject({ status: 200, body: '' })
})

test('nothing else is served', async () => {
  const { port, path } = await serve()
  const other = await serve()
  for (const wrong of [
    '/',
    '/favicon.ico',
    path.slice(0, -1),
    `${path}x`,
    `${path}?x`,
    path.toUpperCase(),
    other.path,
    '/../',
    `/%2e%2e${path}`,
  ])
    expect(await ask(port, wrong), wrong).toMatchObject({ status: path === wrong ? 200 : 404, body: '' })
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect(await ask(port, path, undefined, method), method).toMatchObject({ status: 405, body: '' })
})

test('another host gets nothing: a name that leads to this machine does not open the page', async () => {
  const { port, path, once } = await serve()
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `localhost:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
  ])
    for (const wanted of [path, new URL(once).pathname])
      expect(await ask(port, wanted, host), host).toMatchObject({ status: 421 })
  expect(await ask(port, new URL(once).pathname)).toMatchObject({ status: 303 })
})

test('the address for the browser leads to the page once', async () => {
  const { port, path, once } = await serve()
  const first = await ask(port, new URL(once).pathname)
  expect(first).toMatchObject({ status: 303, headers: { location: path }, body: '' })
  expect(await ask(port, new URL(once).pathname)).toMatchObject({ status: 404 })
  expect(once).not.toContain(path)
})

test('a page that is being delivered arrives whole when the server ends', async () => {
  const large = Buffer.alloc(5_000_000, 'x')
  const page = await servePage(large)
  const answer = ask(Number(new URL(page.url).port), new URL(page.url).pathname)
  await page.delivered
  await page.close()
  expect((await answer).body.length).toBe(large.length)
})

test('a port that is taken is an error', async () => {
  const { port } = await serve()
  await expect(servePage(PAGE, port)).rejects.toThrow(/EADDRINUSE/)
})

test('the browser is the command in BROWSER, and none where there is no screen', async () => {
  const folder = scratch()
  const script = `${folder}/browser`
  writeFileSync(script, `#!/bin/sh\necho "$@" > ${folder}/called\n`)
  chmodSync(script, 0o755)
  openBrowser('http://127.0.0.1:1/', { env: { BROWSER: ` ${script}  --new ` }, platform: 'linux' })
  await vi.waitFor(() => expect(readFileSync(`${folder}/called`, 'utf8')).toBe('--new http://127.0.0.1:1/\n'), 5000)
  openBrowser('http://127.0.0.1:1/', { env: {}, platform: 'linux' })
  openBrowser('http://127.0.0.1:1/', { env: { BROWSER: ':' }, platform: 'linux' })
  openBrowser('http://127.0.0.1:1/', { env: { BROWSER: `${folder}/none` }, platform: 'linux' })
})

test('BROWSER may be a list, of commands with %s in the place of the address', async () => {
  const folder = scratch()
  const fails = `${folder}/fails`
  writeFileSync(fails, '#!/bin/sh\nexit 3\n')
  const browser = `${folder}/browser`
  writeFileSync(browser, `#!/bin/sh\necho "$@" > ${folder}/called\n`)
  const last = `${folder}/last`
  writeFileSync(last, `#!/bin/sh\ntouch ${folder}/last-called\n`)
  for (const script of [fails, browser, last]) chmodSync(script, 0o755)
  const list = `:${folder}/none %s: ${fails} --x:${browser} -u=%s --new:${last}`
  openBrowser('http://127.0.0.1:1/$&', { env: { BROWSER: list }, platform: 'linux' })
  const called = () => readFileSync(`${folder}/called`, 'utf8')
  await vi.waitFor(() => expect(called()).toBe('-u=http://127.0.0.1:1/$& --new\n'), 10_000)
  expect(existsSync(`${folder}/last-called`)).toBe(false)
})
