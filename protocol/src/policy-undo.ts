// Makes the update that reverts a change of the policy, and compares settings.

import type {
  BanList,
  LeaseDecisions,
  LeasePolicyUpdate,
  PolicyDecisionsResponse,
  PolicySettings,
} from './messages.ts'

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
  if (update.is_banned !== undefined) Object.assign(restored, banOf('banned', identity_key, before))
  if (update.is_denied !== undefined) restored.is_denied = before.denied.includes(identity_key)
  // A denial also revokes the approval.
  if (update.is_approved !== undefined || update.is_denied === true)
    restored.is_approved = before.approved.includes(identity_key)
  if (update.bps !== undefined) restored.bps = before.bps[identity_key] ?? 0
  return restored
}

/**
 * undoDecisions returns the decisions that restore those before `made`.
 * @param before the decisions before `made`
 */
export function undoDecisions(made: LeaseDecisions, before: PolicyDecisionsResponse): LeaseDecisions {
  return { decisions: made.decisions.map((decision) => undoPolicyUpdate(decision, before)) }
}

/** banOf returns the ban of a subject in one of the lists, as an update has it: whether there is one, its reason and its end. */
export function banOf(
  list: BanList,
  subject: string,
  decisions: PolicyDecisionsResponse,
): { is_banned: boolean; reason?: string; until?: string } {
  const { reason, until } = decisions.ban_details?.[list]?.[subject] ?? {}
  const is_banned = decisions[list].includes(subject)
  return { is_banned, ...(reason !== undefined && { reason }), ...(until !== undefined && { until }) }
}

/** SettingChange is a field of the settings that a change of the policy gave another value; of a list, what came and went. */
export type SettingChange = { field: string } & (
  | { from: string | number | boolean; to: string | number | boolean }
  | { added: string[]; removed: string[] }
)

/** settingChanges compares settings field by field. A list that `after` leaves out is as it was. */
export function settingChanges(before: PolicySettings, after: PolicySettings): SettingChange[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const changes = Object.keys(now)
    .filter((field) => old[field] !== now[field])
    .map((field): SettingChange => ({ field, from: old[field]!, to: now[field]! }))
  const names = before.reserved_names ?? []
  const next = after.reserved_names ?? names
  const added = next.filter((name) => !names.includes(name))
  const removed = names.filter((name) => !next.includes(name))
  const isSame = added.length + removed.length === 0
  return isSame ? changes : [...changes, { field: 'reserved_names', added, removed }]
}

function fieldsOf({
  approval_mode,
  landing_page_enabled,
  udp,
  tcp_port,
}: PolicySettings): Record<string, string | number | boolean> {
  return {
    approval_mode,
    landing_page_enabled,
    'udp.enabled': udp.enabled,
    'udp.max_leases': udp.max_leases,
    'tcp_port.enabled': tcp_port.enabled,
    'tcp_port.max_leases': tcp_port.max_leases,
  }
}
