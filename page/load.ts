/**
 * The data embedded in the page: JSON, compressed with gzip.
 * @returns undefined if there is none
 * @throws Error if it is damaged, or the browser too old
 */
export async function embedded<Data extends { readonly version: 1 }>(): Promise<Data | undefined> {
  if (document.querySelector('#report-data') === null) return undefined
  const data: unknown = await (await inflated('report-data')).json()
  if ((data as Partial<Data>).version !== 1) throw new Error('the data is not of a version that the page knows')
  return data as Data
}

/** The text that an element has, compressed with gzip. @throws Error if it is damaged, or the browser too old */
export async function packedText(id: string): Promise<string> {
  return (await inflated(id)).text()
}

/** The bytes that an element has as base64. The element is then removed. @throws Error if they are damaged */
export function packedBlob(id: string): Blob {
  const element = document.querySelector(`#${id}`) as HTMLElement
  const text = atob((element.textContent ?? '').trim())
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  element.remove()
  return new Blob([bytes])
}

async function inflated(id: string): Promise<Response> {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to read the data')
  return new Response(packedBlob(id).stream().pipeThrough(new DecompressionStream('gzip')))
}
