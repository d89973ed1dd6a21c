// The properties of a record's event that follow from its tag. Tags are those of HATF.
import { fieldSet, Kind, Outcome } from '../../dist/lib/entry/stages.js'

const { alloc, free, realloc } = Kind
const { none, moved, allocated, freed } = Outcome
const ALLOC = fieldSet('size', 'address')
const REALLOC = fieldSet('size', 'address', 'oldAddress', 'outcome')

/** The kind of event, by tag. */
export const KIND_OF_TAG = Uint8Array.of(alloc, free, realloc, realloc, realloc, realloc)
/** The set of its fields, by tag. */
export const FIELDS_OF_TAG = Uint32Array.of(ALLOC, fieldSet('address'), REALLOC, REALLOC, REALLOC, REALLOC)
/** The outcome of a realloc, by tag; other tags have none. */
export const OUTCOME_OF_TAG = Uint8Array.of(0, 0, none, moved, allocated, freed)
