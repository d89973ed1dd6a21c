/** Light and dark: as the system says, until the reader chooses. */
const CHANGED = 'heapflow-theme'
/** The class of elements that are notified. */
const THEMED = 'themed'
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

/**
 * Switches to light colours, for paper, and repaints everything immediately.
 * @returns a function that restores the previous colours
 */
export function lighten(): () => void {
  const before = isDark() ? 'dark' : 'light'
  apply('light')
  return () => apply(before)
}

function apply(theme: 'light' | 'dark'): void {
  document.documentElement.dataset['theme'] = theme
  for (const element of document.querySelectorAll(`.${THEMED}`)) element.dispatchEvent(new Event(CHANGED))
}

/** Calls when the colours change, as long as the element is on the page. */
export function onTheme(element: Element, listener: () => void): void {
  element.classList.add(THEMED)
  element.addEventListener(CHANGED, listener)
}

/** A colour of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
}
