// Records each change of the policy: in the list of recent changes, and in the audit log.

import type { AuditResponse, PolicyStep } from '@svc/protocol'
import type { AuditedChange, AuditLog, Auditor } from './audit-log.ts'
import type { PolicyChanges } from './recent-changes.ts'

export class PolicyRecord {
  readonly #audit: AuditLog
  readonly changes: PolicyChanges

  constructor(audit: AuditLog, changes: PolicyChanges) {
    this.#audit = audit
    this.changes = changes
  }

  /** Never rejects. @param auditor undefined for what nobody did, as the end of a ban by itself */
  async add(step: PolicyStep, auditor: Auditor | undefined): Promise<void> {
    await this.changes.add(step, auditor?.by)
    await Promise.all(auditedChanges(step).map((change) => this.#audit.record(auditor, change)))
  }

  /** A page of the audit log. @throws RelayError `invalid_request` for a wrong cursor */
  async page(after: string): Promise<AuditResponse> {
    return await this.#audit.page(after)
  }

  /** Records what the list of recent changes does not have. Never rejects. */
  async audit(change: AuditedChange, auditor: Auditor): Promise<void> {
    await this.#audit.record(auditor, change)
  }
}

/** One for each identity. */
function auditedChanges(step: PolicyStep): AuditedChange[] {
  if (step.kind !== 'leases') return [step]
  return step.made.decisions.map((made, index) => ({
    kind: 'lease',
    made,
    undo: step.undo.decisions[index]!,
  }))
}
