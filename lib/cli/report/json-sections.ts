import type { Statistics } from '../../transforms/statistics/result.js'
import { hasSites } from './holders.js'
import type { SectionName } from './text.js'

type Key = keyof Statistics

/** The rows of the tables of holders: sites, or sizes if there are none, processes, and threads. */
const holders = ({ sites }: Statistics): Key[] => [hasSites(sites) ? 'sites' : 'sizes', 'processes', 'threads']

/** What of the statistics the sections of the report show. */
const KEYS: Readonly<Record<SectionName, (statistics: Statistics) => readonly Key[]>> = {
  summary: () => [
    'traces',
    'formats',
    'events',
    'blockEvents',
    'lostEvents',
    'allocated',
    'freed',
    'leaked',
    'suppressed',
    'peakBytes',
    'peakBlocks',
    'temporary',
    'time',
    'residentSet',
  ],
  timeline: () => ['timeline', 'residentSet'],
  peak: (statistics) => ['peakBytes', 'peakBlocks', ...holders(statistics)],
  leaks: (statistics) => ['leaked', 'suppressed', ...holders(statistics)],
  temporary: (statistics) => ['temporary', ...holders(statistics)],
  anomalies: () => ['faults', 'mismatches', 'crossCpuFrees'],
  sites: () => ['sites'],
  overhead: () => ['overhead'],
  sizes: () => ['sizes'],
  lifetimes: () => ['lifetimes'],
  events: () => ['events', 'blockEvents', 'kinds', 'lostEvents', 'apis'],
  reallocs: () => ['reallocs'],
  threads: () => ['threads'],
  'site-threads': () => ['sites'],
  handoffs: () => ['sites'],
  cpus: () => ['cpus'],
  processes: () => ['processes'],
}
/** What says how far all the other figures can be trusted. */
const ALWAYS: readonly Key[] = ['complete', 'filtered', 'endsEarly', 'weighted', 'identified', 'exact', 'full']

/** The statistics, or what some sections of the report show of them. */
export function sectionsOf(statistics: Statistics, sections: readonly SectionName[] | undefined): Partial<Statistics> {
  if (sections === undefined) return statistics
  const wanted = new Set([...ALWAYS, ...sections.flatMap((name) => KEYS[name](statistics))])
  return Object.fromEntries(Object.entries(statistics).filter(([key]) => wanted.has(key as Key))) as Partial<Statistics>
}
