// Bundles page/ into two pages of dist/page/, each one file with its script and its style, which a content security policy
// names by their hashes: report.html, the template of reports, and viewer.html, which reads traces in a worker.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { forBrowsers } from './browser-options.mjs'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const MARKERS = ['<!--heapflow:title-->', '<!--heapflow:tables-->', '<!--heapflow:data-->']

const bundle = async (entry, options) => {
  const { outputFiles } = await build({ ...options, entryPoints: [path(entry)], write: false, format: 'iife' })
  return outputFiles[0].text.trim()
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

// The script of the page needs nothing of Node, nor what stands for it.
const script = scriptText(await bundle('page/main.ts', { ...forBrowsers, inject: [], alias: {} }))
const worker = scriptText(await bundle('page/viewer/worker.ts', forBrowsers))
const { outputFiles: [{ text: style }] } = await build({ entryPoints: [path('page/style.css')], bundle: true, minify: true, write: false })
if (/<\/style/i.test(style)) throw new Error('the style would end its element')

const template = readFileSync(path('page/report.html'), 'utf8')
/** @param more what scripts may do besides, and other rules */
const page = (more = '', rules = []) => {
  const policy = [
    "default-src 'none'", `script-src ${hash(script)}${more}`, `style-src ${hash(style)}`, ...rules, "base-uri 'none'", "form-action 'none'",
  ].join('; ')
  return fill(template, { '{{policy}}': policy, '{{style}}': style, '{{script}}': script })
}

mkdirSync(path('dist/page'), { recursive: true })
const report = page()
fill(report, Object.fromEntries(MARKERS.map((mark) => [mark, ''])))
writeFileSync(path('dist/page/report.html'), report)

// The worker has the policy of the page that makes it; it compiles the kernels.
const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8'))
const viewer = fill(page(" 'wasm-unsafe-eval'", ['worker-src blob:']), {
  '<!--heapflow:title-->': 'heapflow',
  '<!--heapflow:tables-->': '<p>This page reads traces, for which it needs JavaScript.</p>',
  '<!--heapflow:data-->': `<script type="text/plain" id="worker" data-generator="heapflow ${version}">${worker}</script>`,
})
writeFileSync(path('dist/page/viewer.html'), viewer)
