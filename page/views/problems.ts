import { PROBLEM_KINDS, type ProblemKind, type ReportProblems } from '../../lib/transforms/report/result.js'
import type { View } from '../app.js'
import { choice, el } from '../parts/dom.js'
import { bytes, counted, exactBytes, grouped } from '../parts/format.js'
import { none } from '../parts/bars.js'
import { table } from '../parts/table.js'
import { siteName, stackText } from '../sites/name.js'
import { namedStacks } from '../sites/rows.js'

const KINDS: Readonly<Record<ProblemKind, readonly [string, string]>> = {
  unknownFree: ['Frees of unknown blocks', 'the block was not live; often it was allocated before the trace began'],
  doubleFree: ['Double frees', 'the block had been freed not long before'],
  overlap: ['Allocations at live addresses', 'the free of the earlier block is missing'],
  failedAllocation: ['Failed allocations', 'the allocator had no memory'],
  zeroSize: ['Allocations of no bytes', 'allowed, but seldom meant'],
  unknownRealloc: [
    'Reallocs of unknown blocks',
    'the block was not live; often it was allocated before the trace began',
  ],
}

/** How many problems a trace has. Allocations of no bytes are listed with them, but they are allowed. */
export function problemCount({ counts }: ReportProblems): number {
  return PROBLEM_KINDS.reduce((sum, kind) => sum + (kind === 'zeroSize' ? 0 : counts[kind]), 0)
}

/** The faults of the trace. */
export const problems: View = {
  title: 'Problems',
  count: ({ data }) => problemCount(data.problems),
  mount({ model }) {
    const { problems: p } = model.data
    const all = PROBLEM_KINDS.reduce((sum, kind) => sum + p.counts[kind], 0)
    if (all === 0)
      return {
        element: el(
          'section',
          {},
          none(
            'No problem was found: every free is of a live block, no live blocks overlap, and no allocation failed.',
          ),
        ),
      }
    const counts = el(
      'dl',
      { class: 'counts' },
      ...PROBLEM_KINDS.flatMap((kind) => [
        el('dt', {}, KINDS[kind][0]),
        el('dd', { attributes: { 'data-figure': kind } }, grouped(p.counts[kind])),
        el('dd', { class: 'explain' }, KINDS[kind][1]),
      ]),
    )
    // Many problems have the same stack.
    const stacks = new Map(p.stack.map((stack) => [stack.join(), stack]))
    const named = namedStacks(model, [...stacks.values()], '–')
    const places = new Map([...stacks.keys()].map((key, n) => [key, named[n]]))
    const list = table<number>(
      [
        { title: 'Event', key: (n) => p.event[n] ?? 0, cell: (n) => grouped(model.eventNumber(p.event[n] ?? 0)) },
        {
          title: 'Problem',
          isText: true,
          key: (n) => KINDS[p.kind[n]][0],
          cell: (n) => KINDS[p.kind[n]][0],
        },
        {
          title: 'Address',
          isText: true,
          key: (n) => p.address[n] ?? '',
          cell: (n) => el('code', {}, p.address[n] ?? '–'),
        },
        {
          title: 'Size',
          key: (n) => Number(p.size[n] ?? -1),
          cell: (n) => (p.size[n] === null ? '–' : bytes(p.size[n] ?? 0)),
          exact: (n) => (p.size[n] === null ? undefined : exactBytes(p.size[n] ?? 0)),
        },
        {
          title: 'Where',
          isText: true,
          cell: (n) => {
            const place = places.get((p.stack[n] ?? []).join())
            return place === undefined || place.stack.length === 0 ? '–' : siteName(place)
          },
          file: (n) => stackText(places.get((p.stack[n] ?? []).join()), '–'),
        },
      ],
      { label: 'problems', empty: 'There is none of this kind.' },
    )
    const show = (kind: ProblemKind | 'all') =>
      list.set([...p.kind.keys()].filter((n) => kind === 'all' || p.kind[n] === kind))
    show('all')
    const kinds = choice(
      'Show',
      [
        ['all', 'all'],
        ...PROBLEM_KINDS.filter((kind) => p.counts[kind] > 0).map((kind) => [kind, KINDS[kind][0]] as const),
      ],
      show,
    )
    const found = problemCount(p)
    const text = [
      found === 0 ? 'No problem was found.' : `${counted(found, 'problem')} in all.`,
      p.counts.zeroSize === 0
        ? ''
        : `${counted(p.counts.zeroSize, 'allocation')} of no bytes ${p.counts.zeroSize === 1 ? 'is' : 'are'} listed too, though allowed.`,
      all > p.kind.length ? `The first ${grouped(p.kind.length)} of ${grouped(all)} rows are listed.` : '',
    ]
    return {
      element: el(
        'section',
        {},
        el('p', { class: 'lead' }, text.filter((part) => part !== '').join(' ')),
        counts,
        el('div', { class: 'bar' }, kinds.element),
        list.element,
      ),
    }
  },
}
