import type { ReportComparison } from '../../lib/transforms/report/result.js'
import type { View } from '../app.js'
import { changedSites, difference, signed, type ChangedSites, type ComparedFigure } from './changed-sites.js'
import { bothTimelines, changeGraph, functionTable } from './difference.js'
import { none } from '../parts/bars.js'
import { choice, el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped, share } from '../parts/format.js'
import { later } from '../parts/later.js'
import { beginAgain, table } from '../parts/table.js'
import { search } from '../sites/search.js'

const FIGURES = [
  ['end', 'Live at the end'],
  ['peak', 'Live at the peak'],
  ['allocated', 'Allocated'],
  ['temporary', 'Temporary'],
] as const

/** The differences from another run. */
export const comparison: View = {
  title: 'Comparison',
  has: ({ data }) => data.comparison !== undefined,
  mount(app) {
    const { model } = app
    const c = model.data.comparison
    if (c === undefined) return { element: el('section') }
    const { changes } = c
    const lead = `Compared with ${c.old}: ${counted(c.differing, 'stack')} ${c.differing === 1 ? 'differs' : 'differ'}.`
    const known = FIGURES.filter(([name]) => model.isKnown(name))
    const picture = changeGraph(model, changes)
    const lists = new Map<ComparedFigure, ChangedSites>()
    const tables = new Map<ComparedFigure, HTMLElement>()
    let isBlocks = false
    let current: ComparedFigure = 'end'
    let expression: RegExp | undefined
    const listOf = (figure: ComparedFigure) => {
      let list = lists.get(figure)
      if (list === undefined) lists.set(figure, (list = changedSites(model, changes, figure)))
      return list
    }
    const show = () => {
      const found = listOf(current).show(expression)
      field.say(expression === undefined ? '' : `${grouped(found)} of ${counted(c.differing, 'stack')}`)
    }
    const field = search('Search', (next) => {
      expression = next
      show()
    })
    const sites = el('div')
    const functions = el('div')
    const functionsOf = (figure: ComparedFigure) => {
      let made = tables.get(figure)
      if (made === undefined) tables.set(figure, (made = functionTable(model, changes, figure)))
      return made
    }
    // The functions are below the rest, so that the browser may add up their figures when it has time.
    const addUp = later(() => {
      functions.replaceChildren(functionsOf(current))
      prepare.ask()
    })
    // What the other figures need is made before the reader asks for it, a piece at a time. Paper does not need it.
    const pieces = known.flatMap(([figure]) => [
      () => picture.prepare(figure),
      () => listOf(figure).show(undefined),
      () => functionsOf(figure),
    ])
    const prepare = later((isAll) => {
      if (isAll === true) return
      pieces.shift()?.()
      if (pieces.length > 0) prepare.ask()
    })
    const choose = (figure: ComparedFigure) => {
      current = figure
      picture.show(figure, isBlocks)
      sites.replaceChildren(listOf(figure).element)
      const made = tables.get(figure)
      functions.replaceChildren(made ?? el('p', { class: 'explain' }, 'Adding up …'))
      beginAgain(box)
      if (made === undefined) addUp.ask()
      else addUp.cancel()
      show()
    }
    const box = el('div', {}, picture.element, el('h3', {}, 'Sites'), sites, el('h3', {}, 'Functions'), functions)
    const figures = choice('Figure', known, choose)
    const units = choice(
      'Flame graph of',
      [
        ['bytes', 'bytes'],
        ['blocks', 'blocks'],
      ],
      (unit) => {
        isBlocks = unit === 'blocks'
        picture.show(current, isBlocks)
      },
    )
    choose('end')
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, lead),
        totals(c, known),
        bothTimelines(app, c),
        c.differing === 0
          ? none('No stack differs: both runs have the same figures.')
          : el('div', {}, el('div', { class: 'bar' }, figures.element, units.element, field.element), box),
      ),
      ...(c.differing > 0 && { search: field.input }),
    }
  },
}

function totals({ totals: { old, new: next } }: ReportComparison, known: (typeof FIGURES)[number][]): HTMLElement {
  const list = table<(typeof FIGURES)[number]>(
    [
      { title: 'Figure', isText: true, cell: ([, title]) => title },
      {
        title: 'Before',
        cell: ([name]) => bytes(old[`${name}Bytes`]),
        exact: ([name]) => exactBytes(old[`${name}Bytes`]),
      },
      {
        title: 'After',
        cell: ([name]) => bytes(next[`${name}Bytes`]),
        exact: ([name]) => exactBytes(next[`${name}Bytes`]),
      },
      {
        title: 'Difference',
        cell: ([name]) => signed(difference(old[`${name}Bytes`], next[`${name}Bytes`]), true),
        exact: ([name]) => exactBytes(difference(old[`${name}Bytes`], next[`${name}Bytes`])),
      },
      { title: 'Ratio', cell: ([name]) => share(next[`${name}Bytes`], old[`${name}Bytes`]) },
      { title: 'Blocks before', cell: ([name]) => grouped(old[`${name}Blocks`]) },
      { title: 'Blocks after', cell: ([name]) => grouped(next[`${name}Blocks`]) },
      {
        title: 'Difference in blocks',
        cell: ([name]) => signed(difference(old[`${name}Blocks`], next[`${name}Blocks`]), false),
      },
    ],
    { label: 'totals of both runs', empty: '' },
  )
  list.set(known)
  return list.element
}
