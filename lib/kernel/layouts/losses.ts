/** Marker among the watched fields of a kind: the format has no record for this kind at all. Not a field bit. */
export const LEFT_OUT = 1 << 31
/** The number of places for combinations of kind and lost fields. */
export const PLACES = 64
