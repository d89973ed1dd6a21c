import { gunzipSync } from 'node:zlib'
import type { ReportData } from '../../lib/transforms/report/result.js'

/** The data that a page of a report has in it. */
export function reportData(page: string): ReportData {
  const [, text] =
    /<script type="application\/octet-stream" id="report-data">([A-Za-z0-9+/=]*)<\/script>/.exec(page) ?? []
  if (text === undefined) throw new Error('the page has no data')
  return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()) as ReportData
}
