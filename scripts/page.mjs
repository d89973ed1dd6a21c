// Bundles page/ into dist/page/report.html: one file with its script and its style, which a content security policy names by their hashes.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url))
const MARKERS = ['<!--heapflow:title-->', '<!--heapflow:tables-->', '<!--heapflow:data-->']

const bundle = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [path(entry)], bundle: true, minify: true, write: false, format: 'iife', target: 'es2022', charset: 'utf8', legalComments: 'none', logLevel: 'warning',
  })
  return outputFiles[0].text.trim()
}

/** Script text that no HTML parser takes for the end of its element, or for a comment. */
const scriptText = (code) => code.replace(/<\/(?=script)/gi, '<\\/').replace(/<!--/g, '<\\!--')
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const script = scriptText(await bundle('page/main.ts'))
const style = await bundle('page/style.css')
if (/<\/style/i.test(style)) throw new Error('the style would end its element')
const policy = [
  "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "base-uri 'none'", "form-action 'none'",
].join('; ')
const parts = { policy, style, script }
const html = Object.entries(parts).reduce((text, [name, part]) => {
  const pieces = text.split(`{{${name}}}`)
  if (pieces.length !== 2) throw new Error(`page/report.html has no {{${name}}}, or several`)
  return pieces.join(part)
}, readFileSync(path('page/report.html'), 'utf8'))
for (const marker of MARKERS) if (html.split(marker).length !== 2) throw new Error(`the page has not exactly one ${marker}`)
mkdirSync(path('dist/page'), { recursive: true })
writeFileSync(path('dist/page/report.html'), html)
