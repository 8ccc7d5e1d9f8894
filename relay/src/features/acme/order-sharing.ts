// The interface between ACME on this machine and the other machines of the same relay, which share one account and one
// budget.

import type { Prover } from './proofs.ts'

/** A proof, for which the authority may ask any machine. */
export interface PublishedProof {
  type: Prover['type']
  name: string
  keyAuthorization: string
  /** Whether to show the proof or to remove it. */
  isShown: boolean
}

/** A machine's message about a site's order: first that the order exists, and later its chain. */
export interface PublishedOrder {
  identityKey: string
  /** URL of the ACME directory. */
  acmeDirectory: string
  /** PEM, leaf first; undefined while the order is under way. */
  chain?: string | undefined
}

/** While Redis does not answer, each method that returns a promise rejects with AcmeError `unreachable`, unless it says otherwise. */
export interface OrderSharing {
  /**
   * Calls `use` while no other machine runs the task of this name.
   * @throws also what `use` throws, and the signal's reason
   */
  alone<T>(what: string, signal: AbortSignal, use: () => Promise<T>): Promise<T>
  /** Whether a machine runs the task of this name. */
  isUnderWay(what: string): Promise<boolean>
  /** Copies the latest versions of these state files from the other machines. */
  refresh(files: readonly string[]): Promise<void>
  /** Sends files of the state directory to the other machines. */
  publish(files: readonly string[]): Promise<void>
  /** @param listener called with each file that another machine changed, once it is written here */
  onChange(listener: (file: string) => void): void
  /** Resolves when the machines that can be reached have the proof, or after a short timeout. Never rejects. */
  publishProof(proof: PublishedProof): Promise<void>
  onProof(listener: (proof: PublishedProof) => void): void
  /** Finds the chain that a machine obtained for a site. */
  chainOf(identityKey: string): Promise<PublishedOrder | undefined>
  /** Keeps a site's chain for machines that cannot be reached now. @param keptMs milliseconds */
  keepChain(order: PublishedOrder, keptMs: number): Promise<void>
  /** Sends the message to the machines that can be reached. */
  publishOrder(order: PublishedOrder): void
  onOrder(listener: (order: PublishedOrder) => void): void
}
