// Opens the external provider that the operator chose, and loads only its code.

import type { Logger } from '../../../core/log/log.ts'
import type { DnsProvider } from '../provider.ts'
import type { ExternalDnsProvider } from '../settings.ts'
import type { Environment } from './credentials.ts'
import type { OpenApi } from './open-api.ts'
import { RecordJournal } from './record-journal.ts'
import type { ApiConnection } from './zone-api.ts'
import { ZoneProvider, type ZoneProviderParts } from './zone-provider.ts'

export interface ExternalProviderParts
  extends Pick<ZoneProviderParts, 'propagation' | 'resolveNs' | 'firstPauseMs'> {
  env: Environment
  rootHost: string
  identityPath: string
  log: Logger
  /** @default the provider's public API */
  connection?: ApiConnection
}

const LOADERS: Readonly<Record<ExternalDnsProvider, () => Promise<{ open: OpenApi }>>> = {
  cloudflare: () => import('./cloudflare.ts'),
  gcloud: () => import('./gcloud.ts'),
  hetzner: () => import('./hetzner.ts'),
  njalla: () => import('./njalla.ts'),
  route53: () => import('./route53.ts'),
  vultr: () => import('./vultr.ts'),
}

/**
 * The provider checks its credentials with one read, in the background, and logs one line about it.
 * @throws SettingsError when a variable is missing, or the journal of records is damaged
 */
export async function openExternalProvider(
  name: ExternalDnsProvider,
  { env, identityPath, connection, ...parts }: ExternalProviderParts,
): Promise<DnsProvider> {
  const { open } = await LOADERS[name]()
  const api = await open({ ...connection, env })
  return new ZoneProvider({ ...parts, api, journal: await RecordJournal.open(identityPath) })
}

/** Reads the credentials as a start does, without a request. @throws SettingsError when a variable is missing */
export async function checkCredentials(name: ExternalDnsProvider, env: Environment): Promise<void> {
  const { open } = await LOADERS[name]()
  await open({ env })
}
