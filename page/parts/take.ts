import { el } from './dom.js'
import { fileName } from './csv.js'
import { save } from './save.js'
import { SvgBrush, type Brush } from './svg-context.js'
import { colour } from './theme.js'

/** A picture that can be saved. */
export interface Picture {
  readonly title: string
  readonly width: number
  readonly height: number
  draw(brush: Brush): void
}

/** The space for the title above a saved picture. */
const HEAD = 30
/** The maximum number of pixels on one side of an image. */
const MOST = 16_000

/** Buttons that save a picture as SVG and as PNG. @param picture gives what is shown now */
export function takeAway(picture: () => Picture): HTMLElement {
  return el(
    'div',
    { class: 'take' },
    action('SVG', 'save the picture as SVG', () => {
      const shown = picture()
      const brush = new SvgBrush(el('canvas').getContext('2d') as CanvasRenderingContext2D)
      const text = paint(shown, brush).document(shown.width, shown.height + HEAD, shown.title, colour('surface'))
      save(fileName(shown.title, 'svg'), new Blob([text], { type: 'image/svg+xml' }))
    }),
    action('PNG', 'save the picture as PNG', () => {
      const shown = picture()
      const [width, height] = [shown.width, shown.height + HEAD]
      const ratio = Math.min(2, MOST / Math.max(width, height))
      const surface = el('canvas')
      surface.width = Math.round(width * ratio)
      surface.height = Math.round(height * ratio)
      const context = surface.getContext('2d') as CanvasRenderingContext2D
      context.scale(ratio, ratio)
      context.fillStyle = colour('surface')
      context.fillRect(0, 0, width, height)
      paint(shown, context)
      surface.toBlob((blob) => blob && save(fileName(shown.title, 'png'), blob))
    }),
  )
}

/** A small button. */
export function action(label: string, title: string, run: () => void): HTMLButtonElement {
  return el('button', { class: 'action', title, attributes: { type: 'button' }, on: { click: run } }, label)
}

function paint<Kind extends Brush>(picture: Picture, brush: Kind): Kind {
  brush.save()
  brush.font = '600 14px system-ui, sans-serif'
  brush.fillStyle = colour('text')
  brush.textAlign = 'left'
  brush.fillText(picture.title, 8, 20)
  brush.translate(0, HEAD)
  picture.draw(brush)
  brush.restore()
  return brush
}
