import type { ReportData } from '../../lib/transforms/report/result.js'
import { button, el } from '../parts/dom.js'
import { bytes, grouped } from '../parts/format.js'
import type { Answer, Request } from './messages.js'

/** Shows a place to drop a trace on, and reads what is dropped or chosen. */
export interface Viewer {
  /** Replaces the report again. */
  open(): void
}

/**
 * The page without a report: it takes a trace, which a worker reads. Nothing leaves the machine.
 * @param code of the worker
 * @param generator the program and its version
 * @param show is called with the report
 */
export function viewer(
  root: HTMLElement,
  { code, generator }: { code: string; generator: string },
  show: (data: ReportData) => void,
): Viewer {
  const input = el('input', {
    class: 'file',
    attributes: { type: 'file', 'aria-label': 'trace' },
    on: { change: () => take(input.files?.[0]) },
  })
  const bar = el('progress', { attributes: { max: '1', 'aria-label': 'progress' } })
  const state = el('p', { class: 'state', attributes: { 'aria-live': 'polite' } })
  const stop = button('Cancel', cancel)
  const work = el('div', { class: 'work', attributes: { hidden: '' } }, bar, state, stop)
  const fault = el('p', { class: 'note bad', attributes: { role: 'alert', hidden: '' } })
  const choose = button('Choose a trace', () => input.click(), { class: 'choose' })
  const place = el(
    'div',
    { class: 'drop' },
    el('h1', {}, 'heapflow'),
    el('p', {}, 'Drop a heap trace here, or choose one: any format that heapflow reads, compressed or not.'),
    el('p', {}, choose, input),
    el('p', { class: 'explain' }, 'It is read in this page. Nothing leaves your machine.'),
    work,
    fault,
  )
  let worker: Worker | undefined

  function cancel(): void {
    worker?.terminate()
    worker = undefined
    work.hidden = true
    choose.disabled = false
  }

  function fail(message: string): void {
    cancel()
    fault.hidden = false
    fault.textContent = message
  }

  function take(file: File | undefined): void {
    if (file === undefined) return
    cancel()
    open()
    fault.hidden = true
    work.hidden = false
    choose.disabled = true
    bar.value = 0
    state.textContent = `${file.name}: ${bytes(file.size)}`
    const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
    worker = new Worker(address)
    worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      URL.revokeObjectURL(address)
      if (data.kind === 'progress') {
        bar.value = file.size === 0 ? 1 : data.bytes / file.size
        state.textContent = `${data.format}: ${grouped(data.events)} events, ${bytes(data.bytes)} of ${bytes(file.size)}`
      } else if (data.kind === 'error') fail(`${file.name} cannot be read: ${data.message}`)
      else {
        cancel()
        show(data.data)
      }
    })
    worker.addEventListener('error', (event) => fail(`${file.name} cannot be read: ${event.message}`))
    worker.postMessage({ file, name: file.name, generator } satisfies Request)
    input.value = ''
  }

  function open(): void {
    root.replaceChildren(place)
  }

  addEventListener('dragover', (event) => {
    event.preventDefault()
    place.classList.add('over')
  })
  addEventListener('dragleave', () => place.classList.remove('over'))
  addEventListener('drop', (event) => {
    event.preventDefault()
    place.classList.remove('over')
    take(event.dataTransfer?.files[0])
  })
  open()
  return { open }
}
