// Bundles page/ into four pages of dist/page/, each one file with its script and its style, which a content security
// policy names by their hashes: report.html, the template of reports; report-trace.html, that of reports with the
// trace, which a worker reads again; simulation.html, that of simulated heaps; and viewer.html, whose worker reads
// traces of any format.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { forBrowsers, withKernels } from './browser-options.mjs'
import { noticesOf } from './notices.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const MARKERS = ['<!--heapflow:title-->', '<!--heapflow:tables-->', '<!--heapflow:data-->']

const bundle = async (entry, options) => {
  const { outputFiles, metafile } = await build({
    ...options,
    entryPoints: [path(entry)],
    write: false,
    format: 'iife',
    metafile: true,
  })
  return { code: outputFiles[0].text.trim(), metafile }
}

/** Script text that no HTML parser takes for the end of its element, or for a comment. */
const scriptText = (code) => code.replace(/<\/(?=script)/gi, '<\\/').replace(/<!--/g, '<\\!--')
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Puts texts in place of marks, each of which must be there once. */
const fill = (text, parts) =>
  Object.entries(parts).reduce((before, [mark, part]) => {
    const pieces = before.split(mark)
    if (pieces.length !== 2) throw new Error(`the page must have one ${mark}, not ${pieces.length - 1}`)
    return pieces.join(part)
  }, text)

// The scripts of the pages need nothing of Node, nor what stands for it.
const scriptOf = async (entry, worker) => {
  const { code, metafile } = await bundle(entry, { ...forBrowsers, inject: [], alias: {} })
  return scriptText(noticesOf(metafile, ...(worker ? [worker.metafile] : [])) + code)
}
const styleOf = async (entry) => {
  const {
    outputFiles: [{ text }],
  } = await build({ entryPoints: [path(entry)], bundle: true, minify: true, write: false })
  if (/<\/style/i.test(text)) throw new Error('the style would end its element')
  return text
}

const template = readFileSync(path('page/report.html'), 'utf8')
/** @param more what scripts may do besides, and other rules @param worker its bundle, if there is one */
const page = async (name, more = '', rules = [], worker = undefined) => {
  const [script, style] = [await scriptOf(`page/${name}.ts`, worker), await styleOf(`page/${name}.css`)]
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}${more}`,
    `style-src ${hash(style)}`,
    ...rules,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return fill(template, { '{{policy}}': policy, '{{style}}': style, '{{script}}': script })
}

/** Checks that a template has its markers, and writes it. */
const writeTemplate = (name, html) => {
  fill(html, Object.fromEntries(MARKERS.map((mark) => [mark, ''])))
  writeFileSync(path(`dist/page/${name}.html`), html)
}

mkdirSync(path('dist/page'), { recursive: true })
writeTemplate('report', await page('main'))
writeTemplate('simulation', await page('simulation'))

// A worker has the policy of the page that makes it; it compiles the kernels. It is compressed, as the data are, so the
// script of its page has its licences.
const live = (worker) => page('live', " 'wasm-unsafe-eval'", ['worker-src blob:'], worker)
const element = ({ code }, attributes = '') => {
  const packed = gzipSync(code, { level: 9 }).toString('base64')
  return `<script type="application/octet-stream" id="worker"${attributes}>${packed}</script>`
}

const KERNELS = ['compact', 'compact-best', 'fates', 'live', 'report', 'select', 'statistics']
const reader = await bundle('page/worker/compact.ts', withKernels(KERNELS))
const data = '<!--heapflow:data-->'
writeTemplate('report-trace', fill(await live(reader), { [data]: data + element(reader) }))

const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8'))
const any = await bundle('page/worker/any.ts', forBrowsers)
const viewer = fill(await live(any), {
  '<!--heapflow:title-->': 'heapflow',
  '<!--heapflow:tables-->': '<p>This page reads traces, for which it needs JavaScript.</p>',
  [data]: element(any, ` data-generator="heapflow ${version}"`),
})
writeFileSync(path('dist/page/viewer.html'), viewer)
