// Records each change of the policy: in the list of recent changes, in the audit log, and in the history of identities.

import type { AuditResponse, LeaseEvent, PolicyStep } from '@svc/protocol'
import { withDecisions } from '../lease/decision-events.ts'
import { LEASE_EVENTS_MAX, type LeaseHistory } from '../lease/lease-history.ts'
import type { AuditedChange, AuditLog, Auditor } from './audit-log.ts'
import type { PolicyChanges } from './recent-changes.ts'

export class PolicyRecord {
  readonly #audit: AuditLog
  readonly #history: Pick<LeaseHistory, 'of' | 'decided'>
  readonly changes: PolicyChanges

  constructor(audit: AuditLog, changes: PolicyChanges, history: Pick<LeaseHistory, 'of' | 'decided'>) {
    this.#audit = audit
    this.#history = history
    this.changes = changes
  }

  /** Never rejects. @param auditor undefined for what nobody did, as the end of a ban by itself */
  async add(step: PolicyStep, auditor: Auditor | undefined): Promise<void> {
    const at = new Date().toISOString()
    this.#history.decided(step, at, auditor?.by)
    await this.changes.add(step, auditor?.by, at)
    await Promise.all(auditedChanges(step).map((change) => this.#audit.record(auditor, change)))
  }

  /** What happened to an identity, with the decisions of all machines, the newest first. Never rejects. */
  async eventsOf(identityKey: string): Promise<LeaseEvent[]> {
    const events = this.#history.of(identityKey)
    return withDecisions(events, await this.changes.list(), identityKey).slice(0, LEASE_EVENTS_MAX)
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
