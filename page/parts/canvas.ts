import { el } from './dom.js'
import type { Picture } from './take.js'
import type { Brush } from './svg-context.js'
import { onTheme } from './theme.js'

/** A canvas that is drawn again when its box or the colours change. Sizes are in CSS pixels. */
export interface Canvas {
  readonly element: HTMLCanvasElement
  /** Schedules one repaint, regardless of the number of calls. */
  redraw(): void
  /** What is shown, for saving. @param height if not that on the page */
  picture(title: string, height?: number): Picture
}

/** The event that has canvases painted at once, for paper. */
export const PRINTED = 'heapflow-print'

/** @param draw paints everything; the context is scaled, so that its units are CSS pixels */
export function canvas(label: string, draw: (context: Brush, width: number, height: number) => void): Canvas {
  const element = el('canvas', {
    class: 'picture',
    attributes: { tabindex: '0', role: 'img', 'aria-label': label },
  })
  const context = element.getContext('2d') as CanvasRenderingContext2D
  let isDue = false
  const paint = () => {
    isDue = false
    const { clientWidth: width, clientHeight: height } = element
    if (width === 0 || height === 0) return
    const ratio = devicePixelRatio || 1
    const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)]
    if (element.width !== pixelWidth || element.height !== pixelHeight) {
      element.width = pixelWidth
      element.height = pixelHeight
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0)
    context.clearRect(0, 0, width, height)
    draw(context, width, height)
  }
  const redraw = () => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(paint)
  }
  new ResizeObserver(redraw).observe(element)
  element.addEventListener(PRINTED, paint)
  onTheme(element, paint)
  return {
    element,
    redraw,
    picture(title, wanted) {
      const width = Math.max(400, element.clientWidth)
      const height = wanted ?? element.clientHeight
      return { title, width, height, draw: (brush) => draw(brush, width, height) }
    },
  }
}

/** A box with text beside the pointer. There is one for the page. */
const tip = el('div', { class: 'tip', attributes: { role: 'tooltip', hidden: '' } })

/** An element for each line, the first of which is strong. */
export function elementsOf(tag: 'div' | 'span', lines: readonly string[]): HTMLElement[] {
  return lines.map((line, n) => el(tag, n === 0 ? { class: 'strong' } : {}, line))
}

/** Shows lines of text beside a point of the window, or hides the box if there are none. */
export function showTip(lines: readonly string[] | undefined, x = 0, y = 0): void {
  if (!tip.isConnected) document.body.append(tip)
  tip.hidden = lines === undefined
  if (lines === undefined) return
  tip.replaceChildren(...elementsOf('div', lines))
  const { offsetWidth: width, offsetHeight: height } = tip
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`
  tip.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`
}
