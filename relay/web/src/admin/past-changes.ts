// Converts the relay's recent policy changes for the list: the text of each, and whether it was undone.
import { type LeasePolicyUpdate, PATH, type PolicyChange } from '@svc/protocol'
import { DONE } from '../texts/admin.ts'
import type { ChangeRequest } from './change-request.ts'
import { limitOf } from './lease-fields.tsx'

const PATHS = {
  settings: PATH.policy,
  lease: PATH.policyLeases,
  leases: PATH.policyLeasesBulk,
  ip: PATH.policyIps,
  relay: PATH.policyRelays,
  domain: PATH.policyDomains,
  name: PATH.policyNames,
} as const

export interface PastChange extends Pick<ChangeRequest, 'text' | 'undo'> {
  id: number
  /** In milliseconds since the epoch. */
  at: number
  isUndone: boolean
}

/** @param changes the newest first */
export function pastChanges(changes: readonly PolicyChange[]): PastChange[] {
  return changes.map((change, index) => ({
    id: change.id,
    at: Date.parse(change.at),
    text: textOf(change),
    undo: { path: PATHS[change.kind], body: change.undo },
    // A later change by any administrator that equals the undo counts.
    isUndone: changes.slice(0, index).some((later) => isEqual(later.made, change.undo)),
  }))
}

function textOf(change: PolicyChange): string {
  if (change.kind === 'settings') return DONE.settings
  if (change.kind === 'lease') return leaseChangeText(change.made)
  if (change.kind === 'leases') return change.made.decisions.map(leaseChangeText).join('; ')
  if (change.kind === 'name')
    return change.made.address === '' ? DONE.unpinned(change.made.name) : DONE.pinned(change.made.name)
  const { is_banned, reason: _why, until: _end, ...banned } = change.made
  const [what = ''] = Object.values(banned)
  return is_banned ? DONE.banned(what) : DONE.unbanned(what)
}

function leaseChangeText({
  identity_key,
  is_approved,
  is_denied,
  is_banned,
  bps,
}: LeasePolicyUpdate): string {
  const [who = ''] = identity_key.split(':')
  const texts: string[] = []
  if (is_banned !== undefined) texts.push(is_banned ? DONE.banned(who) : DONE.unbanned(who))
  // An approval lifts a denial, and a denial revokes an approval.
  if (is_denied) texts.push(DONE.denied(who))
  else if (is_approved !== undefined) texts.push(is_approved ? DONE.approved(who) : DONE.revoked(who))
  else if (is_denied !== undefined) texts.push(DONE.undenied(who))
  if (bps !== undefined) texts.push(DONE.limited(who, limitOf(bps)))
  return texts.join('; ')
}

/** Compares JSON values; the order of fields does not matter. */
function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isEqual(one[name as never], other[name as never]))
}
