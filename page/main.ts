import { embedded } from './load.js'
import { Model } from './model.js'
import { el } from './parts/dom.js'
import { followSystem } from './parts/theme.js'
import { shell } from './shell.js'

/** Shows the report in place of the tables, which are for readers without scripts. */
async function main(): Promise<void> {
  followSystem()
  const app = document.querySelector('#app') as HTMLElement
  const tables = document.querySelector('#tables') as HTMLElement
  try {
    const data = await embedded()
    if (data === undefined) return
    app.hidden = false
    tables.hidden = true
    shell(app, new Model(data))
  } catch (error) {
    app.hidden = false
    tables.hidden = false
    const reason = error instanceof Error ? error.message : String(error)
    app.replaceChildren(
      el('p', { class: 'note bad', attributes: { role: 'alert' } }, `The report cannot be shown: ${reason}`),
    )
  }
}

void main()
