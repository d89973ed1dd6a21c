// The figures of the paper: Chilimbi, Jones and Zorn, "Designing a Trace Format for Heap Allocation Events" (ISMM
// 2000).

/** Table 3, in the paper's units: thousands, and for the mean bytes. */
export const SUMMARIES = {
  'espresso.largest': [1675, 16, 1675, 106_813, 4.45, 268, 63.8],
  'espresso.test2': [4483, 48, 4483, 1_114_462, 4.91, 375, 248.6],
  vortex: [1489, 0, 1412, 700_967, 157, 47_956, 470.8],
  twolf: [575, 0, 493, 17_920, 105, 2657, 31.2],
}

/**
 * Table 4: Simple Binary, ASCII, HATF (naive), HATF (best), Split Stream, HATF SplitAddr; bytes per record plain /
 * gzip.
 */
export const ENCODED = {
  'espresso.largest': ['16 / 2.61', '11.56 / 1.74', '7.03 / 1.57', '5.64 / 1.47', '13 / 1.25', '5.64 / 1.15'],
  'espresso.test2': ['16 / 2.82', '11.57 / 1.61', '7.03 / 1.47', '5.68 / 1.39', '13 / 1.27', '5.68 / 1.16'],
  vortex: ['16 / 3.38', '13.64 / 3.11', '7.05 / 2.86', '5.98 / 2.82', '13 / 2.52', '5.98 / 2.47'],
  twolf: ['16 / 1.67', '12.56 / 2.37', '7.15 / 2.31', '5.30 / 1.98', '13 / 1.31', '5.30 / 1.39'],
}

/** Table 7: naive, small, same and combined sizes. */
export const SIZES = {
  'espresso.largest': ['7.03 / 1.57', '5.67 / 1.47', '6.96 / 1.6', '5.67 / 1.48'],
  'espresso.test2': ['7.03 / 1.47', '5.7 / 1.38', '7.00 / 1.47', '5.70 / 1.38'],
  vortex: ['7.05 / 2.86', '5.98 / 2.85', '6.66 / 2.86', '5.93 / 2.86'],
  twolf: ['7.15 / 2.31', '5.56 / 2.15', '6.94 / 2.30', '5.51 / 2.15'],
}

/** Table 8: base offsets of 1 byte, of 2 bytes, the best of both, stride, HATF (best). */
export const ADDRESSES = {
  'espresso.largest': ['7.00 / 1.57', '7.01 / 1.57', '7.00 / 1.57', '7.03 / 1.56', '5.64 / 1.47'],
  'espresso.test2': ['7.01 / 1.47', '7.02 / 1.47', '7.01 / 1.47', '7.03 / 1.47', '5.68 / 1.39'],
  vortex: ['7.05 / 2.86', '7.05 / 2.85', '7.05 / 2.84', '7.05 / 2.86', '5.98 / 2.82'],
  twolf: ['7.15 / 2.26', '7.02 / 2.14', '7.02 / 2.17', '6.89 / 2.14', '5.30 / 1.98'],
}

/** Table 5: microseconds per record to read and to write, columns as in Table 4. */
export const TIMES = {
  'espresso.largest': [[5.29, 0.2], [8.07, 6.29], [6.94, 1.05], [6.91, 1.18], [6.1, 1.08], [7.04, 1.34]],
  'espresso.test2': [[5.15, 0.21], [7.93, 6.29], [6.79, 1.04], [6.77, 1.2], [5.94, 1.09], [7.02, 1.36]],
  vortex: [[7.85, 0.54], [10.96, 7.43], [9.66, 1.18], [9.67, 1.33], [8.75, 1.06], [9.59, 1.3]],
  twolf: [[6.59, 0.34], [9.51, 6.87], [8.15, 1.17], [8.15, 1.43], [7.42, 1.01], [8.06, 1.21]],
}

/** Table 6: the same with gzip. */
export const GZIP_TIMES = {
  'espresso.largest': [[6.56, 7.99], [8.82, 11.63], [7.44, 5.77], [7.55, 6.32], [7.05, 5.17], [7.41, 5.3]],
  'espresso.test2': [[6, 7.97], [8.67, 11.42], [7.19, 5.58], [7.19, 6.09], [6.84, 5.48], [7.42, 5.55]],
  vortex: [[9.06, 8], [11.93, 14.59], [10.42, 9.23], [10.41, 9.68], [10.12, 5.98], [10.28, 5.09]],
  twolf: [[7.91, 4.58], [10.45, 12.58], [9.11, 8.52], [9, 9.11], [8.88, 4.32], [9.11, 12.69]],
}
