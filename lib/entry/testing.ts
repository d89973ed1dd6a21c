/** Tests of formats: `heapflow/testing`, for any test runner. */
export { conformance, type Check, type Conformance, type Sample } from '../testing/conformance.js'
export { decodeAll, drive, encodeAll, encodeEvents, slices, type Decoded, type Outcome } from '../testing/drive.js'
