import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ReportData } from '../../lib/transforms/report/result.js'
import { browserFile } from '../support/browser.js'

/** The address of a report with some data, in a file of its own. @param tables for readers without scripts, as HTML */
export function reportFile(data: ReportData, name: string, tables = ''): string {
  const template = readFileSync(fileURLToPath(new URL('../../dist/page/report.html', import.meta.url)), 'utf8')
  const packed = gzipSync(JSON.stringify(data)).toString('base64')
  const parts = {
    title: 'report',
    tables,
    data: `<script type="application/octet-stream" id="report-data">${packed}</script>`,
  }
  const html = Object.entries(parts).reduce(
    (text, [part, content]) => text.split(`<!--heapflow:${part}-->`).join(content),
    template,
  )
  return browserFile(`${name}.html`, html)
}
