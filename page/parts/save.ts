import { button, el } from './dom.js'
import { visible } from './text.js'

/** How long a browser may take to begin a download, in milliseconds. */
const SAVE_MS = 60_000

/** Has the browser save a file. @param name without characters that file systems refuse */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  el('a', { attributes: { href: address, download: name } }).click()
  setTimeout(() => URL.revokeObjectURL(address), SAVE_MS)
}

/** A button that copies a text. It says that it did. */
export function copyButton(label: string, text: () => string): HTMLButtonElement {
  const one = button(label, () => {
    const done = (what: string) => {
      one.textContent = what
      setTimeout(() => (one.textContent = label), 1500)
    }
    void copy(text()).then(
      () => done('Copied'),
      () => done('Not copied'),
    )
  })
  return one
}

/** Copies a text. On a page from disk, browsers may not have the newer interface. */
export async function copy(text: string): Promise<void> {
  const shown = visible(text)
  try {
    await navigator.clipboard.writeText(shown)
  } catch {
    const area = el('textarea', { class: 'file' })
    area.value = shown
    document.body.append(area)
    area.select()
    const isDone = document.execCommand('copy')
    area.remove()
    if (!isDone) throw new Error('the browser does not allow it')
  }
}
