import { visible } from './text.js'

/** What pictures draw with: the part of a canvas's context that they use. */
export interface Brush {
  fillStyle: string | CanvasGradient | CanvasPattern
  strokeStyle: string | CanvasGradient | CanvasPattern
  globalAlpha: number
  lineWidth: number
  font: string
  textAlign: CanvasTextAlign
  textBaseline: CanvasTextBaseline
  fillRect(x: number, y: number, width: number, height: number): void
  strokeRect(x: number, y: number, width: number, height: number): void
  fillText(text: string, x: number, y: number): void
  measureText(text: string): { readonly width: number }
  save(): void
  restore(): void
  translate(x: number, y: number): void
  rotate(angle: number): void
}

/** Text for XML. Characters that XML does not have are replaced. */
export function xml(text: string): string {
  return visible(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const ANCHORS: Readonly<Record<string, string>> = { center: 'middle', right: 'end', end: 'end' }
const number = (value: number) => String(Math.round(value * 100) / 100)

/** Makes an SVG picture of what is drawn: shapes and text only, without scripts, styles and links. */
export class SvgBrush implements Brush {
  fillStyle = '#000'
  strokeStyle = '#000'
  globalAlpha = 1
  lineWidth = 1
  font = '12px sans-serif'
  textAlign: CanvasTextAlign = 'left'
  textBaseline: CanvasTextBaseline = 'alphabetic'
  private readonly parts: string[] = []
  private readonly stack: { transform: string; depth: number }[] = []
  private transform = ''

  /** @param measure has the widths of texts */
  constructor(private readonly measure: CanvasRenderingContext2D) {}

  measureText(text: string): { readonly width: number } {
    this.measure.font = this.font
    return this.measure.measureText(text)
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.put('rect', { ...rectangle(x, y, width, height), fill: this.fillStyle })
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    const stroke = { fill: 'none', stroke: this.strokeStyle, 'stroke-width': number(this.lineWidth) }
    this.put('rect', { ...rectangle(x, y, width, height), ...stroke })
  }

  fillText(text: string, x: number, y: number): void {
    const [, weight = '400', size = '12'] = /^(?:(\d{3}) )?(\d+)px/.exec(this.font) ?? []
    const attributes = {
      x: number(x),
      y: number(this.textBaseline === 'middle' ? y + Number(size) * 0.35 : y),
      fill: this.fillStyle,
      'font-size': size,
      'font-family': /monospace/.test(this.font) ? 'monospace' : 'sans-serif',
      ...(weight !== '400' && { 'font-weight': weight }),
      ...(ANCHORS[this.textAlign] !== undefined && { 'text-anchor': ANCHORS[this.textAlign] }),
    }
    this.put('text', attributes, xml(text))
  }

  save(): void {
    this.stack.push({ transform: this.transform, depth: 0 })
  }

  restore(): void {
    this.transform = this.stack.pop()?.transform ?? ''
  }

  translate(x: number, y: number): void {
    this.transform += `translate(${number(x)} ${number(y)})`
  }

  rotate(angle: number): void {
    this.transform += `rotate(${number((angle * 180) / Math.PI)})`
  }

  /** A line or an area. @param points of which null ones are gaps */
  path(points: readonly (readonly [number, number] | null)[], attributes: Readonly<Record<string, string>>): void {
    let isDown = false
    const d = points
      .map((point) => {
        const letter = isDown ? 'L' : 'M'
        isDown = point !== null
        return point === null ? '' : `${letter}${number(point[0])} ${number(point[1])}`
      })
      .join('')
    this.put('path', { d, ...attributes })
  }

  /** The picture. @param title for readers and screen readers */
  document(width: number, height: number, title: string, background: string): string {
    return (
      `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${number(width)}" ` +
      `height="${number(height)}" viewBox="0 0 ${number(width)} ${number(height)}" role="img">\n` +
      `<title>${xml(title)}</title>\n<rect width="100%" height="100%" fill="${xml(background)}"/>\n` +
      `${this.parts.join('\n')}\n</svg>\n`
    )
  }

  private put(tag: string, attributes: Readonly<Record<string, string>>, content?: string): void {
    const all = {
      ...attributes,
      ...(this.globalAlpha < 1 && { opacity: number(this.globalAlpha) }),
      ...(this.transform !== '' && { transform: this.transform }),
    }
    const text = Object.entries(all)
      .map(([name, value]) => ` ${name}="${xml(value)}"`)
      .join('')
    this.parts.push(content === undefined ? `<${tag}${text}/>` : `<${tag}${text}>${content}</${tag}>`)
  }
}

function rectangle(x: number, y: number, width: number, height: number) {
  return { x: number(x), y: number(y), width: number(Math.max(0, width)), height: number(Math.max(0, height)) }
}
