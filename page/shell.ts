import { VIEWS, type App, type Mounted, type TraceFilter, type ViewName } from './app.js'
import { addressOf, parseAddress } from './address.js'
import { notedLink } from './noted-link.js'
import { help, listenToKeys } from './keys.js'
import type { Axis, Model } from './model.js'
import { showTip } from './parts/canvas.js'
import { destroyCharts, resizeCharts } from './parts/chart.js'
import { layOutForPaper } from './parts/paper.js'
import { button, el } from './parts/dom.js'
import { bytes, counted, duration, grouped, toNumber } from './parts/format.js'
import { beginAgain } from './parts/table.js'
import { lighten } from './parts/theme.js'
import { prepareViews } from './prepare.js'
import { titleBar } from './parts/title-bar.js'
import { ALL_VIEWS } from './views/index.js'

/** What listens to the window for the report that is shown. */
let shown = new AbortController()
/** The unit of the x axis that the reader chose, which remains for the next report. */
let chosenAxis: Axis | undefined

/** What the page can do besides. */
export interface ShellOptions {
  /** Lets the reader open another trace. */
  readonly another?: () => void
  readonly filter?: TraceFilter
}

/** Ends the report that is shown, before something else is. */
export function leave(): void {
  shown.abort()
  destroyCharts()
}

/** Puts the navigation and the views of a report into an element, and shows what the page's address names. */
export function shell(root: HTMLElement, model: Model, { another, filter }: ShellOptions = {}): void {
  leave()
  shown = new AbortController()
  const { signal } = shown
  const names = VIEWS.filter((name) => ALL_VIEWS[name].has?.(model) ?? true)
  const mounted = new Map<ViewName, Mounted>()
  const main = el('main', { attributes: { tabindex: '-1' } })
  const links = new Map(names.map((name, n) => [name, viewLink(model, name, n)]))
  const keys = help(names.map((name) => ALL_VIEWS[name].title))
  let current: ViewName = 'overview'
  const axis = () => (model.isTimed ? (chosenAxis ?? (model.isFinelyTimed ? 'time' : 'event')) : 'event')

  const link = notedLink(signal)
  const app: App = {
    model,
    ...(filter !== undefined && { filter }),
    get axis() {
      return axis()
    },
    open(view, target = {}) {
      const address = addressOf(view, target)
      link.write()
      if (location.hash === address) show()
      else location.hash = address
    },
    note: (view, target) => link.note(addressOf(view, target)),
    setAxis(next) {
      chosenAxis = next
      mounted.clear()
      destroyCharts()
      main.replaceChildren()
      show()
    },
  }

  function mount(name: ViewName): Mounted {
    let view = mounted.get(name)
    if (view === undefined) {
      view = ALL_VIEWS[name].mount(app)
      view.element.prepend(el('h2', {}, ALL_VIEWS[name].title))
      view.element.classList.add('view')
      view.element.id = `view-${name}`
      mounted.set(name, view)
      main.append(view.element)
    }
    return view
  }

  function show(): void {
    link.forget()
    const { view, target } = parseAddress(location.hash === '' ? `#${model.data.view ?? ''}` : location.hash, names)
    const isOther = view !== current
    current = view
    const shown = mount(view)
    if (isOther) beginAgain(shown.element)
    for (const [name, { element }] of mounted) element.hidden = name !== view
    for (const [name, one] of links) {
      if (name === view) one.setAttribute('aria-current', 'page')
      else one.removeAttribute('aria-current')
    }
    showTip(undefined)
    if (isOther) {
      links.get(view)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
      scrollTo(0, 0)
    }
    shown.show?.(target)
    app.note(view, target)
    link.write()
  }

  root.replaceChildren(
    header(model, () => keys.showModal(), another),
    ...(filter === undefined ? [] : [el('section', { attributes: { 'aria-label': 'filter' } }, filter.element)]),
    navigation(links.values()),
    main,
    keys,
  )
  addEventListener('hashchange', show, { signal })
  let darken = () => {}
  const showAll = () => {
    for (const name of names) mount(name).element.hidden = false
    darken = lighten()
    layOutForPaper(main)
  }
  const showOne = () => {
    darken()
    resizeCharts()
    show()
  }
  addEventListener('beforeprint', showAll, { signal })
  addEventListener('afterprint', showOne, { signal })
  listenToKeys(signal, {
    views: names,
    open: (name) => app.open(name),
    help: () => keys.showModal(),
    search() {
      const { search } = mount(current)
      if (search !== undefined) {
        search.focus()
        return
      }
      addEventListener('hashchange', () => mount(current).search?.focus(), { once: true, signal })
      app.open('sites')
    },
  })
  show()
  prepareViews(model)
}

function header({ data }: Model, openHelp: () => void, another?: () => void): HTMLElement {
  const { summary, name, generator, origin = {} } = data
  const { time } = summary
  const resident = (data.timeline.resident ?? []).map((most) => toNumber(most ?? 0))
  const facts = [
    origin.command === undefined ? (origin.program ?? '') : `$ ${origin.command}`,
    summary.formats.join(', '),
    origin.recorder === undefined ? '' : `recorded by ${origin.recorder}`,
    origin.memory === undefined ? '' : `on a machine with ${bytes(origin.memory)}`,
    counted(summary.events, 'event'),
    time === undefined ? '' : `in ${duration(time.span, time.unit)}`,
    resident.length === 0 ? '' : `resident set at most ${bytes(Math.max(...resident))}`,
    summary.traces > 1 ? counted(summary.traces, 'trace') : '',
    `made by ${generator}`,
  ]
  return titleBar(name, facts, [another && button('Open another trace', another)], openHelp)
}

function navigation(links: Iterable<HTMLElement>): HTMLElement {
  return el('nav', { attributes: { 'aria-label': 'views' } }, ...links)
}

function viewLink(model: Model, name: ViewName, n: number): HTMLAnchorElement {
  const view = ALL_VIEWS[name]
  const count = view.count?.(model)
  const key = n < 9 ? String(n + 1) : n === 9 ? '0' : undefined
  return el(
    'a',
    { attributes: { href: `#${name}` }, ...(key !== undefined && { title: `key ${key}` }) },
    view.title,
    count === undefined || count === 0 ? undefined : el('span', { class: 'badge' }, grouped(count)),
  )
}
