// What the policy knows of its bans beside their lists: who made each, why, and until when.

import type { BanDetails } from '@svc/protocol'
import { RelayError } from '../errors.ts'
import type { BanField, PolicyFile } from './policy-file.ts'

const FIELDS: readonly BanField[] = ['banned_identity_keys', 'banned_ips', 'banned_relays', 'banned_domains']

/** A ban, or its end, as a request has it. */
interface BanUpdate {
  is_banned?: boolean | undefined
  reason?: string | undefined
  until?: string | undefined
}

/** A ban of the policy. */
export interface Ban {
  field: BanField
  subject: string
  details: BanDetails
}

/**
 * The details of a new ban; undefined for anything else.
 * @param by name of the administrator
 * @throws RelayError `invalid_request` for a reason or an end without a ban, and for an end in the past
 */
export function detailsOf({ is_banned, reason, until }: BanUpdate, by: string): BanDetails | undefined {
  if (is_banned !== true) {
    if (reason === undefined && until === undefined) return undefined
    throw new RelayError('invalid_request', 'reason and until go with is_banned: true')
  }
  if (until !== undefined && Date.parse(until) <= Date.now())
    throw new RelayError('invalid_request', 'until: must be in the future')
  return {
    ...(reason && { reason }),
    ...(until !== undefined && { until }),
    at: new Date().toISOString(),
    by,
  }
}

/** The policy with a ban and its details, or without both; with `isBanned` undefined, the same policy. */
export function withBan(
  file: PolicyFile,
  field: BanField,
  subject: string,
  isBanned: boolean | undefined,
  details?: BanDetails | undefined,
): PolicyFile {
  if (isBanned === undefined) return file
  const { [subject]: _replaced, ...others } = file.ban_details[field] ?? {}
  const known = isBanned && details !== undefined ? { ...others, [subject]: details } : others
  return {
    ...file,
    [field]: withMember(file[field], subject, isBanned),
    ban_details: { ...file.ban_details, [field]: known },
  }
}

/** The bans that have an end. */
export function* endingBans(file: PolicyFile): Generator<Ban> {
  for (const field of FIELDS) {
    const banned = new Set(file[field])
    for (const [subject, details] of Object.entries(file.ban_details[field] ?? {}))
      if (details.until !== undefined && banned.has(subject)) yield { field, subject, details }
  }
}

/** The list with or without `member`; with `present` undefined, the same list. */
export function withMember(list: readonly string[], member: string, present: boolean | undefined): string[] {
  if (present === undefined) return [...list]
  const others = list.filter((other) => other !== member)
  return present ? [...others, member] : others
}
