import type { Answer, Request, Taken } from './messages.js'

/** What becomes of a job. Exactly one of `done` and `failed` is called, unless it is cancelled. */
export interface JobListener {
  progress(answer: Extract<Answer, { kind: 'progress' }>): void
  done(taken: Taken): void
  failed(message: string): void
}

/** Has a worker make a report, and ends the worker then. @param code of the worker. @returns cancels it */
export function startJob(code: string, request: Request, { progress, done, failed }: JobListener): () => void {
  const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
  const worker = new Worker(address)
  const end = () => {
    URL.revokeObjectURL(address)
    worker.terminate()
  }
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    if (data.kind === 'progress') progress(data)
    else {
      end()
      if (data.kind === 'error') failed(data.message)
      else if (data.kind === 'report') done(data)
    }
  })
  worker.addEventListener('error', (event) => {
    end()
    failed(event.message)
  })
  worker.postMessage(request)
  return end
}
