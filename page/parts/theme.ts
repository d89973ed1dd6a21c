/** Light and dark: as the system says, until the reader chooses. */
const CHANGED = 'heapflow-theme'
const system = matchMedia('(prefers-color-scheme: dark)')
let isChosen = false

/** Takes the colours of the system, and follows them. */
export function followSystem(): void {
  const follow = () => {
    if (!isChosen) apply(system.matches ? 'dark' : 'light')
  }
  system.addEventListener('change', follow)
  follow()
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  return document.documentElement.dataset['theme'] === 'dark'
}

/** Chooses the colours that the page does not have now. */
export function switchTheme(): void {
  isChosen = true
  apply(isDark() ? 'light' : 'dark')
}

function apply(theme: 'light' | 'dark'): void {
  document.documentElement.dataset['theme'] = theme
  document.dispatchEvent(new Event(CHANGED))
}

/** Calls when the colours change. */
export function onTheme(listener: () => void): void {
  document.addEventListener(CHANGED, listener)
}

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
