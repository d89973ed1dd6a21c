import { MIB } from '../bytes/units.js'

/** Values that a command's help states and its implementation uses. */

/** `hf-stats --top`: rows of each table. */
export const TOP = 10
/** The same of the tables that the whole report of hf-stats begins with, which fit on one screen. */
export const FIRST_TOP = 5

/** `hf-stats --depth`, `hf-diff --depth`: how many frames of a stack are shown, the innermost first. */
export const FRAMES = 6

/** `hf-verify --places`: how many places of each fault are listed. */
export const PLACES = 10
/** `hf-verify --window`: the number of events among which a late free is searched. */
export const REPAIR_WINDOW = 16_384

/** Stands for the key in the names of the files that `hf-split` and `hatf-split` write. */
export const KEY_PLACE = '{}'
/** `hf-split --max-open`: how many files are open at once. */
export const MAX_OPEN = 64
/** `hf-split --max-files`: how many files there may be. */
export const MAX_FILES = 1000

/** Stands for the CPU in the names of the files that `kmemtrace-encode` writes. */
export const CPU_PLACE = '%d'

/** `hf-stats --section`: the parts of the report, in their order. */
export const SECTIONS = [
  'summary',
  'timeline',
  'peak',
  'leaks',
  'temporary',
  'anomalies',
  'sites',
  'overhead',
  'sizes',
  'lifetimes',
  'events',
  'reallocs',
  'threads',
  'site-threads',
  'handoffs',
  'cpus',
  'processes',
] as const
/** `hf-stats --tsv`: the sections that are one table. */
export const TSV_SECTIONS = ['timeline', 'sites', 'sizes', 'threads', 'site-threads', 'handoffs'] as const
/** `hf-stats --timeline`: rows of the timeline if only its section is named. */
export const TIMELINE_ROWS = 24
/** `hf-stats --timeline`: the most parts that a timeline has. */
export const MAX_TIMELINE_ROWS = 2000
/** `hf-stats --sort`: the keys by which tables of sites are sorted. */
export const SITE_ORDERS = [
  'bytes',
  'blocks',
  'mean',
  'peak',
  'own-peak',
  'leaked',
  'memray',
  'heaptrack',
  'wasted',
] as const

/** `hf-stats --by`: the subjects of rows, the first one by default. */
export const SITE_GROUPS = ['site', 'function', 'module', 'thread'] as const

/** The shells that `heapflow completion` has a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const

/** What `--to` calls a page for the browser. */
export const PAGE = 'html'

/** `hf-diff --to`: the forms besides text. */
export const DIFF_FORMS = [PAGE] as const

/** `hf-diff --sort`: the keys by which sites are sorted, the first one by default. */
export const DIFF_ORDERS = ['leaked', 'peak', 'allocated', 'temporary'] as const

/** `hf-report --embed`: the maximum number of bytes of a trace that is put into the page, and the largest limit. */
export const MAX_EMBEDDED = MIB
export const LARGEST_EMBEDDED = 64 * MIB

/** `hf-sql --to`: the formats of results, the first one by default. */
export const SQL_FORMATS = ['table', 'csv', 'ndjson', 'parquet'] as const

/** `hf-check --to`: the forms of the result, the first one by default. */
export const CHECK_FORMATS = ['text', 'markdown', 'json', 'junit', 'sarif'] as const
/** `hf-check --top`: how many sites are named for a budget that is exceeded. */
export const CHECK_SITES = 5
/** `hf-check`: the file of budgets that is read where no other budget is given. */
export const CHECK_FILE = 'heapflow.check.json'

/** `hf-replay --runs`: runs of each allocator. */
export const REPLAY_RUNS = 7
/** `hf-replay --limit`: the seconds that a run may take. */
export const REPLAY_LIMIT = 600
/** `hf-replay --touch`: which bytes of new blocks are written, the first one by default. */
export const TOUCHES = ['all', 'page', 'first', 'none'] as const
