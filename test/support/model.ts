/** A structure that has keys of 64 bits, each with a number that is not 0. */
export interface Structure {
  /** Removes all keys. */
  clear(): void
  /**
   * Adds a key that is not there.
   * @param value the number that it should have
   * @returns the number that it has; 0 if there is no memory for it
   */
  add(key: bigint, value: number): number
  /** The number of a key, 0 if it is not there. */
  get(key: bigint): number
  /** Removes a key that is there. */
  remove?(key: bigint): void
  /** How many keys there are. */
  size?(): number
  /** Throws an error if anything else than the keys is wrong. */
  check?(): void
}

/** The key number i, each a different one, for i below 2^22 and a few more. */
export type KeyOf = (i: number) => bigint

const EDGES = [0n, (1n << 64n) - 1n, 1n << 63n, (1n << 63n) - 1n, 1n << 32n, (1n << 32n) - 1n]
/** The inverse of the golden ratio that many hashes multiply by: the product of `INVERSE * i` is i. */
const INVERSE = 0xf1de_83e1_9937_733dn

/** A function of 64 bits that gives each value once (splitmix64 by Sebastiano Vigna, in the public domain). */
function scramble(i: number): bigint {
  let x = BigInt.asUintN(64, BigInt(i + 1) * 0x9e37_79b9_7f4a_7c15n)
  x = BigInt.asUintN(64, (x ^ (x >> 30n)) * 0xbf58_476d_1ce4_e5b9n)
  x = BigInt.asUintN(64, (x ^ (x >> 27n)) * 0x94d0_49bb_1331_11ebn)
  return x ^ (x >> 31n)
}

/** Keys as traces have them, and keys that are chosen. */
export const KEYS: Readonly<Record<string, KeyOf>> = {
  addresses: (i) => 0x7f00_0000_0000n + 48n * BigInt(i),
  indices: (i) => BigInt(i + 1),
  random: (i) => EDGES[i] ?? scramble(i),
  'equal low words': (i) => BigInt(i) << 40n,
  'one hash, without a seed': (i) => BigInt.asUintN(64, BigInt(i + 1) * INVERSE),
  'every second one of one hash': (i) => (i % 2 === 0 ? KEYS['one hash, without a seed']!(i) : KEYS['addresses']!(i)),
  'multiples of 2^22 in both words': (i) => (BigInt(i >> 11) << 53n) | (BigInt(i & 2047) << 21n),
}

/** A generator of numbers below `n`, always the same for a seed. */
export function randomOf(seed: number): (n: number) => number {
  let state = seed >>> 0
  return (n) => {
    state = (Math.imul(state, 0x0019_660d) + 0x3c6e_f35f) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** The numbers below n in an order in which they are removed. */
const ORDERS: readonly ((i: number, n: number) => number)[] = [
  (i) => i,
  (i, n) => n - 1 - i,
  // All numbers, because the step is a prime number that does not divide n.
  (i, n) => (i * (n % 7_368_787 === 0 ? 1 : 7_368_787)) % n,
]

/** Structures with more keys than this are drained in one order only. */
const FEW = 1 << 17

/**
 * Does the same to a structure and to a plain array of the numbers that its keys have: fills it with n keys, drains it
 * in each order, refills it, makes random changes, clears it and uses it again.
 * @param isUnique whether no two keys have the same number at a time
 */
export function compareWithArray(structure: Structure, keyOf: KeyOf, n: number, isUnique = false): void {
  const values = new Uint32Array(n)
  const random = randomOf(n)
  let size = 0
  let given = 0
  const fail = (what: string, i: number): never => {
    throw new Error(`key ${i} of ${n}: ${what}`)
  }
  const add = (i: number) => {
    const value = structure.add(keyOf(i), (given = (given % 0xffff) + 1))
    if (value === 0) fail('there is no memory', i)
    values[i] = value
    size++
  }
  const remove = (i: number) => {
    structure.remove?.(keyOf(i))
    values[i] = 0
    size--
  }
  const check = (i: number) => {
    const found = structure.get(keyOf(i))
    if (found !== values[i]) fail(`it has ${found}, not ${values[i]}`, i)
  }
  const checkAll = (step = 1) => {
    for (let i = 0; i < n; i += step) check(i)
    for (let i = n; i < n + 20; i++) if (structure.get(keyOf(i)) !== 0) fail('it was never added', i)
    structure.check?.()
    const has = structure.size?.() ?? size
    if (has !== size) fail(`the size is ${has}, not ${size}`, n)
    if (isUnique && new Set(values.filter((value) => value !== 0)).size !== size) fail('a number is given twice', n)
  }
  const clear = () => {
    structure.clear()
    values.fill(0)
    size = 0
  }

  clear()
  for (const order of n > FEW ? [ORDERS[n % 3]!] : ORDERS) {
    for (let i = 0; i < n; i++) if (values[i] === 0) add(i)
    checkAll()
    if (structure.remove === undefined) break
    for (let i = 0; i < n; i++) remove(order(i, n))
    checkAll()
  }
  for (let step = Math.min(n, 2 * FEW); step > 0; step--) {
    const i = random(n)
    check(i)
    if (values[i] === 0) add(i)
    else if (structure.remove !== undefined && random(3) > 0) remove(i)
  }
  checkAll()
  clear()
  checkAll(1 + (n >> 12))
  // Half of the keys come when most of the others are gone.
  for (let i = 1; i < n; i += 2) add(i)
  if (structure.remove !== undefined) for (let i = 1; i < n; i += 2) if (i % 8 !== 1) remove(i)
  for (let i = 0; i < n; i += 2) add(i)
  checkAll()
}

/**
 * Adds keys until there is no memory: those that are there stay as they are, and there is room again for as many as are
 * removed.
 * @returns how many keys there was room for
 */
export function fillMemory(structure: Structure, keyOf: KeyOf, most: number): number {
  structure.clear()
  const values: number[] = []
  while (values.length < most) {
    const value = structure.add(keyOf(values.length), (values.length % 0xffff) + 1)
    if (value === 0) break
    values.push(value)
  }
  const n = values.length
  if (n === most) throw new Error(`there is memory for ${n} keys`)
  const check = (from: number) => {
    for (let i = from; i < n; i++)
      if (structure.get(keyOf(i)) !== values[i]) throw new Error(`key ${i} of ${n}, without memory`)
    const has = structure.size?.() ?? n - from
    if (has !== n - from) throw new Error(`the size is ${has}, not ${n - from}`)
  }
  check(0)
  structure.check?.()
  if (structure.get(keyOf(n)) !== 0) throw new Error('the key without memory is there')
  if (structure.remove !== undefined) {
    for (let turn = 0; turn < 3; turn++) {
      for (let i = 0; i < n >> 1; i++) structure.remove(keyOf(i))
      check(n >> 1)
      for (let i = 0; i < n >> 1; i++) values[i] = structure.add(keyOf(i), i + 1)
      check(0)
    }
  }
  structure.clear()
  if (structure.get(keyOf(0)) !== 0) throw new Error('a key is there after all were removed')
  return n
}

/** The sizes just below, at and just above each of these numbers of keys. */
export function around(numbers: readonly number[]): number[] {
  return numbers.flatMap((n) => [n - 1, n, n + 1])
}
