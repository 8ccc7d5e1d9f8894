// Where a platform keeps the ACME account and the domains' certificates, each with its key.

import type { SiteKey } from '../certificate/site-key.ts'

/** A DomainEntry is a key, and the text that is stored with it. */
export interface DomainEntry {
  readonly key: SiteKey
  /** The last stored text, unchecked. Undefined for a new key. */
  readonly text: string | undefined
  /** Where it is stored, for messages. */
  readonly where: string
  /** Stores a text in place of the last one. Rejects when it cannot be stored. */
  save(text: string): Promise<void>
}

/** A DomainStore keeps entries across restarts. */
export interface DomainStore {
  /**
   * Loads an entry, or makes one with a new key of ECDSA P-256.
   * @param id letters, digits, dots, hyphens and `@`
   * @throws SvcError `certificate_unavailable`, whose message says what is wrong
   */
  load(id: string): Promise<DomainEntry>
  /**
   * Runs a task while none with the same `id` runs in this or another page or process that uses the store.
   * @throws what the task throws, the signal's reason, or SvcError `certificate_unavailable` when there can be no lock
   */
  lock<T>(id: string, task: () => Promise<T>, signal: AbortSignal): Promise<T>
}
