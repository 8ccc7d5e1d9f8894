// The last changes of the policy by the administrators of all machines.

import type { PolicyChange, PolicyStep } from '@svc/protocol'
import { POLICY_CHANGES_MAX } from '../../limits.ts'
import type { PolicyChanges } from '../../policy/recent-changes.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineKeys } from '../engine/keys.ts'
import { KEEP_POLICY_CHANGE } from '../engine/scripts.ts'

interface SharedPolicyChangesParts {
  engine: Engine
  keys: EngineKeys
}

export class SharedPolicyChanges implements PolicyChanges {
  readonly #parts: SharedPolicyChangesParts
  /** Those of the last time that the engine answered. */
  #known: readonly PolicyChange[] = []

  constructor(parts: SharedPolicyChangesParts) {
    this.#parts = parts
  }

  async add(step: PolicyStep): Promise<void> {
    const { engine, keys } = this.#parts
    const json = JSON.stringify({ at: new Date().toISOString(), ...step })
    // The audit log of this machine has it in any case.
    await engine
      .run(KEEP_POLICY_CHANGE, [keys.policyChanges, keys.policyChangeNumber], [json, POLICY_CHANGES_MAX])
      .catch(() => {})
  }

  async list(): Promise<readonly PolicyChange[]> {
    const { engine, keys } = this.#parts
    try {
      const entries = (await engine.command('LRANGE', keys.policyChanges, 0, -1)) as string[]
      this.#known = entries.map(parse)
    } catch {}
    return this.#known
  }
}

function parse(entry: string): PolicyChange {
  const space = entry.indexOf(' ')
  return { id: Number(entry.slice(0, space)), ...JSON.parse(entry.slice(space + 1)) }
}
