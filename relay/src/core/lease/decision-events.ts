// Says of a change of the policy what it decided about each identity.

import type { LeaseEvent, LeasePolicyUpdate, PolicyChange, PolicyStep } from '@svc/protocol'

type Decided = [identityKey: string, event: LeaseEvent]

/** @param at RFC 3339 @param by the administrator; undefined if nobody did it */
export function decisionEvents(step: PolicyStep, at: string, by: string | undefined): Decided[] {
  if (step.kind === 'lease') return eventsOf(step.made, step.undo, at, by)
  if (step.kind !== 'leases') return []
  return step.made.decisions.flatMap((made, index) =>
    eventsOf(made, step.undo.decisions[index] ?? { identity_key: made.identity_key }, at, by),
  )
}

/** The events of an identity and those of changes at other machines, the newest first, each once. */
export function withDecisions(
  events: readonly LeaseEvent[],
  changes: readonly PolicyChange[],
  identityKey: string,
): LeaseEvent[] {
  const known = new Set(events.map(({ at, kind }) => `${at} ${kind}`))
  const others = changes
    .flatMap((change) => decisionEvents(change, change.at, change.by))
    .filter(([key, { at, kind }]) => key === identityKey && !known.has(`${at} ${kind}`))
    .map(([, event]) => event)
  if (others.length === 0) return [...events]
  return [...events, ...others].sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
}

function eventsOf(
  made: LeasePolicyUpdate,
  before: LeasePolicyUpdate,
  at: string,
  by: string | undefined,
): Decided[] {
  const events: LeaseEvent[] = []
  const add = (event: Omit<LeaseEvent, 'at' | 'by'>): void => {
    events.push({ at, ...(by !== undefined && { by }), ...event })
  }
  const { is_banned, is_denied, is_approved, bps, reason, until } = made
  if (is_banned === true) add({ kind: 'banned', ...(reason && { reason }), ...(until && { until }) })
  else if (is_banned === false && before.is_banned === true) add({ kind: 'ban_ended' })
  if (is_denied === true) add({ kind: 'denied' })
  else if (is_denied === false && before.is_denied === true) add({ kind: 'denial_ended' })
  if (is_approved === true && is_denied !== true) add({ kind: 'approved' })
  else if (is_approved === false && before.is_approved === true) add({ kind: 'approval_revoked' })
  if (bps !== undefined && bps > 0) add({ kind: 'limited', bps })
  else if (bps === 0 && (before.bps ?? 0) > 0) add({ kind: 'limit_removed' })
  return events.map((event) => [made.identity_key, event])
}
