import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const css = readFileSync('page/main.css', 'utf8')

/** The colours of a theme. */
function coloursOf(theme: string): Readonly<Record<string, string>> {
  const block = css.split(`:root[data-theme='${theme}'] {`)[1]?.split('}')[0] ?? ''
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]))
}

/** The relative luminance of a colour, as WCAG 2 defines it. */
function luminance(colour: readonly number[]): number {
  const [r = 0, g = 0, b = 0] = colour.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

const rgb = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))

function contrast(a: readonly number[], b: readonly number[]): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x)
  return (high + 0.05) / (low + 0.05)
}

describe.each(['light', 'dark'])('the %s colours', (theme) => {
  const colours = coloursOf(theme)
  const of = (name: string) => rgb(colours[name])

  test.each(['text', 'muted', 'accent', 'bad', 'good'])('%s can be read', (name) => {
    for (const ground of ['surface', 'ground'])
      expect(contrast(of(name), of(ground)), ground).toBeGreaterThanOrEqual(4.5)
  })

  test('lines and areas can be seen, and their numbers read', () => {
    for (let n = 0; n < 10; n++) {
      expect(contrast(of(`series-${n}`), of('surface')), `series-${n}`).toBeGreaterThanOrEqual(3)
      expect(contrast(of('on-series'), of(`series-${n}`)), `number on series-${n}`).toBeGreaterThanOrEqual(3)
    }
    expect(contrast(of('others'), of('surface'))).toBeGreaterThanOrEqual(3)
  })

  test('the numbers of the matrix of threads can be read on its strongest colours', () => {
    const parts = [...css.matchAll(/var\(--(series-\d)\) calc\(var\(--part\) \* ([\d.]+)\), transparent/g)]
    expect(parts).toHaveLength(2)
    for (const [, series = '', factor] of parts) {
      // The share of a cell is at most 80 %.
      const part = 0.8 * Number(factor)
      const mixed = of(series).map((value, i) => value * part + (of('surface')[i] as number) * (1 - part))
      expect(contrast(of('text'), mixed), series).toBeGreaterThanOrEqual(4.5)
    }
  })
})
