// An AcmeAuthority of a relay at a directory of a test, with what its orders need otherwise.

import { createLog } from '../../../src/core/log/log.ts'
import {
  type AuthorityParts,
  createAcmeAuthority,
  type RelayAuthority,
} from '../../../src/features/acme/create-authority.ts'
import { TlsAlpnProver } from '../../../src/features/acme/tls-alpn.ts'
import { readSettings } from '../../../src/settings.ts'

/** A budget that every order is within. */
const UNBOUNDED: AuthorityParts['budget'] = {
  take: async () => {},
  failed: async () => {},
  succeeded: async () => {},
  abandoned: async () => {},
  mayBeIssued: () => {},
}

interface TestAuthorityOptions extends Partial<Omit<AuthorityParts, 'settings'>> {
  host: string
  /** The state directory. */
  directory: string
  directoryUrl: string
  caFile: string
  /** Further settings. */
  env?: Record<string, string>
}

export async function newAuthority(options: TestAuthorityOptions): Promise<RelayAuthority> {
  const { host, directory, directoryUrl, caFile, env, ...parts } = options
  return await createAcmeAuthority({
    settings: readSettings({
      SVC_URL: `https://${host}`,
      IDENTITY_PATH: directory,
      ACME_DIRECTORY: directoryUrl,
      ACME_CA: caFile,
      ...env,
    }),
    budget: UNBOUNDED,
    tlsAlpn: new TlsAlpnProver(),
    dns: undefined,
    log: createLog('silent'),
    ...parts,
  })
}
