import type { ReportData } from '../lib/transforms/report/result.js'

/**
 * The data embedded in the page: JSON, compressed with gzip, as base64.
 * @returns undefined if there is none
 * @throws Error if it is damaged, or the browser too old
 */
export async function embedded(): Promise<ReportData | undefined> {
  const block = document.querySelector('#report-data')
  if (block === null) return undefined
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to read the data')
  const text = atob((block.textContent ?? '').trim())
  const packed = Uint8Array.from(text, (char) => char.charCodeAt(0))
  const data: unknown = await new Response(
    new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip')),
  ).json()
  block.remove()
  if ((data as Partial<ReportData>).version !== 1) throw new Error('the data is not of a version that the page knows')
  return data as ReportData
}
