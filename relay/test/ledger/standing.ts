// How a row of the texts stands that no test of the ledger proves: another test does, nothing can, a later part will, or
// nothing does so far.

export type Standing =
  | { is: 'proved'; by: readonly Proof[] }
  | { is: 'impossible'; why: string }
  | { is: 'planned'; part: PartName }
  | { is: 'unproved'; why: string }

export interface Proof {
  /** From the root of the repository. */
  file: string
  /** The name of a test, or of a group of tests, as it stands in the file, `…` for an expression; in the ledger: a row. */
  test: string
}

/** Section → row → how it stands. */
export type Standings = Readonly<Record<string, Readonly<Record<string, Standing>>>>

/** What tells that a planned part is not there yet: as soon as one does not hold, its rows have to be proved. */
interface Part {
  what: string
  /** A folder that the part will have, from the root of the repository. */
  folder: string
  /** An extension that no relay lists until then. */
  extension?: string
  /** A word of the specification without which the part cannot be written, wherever its files are: no source has it until then. */
  word?: string
}

export const PARTS = {
  visitorAddress: {
    what: 'addresses of visitors for sites',
    folder: 'relay/src/visitor-address',
    extension: 'visitor_address',
    word: 'visitor_address',
  },
} as const satisfies Record<string, Part>

export type PartName = keyof typeof PARTS

/** @param tests at least one, all of that file */
export function proved(file: string, ...tests: readonly [string, ...string[]]): Standing & { is: 'proved' } {
  return { is: 'proved', by: tests.map((test) => ({ file, test })) }
}

/** Proofs in more than one file. */
export function together(...all: readonly (Standing & { is: 'proved' })[]): Standing & { is: 'proved' } {
  return { is: 'proved', by: all.flatMap(({ by }) => by) }
}

export function impossible(why: string): Standing {
  return { is: 'impossible', why }
}

/** The relay does it, as far as is known, and no test shows that. */
export function unproved(why: string): Standing {
  return { is: 'unproved', why }
}

export function planned(part: PartName): Standing {
  return { is: 'planned', part }
}
