/** Something that must not be: what, in words. */
export class Failure extends Error {}
