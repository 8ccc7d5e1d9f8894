// Starts the DNS provider that ACME_DNS_PROVIDER names. The code of the others is not loaded.

import { EXEC_PREFIX, type Settings } from '../config/settings.ts'
import { Propagation } from './propagation.ts'
import type { DnsProvider } from './provider.ts'

interface DnsProviderParts {
  /** Starts the name server of the relay and the provider that changes its records. */
  embedded: () => Promise<DnsProvider>
}

/** @throws SettingsError when the provider lacks something that its operator must set */
export async function startDnsProvider(settings: Settings, parts: DnsProviderParts): Promise<DnsProvider> {
  const { acmeDnsProvider: name = 'embedded', acmeDnsServers: servers, rootHost } = settings
  if (name.startsWith(EXEC_PREFIX)) {
    const { createExecProvider } = await import('./exec/exec-provider.ts')
    const path = name.slice(EXEC_PREFIX.length)
    return await createExecProvider({ path, rootHost, propagation: new Propagation({ servers }) })
  }
  return await parts.embedded()
}
