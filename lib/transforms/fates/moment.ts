/** A moment in a trace: just after an event, by its number from 1; or at a time, in the header's unit. */
export type Moment = { readonly event: number } | { readonly time: bigint } | 'peak'

const MAX_TIME = 0xffff_ffff_ffff_ffffn

/**
 * Reads a moment as people write it: the number of an event, `time:T`, or `peak`.
 * @throws RangeError on anything else
 */
export function parseMoment(text: string): Moment {
  if (text === 'peak') return 'peak'
  const [, prefix, digits] = /^(time:)?([0-9]{1,20})$/.exec(text) ?? []
  if (digits === undefined)
    throw new RangeError(`not a moment: '${text}' (write the number of an event, time:T or peak)`)
  const moment = prefix === undefined ? { event: Number(digits) } : { time: BigInt(digits) }
  checkMoment(moment)
  return moment
}

/** @throws RangeError if it is not a moment */
export function checkMoment(moment: Moment): void {
  if (moment === 'peak') return
  const { event, time } = (moment ?? {}) as { event?: unknown; time?: unknown }
  if (typeof event === 'number') {
    if (event < 1) throw new RangeError(`events are counted from 1, not from ${event}`)
    if (!Number.isSafeInteger(event)) throw new RangeError(`no trace has an event number ${event}`)
  } else if (typeof time !== 'bigint' || time < 0n || time > MAX_TIME) {
    throw new RangeError("not a moment, such as { event: 5 }, { time: 5n } or 'peak'")
  }
}
