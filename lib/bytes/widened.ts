/** A larger array that begins with an array's values. */
export function widened<A extends Uint8Array | Int32Array | Uint32Array | Float64Array>(values: A, larger: A): A {
  larger.set(values)
  return larger
}
