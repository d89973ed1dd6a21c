/** A temporary file cannot be made or written. `code` is the code of the system error, which is the cause. */
export class TemporaryFileError extends Error {
  readonly code: string | undefined

  /** @param folder the folder of the file */
  constructor(
    readonly folder: string,
    override readonly cause: NodeJS.ErrnoException,
  ) {
    super(`cannot write a temporary file in ${folder}: ${cause.message}`)
    this.code = cause.code
  }
}

/**
 * Runs a function that makes or writes a temporary file in a folder.
 * @throws TemporaryFileError if the system refuses it
 */
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
