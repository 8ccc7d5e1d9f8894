// Remembers the last changes of the policy for administrators. A restart forgets them.

import type { PolicyChange, PolicyStep } from '@svc/protocol'

/** Recent changes of the policy that administrators can see. */
export const POLICY_CHANGES_MAX = 100

export interface PolicyChanges {
  /** Never rejects. @param by name of the administrator; undefined if nobody did it @param at RFC 3339 */
  add(step: PolicyStep, by: string | undefined, at: string): Promise<void>
  /** The last {@link POLICY_CHANGES_MAX}, the newest first. Never rejects. */
  list(): Promise<readonly PolicyChange[]>
}

export class RecentPolicyChanges implements PolicyChanges {
  #newestFirst: readonly PolicyChange[] = []
  #lastId = 0

  async list(): Promise<readonly PolicyChange[]> {
    return this.#newestFirst
  }

  async add(step: PolicyStep, by: string | undefined, at: string): Promise<void> {
    this.#lastId += 1
    const change = { id: this.#lastId, at, by, ...step }
    this.#newestFirst = [change, ...this.#newestFirst].slice(0, POLICY_CHANGES_MAX)
  }
}
