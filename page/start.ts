import { el } from './parts/dom.js'
import { followSystem } from './parts/theme.js'

/**
 * Begins the page, in place of the tables, which are for readers without scripts.
 * @param begin shows something in an element; `reveal` makes that visible
 */
export async function start(begin: (app: HTMLElement, reveal: () => void) => Promise<void>): Promise<void> {
  followSystem()
  const app = document.querySelector('#app') as HTMLElement
  const tables = document.querySelector('#tables') as HTMLElement
  const reveal = () => {
    app.hidden = false
    tables.hidden = true
  }
  try {
    await begin(app, reveal)
  } catch (error) {
    app.hidden = false
    tables.hidden = false
    const reason = error instanceof Error ? error.message : String(error)
    app.replaceChildren(
      el('p', { class: 'note bad', attributes: { role: 'alert' } }, `The report cannot be shown: ${reason}`),
    )
  }
}
