// Describes a change of the policy: its text, its API call, and the API call that undoes it.
import {
  type LeasePolicyUpdate,
  PATH,
  type PolicyDecisionsResponse,
  type PolicySettings,
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

export function ipChange(ip: string, isBanned: boolean, question?: string): ChangeRequest {
  const request = (is_banned: boolean): ApiCall => ({ path: PATH.policyIps, body: { ip, is_banned } })
  const text = isBanned ? DONE.banned(ip) : DONE.unbanned(ip)
  return { text, question, request: request(isBanned), undo: request(!isBanned) }
}

/** @param relay address of an identity, or an origin */
export function relayChange(relay: string, isBanned: boolean, question?: string): ChangeRequest {
  const request = (is_banned: boolean): ApiCall => ({ path: PATH.policyRelays, body: { relay, is_banned } })
  const text = isBanned ? DONE.banned(relay) : DONE.unbanned(relay)
  return { text, question, request: request(isBanned), undo: request(!isBanned) }
}

/** @param domain with all names below it */
export function domainChange(domain: string, isBanned: boolean, question?: string): ChangeRequest {
  const request = (is_banned: boolean): ApiCall => ({ path: PATH.policyDomains, body: { domain, is_banned } })
  const text = isBanned ? DONE.banned(domain) : DONE.unbanned(domain)
  return { text, question, request: request(isBanned), undo: request(!isBanned) }
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
