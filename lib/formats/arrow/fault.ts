/** A fault of a message, as text; the decoder adds the position. */
export class ArrowFault extends Error {
  /** @param row the first row of a record batch with the fault; earlier rows can be read */
  constructor(
    message: string,
    options?: ErrorOptions,
    readonly row = 0,
  ) {
    super(message, options)
  }

  /** The same fault in another row. */
  in(row: number): ArrowFault {
    return new ArrowFault(this.message, { cause: this.cause }, row)
  }
}

/** The part of a message that exceeds a memory limit, as text; the decoder adds the position. */
export class ArrowLimit extends Error {}
