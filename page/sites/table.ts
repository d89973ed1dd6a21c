import type { Integer } from '../../lib/transforms/report/result.js'
import type { App } from '../app.js'
import { el } from '../parts/dom.js'
import { bytesColumn, countColumn } from '../parts/columns.js'
import { counted, duration, grouped, share, short, toNumber, withNoun } from '../parts/format.js'
import { table, type Column, type Table } from '../parts/table.js'
import { SITE } from './name.js'
import { siteRows, type SiteFigure, type SiteRow } from './rows.js'
import { search } from './search.js'
import { spark } from './spark.js'

const BLOCKS: Readonly<Partial<Record<SiteFigure, readonly [string, string]>>> = {
  allocatedBlocks: ['Allocations', 'how many blocks were allocated'],
  peakBlocks: ['Blocks at peak', 'blocks that were live at the peak of live bytes'],
  suppressedBlocks: ['Suppressed blocks', 'blocks that were live at the end, too, but that rules leave out'],
  endBlocks: ['Blocks at end', 'blocks that were live at the end'],
  temporaryBlocks: ['Temporary', 'blocks that the next call freed'],
  foreignFrees: ['Freed elsewhere', 'blocks that another thread freed'],
  reallocs: ['Reallocs', 'reallocs that resized a block'],
  grown: ['Grown', 'reallocs after which the block was larger'],
  moved: ['Moved', 'reallocs after which the block was at another address'],
}

const BYTES: Readonly<Partial<Record<SiteFigure, readonly [string, string]>>> = {
  allocatedBytes: ['Allocated', 'bytes that were allocated'],
  peakBytes: ['At peak', 'bytes that were live at the peak of live bytes'],
  endBytes: ['At end', 'bytes that were live at the end'],
  suppressedBytes: ['Suppressed', 'bytes that were live at the end, too, but that rules leave out'],
  ownPeakBytes: ['Own peak', 'the most bytes of the site that were live at a time'],
  temporaryBytes: ['Temporary bytes', 'bytes of blocks that the next call freed'],
  wastedBytes: ['Wasted', 'bytes that blocks took beyond those asked for'],
}

/**
 * A column of the table: a figure, the share of a figure in the whole, the mean time live, or the picture over time.
 */
export type SiteColumn = SiteFigure | 'share' | 'lifetime' | 'spark'

/** What the table can be told. */
export interface SiteTableOptions {
  /** For screen readers, and the name of its file; `sites` if absent. */
  readonly label?: string
  readonly columns: readonly SiteColumn[]
  /** The figure that it is sorted by, and of which `share` is. */
  readonly by: SiteFigure
  /** The figure of the whole trace. */
  readonly whole?: Integer
  /** The sites to show; all, if absent. */
  readonly only?: (site: number) => boolean
  readonly empty: string
  /** The number of rows that are shown at first. */
  readonly step?: number
  /** More columns, after the name. */
  readonly more?: readonly Column<SiteRow>[]
}

/** Sites with a search. */
export interface SiteTable {
  readonly element: HTMLElement
  readonly input: HTMLInputElement
  readonly table: Table<SiteRow>
  /** Shows other sites. */
  only(choose: ((site: number) => boolean) | undefined): void
}

/** A table of sites, with a search; a click on one leads to its place in the flame graph. */
export function siteTable(app: App, options: SiteTableOptions): SiteTable {
  const rows = siteRows(app.model)
  let chosen = options.only
  let expression: RegExp | undefined
  const columns: Column<SiteRow>[] = [
    { ...SITE, help: 'the function that allocated, and its callers' },
    ...(options.more ?? []),
    ...options.columns.filter((one) => app.model.isKnown(one)).flatMap((one) => column(app, one, options)),
  ]
  const sites = table(columns, {
    label: options.label ?? 'sites',
    sortBy: titleOf(options.by),
    empty: options.empty,
    ...(options.step !== undefined && { step: options.step }),
    open: ({ node }) => app.open('flame', { node }),
  })
  const field = search('Search', (next) => {
    expression = next
    show(true)
  })
  function show(isSame = false): void {
    const some = rows.filter(({ site }) => chosen?.(site) ?? true)
    const found = expression === undefined ? some : some.filter(({ text }) => expression?.test(text))
    sites.set(found, isSame)
    field.say(
      expression === undefined
        ? counted(some.length, 'site')
        : `${grouped(found.length)} of ${counted(some.length, 'site')}`,
    )
  }
  show()
  return {
    element: el('div', { class: 'sites' }, field.element, sites.element),
    input: field.input,
    table: sites,
    only(choose) {
      chosen = choose
      show()
    },
  }
}

/** The text of a figure's header. */
function titleOf(figure: SiteFigure): string {
  return (BYTES[figure] ?? BLOCKS[figure] ?? [figure])[0]
}

function column(app: App, name: SiteColumn, { by, whole = 0 }: SiteTableOptions): Column<SiteRow>[] {
  const { sites } = app.model.data
  if (name === 'spark')
    return [
      {
        title: 'Over time',
        isPicture: true,
        help: 'live bytes over time',
        cell: ({ site }) => {
          const values = sites.spark[site] ?? []
          return values.some((value) => value > 0) ? spark(values) : '–'
        },
      },
    ]
  if (name === 'lifetime') return [lifetimeColumn(app)]
  if (name === 'share') {
    const values = sites[by] as Integer[]
    const of = ({ site }: SiteRow) => values[site] ?? 0
    const help = `part of ${titleOf(by).toLowerCase()} of the whole trace`
    return [{ title: 'Share', help, key: (row) => toNumber(of(row)), cell: (row) => share(of(row), whole) }]
  }
  const values = sites[name]
  if (values === undefined) return []
  const [title, help] = BYTES[name] ?? BLOCKS[name] ?? [name, name]
  const of = ({ site }: SiteRow) => values[site] ?? 0
  const figures = BYTES[name] === undefined ? countColumn(title, of, help) : bytesColumn(title, of, help)
  if (name !== 'ownPeakBytes') return [figures]
  // All other sites have their peaks at different moments.
  const isOne = ({ stack }: SiteRow) => stack.length > 0
  return [
    {
      ...figures,
      cell: (row) => (isOne(row) ? figures.cell(row) : '–'),
      exact: (row) => (isOne(row) ? figures.exact?.(row) : undefined),
    },
  ]
}

function lifetimeColumn({ model }: App): Column<SiteRow> {
  const { meanEvents, meanTime } = model.data.sites
  const isTimed = meanTime !== undefined && model.unit !== undefined
  const values = isTimed ? meanTime : meanEvents
  const of = ({ site }: SiteRow) => values[site] ?? 0
  const [title, help] = [
    'Mean time live',
    'how long blocks were live on average, at most to the end of the trace; a realloc begins another block',
  ]
  if (isTimed) return { title, help, key: of, unit: model.unit, cell: (row) => duration(of(row), model.unit) }
  return {
    title,
    help: `${help}, in events about blocks`,
    key: of,
    unit: 'events',
    cell: (row) => withNoun(short(of(row)), 'event'),
  }
}
