// Makes the update that reverts a change of the policy.

import type { LeasePolicyUpdate, PolicyDecisionsResponse } from './messages.ts'

/**
 * undoPolicyUpdate returns the update that restores each decision that `update` touches.
 * @param before the decisions before `update`
 */
export function undoPolicyUpdate(
  update: LeasePolicyUpdate,
  before: PolicyDecisionsResponse,
): LeasePolicyUpdate {
  const { identity_key } = update
  const restored: LeasePolicyUpdate = { identity_key }
  if (update.is_banned !== undefined) restored.is_banned = before.banned.includes(identity_key)
  if (update.is_denied !== undefined) restored.is_denied = before.denied.includes(identity_key)
  // A denial also revokes the approval.
  if (update.is_approved !== undefined || update.is_denied === true)
    restored.is_approved = before.approved.includes(identity_key)
  if (update.bps !== undefined) restored.bps = before.bps[identity_key] ?? 0
  return restored
}
