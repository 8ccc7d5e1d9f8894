// Starts the DNS provider that ACME_DNS_PROVIDER names, and loads only its code.

import type { ZoneApiName } from '@svc/dns/providers'
import type { Settings } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'
import { Propagation } from './propagation.ts'
import type { DnsProvider } from './provider.ts'
import { EXEC_PREFIX } from './settings.ts'

interface DnsProviderParts {
  /** Starts the name server of the relay and the provider that changes its records. */
  embedded: () => Promise<DnsProvider>
  log: Logger
  /** Environment with the credentials of external providers. @default that of this process */
  env?: Readonly<Record<string, string | undefined>>
}

/** @throws SettingsError when the provider lacks something that its operator must set */
export async function startDnsProvider(settings: Settings, parts: DnsProviderParts): Promise<DnsProvider> {
  const {
    acmeDnsProvider: name = 'embedded',
    acmeDnsServers: servers,
    rootHost,
    identityPath,
    names,
  } = settings
  if (name === 'embedded') return await parts.embedded()
  const propagation = new Propagation({ servers })
  if (name.startsWith(EXEC_PREFIX)) {
    const { createExecProvider } = await import('./exec-provider.ts')
    return await createExecProvider({
      path: name.slice(EXEC_PREFIX.length),
      rootHost,
      propagation,
      withheld: names,
    })
  }
  const { openExternalProvider } = await import('./providers/open-provider.ts')
  const { log, env = process.env } = parts
  return await openExternalProvider(name as ZoneApiName, {
    env,
    rootHost,
    identityPath,
    log,
    propagation,
  })
}
