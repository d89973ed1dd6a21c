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
  const bytes = fromBase64((element.textContent ?? '').trim())
  element.remove()
  return new Blob([bytes])
}

/** The bytes that a text is. Newer browsers have a function for it, which is much faster. */
function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const { fromBase64: read } = Uint8Array as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }
  if (read !== undefined) return read.call(Uint8Array, base64)
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

async function inflated(id: string): Promise<Response> {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to read the data')
  return new Response(packedBlob(id).stream().pipeThrough(new DecompressionStream('gzip')))
}
