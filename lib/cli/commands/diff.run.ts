import { Writable } from 'node:stream'
import { textBytes } from '../../exports/writer.js'
import { decodeAny } from '../../streams/decode.js'
import { compareProfiles, type ProfileMatch } from '../../transforms/profile/difference.js'
import type { Profile, ProfileOptions } from '../../transforms/profile/profile.js'
import { UsageError, wholeNumber, type Arguments } from '../command.js'
import { DIFF_ORDERS, TOP } from '../defaults.js'
import { bytesOf } from '../input.js'
import { outputOf, writePieces } from '../output.js'
import { runStreams } from '../pipeline.js'
import { differenceJson, differenceStacks, differenceText, type DiffOrder } from '../report/difference.js'
import { ProfileReport } from '../report/profile-report.js'

/** Runs `hf-diff`. @throws UsageError */
export async function runDiff(args: Arguments): Promise<void> {
  const { operands } = args
  const [old, next] = operands
  if (old === undefined || next === undefined || operands.length > 2)
    throw new UsageError(`name two traces, OLD and NEW, not ${operands.length}`)
  if (old === '-' && next === '-') throw new UsageError('only one of the traces can be standard input')
  if (args.has('json') && args.has('collapsed')) throw new UsageError('--json and --collapsed cannot be combined')
  if (args.has('collapsed') && args.has('top')) throw new UsageError('--top and --collapsed cannot be combined')
  const order = (args.value('sort') ?? DIFF_ORDERS[0]) as DiffOrder
  const match = (args.value('match') ?? 'names') as ProfileMatch
  const text = args.value('top')
  const top = text === undefined ? undefined : wholeNumber('top', text)
  const output = outputOf(args, [old, next], false)
  const options = { threadRoot: args.has('thread-root') }
  const before = await profileOf(old, options)
  const difference = compareProfiles(before, await profileOf(next, options), { match })
  const pieces = args.has('collapsed')
    ? differenceStacks(difference, order)
    : textBytes([
        args.has('json') ? differenceJson(difference, order, top) : differenceText(difference, order, top ?? TOP),
      ])
  await writePieces(output, pieces)
}

/** The profile of a file. */
async function profileOf(path: string, profile: ProfileOptions): Promise<Profile> {
  let result: Profile | undefined
  const stage = new ProfileReport({
    profile,
    write: (made) => {
      result = made
      return []
    },
  })
  await runStreams(
    'hf-diff',
    [path],
    () => [...bytesOf(path), decodeAny({ path, recycle: true, through: stage })],
    () => new Writable({ write: (_chunk, _encoding, done) => done() }),
  )
  return result as Profile
}
