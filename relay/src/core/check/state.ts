// Checks the state directory, and the files that the relay keeps there.

import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { getSystemErrorMessage } from 'node:util'
import type { ApprovalMode } from '@svc/protocol'
import { readIdentity } from '../auth/relay-identity.ts'
import type { CoreSettings } from '../config/settings.ts'
import { JOURNAL_FILE } from '../lease/reservation-journal.ts'
import { readPolicyOf } from '../policy/policy.ts'
import { unknownFieldsOf } from '../policy/policy-file.ts'
import { holderOfDirectory } from '../storage/directory-claim.ts'
import { sizeIfPresent } from '../storage/state-file.ts'
import { type CheckOptions, error, type Found, ok, warning } from './finding.ts'

/** Asks the system for its permission, and writes nothing: the caller may be another account than the relay's. */
export async function checkDirectory(
  { identityPath }: CoreSettings,
  { isRestart }: CheckOptions,
): Promise<Found[]> {
  const existing = await nearestExisting(identityPath)
  const account = process.getuid === undefined ? '' : ` for user ${process.getuid()}`
  try {
    if (!(await stat(existing)).isDirectory()) return [error(`${existing} is not a directory.`)]
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    return [error(`The relay cannot write to ${existing}${account}: ${reasonOf(cause)}.`)]
  }
  if (existing !== identityPath) return [ok(`The relay creates ${identityPath} for its state.`)]
  const holder = isRestart ? undefined : await holderOfDirectory(identityPath)
  return holder === undefined
    ? [ok(`The relay keeps its state in ${identityPath}, which is writable${account}.`)]
    : [error(`A relay keeps its state in ${identityPath} now (process ${holder}): --restart allows that.`)]
}

export async function checkIdentity({ identityPath }: CoreSettings): Promise<Found[]> {
  const identity = await readIdentity(identityPath)
  return identity === undefined
    ? [ok('The relay creates identity.json with a new key.')]
    : [ok(`The relay is ${identity.address}, from identity.json.`)]
}

/** Who may publish, by mode. */
const WHO: Readonly<Record<ApprovalMode, string>> = {
  auto: 'every identity may publish at once',
  manual: 'visitors reach a site once an administrator has approved it',
  token: 'nobody may register without an invitation',
}

export async function checkPolicy({ identityPath, registration }: CoreSettings): Promise<Found[]> {
  const policy = await readPolicyOf(identityPath)
  if (policy === undefined)
    return [ok(`The relay creates policy.json, with which ${WHO[registration ?? 'auto']}.`)]
  const { approval_mode, denied_identity_keys, banned_identity_keys, banned_ips } = policy
  const counts = `${denied_identity_keys.length} denied and ${banned_identity_keys.length} banned identities`
  const unknown = unknownFieldsOf(policy)
  return [
    ok(
      `Approval is ${registration ?? approval_mode}, with ${counts} and ${banned_ips.length} banned networks.`,
    ),
    ...(unknown.length > 0
      ? [warning(`policy.json has fields that the relay keeps and does not know: ${unknown.join(', ')}.`)]
      : []),
  ]
}

export async function checkLeases({ identityPath }: CoreSettings): Promise<Found[]> {
  const path = join(identityPath, JOURNAL_FILE)
  const size = await sizeIfPresent(path)
  if (size === 0) return [ok('No reservations of names are left from before.')]
  try {
    await access(path, constants.R_OK | constants.W_OK)
  } catch (cause) {
    return [error(`${path} cannot be read and written: ${reasonOf(cause)}.`)]
  }
  return [ok(`The relay restores the reservations in ${JOURNAL_FILE} (${size} bytes).`)]
}

/** The directory itself, or the nearest one above it that exists, in which the relay would create it. */
export async function nearestExisting(path: string): Promise<string> {
  const exists = await access(path).then(
    () => true,
    (cause) => cause.code !== 'ENOENT',
  )
  return exists || dirname(path) === path ? path : await nearestExisting(dirname(path))
}

function reasonOf(cause: unknown): string {
  const { errno, message } = cause as NodeJS.ErrnoException
  return errno === undefined ? message : getSystemErrorMessage(errno)
}
