/** A temporary file cannot be made or written: `code` is that of the system error, which is the cause. */
export class TemporaryFileError extends Error {
  readonly code: string | undefined

  /** @param folder where the file is to be, or is */
  constructor(
    readonly folder: string,
    override readonly cause: NodeJS.ErrnoException,
  ) {
    super(`cannot write a temporary file in ${folder}: ${cause.message}`)
    this.code = cause.code
  }
}

/** Runs what makes or writes a temporary file in a folder. @throws TemporaryFileError where the system refuses it */
export function inTemporary<T>(folder: string, run: () => T): T {
  try {
    const result = run()
    if (!(result instanceof Promise)) return result
    return result.catch((error: unknown) => {
      throw fault(folder, error)
    }) as T
  } catch (error) {
    throw fault(folder, error)
  }
}

function fault(folder: string, error: unknown): unknown {
  return (error as NodeJS.ErrnoException).syscall === undefined
    ? error
    : new TemporaryFileError(folder, error as NodeJS.ErrnoException)
}
