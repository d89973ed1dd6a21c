import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { commandLine, scratch, shell } from '../support/commands.js'

const TRACE = 'test/fixtures/mtrc/cxx64.mtrc'

/** A command that serves a page: its address, what it says, and how it ends. */
async function start(line: string, env: NodeJS.ProcessEnv = {}) {
  const child: ChildProcess = spawn('bash', ['-c', `exec ${commandLine(line).trim()}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, DISPLAY: '', WAYLAND_DISPLAY: '', BROWSER: '', ...env },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number | null, string | null]>
  const [address] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: address.toString().trim(), child, ended, stderr: () => stderr }
}

/** The report that a page has in it. */
function reportIn(html: string): { name: string; summary: { events: number } } {
  const data = /id="report-data">([^<]+)</.exec(html)?.[1] ?? ''
  return JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString()) as ReturnType<typeof reportIn>
}

test('hf-view serves a page that reads traces, until a signal ends it', { tags: ['slow'] }, async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { url, child, ended, stderr } = await start('hf-view --no-browser')
    const html = await (await fetch(url)).text()
    expect(html).toBe(readFileSync('dist/page/viewer.html', 'utf8'))
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    expect(stderr()).toBe('')
  }
})

test('hf-view TRACE and hf-report --open serve the report', { tags: ['slow'] }, async () => {
  const { events } = JSON.parse((await shell(`hf-stats --json ${TRACE}`)).stdout.toString()) as { events: number }
  for (const line of [`hf-view ${TRACE}`, `hf-report --open ${TRACE}`, `heapflow view ${TRACE}`]) {
    const { url, child, ended } = await start(line)
    expect(reportIn(await (await fetch(url)).text())).toMatchObject({ name: 'cxx64.mtrc', summary: { events } })
    child.kill('SIGINT')
    expect((await ended)[0], line).toBe(0)
  }
})

test('hf-view ends if no one reads its address', { tags: ['slow'] }, async () => {
  expect(await shell('sleep 3 | { timeout 20 hf-view --no-browser; echo $? >&2; } | true')).toMatchObject({
    stderr: '0\n',
  })
})

test('hf-view --once ends when the page was delivered', async () => {
  const { url, ended } = await start(`hf-view --once --no-browser ${TRACE}`)
  expect((await fetch(url)).status).toBe(200)
  expect(await ended).toEqual([0, null])
})

test('what was read of a truncated trace is shown, and the status says so', async () => {
  const path = `${scratch()}/cut.mtrc`
  writeFileSync(path, readFileSync(TRACE).subarray(0, -20))
  const { url, ended, stderr } = await start(`hf-view --once --no-browser ${path}`)
  expect(reportIn(await (await fetch(url)).text()).summary.events).toBeGreaterThan(10)
  expect(await ended).toEqual([1, null])
  expect(stderr()).toMatch(/^hf-view: .*truncated/)
})

test('the browser gets an address that works once', { tags: ['slow'] }, async () => {
  const folder = scratch()
  writeFileSync(
    `${folder}/browser.mjs`,
    `
    import { writeFileSync } from 'node:fs'
    const response = await fetch(process.argv[2])
    writeFileSync('${folder}/seen', JSON.stringify([process.argv[2], response.url, (await response.text()).length]))`,
  )
  const { url, ended } = await start(`hf-view --once ${TRACE}`, {
    BROWSER: `${process.execPath} ${folder}/browser.mjs`,
  })
  expect(await ended).toEqual([0, null])
  const seen = await waitForFile(`${folder}/seen`)
  expect(seen).toEqual([expect.not.stringContaining(new URL(url).pathname), url, expect.any(Number)])
})

async function waitForFile(path: string): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      if (tries > 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

test('what cannot be is refused', { tags: ['slow'] }, async () => {
  const folder = scratch()
  writeFileSync(`${folder}/none`, 'what is this?')
  for (const [line, code, message] of [
    ['hf-view --port 65536', 2, '--port needs a whole number from 0 to 65535, not "65536"'],
    ['hf-view --port x', 2, 'port'],
    ['hf-view a b', 2, 'hf-view'],
    [`hf-view ${folder}/none`, 1, 'unrecognized format'],
    [`hf-view ${folder}/missing`, 1, 'no such file'],
    [`hf-report --open -o x.html ${TRACE}`, 2, '--open shows the report instead of writing it: not with --output'],
    [`hf-report --open -z ${TRACE}`, 2, 'not with --gzip'],
  ] as const) {
    const { code: status, stderr, stdout } = await shell(line)
    expect([status, stdout.toString()], line).toEqual([code, ''])
    expect(stderr).toContain(message)
  }
})
