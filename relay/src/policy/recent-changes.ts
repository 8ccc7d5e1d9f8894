// Remembers the last changes of the policy for administrators. A restart forgets them.

import type { PolicyChange, PolicyStep } from '@svc/protocol'
import { POLICY_CHANGES_MAX } from '../limits.ts'

export class RecentPolicyChanges {
  #newestFirst: readonly PolicyChange[] = []
  #lastId = 0

  get newestFirst(): readonly PolicyChange[] {
    return this.#newestFirst
  }

  add(step: PolicyStep): void {
    this.#lastId += 1
    const change = { id: this.#lastId, at: new Date().toISOString(), ...step }
    this.#newestFirst = [change, ...this.#newestFirst].slice(0, POLICY_CHANGES_MAX)
  }
}
