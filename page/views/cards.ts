import type { Integer, ReportAddresses, ReportData } from '../../lib/transforms/report/result.js'
import type { ViewName } from '../app.js'
import type { Model } from '../model.js'
import { bytes, counted, duration, exactBytes, grouped, rounded, share, short, withNoun } from '../parts/format.js'
import { problemCount } from './problems.js'
import { hasThreads } from './threads.js'

/** A main figure, and the view that has more about it. */
export interface Card {
  readonly view: ViewName
  /** Names the figure as `hf-stats --json` does. */
  readonly figure: string
  readonly title: string
  readonly value: string
  /** The value in full. */
  readonly exact: string
  readonly detail: string
  readonly isBad?: boolean
}

/** The main figures of a report. */
export function cards(model: Model): Card[] {
  const { data } = model
  const { summary: s, problems, threads, addresses, comparison, replay } = data
  const unit = s.time?.unit
  const foreign = threads.foreignFrees.reduce((sum, n) => sum + n, 0)
  const wrong = problemCount(problems)
  const when =
    s.peakTime === undefined ? '' : `, after ${duration(String(BigInt(s.peakTime) + BigInt(model.timeOffset)), unit)}`
  const amount = (figure: string, value: Integer) => ({ figure, value: bytes(value), exact: exactBytes(value) })
  const all: (Card | undefined)[] = [
    {
      view: 'peak',
      title: 'Peak of live bytes',
      ...amount('peakBytes.bytes', s.peakBytes.bytes),
      detail: `${counted(s.peakBytes.blocks, 'block')}, at event ${grouped(model.eventNumber(s.peakBytes.event))}${when}`,
    },
    {
      view: 'leaks',
      title: 'Live at the end',
      ...amount('leaked.bytes', s.leaked.bytes),
      detail: `${counted(s.leaked.blocks, 'block')}, ${share(s.leaked.bytes, s.allocated.bytes)} of allocated bytes`,
    },
    {
      view: 'sites',
      title: 'Allocated',
      ...amount('allocated.bytes', s.allocated.bytes),
      detail: `${counted(s.allocated.blocks, 'block')} from ${counted(s.siteCount, 'site')}`,
    },
    ...(s.identified ? lifetimeCards(s) : []),
    {
      view: 'threads',
      title: 'Freed by another thread',
      ...(hasThreads(data)
        ? {
            ...number('foreignFrees', foreign),
            detail: `${share(foreign, s.freed.blocks)} of freed blocks; ${counted(s.threadCount, 'thread')}`,
          }
        : { figure: 'foreignFrees', value: '-', exact: '-', detail: 'no event names a thread' }),
    },
    {
      view: 'timeline',
      title: 'Events',
      ...number('events', s.events),
      detail: s.time === undefined ? 'no event has a time' : `in ${duration(s.time.span, unit)}`,
    },
    addresses === undefined ? undefined : pageCard(addresses),
    {
      view: 'problems',
      title: 'Problems in the trace',
      ...number('problems', wrong),
      detail: wrong === 0 ? 'none found' : 'frees of unknown blocks and the like',
      isBad: wrong > 0,
    },
    comparison === undefined
      ? undefined
      : {
          view: 'comparison',
          title: 'Stacks that differ',
          ...number('comparison', comparison.differing),
          detail: `from ${comparison.old}`,
        },
    replay === undefined
      ? undefined
      : {
          view: 'allocators',
          title: 'Allocators compared',
          ...number('allocators', replay.allocators.length),
          detail: 'with the calls of the trace',
        },
  ]
  return all.filter((card) => card !== undefined)
}

function number(figure: string, value: Integer): Pick<Card, 'figure' | 'value' | 'exact'> {
  return { figure, value: short(value), exact: grouped(value) }
}

type Summary = ReportData['summary']

/** The mean lifetime, in time if it is known. */
function meanLife(
  { events, time }: Summary['lifetimes'],
  unit: NonNullable<Summary['time']>['unit'] | undefined,
): string {
  if (events.count === 0) return '-'
  return time !== undefined && unit !== undefined ? duration(time.mean, unit) : withNoun(short(events.mean), 'event')
}

/** The figures that depend on which block is freed. */
function lifetimeCards({ temporary, allocated, lifetimes, time }: Summary): Card[] {
  const unit = time?.unit
  return [
    {
      view: 'churn',
      title: 'Temporary allocations',
      ...number('temporary.heaptrack.blocks', temporary.heaptrack.blocks),
      detail: `${share(temporary.heaptrack.blocks, allocated.blocks)} of allocations: the next call freed them`,
    },
    {
      view: 'churn',
      title: 'Mean lifetime',
      figure: 'lifetimes',
      value: meanLife(lifetimes, unit),
      exact: lifetimes.events.count === 0 ? '-' : `${rounded(lifetimes.events.mean)} in events about blocks`,
      detail: `of ${counted(lifetimes.events.count, 'freed block')}; a realloc ends none`,
    },
  ]
}

function pageCard({ use, pageBytes, mostPages }: ReportAddresses): Card {
  const last = use.pages.at(-1) ?? 0
  const used = share(use.liveBytes.at(-1) ?? 0, last * pageBytes)
  return {
    view: 'addresses',
    title: 'Pages with live blocks',
    figure: 'pages',
    value: short(mostPages),
    exact: `${counted(mostPages, 'page')} at most`,
    detail: last === 0 ? 'at most; none at the end' : `at most; at the end ${grouped(last)}, of which ${used} is live`,
  }
}
