import { describe, expect, test } from 'vitest'
import { markTitles } from '../../page/parts/mark-titles.js'

const CHARACTER = 7
const ruler = { measureText: (text: string) => ({ width: CHARACTER * text.length }) }
const titlesOf = (marks: readonly (readonly [x: number, title: string])[], width: number) =>
  markTitles(
    ruler,
    marks.map(([x, title]) => ({ x, title })),
    (x) => x,
    [40, width],
  )

describe('titles of vertical lines', () => {
  test('are beside them, in two lines of text, and none is over another', () => {
    const titles = titlesOf(
      [
        [300, 'c'],
        [100, 'the first'],
        [101, 'the second'],
        [102, 'no room'],
        [10, 'outside'],
      ],
      800,
    )
    expect(titles.map(({ at, text }) => [at, text])).toEqual([
      [100, 'the first'],
      [101, 'the second'],
      [102, ''],
      [300, 'c'],
    ])
    expect(titles[0]?.above).not.toBe(titles[1]?.above)
  })

  test('are whole within a picture, or lose their middle', () => {
    const long = 'process 2 is pid 19516, forked by 1: ./a-long-name'
    for (const x of [40, 100, 150, 199, 200]) {
      const [title] = titlesOf([[x, long]], 200)
      expect(title?.text).toMatch(/^p.*….*e$/)
      expect(title?.left).toBeGreaterThanOrEqual(0)
      expect((title?.left ?? 0) + CHARACTER * (title?.text.length ?? 0)).toBeLessThanOrEqual(230)
    }
  })
})
