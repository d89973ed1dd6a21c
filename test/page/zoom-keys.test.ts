import { expect, test } from 'vitest'
import { moved, ZOOM_KEYS, type Part } from '../../page/parts/zoom-keys.js'

const WHOLE: Part = [10, 1010]

test.each<[string, Part, Part]>([
  ['+', [10, 1010], [260, 760]],
  ['=', [210, 410], [260, 360]],
  ['-', [410, 610], [310, 710]],
  ['ArrowLeft', [410, 610], [360, 560]],
  ['ArrowRight', [410, 610], [460, 660]],
  // At an end, what is shown keeps its width.
  ['ArrowLeft', [30, 230], [10, 210]],
  ['ArrowLeft', [10, 210], [10, 210]],
  ['ArrowRight', [800, 1000], [810, 1010]],
  ['-', [10, 210], [10, 410]],
  ['-', [800, 1000], [610, 1010]],
  ['-', [300, 1000], WHOLE],
  ['ArrowRight', WHOLE, WHOLE],
])('the key %s in %j: %j', (key, part, expected) => {
  expect(moved(part, ZOOM_KEYS[key]!, WHOLE)).toEqual(expected)
})
