import { spawnSync } from 'node:child_process'
import { batchesOf, type TraceEvent } from '../../lib/event/batch.js'
import type { TraceHeader } from '../../lib/event/header.js'
import { PROFILE_WRITERS } from '../../lib/exports/index.js'
import type { ProfileFormatName } from '../../lib/exports/profile-formats.js'
import type { ExportOptions } from '../../lib/exports/writer.js'
import { ProfileCollector } from '../../lib/transforms/profile/collector.js'
import type { Profile, ProfileOptions } from '../../lib/transforms/profile/profile.js'

/** Whether a program can be started. */
export function isInstalled(program: string, ...args: string[]): boolean {
  return spawnSync(program, args).status === 0
}

/** The profile of some events. */
export function profileOf(
  events: Iterable<TraceEvent>,
  options: ProfileOptions = {},
  header: TraceHeader = { format: 'mtrc' },
): Profile {
  const collector = new ProfileCollector(options)
  for (const batch of batchesOf(events, header)) collector.add(batch)
  return collector.finish()
}

/** A profile as a file. */
export async function written(to: ProfileFormatName, profile: Profile, options: ExportOptions = {}): Promise<Buffer> {
  return Buffer.concat([...(await PROFILE_WRITERS[to]())(profile, options)])
}

/** Names that a file for another tool must not be broken by. */
export const HOSTILE = [
  '</script><img src=x onerror=alert(1)>',
  'a;b 12',
  'line\nbreak\r# comment',
  '"quoted" \\ back',
  '{lambda#1}::operator()',
  'é\udcff\ud800',
  ' ',
  '',
  'x'.repeat(1 << 20),
  '\0',
  '__proto__',
]

/** Allocations of 1, 2, 4 ... bytes from stacks with these names, of which every second one is freed again. */
export function* hostileEvents(): Generator<TraceEvent> {
  for (const [i, name] of HOSTILE.entries()) {
    const address = BigInt(16 * (i + 1))
    const time = BigInt(i * 1000)
    yield { kind: 'alloc', address, size: 1n << BigInt(i), stack: [name, 'main'], thread: BigInt(i % 3), time }
    if (i === 5) yield { kind: 'free', address, time }
    yield { kind: 'alloc', address: address + 4096n, size: 1n, function: name, file: name, line: 1, time }
    if (i % 2 === 1) yield { kind: 'free', address, thread: 7n, time: time + 10n }
  }
}
