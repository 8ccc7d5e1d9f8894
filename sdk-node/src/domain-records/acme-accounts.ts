// The ACME accounts of an identity, as CAA records that leave a domain to them alone (RFC 8657).

import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readPrivateFile } from '../identity/private-file.ts'

/**
 * Returns the values of CAA records, one for each authority at which the identity has an account: `svc expose --domain` makes it.
 * @throws SvcError when a file is open to others
 */
export async function accountRecords(identityPath: string): Promise<string[]> {
  const folder = dirname(identityPath)
  const prefix = `${basename(identityPath, '.json')}-acme-account@`
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.startsWith(prefix) && name.endsWith('.json'),
  )
  const values = await Promise.all(
    names
      .sort()
      .map(async (name) => recordOf(await readPrivateFile(join(folder, name), 'certificate_unavailable'))),
  )
  return values.filter((value) => value !== undefined)
}

/** @returns undefined for an account that is not made yet */
function recordOf(content: string): string | undefined {
  try {
    const { account, authorities } = Object(JSON.parse(Object(JSON.parse(content)).text))
    const isKnown =
      typeof account === 'string' && Array.isArray(authorities) && typeof authorities[0] === 'string'
    return isKnown
      ? `0 issue "${authorities[0]}; accounturi=${account}; validationmethods=tls-alpn-01"`
      : undefined
  } catch {
    return undefined
  }
}
