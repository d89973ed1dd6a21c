import { TRACE_NOTE } from '../../lib/exports/report/trace-note.js'
import type { ReportData } from '../../lib/transforms/report/result.js'
import { button, el } from '../parts/dom.js'
import { counted, grouped } from '../parts/format.js'
import { save as saveFile } from '../parts/save.js'
import { visible } from '../parts/text.js'
import { startJob } from '../worker/job.js'
import type { Criterion, Taken } from '../worker/messages.js'
import { commandOf } from './command.js'
import { criteriaForm } from './form.js'

/** The trace of a report, and what reads it. */
export interface Source {
  /** @throws Error if it is damaged */
  file(): Blob
  /** The code of the worker. */
  code(): Promise<string>
  readonly name: string
  readonly generator: string
  /** Whether the page has the trace in it. */
  readonly isEmbedded: boolean
}

/** The form that filters the trace, above all views. */
export interface FilterPanel {
  readonly element: HTMLElement
  /** Enters the values of some fields, and shows what then meets the criteria. */
  add(criteria: readonly Criterion[]): void
  /** Enters these values, and nothing else, and applies them. */
  restore(criteria: readonly Criterion[]): void
  /** Compares what is shown with another trace, and shows that. */
  compare(file: File): void
  /** Ends what is going on. */
  cancel(): void
}

/**
 * @param whole the report of the whole trace
 * @param show is called with the report of a part, or without one for the whole
 */
export function filterPanel(
  source: Source,
  whole: ReportData,
  show: (taken?: Taken, criteria?: readonly Criterion[]) => void,
): FilterPanel {
  const { name, generator, isEmbedded } = source
  const form = criteriaForm(whole)
  const all = `all ${counted(whole.summary.events, 'event')}`
  const state = el('span', { class: 'shown', attributes: { 'aria-live': 'polite' } }, all)
  const command = el('code', { class: 'command' })
  const fault = el('p', { class: 'note bad', attributes: { role: 'alert', hidden: '' } })
  const bar = el('progress', { attributes: { max: '1', 'aria-label': 'progress' } })
  const stop = button('Cancel', giveUp)
  const work = el('span', { class: 'work', attributes: { hidden: '' } }, bar, stop)
  let stopJob: (() => void) | undefined
  /** The number of reports that were asked for: what was begun for an earlier one is not continued. */
  let asked = 0
  /** The trace to compare with, and whether that was just chosen; and the one that the report is compared with. */
  let old: { file: Blob; name: string } | undefined
  let isNew = false
  let compared: typeof old

  function cancel(): void {
    asked++
    stopJob?.()
    stopJob = undefined
    work.hidden = true
  }

  /** A trace that could not be compared with is none of the next report's. */
  function giveUp(): void {
    cancel()
    if (isNew) old = compared
    isNew = false
  }

  function fail(error: unknown): void {
    giveUp()
    fault.textContent = error instanceof Error ? error.message : String(error)
    fault.hidden = false
    element.open = true
  }

  async function apply(): Promise<void> {
    cancel()
    fault.hidden = true
    let criteria: Criterion[]
    try {
      criteria = form.read()
    } catch (error) {
      fail(error)
      return
    }
    if (criteria.length === 0 && old === undefined) {
      state.textContent = all
      command.textContent = ''
      compared = undefined
      show()
      return
    }
    const mine = asked
    work.hidden = false
    bar.value = 0
    try {
      const [code, file] = [await source.code(), source.file()]
      if (mine !== asked) return
      stopJob = startJob(
        code,
        { file, name, generator, criteria, old, rules: whole.suppression?.rules },
        {
          progress: ({ bytes: read }) => (bar.value = read / Math.max(1, file.size)),
          failed: fail,
          done(taken) {
            cancel()
            compared = old
            const other = old === undefined ? '' : `, compared with ${visible(old.name)}`
            state.textContent =
              criteria.length === 0
                ? `${all}${other}`
                : `${grouped(taken.data.summary.events)} of ${counted(whole.summary.events, 'event')}${other}`
            command.textContent = criteria.length === 0 ? '' : commandOf(criteria, whole)
            show(taken, criteria)
            if (isNew) location.hash = '#comparison'
            isNew = false
          },
        },
      )
    } catch (error) {
      if (mine === asked) fail(error)
    }
  }

  function reset(): void {
    form.clear()
    old = undefined
    void apply()
  }

  /** Compares what is shown with another trace. */
  function compare(file: File | undefined): void {
    if (file === undefined) return
    other.value = ''
    old = { file, name: file.name }
    isNew = true
    void apply()
  }

  function save(): void {
    fault.hidden = true
    try {
      saveFile(name.endsWith('.hfc') ? name : `${name}.hfc`, source.file())
    } catch (error) {
      fail(error)
    }
  }

  const other = el('input', {
    class: 'file',
    attributes: { type: 'file', tabindex: '-1', 'aria-label': 'older trace to compare with' },
    on: { change: () => compare(other.files?.[0]) },
  })
  const element = el(
    'details',
    { class: 'filter' },
    el(
      'summary',
      {},
      'Filter: ',
      state,
      isEmbedded ? el('span', { class: 'shown' }, ' · this page contains the whole trace') : undefined,
    ),
    el(
      'form',
      {
        on: {
          submit(event) {
            event.preventDefault()
            void apply()
          },
        },
      },
      ...form.elements,
      el(
        'div',
        { class: 'bar' },
        el('button', { attributes: { type: 'submit' } }, 'Apply'),
        button('Reset', reset),
        button('Compare with an older trace', () => other.click(), {
          title: isEmbedded ? 'a compact trace (.hfc)' : 'of any format',
        }),
        other,
        isEmbedded ? button('Save the trace', save, { title: 'as a compact trace (.hfc)' }) : undefined,
        work,
      ),
      fault,
      command,
      isEmbedded ? el('p', { class: 'explain' }, TRACE_NOTE) : undefined,
    ),
  )
  return {
    element,
    add(criteria) {
      form.enter(criteria)
      void apply()
    },
    restore(criteria) {
      form.restore(criteria)
      void apply()
    },
    compare,
    cancel,
  }
}
