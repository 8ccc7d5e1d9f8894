// Describes a change of the policy: its text, its API call, and the API call that undoes it.
import {
  type BanDetails,
  LEASE_DECISIONS_MAX,
  type LeaseDecision,
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

export interface ApiCall {
  path: string
  body: unknown
}

export interface ChangeRequest {
  text: string
  /** One request, or one after the other of a change that is too large for one. */
  request: ApiCall | readonly ApiCall[]
  /** As many. */
  undo: ApiCall | readonly ApiCall[]
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

/** What is decided about many sites. */
export type ManyDecision = 'approve' | 'deny' | { ban: BanTerms }

/** Decides about sites together. @param before the current decisions */
export function manyChange(
  leases: readonly Pick<PolicyLease, 'identity_key' | 'name'>[],
  decision: ManyDecision,
  before: PolicyDecisionsResponse,
): ChangeRequest {
  const [first] = leases
  const who = leases.length === 1 ? `${first?.name}` : DONE.sites(leases.length)
  const made = leases.map(({ identity_key }): LeaseDecision => ({ identity_key, ...updateOf(decision) }))
  const parts = Array.from({ length: Math.ceil(made.length / LEASE_DECISIONS_MAX) }, (_, part) =>
    made.slice(part * LEASE_DECISIONS_MAX, (part + 1) * LEASE_DECISIONS_MAX),
  )
  const call = (body: LeaseDecisions): ApiCall => ({ path: PATH.policyLeasesBulk, body })
  const done = decision === 'approve' ? DONE.approved : decision === 'deny' ? DONE.denied : DONE.banned
  return {
    text: done(who, leases.length),
    request: parts.map((decisions) => call({ decisions })),
    undo: parts.map((decisions) => call(undoDecisions({ decisions }, before))),
  }
}

function updateOf(decision: ManyDecision): Omit<LeaseDecision, 'identity_key'> {
  if (decision === 'approve') return { is_approved: true, is_denied: false }
  if (decision === 'deny') return { is_denied: true }
  return { is_banned: true, ...decision.ban }
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
