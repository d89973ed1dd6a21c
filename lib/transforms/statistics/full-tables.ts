import type { Statistics } from './result.js'

/** What a table of `Statistics.full` is of, where its name is not that. */
export const TABLE_NAMES: Readonly<Partial<Record<Statistics['full'][number], string>>> = {
  siteThreads: 'pairs of a site and a thread',
  handoffs: 'pairs of threads of a site',
}
