import type { LiveSites, LogMoment } from '../../lib/transforms/report/live-log.js'
import type { Answer, Question, Request } from './messages.js'

/** The live set at moments of a trace. */
export interface LiveAnswers {
  /** The live set at a moment, and what changed since an earlier one. @throws Error if the trace cannot be read */
  at(to: LogMoment, from?: LogMoment): Promise<LiveSites>
  /** Ends the worker. */
  end(): void
}

/**
 * Has a worker make the log of a trace, which then answers.
 * @param code that of the worker
 * @param request may throw: the trace in a page may be damaged
 */
export function liveAnswers(code: Promise<string>, request: () => Omit<Request, 'task'>): LiveAnswers {
  const open = new Map<number, { resolve(sites: LiveSites): void; reject(error: Error): void }>()
  let asked = 0
  let hasEnded = false
  let worker: Worker | undefined
  let refuse: (error: Error) => void = () => {}
  const fail = (error: Error) => {
    refuse(error)
    for (const { reject } of open.values()) reject(error)
    open.clear()
  }
  const ready = code.then(
    (text) =>
      new Promise<Worker>((resolve, reject) => {
        if (hasEnded) throw new Error('cancelled')
        const address = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))
        refuse = (error) => {
          URL.revokeObjectURL(address)
          reject(error)
        }
        const made = (worker = new Worker(address))
        made.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
          if (data.kind === 'log') {
            URL.revokeObjectURL(address)
            resolve(made)
          } else if (data.kind === 'live') {
            open.get(data.question)?.resolve(data.sites)
            open.delete(data.question)
          } else if (data.kind === 'error') fail(new Error(data.message))
        })
        made.addEventListener('error', ({ message }) => fail(new Error(message)))
        made.postMessage({ ...request(), task: 'log' } satisfies Request)
      }),
  )
  // Whoever asks is told.
  ready.catch(() => {})
  return {
    async at(to, from) {
      const log = await ready
      return new Promise((resolve, reject) => {
        const question = asked++
        open.set(question, { resolve, reject })
        log.postMessage({ question, to, ...(from !== undefined && { from }) } satisfies Question)
      })
    },
    end() {
      hasEnded = true
      worker?.terminate()
      fail(new Error('cancelled'))
    },
  }
}
