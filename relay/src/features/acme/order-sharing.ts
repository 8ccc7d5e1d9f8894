// The seam between ACME at this machine and the other machines of the same relay, which have one account and one budget.

import type { Prover } from './proofs.ts'

/** A proof that the authority may ask any machine for. */
export interface ToldProof {
  type: Prover['type']
  name: string
  keyAuthorization: string
  /** Whether it is to be shown from now on, or no more. */
  isShown: boolean
}

/** A message of a machine about a site's order: first that there is one, and then its chain. */
export interface ToldOrder {
  identityKey: string
  /** URL of the ACME directory. */
  acmeDirectory: string
  /** PEM, leaf first; undefined while the order is under way. */
  chain?: string | undefined
}

/** While Redis does not answer, each method that returns a promise rejects with AcmeError `unreachable`, unless it says otherwise. */
export interface OrderSharing {
  /** Calls `use` while no other machine does what has this name. @throws also what `use` throws, and the signal's reason */
  alone<T>(what: string, signal: AbortSignal, use: () => Promise<T>): Promise<T>
  /** Whether a machine does what has this name. */
  isUnderWay(what: string): Promise<boolean>
  /** Takes over files of the state directory as other machines have written them. */
  refresh(files: readonly string[]): Promise<void>
  /** Gives files of the state directory to the other machines. */
  publish(files: readonly string[]): Promise<void>
  /** @param listener called with each file that another machine has changed, when it is written here */
  onChange(listener: (file: string) => void): void
  /** Resolves when the machines that can be reached know it, at the latest after a moment. Never rejects. */
  tellProof(proof: ToldProof): Promise<void>
  onProof(listener: (proof: ToldProof) => void): void
  /** Finds the chain that a machine has got for a site. */
  chainOf(identityKey: string): Promise<ToldOrder | undefined>
  /** Keeps a site's chain for machines that cannot be told now. @param keptMs milliseconds */
  keepChain(order: ToldOrder, keptMs: number): Promise<void>
  /** Tells the machines that can be reached. */
  tellOrder(order: ToldOrder): void
  onOrder(listener: (order: ToldOrder) => void): void
}
