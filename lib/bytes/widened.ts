/** An array of a length that begins with the values of a shorter one. */
export function widened<Values extends Uint8Array | Int32Array | Uint32Array | Float64Array>(
  values: Values,
  length: number,
): Values {
  const Type = values.constructor as new (length: number) => Values
  const wider = new Type(length)
  wider.set(values)
  return wider
}
