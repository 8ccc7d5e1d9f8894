// Where the records of a custom domain are set: at a DNS provider, or by a command of the user.

import { isAbsolute } from 'node:path'
import type { DnsClient } from '@svc/dns/client'
import type { ApiConnection, RecordType, ZoneApiName } from '@svc/dns/providers'
import { SvcError } from '@svc/sdk-core'
import { providerHttp } from './provider-http.ts'
import type { WantedRecord } from './wanted-records.ts'

/** Reads and adds records. It removes none. */
export interface RecordStore {
  /** The values of one name and type. @throws DnsProviderError */
  read(name: string, type: RecordType): Promise<readonly string[]>
  /** @throws DnsProviderError */
  add(records: readonly WantedRecord[]): Promise<void>
}

export interface StoreOptions {
  /** A provider's name, or `exec:` and the path of a command. */
  provider: string
  domain: string
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** Reads what a command cannot tell. */
  client: DnsClient
  /** @default the provider's public API */
  connection?: Omit<ApiConnection, 'http'>
}

const EXEC_PREFIX = 'exec:'

/** @throws SvcError `invalid_option`, CredentialError, or DnsProviderError when the account has no zone of the domain */
export async function openRecordStore(options: StoreOptions): Promise<RecordStore> {
  const { provider } = options
  if (provider.startsWith(EXEC_PREFIX)) return commandStore(provider.slice(EXEC_PREFIX.length), options)
  const { ZONE_API_NAMES } = await import('@svc/dns/providers')
  const name = ZONE_API_NAMES.find((one) => one === provider)
  if (name !== undefined) return await apiStore(name, options)
  throw new SvcError(
    'invalid_option',
    `--provider: ${provider} is none of ${ZONE_API_NAMES.join(', ')} and exec:/path`,
  )
}

async function apiStore(
  name: ZoneApiName,
  { domain, env, signal, connection }: StoreOptions,
): Promise<RecordStore> {
  const { DnsProviderError, openZoneApi, retrying, zoneCandidates } = await import('@svc/dns/providers')
  const api = await openZoneApi(name, { ...connection, env, http: providerHttp })
  const zone = await retrying(() => api.findZone(zoneCandidates(domain), signal), signal)
  if (zone === undefined)
    throw new DnsProviderError('wrong_zone', `the account at ${name} has no zone of ${domain}`)
  const read = (name: string, type: RecordType) => api.readRecords(zone, name, type, signal)
  return {
    read: async (name, type) =>
      (await retrying(() => read(name, type), signal)).records.map(({ value }) => value),
    async add(records) {
      for (const { name, type } of distinct(records)) {
        const wanted = records.filter((one) => one.name === name && one.type === type)
        await retrying(async () => {
          const current = await read(name, type)
          const present = current.records.map(({ value }) => value)
          const add = wanted.map(({ value }) => value).filter((value) => !present.includes(value))
          if (add.length > 0) await api.changeRecords(zone, current, { add, remove: [] }, signal)
        }, signal)
      }
    },
  }
}

/** A provider that has sets of records changes each set once. */
function distinct(records: readonly WantedRecord[]): WantedRecord[] {
  const keys = new Map(records.map((record) => [`${record.name} ${record.type}`, record]))
  return [...keys.values()]
}

function commandStore(path: string, { env, signal, client }: StoreOptions): RecordStore {
  if (!isAbsolute(path))
    throw new SvcError(
      'invalid_option',
      `--provider: ${path} is no absolute path, such as exec:/usr/local/bin/dns`,
    )
  return {
    async read(name, type) {
      const [step] = await client.lookUp(name, type)
      const values = step!.answers.flatMap(({ records }) => records.filter((one) => one.type === type))
      return [...new Set(values.map(({ value }) => value))]
    },
    async add(records) {
      const { callCommand } = await import('@svc/dns/exec')
      for (const { name, type, value } of records) {
        const args = type === 'TXT' ? ['add-txt', name, value] : ['add-record', name, type, value]
        await callCommand({ path, args, env, signal })
      }
    },
  }
}
