import { button, el, type Child } from './dom.js'
import { isDark, onTheme, switchTheme } from './theme.js'

/**
 * The top of a page: a name, facts in one line, and buttons.
 * @param facts empty ones are omitted @param tools buttons before those for the colours and the help
 */
export function titleBar(
  name: string,
  facts: readonly string[],
  tools: readonly Child[],
  openHelp: () => void,
): HTMLElement {
  const theme = button('', switchTheme)
  const label = () => {
    theme.textContent = isDark() ? '☀' : '☾'
    theme.title = isDark() ? 'use light colours' : 'use dark colours'
    theme.setAttribute('aria-label', theme.title)
  }
  onTheme(theme, label)
  label()
  return el(
    'header',
    {},
    el(
      'div',
      { class: 'title' },
      el('h1', { title: name }, name),
      el(
        'p',
        {},
        ...facts.filter((fact) => fact !== '').flatMap((fact, n) => [n === 0 ? '' : ' · ', el('bdi', {}, fact)]),
      ),
    ),
    el(
      'div',
      { class: 'tools' },
      ...tools,
      theme,
      button('?', openHelp, { title: 'keys', attributes: { 'aria-label': 'keys' } }),
    ),
  )
}
