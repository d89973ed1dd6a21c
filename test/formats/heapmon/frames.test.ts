import { describe, expect, it } from 'vitest'
import { frameEnd } from '../../../lib/formats/heapmon/frames.js'
import { splitCrawl } from './reference.js'
import { FULL_CRAWL } from './text.js'

function split(crawl: string): string[] {
  const bytes = Buffer.from(crawl, 'latin1')
  const frames: string[] = []
  for (let from = 0; ;) {
    const to = frameEnd(bytes, from, bytes.length)
    frames.push(crawl.slice(from, to))
    if (to === bytes.length) return frames
    from = to + 1
  }
}

describe('splitting stack crawls', () => {
  it.each<[string, string[]]>([
    ['main', ['main']],
    ['a|b|c', ['a', 'b', 'c']],
    ['a||b', ['a', '', 'b']],
    ['|a|', ['', 'a', '']],
    ['operator|(int)|main', ['operator|(int)', 'main']],
    ['operator||(int)|main', ['operator||(int)', 'main']],
    ['operator|=(int)|main', ['operator|=(int)', 'main']],
    ['operator|', ['operator|']],
    ['operator||', ['operator||']],
    ['operator|=', ['operator|=']],
    ['operator||main', ['operator|', 'main']],
    ['operator|||main', ['operator||', 'main']],
    ['operator|=|main', ['operator|=', 'main']],
    ['operator||operator|=(int)|main', ['operator|', 'operator|=(int)', 'main']],
    ['operator|||operator||operator|', ['operator||', 'operator|', 'operator|']],
    ['A::operator|<int>(B)|c', ['A::operator|<int>(B)', 'c']],
    ['A::operator||<int>(B)|c', ['A::operator||<int>(B)', 'c']],
    ['A::operator| (B) const|c', ['A::operator| (B) const', 'c']],
    [
      'f<&A::operator|>(int)|g(&operator||)|h<operator|=, 1>',
      ['f<&A::operator|>(int)', 'g(&operator||)', 'h<operator|=, 1>'],
    ],
    // A C function may be called operator; what ends so is no operator at all.
    ['operator|main', ['operator', 'main']],
    ['my_operator||(int)', ['my_operator', '', '(int)']],
    ['\xe4operator|(int)', ['\xe4operator', '(int)']],
    ['T::operator<<(const long)|operator ||x', ['T::operator<<(const long)', 'operator ', '', 'x']],
  ])('%s', (crawl, frames) => {
    expect(split(crawl)).toEqual(frames)
    expect(splitCrawl(crawl)).toEqual(frames)
  })

  it("splits the full crawl of the format's example", () => {
    expect(split(FULL_CRAWL)).toHaveLength(8)
    expect(split(FULL_CRAWL)[5]).toBe('TTieredTextBuffer::operator<<(const long)')
  })

  describe('agrees with the reference on everything that can be ambiguous', () => {
    const parts = ['operator', '|', '=', '(', 'x', ' ', ',']
    const check = (crawl: string, depth: number): void => {
      if (crawl !== '' && split(crawl).join('\n') !== splitCrawl(crawl).join('\n'))
        expect(split(crawl)).toEqual(splitCrawl(crawl))
      if (depth > 0) for (const part of parts) check(crawl + part, depth - 1)
    }
    it('of up to 5 parts', () => check('', 5))
    it('of up to 7 parts', { tags: ['slow'] }, () => check('', 7))
  })
})
