// Describes a change of the policy: its text, its API call, and the API call that undoes it.
import {
  type BanDetails,
  type LeaseDecisions,
  type LeasePolicyUpdate,
  PATH,
  type PolicyDecisionsResponse,
  type PolicyLease,
  type PolicySettings,
  undoDecisions,
  undoPolicyUpdate,
} from '@svc/protocol'
import { DONE } from '../texts/admin.ts'

interface ApiCall {
  path: string
  body: unknown
}

export interface ChangeRequest {
  text: string
  request: ApiCall
  undo: ApiCall
  /** Question to the administrator before a change that closes connections. */
  question?: string | undefined
}

/** Why somebody is banned, and until when. */
export type BanTerms = Pick<BanDetails, 'reason' | 'until'>

/** @param before the current decisions */
export function leaseChange(
  update: LeasePolicyUpdate,
  before: PolicyDecisionsResponse,
  text: string,
  question?: string,
): ChangeRequest {
  const path = PATH.policyLeases
  return {
    text,
    question,
    request: { path, body: update },
    undo: { path, body: undoPolicyUpdate(update, before) },
  }
}

/** Approves or denies sites together. @param before the current decisions */
export function manyChange(
  leases: readonly Pick<PolicyLease, 'identity_key' | 'name'>[],
  isApproval: boolean,
  before: PolicyDecisionsResponse,
): ChangeRequest {
  const [first] = leases
  const who = leases.length === 1 ? `${first?.name}` : DONE.sites(leases.length)
  const made = leases.map(({ identity_key }) =>
    isApproval ? { identity_key, is_approved: true, is_denied: false } : { identity_key, is_denied: true },
  )
  const call = (body: LeaseDecisions): ApiCall => ({ path: PATH.policyLeasesBulk, body })
  return {
    text: isApproval ? DONE.approved(who, leases.length) : DONE.denied(who, leases.length),
    request: call({ decisions: made }),
    undo: call(undoDecisions({ decisions: made }, before)),
  }
}

type Banned = 'banned_ips' | 'banned_relays' | 'banned_domains'

const BANS: Readonly<Record<Banned, { path: string; field: string }>> = {
  banned_ips: { path: PATH.policyIps, field: 'ip' },
  banned_relays: { path: PATH.policyRelays, field: 'relay' },
  banned_domains: { path: PATH.policyDomains, field: 'domain' },
}

/**
 * Bans an address, a relay or a domain, or lifts the ban.
 * @param terms of the ban: of the new one, or of the one that is lifted
 */
export function banChange(
  kind: Banned,
  what: string,
  isBanned: boolean,
  terms: BanTerms = {},
): ChangeRequest {
  const { path, field } = BANS[kind]
  const { reason, until } = terms
  const ban = {
    [field]: what,
    is_banned: true,
    ...(reason !== undefined && { reason }),
    ...(until !== undefined && { until }),
  }
  const lift = { [field]: what, is_banned: false }
  return {
    text: isBanned ? DONE.banned(what) : DONE.unbanned(what),
    request: { path, body: isBanned ? ban : lift },
    undo: { path, body: isBanned ? lift : ban },
  }
}

/** @param address empty to unpin the name; `before` likewise */
export function nameChange(name: string, address: string, before: string): ChangeRequest {
  const request = (to: string): ApiCall => ({ path: PATH.policyNames, body: { name, address: to } })
  const text = address === '' ? DONE.unpinned(name) : DONE.pinned(name)
  return { text, request: request(address), undo: request(before) }
}

export function settingsChange(
  settings: PolicySettings,
  before: PolicySettings,
  question?: string,
): ChangeRequest {
  const path = PATH.policy
  return { text: DONE.settings, question, request: { path, body: settings }, undo: { path, body: before } }
}
