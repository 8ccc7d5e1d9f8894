// Checks what would change DNS records, and where the relay's own name server would listen.

import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { ZoneApiName } from '@svc/dns/providers'
import { findCertificateSource } from '../../core/certificates/certificate-source.ts'
import { tcpProblem } from '../../core/check/bind.ts'
import { type CheckOptions, type Found, off, ok, warning } from '../../core/check/finding.ts'
import type { Settings } from '../../core/config/settings.ts'
import { EMBEDDED, EXEC_PREFIX, isDnsNeeded } from './settings.ts'

const LOOPBACK = '127.0.0.1'

/** @throws SettingsError when the zone's key cannot be used, or credentials of a provider are missing */
export async function checkDns(settings: Settings, options: CheckOptions): Promise<Found[]> {
  const { rootHost, ensGasless, acmeDnsProvider: provider = EMBEDDED } = settings
  const isManaged = (await findCertificateSource(settings)).kind === 'managed'
  if (!isDnsNeeded(settings, isManaged)) return [off('The relay changes no DNS records.')]
  const ens = ensGasless ? [ok(`${rootHost} and sites have ENS names, by ${provider}.`)] : []
  if (provider !== EMBEDDED) {
    if (!provider.startsWith(EXEC_PREFIX)) {
      const { checkCredentials } = await import('./providers/open-provider.ts')
      await checkCredentials(provider as ZoneApiName, options.env ?? {})
    }
    const changes = ok(`${provider} changes the DNS records of the relay.`)
    return [changes, ...(isManaged ? await servedElsewhere(settings) : []), ...ens]
  }
  return [await zoneKey(settings), ...(await servers(settings, options)), ...ens]
}

/** With a private zone, a relay would wait for its TXT records at servers that never have them. */
async function servedElsewhere({ rootHost, acmeDnsServers }: Settings): Promise<Found[]> {
  if (acmeDnsServers !== undefined) return []
  const { isInPrivateZone } = await import('./private-zone.ts')
  if (!(await isInPrivateZone(rootHost))) return []
  return [
    warning(
      `No name server that the public DNS names says that it has ${rootHost}, which this system's resolvers know. If its zone is private, there is no certificate until ACME_DNS_SERVERS names the zone's servers.`,
    ),
  ]
}

async function zoneKey({ identityPath, rootHost }: Settings): Promise<Found> {
  const { loadZoneKey, ZONE_KEY_FILE } = await import('./zone-key-file.ts')
  const isThere = await access(join(identityPath, ZONE_KEY_FILE)).then(
    () => true,
    () => false,
  )
  if (!isThere) return ok(`The relay makes a key that signs the zone ${rootHost}: its DS record will be new.`)
  const key = await loadZoneKey(identityPath, rootHost)
  const { dsText } = await import('@svc/dns')
  return ok(`The zone ${rootHost} is signed; its DS record is ${dsText(key)}.`)
}

/** A name server that cannot listen does not stop the relay from starting. */
async function servers(settings: Settings, { isRestart }: CheckOptions): Promise<Found[]> {
  return await Promise.all(
    settings.dnsAddresses.map(async ({ host, port }) => {
      const place = `${host ?? 'every address'}, port ${port}`
      const problem = await tcpProblem({ host: host ?? LOOPBACK, port })
      // Another program often uses the port at one of all addresses.
      const isTaken = problem?.code === 'EADDRINUSE' && (isRestart || host === undefined)
      return problem === undefined || isTaken
        ? ok(`The relay's name server listens at ${place}.`)
        : warning(`The relay's name server cannot listen at ${place}: ${problem.message}.`)
    }),
  )
}
