// One change of the policy: what it says, what it asks the relay for, and what would take it back.
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
  /** To be answered before it is done, because it cuts somebody off. */
  question?: string | undefined
}

/** @param before what was decided until now */
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

export function settingsChange(
  settings: PolicySettings,
  before: PolicySettings,
  question?: string,
): ChangeRequest {
  const path = PATH.policy
  return { text: DONE.settings, question, request: { path, body: settings }, undo: { path, body: before } }
}
