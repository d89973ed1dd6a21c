import { expect, test } from 'vitest'
import { eventsBetween } from '../../page/parts/events-between.js'

test('events of a part of the axis are those of the parts of the timeline that end there, and at least one', () => {
  const event = [10, 20, 30, 40]
  const at = [0, 100, 100, 300]
  const between = (from: number, to: number) => eventsBetween(event, at, from, to)
  expect(between(0, 300)).toEqual([1, 40])
  expect(between(50, 100)).toEqual([11, 30])
  expect(between(101, 299)).toEqual([31, 31])
  expect(between(301, 400)).toEqual([40, 40])
  expect(eventsBetween([], [], 0, 1)).toEqual([1, 1])
})
