// Opens the external provider that the operator chose, and loads only its code.

import {
  type ApiConnection,
  CredentialError,
  type Environment,
  openZoneApi,
  type ZoneApi,
  type ZoneApiName,
} from '@svc/dns/providers'
import { SettingsError } from '../../../core/config/settings.ts'
import type { Logger } from '../../../core/log/log.ts'
import { HttpClient } from '../../../core/outbound/http-client.ts'
import type { DnsProvider } from '../provider.ts'
import { RecordJournal } from './record-journal.ts'
import { ZoneProvider, type ZoneProviderParts } from './zone-provider.ts'

type Connection = Omit<ApiConnection, 'http'>

export interface ExternalProviderParts
  extends Pick<ZoneProviderParts, 'propagation' | 'resolveNs' | 'firstPauseMs'> {
  env: Environment
  rootHost: string
  identityPath: string
  log: Logger
  /** @default the provider's public API */
  connection?: Connection
}

/**
 * The provider checks its credentials with one read, in the background, and logs one line about it.
 * @throws SettingsError when a variable is missing, or the journal of records is damaged
 */
export async function openExternalProvider(
  name: ZoneApiName,
  { env, identityPath, connection, ...parts }: ExternalProviderParts,
): Promise<DnsProvider> {
  const api = await openApi(name, env, connection)
  return new ZoneProvider({ ...parts, api, journal: await RecordJournal.open(identityPath) })
}

/** Reads the credentials as a start does, without a request. @throws SettingsError when a variable is missing */
export async function checkCredentials(name: ZoneApiName, env: Environment): Promise<void> {
  await openApi(name, env)
}

async function openApi(name: ZoneApiName, env: Environment, connection: Connection = {}): Promise<ZoneApi> {
  const isConfigured = connection.baseUrl !== undefined
  const client = new HttpClient(isConfigured ? { configuredOrigins: [connection.baseUrl!] } : {})
  try {
    return await openZoneApi(name, {
      ...connection,
      env,
      async http(url, request) {
        const { status, headers, body } = await client.request(url, { ...request, isConfigured })
        return { status, headers, body: body.toString() }
      },
    })
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error
    const { variable, problem, isMissing } = error
    throw new SettingsError(variable, isMissing ? `is needed by ACME_DNS_PROVIDER=${name}` : problem)
  }
}
