// The interface of a proof of an executable: it names its requirements, and each of its parts passes or fails by itself.

/** Paths of what a proof runs. */
export interface Built {
  /** The compressed executable of `svc`. */
  svc: string
  relay: string
  /** Directory for what is unpacked. */
  directory: string
}

/** Rejects when the executable is not what it should be. */
export type Proofs = Record<string, () => Promise<void>>

/** Says why a proof cannot be made on this machine. */
export class Impossible extends Error {}

export interface Proof {
  /** How to get what the proof needs beside the executable. */
  install: string
  /** @returns undefined when that is not there */
  prepare(built: Built): Promise<{ version: string; proofs: Proofs } | undefined>
}
