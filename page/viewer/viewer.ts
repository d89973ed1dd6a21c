import type { ReportData } from '../../lib/transforms/report/result.js'
import { button, el } from '../parts/dom.js'
import { bytes, counted } from '../parts/format.js'
import { startJob } from '../worker/job.js'

/** Shows a place to drop a trace on, and reads what is dropped or chosen. */
export interface Viewer {
  /** Replaces the report again. */
  open(): void
}

/**
 * The page without a report: it takes a trace, which a worker reads. Nothing leaves the machine.
 * @param code gives that of the worker
 * @param generator the program and its version
 * @param show shows the report of a trace, and returns what ends that
 */
export function viewer(
  root: HTMLElement,
  { code, generator }: { code: () => Promise<string>; generator: string },
  show: (data: ReportData, file: File, old?: File) => () => void,
): Viewer {
  const input = el('input', {
    class: 'file',
    attributes: { type: 'file', multiple: '', 'aria-label': 'trace' },
    on: { change: () => void takeAll(input.files) },
  })
  const bar = el('progress', { attributes: { max: '1', 'aria-label': 'progress' } })
  const state = el('p', { class: 'state', attributes: { 'aria-live': 'polite' } })
  const stop = button('Cancel', cancel)
  const work = el('div', { class: 'work', attributes: { hidden: '' } }, bar, state, stop)
  const fault = el('p', { class: 'note bad', attributes: { role: 'alert', hidden: '' } })
  const choose = button('Choose a trace', () => input.click(), { class: 'choose' })
  const place = el(
    'main',
    { class: 'drop' },
    el('h1', {}, 'heapflow'),
    el(
      'p',
      {},
      'Drop a heap trace here, or choose one: any format that heapflow reads but Parquet and HATF in ASCII, compressed or not. Of two traces, the newer file is compared with the older one.',
    ),
    el('p', {}, choose, input),
    el('p', { class: 'explain' }, 'It is read in this page. Nothing leaves your machine.'),
    work,
    fault,
  )
  let stopJob: (() => void) | undefined
  let endReport: (() => void) | undefined
  /** The number of traces that were taken: what was begun for an earlier one is not continued. */
  let taken = 0

  function cancel(): void {
    taken++
    stopJob?.()
    stopJob = undefined
    work.hidden = true
    choose.disabled = false
  }

  function fail(message: string): void {
    cancel()
    fault.hidden = false
    fault.textContent = message
  }

  /** Takes a trace, or the older of two, and the one that it is compared with. */
  function takeAll(files: FileList | undefined | null): void {
    const sorted = [...(files ?? [])].toSorted((a, b) => a.lastModified - b.lastModified)
    if (sorted.length > 2) {
      open()
      fail(`These are ${counted(sorted.length, 'file')}: choose one trace, or two to compare.`)
    } else void take(sorted.at(-1), sorted.length === 2 ? sorted[0] : undefined)
  }

  async function take(file: File | undefined, old?: File): Promise<void> {
    if (file === undefined) return
    cancel()
    open()
    const mine = taken
    fault.hidden = true
    work.hidden = false
    choose.disabled = true
    bar.value = 0
    state.textContent = `${file.name}: ${bytes(file.size)}`
    input.value = ''
    const failed = (message: string) => fail(`${file.name} cannot be read: ${message}`)
    let text: string
    try {
      text = await code()
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error))
      return
    }
    if (mine !== taken) return
    const request = { file, name: file.name, generator, criteria: [] }
    stopJob = startJob(text, request, {
      progress(answer) {
        bar.value = file.size === 0 ? 1 : answer.bytes / file.size
        state.textContent = `${answer.format}: ${counted(answer.events, 'event')}, ${bytes(answer.bytes)} of ${bytes(file.size)}`
      },
      failed,
      done({ data }) {
        cancel()
        endReport = show(data, file, old)
      },
    })
  }

  function open(): void {
    endReport?.()
    endReport = undefined
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
    takeAll(event.dataTransfer?.files)
  })
  open()
  return { open }
}
