// Checks whether an ACME authority would create an account for a relay that has none there yet.

import { join } from 'node:path'
import { REGISTRATION_FILE } from '../../core/certificates/managed-files.ts'
import { type Found, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { readIfPresent } from '../../core/storage/state-file.ts'

/** Time for the authority to answer. */
const DIRECTORY_MS = 2_000

/**
 * @returns a warning when the authority will refuse, otherwise a finding about the account; empty when the authority
 *   does not answer
 * @throws SettingsError when ACME_CA cannot be used
 */
export async function checkAcmeAccount({ acme, identityPath }: Settings): Promise<Found[]> {
  const { directory, caFile, externalAccount } = acme
  const registration = await readIfPresent(join(identityPath, REGISTRATION_FILE))
  // The account exists already, so that it needs no binding.
  if (registration?.includes(JSON.stringify(directory))) return []
  const { host } = new URL(directory)
  if (externalAccount !== undefined)
    return [ok(`The relay binds its account at ${host} to the one of ACME_EAB_KID.`)]
  const { AcmeTransport } = await import('./transport.ts')
  const { readRoots } = await import('./roots.ts')
  const transport = new AcmeTransport(directory, await readRoots(caFile))
  const { meta } = await transport
    .getJson(directory, AbortSignal.timeout(DIRECTORY_MS))
    .catch(() => ({ meta: {} }))
  if (Object(meta).externalAccountRequired !== true) return []
  const { BINDING } = await import('./problem.ts')
  return [
    warning(
      `${host} only accepts accounts of its customers, and issues no certificate without one: ${BINDING}.`,
    ),
  ]
}
