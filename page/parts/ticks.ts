/** What an axis measures, for its steps and its labels. */
export interface Quantity {
  /** The kind of numbers: bytes have binary units, durations have those of time. */
  readonly kind: 'bytes' | 'count' | 'duration'
  /** For durations: how many seconds one is; undefined if the unit is not known. */
  readonly seconds?: number | undefined
}

/** The positions of marks on an axis, and their texts. */
export interface Ticks {
  readonly at: readonly number[]
  readonly texts: readonly string[]
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P', 'E']
/** Units of time, and the seconds that each has. */
const TIMES: readonly (readonly [string, number])[] = [
  ['h', 3600],
  ['min', 60],
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  ['ns', 1e-9],
]

/**
 * Round positions on an axis, all in one unit, and no two with the same text.
 * @param most the number of marks at most
 */
export function ticks(from: number, to: number, most: number, quantity: Quantity): Ticks {
  if (!(to > from) || !Number.isFinite(to - from)) return { at: [from], texts: [labeller(from, 1, quantity)(from)] }
  const { scale } = unitOf(Math.max(Math.abs(from), Math.abs(to)), quantity)
  const isWhole = quantity.kind !== 'duration' || quantity.seconds === undefined
  const within = (rough: number) => {
    const step = Math.max(isWhole ? 1 : 0, roundStep(rough / scale, quantity.kind === 'bytes') * scale)
    const first = Math.ceil(from / step - 1e-9)
    return { step, first, count: Math.min(1000, Math.floor(to / step + 1e-9) - first + 1) }
  }
  let rough = (to - from) / Math.max(1, most)
  let { step, first, count } = within(rough)
  // One mark alone does not show how long a step is.
  for (let tries = 0; most > 1 && count < 2 && tries < 3; tries++) {
    rough /= 2
    ;({ step, first, count } = within(rough))
  }
  // A smaller step may have more marks than there is room for.
  const every = count > most + 1 ? Math.ceil(count / Math.max(2, most)) : 1
  const at = Array.from({ length: Math.max(0, Math.ceil(count / every)) }, (_, n) => (first + n * every) * step)
  const text = labeller(Math.max(Math.abs(from), Math.abs(to)), step, quantity)
  return { at, texts: at.map(text) }
}

/** The smallest round number that is not below another: 1, 2 or 5 times a power of ten, or a power of two. */
function roundStep(rough: number, isBinary: boolean): number {
  if (isBinary) return 2 ** Math.ceil(Math.log2(rough))
  const power = 10 ** Math.floor(Math.log10(rough))
  const times = [1, 2, 5, 10].find((one) => one * power >= rough * (1 - 1e-9)) ?? 10
  return times * power
}

/** The unit in which the largest value of an axis is at least 1, and its size. */
function unitOf(largest: number, { kind, seconds }: Quantity): { unit: string; scale: number } {
  if (kind === 'duration' && seconds !== undefined) {
    // Minutes and hours only where seconds would have many digits.
    const found = TIMES.find(([unit, size]) => largest * seconds >= size * (unit === 'h' || unit === 'min' ? 10 : 1))
    const [unit, size] = found ?? ['ns', 1e-9]
    return { unit, scale: size / seconds }
  }
  const [base, names] = kind === 'bytes' ? [1024, BINARY] : [1000, DECIMAL]
  const limit = kind === 'bytes' ? 1024 : 1_000_000
  let power = 0
  if (largest >= limit) while (power < names.length - 1 && largest >= base ** (power + 1)) power++
  return { unit: names[power], scale: base ** power }
}

/** Texts of values in the unit of the largest one, with the digits that a step needs. */
export function labeller(largest: number, step: number, quantity: Quantity): (value: number) => string {
  const { unit, scale } = unitOf(largest, quantity)
  const digits = digitsOf(step / scale)
  return (value) => {
    const number = (value / scale).toFixed(digits).replace(/^-(0(?:\.0*)?)$/, '$1')
    const [whole = '', part] = number.split('.')
    const text = whole.replace(/\B(?=(\d{3})+$)/g, ',') + (part === undefined ? '' : `.${part}`)
    return unit === '' ? text : `${text} ${unit}`
  }
}

/** The number of digits after the point that a step needs, to be shown exactly, at most 12. */
function digitsOf(step: number): number {
  for (let digits = 0; digits < 12; digits++) {
    const shown = Number(step.toFixed(digits))
    if (Math.abs(shown - step) <= step * 1e-6) return digits
  }
  return 12
}
