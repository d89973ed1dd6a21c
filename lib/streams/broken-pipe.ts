/** Whether an error means that the reader of the output has closed it, which ends a pipeline normally. */
export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE'
}
