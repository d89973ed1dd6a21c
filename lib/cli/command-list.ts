import type { Command } from './command.js'
import { blocks } from './commands/blocks.js'
import { check } from './commands/check.js'
import { convert } from './commands/convert.js'
import { diff } from './commands/diff.js'
import { filter } from './commands/filter.js'
import * as formats from './commands/formats.js'
import { kmemtraceDecode, kmemtraceEncode } from './commands/kmemtrace.js'
import { generate } from './commands/generate.js'
import { map } from './commands/map.js'
import { merge } from './commands/merge.js'
import { metatfDecode, metatfEncode } from './commands/metatf.js'
import { metatfCompile } from './commands/metatf-compile.js'
import { profile } from './commands/profile.js'
import { record } from './commands/record.js'
import { replay } from './commands/replay.js'
import { report } from './commands/report.js'
import { simulate } from './commands/simulate.js'
import { sort } from './commands/sort.js'
import { symbolize } from './commands/symbolize.js'
import { split } from './commands/split.js'
import { hatfJoin, hatfSplit } from './commands/split-addresses.js'
import { sql } from './commands/sql.js'
import { stats } from './commands/stats.js'
import { verify } from './commands/verify.js'
import { view } from './commands/view.js'

/** Commands for one kind of task. */
export interface Group {
  readonly title: string
  readonly commands: readonly Command[]
}

/**
 * Every command that is a program of its own, by task.
 *
 * `commands/<name>.ts` is data, from which flags are parsed and help is printed. It imports no codec, transform or
 * stream: the implementation is in `commands/<name>.run.ts`, which `run` imports when it is called. So every command
 * starts quickly.
 */
export const GROUPS: readonly Group[] = [
  { title: 'Record a trace', commands: [record] },
  { title: 'Analyze a trace', commands: [stats, report, view, profile, diff, check, blocks, sql, verify] },
  { title: 'Simulate allocators', commands: [simulate, replay, generate] },
  { title: 'Convert a trace', commands: [convert] },
  { title: 'Select, change and order events', commands: [filter, map, sort, symbolize] },
  { title: 'Split and merge traces', commands: [split, merge] },
  {
    title: 'Read a format: events as lines of JSON',
    commands: [
      formats.compactDecode,
      formats.mtrcDecode,
      formats.replayDecode,
      formats.glibcMtraceDecode,
      formats.heaptrackDecode,
      kmemtraceDecode,
      formats.tracepointsDecode,
      formats.valgrindDecode,
      formats.ltraceDecode,
      formats.recorderDecode,
      formats.heapmonDecode,
      formats.hatfDecode,
      metatfDecode,
      formats.arrowDecode,
      formats.parquetDecode,
    ],
  },
  {
    title: 'Write a format',
    commands: [
      formats.compactEncode,
      formats.mtrcEncode,
      formats.replayEncode,
      formats.glibcMtraceEncode,
      formats.heaptrackEncode,
      kmemtraceEncode,
      formats.heapmonEncode,
      formats.hatfEncode,
      metatfEncode,
      formats.arrowEncode,
      formats.parquetEncode,
    ],
  },
  { title: 'Work on a format', commands: [hatfSplit, hatfJoin, metatfCompile] },
]

/** Every command that is a program of its own. */
export const COMMANDS: readonly Command[] = GROUPS.flatMap(({ commands }) => commands)

/** The name of a command in `heapflow`: `stats` for `hf-stats`; commands of a format keep their names. */
export function subcommand({ name }: Command): string {
  return name.replace(/^(hf-|heapflow )/, '')
}
