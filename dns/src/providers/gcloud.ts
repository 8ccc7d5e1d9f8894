// Google Cloud DNS: managed zones, record sets, changes and keys by the API v1.
// Written in 2026-11 after the public description of the interface, "Cloud DNS API v1", at
// cloud.google.com/dns/docs/reference/rest/v1. It has not been tried with an account there.

import { ApiClient, type Refusal } from './api-client.ts'
import { CredentialError } from './credentials.ts'
import { SHA256_DS } from './gcloud-keys.ts'
import { PAGES_MAX, RECORD_TTL_S } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import { optionalLibrary } from './optional-library.ts'
import type { DnssecState } from './provider-error.ts'
import { fromPresentation, toPresentation } from './record-value.ts'
import { z } from './schema.ts'
import type { Zone, ZoneApi } from './zone-api.ts'
import { plainName } from './zone-names.ts'

/** 1,800 requests a minute. */
const SPACING_MS = 50
const NEEDS = 'the role DNS Administrator (roles/dns.admin) for the project or the managed zone'
const ZONE = z.object({
  name: z.string(),
  dnsName: z.string(),
  visibility: z.string().nullish(),
  nameServers: z.array(z.string()).nullish(),
  dnssecConfig: z.object({ state: z.string().nullish() }).nullish(),
})
const ZONES = z.object({ managedZones: z.array(ZONE).nullish(), nextPageToken: z.string().nullish() })
const RRSETS = z.object({
  rrsets: z
    .array(
      z.object({
        name: z.string(),
        type: z.string(),
        ttl: z.number(),
        rrdatas: z.array(z.string()).nullish(),
      }),
    )
    .nullish(),
})
const REFUSED = z.object({
  error: z.object({
    message: z.string(),
    errors: z.array(z.object({ reason: z.string().nullish() })).nullish(),
  }),
})

export const open: OpenApi = async ({ env, ...connection }) => {
  const { googleTokens } = await optionalLibrary('google-auth-library', () => import('./google-token.ts'))
  const tokens = googleTokens(env.GCP_PROJECT_ID || env.GOOGLE_CLOUD_PROJECT || undefined)
  const managedZone = env.GCP_MANAGED_ZONE || undefined
  if (managedZone !== undefined && !/^[a-z0-9-]{1,63}$/.test(managedZone))
    throw new CredentialError('GCP_MANAGED_ZONE', 'is not the name or number of a managed zone')
  const secrets: string[] = []
  const api = new ApiClient({
    ...connection,
    provider: 'Google Cloud DNS',
    publicUrl: 'https://dns.googleapis.com/dns/v1',
    spacingMs: SPACING_MS,
    credential: 'the service account',
    secrets,
    async authorize() {
      const token = await tokens.token()
      secrets[0] = token
      return { authorization: `Bearer ${token}` }
    },
    refusal,
  })
  const projectPath = async (): Promise<string> =>
    `/projects/${encodeURIComponent(await tokens.projectId())}/managedZones`

  return zonesOf(api, projectPath, managedZone)
}

function zonesOf(
  api: ApiClient,
  projectPath: () => Promise<string>,
  managedZone: string | undefined,
): ZoneApi {
  return {
    name: 'gcloud',

    async findZone(candidates, signal) {
      const path = await projectPath()
      if (managedZone !== undefined) {
        const found = asZone(
          path,
          await api.json({ path: `${path}/${managedZone}`, needs: NEEDS, signal }, ZONE),
        )
        return candidates.includes(found.name) ? found : undefined
      }
      for (const name of candidates) {
        const zone = await publicZone(api, path, name, signal)
        if (zone) return asZone(path, zone)
      }
      return undefined
    },

    async readRecords(zone, name, type, signal) {
      const path = `${zone.id}/rrsets?${new URLSearchParams({ name: `${name}.`, type })}`
      const { rrsets } = await api.json({ path, needs: NEEDS, signal }, RRSETS)
      const set = rrsets?.find((one) => one.type === type && plainName(one.name) === name)
      if (set === undefined) return { name, type, records: [] }
      const records = (set.rrdatas ?? []).map((raw) => ({ raw, value: fromPresentation(type, raw) }))
      return { name, type, records, ttl: set.ttl }
    },

    /** A change whose deletions do not match the existing records exactly fails as a whole. */
    async changeRecords(zone, { name, type, records, ttl = RECORD_TTL_S }, { add, remove }, signal) {
      const before = records.map(({ raw }) => raw)
      const kept = records.filter(({ value }) => !remove.includes(value)).map(({ raw }) => raw)
      const after = [...kept, ...add.map((value) => toPresentation(type, value))]
      const sets = (rrdatas: string[]): object[] =>
        rrdatas.length === 0 ? [] : [{ name: `${name}.`, type, ttl, rrdatas }]
      const body = JSON.stringify({ deletions: sets(before), additions: sets(after) })
      await api.request({ method: 'POST', path: `${zone.id}/changes`, body, needs: NEEDS, signal })
    },

    async dnssec({ id, name }, signal): Promise<DnssecState> {
      const request = { path: id, needs: NEEDS, signal }
      let state = (await api.json(request, ZONE)).dnssecConfig?.state ?? 'off'
      if (state === 'off') {
        await api.request({ ...request, method: 'PATCH', body: '{"dnssecConfig":{"state":"on"}}' })
        state = (await api.json(request, ZONE)).dnssecConfig?.state ?? 'off'
      }
      const dsRecord = await api.json({ ...request, path: `${id}/dnsKeys?digestType=sha256` }, SHA256_DS)
      const message =
        dsRecord === '' ? 'Google has not made its keys yet' : `add the DS record of ${name} at its registrar`
      return { state, dsRecord, message }
    },
  }
}

async function publicZone(
  api: ApiClient,
  path: string,
  name: string,
  signal: AbortSignal,
): Promise<z.infer<typeof ZONE> | undefined> {
  let pageToken = ''
  for (let page = 1; page <= PAGES_MAX; page++) {
    const query = new URLSearchParams({ dnsName: `${name}.`, ...(pageToken && { pageToken }) })
    const request = { path: `${path}?${query}`, needs: NEEDS, signal }
    const { managedZones, nextPageToken } = await api.json(request, ZONES)
    const zone = managedZones?.find((one) => one.visibility !== 'private' && plainName(one.dnsName) === name)
    if (zone) return zone
    pageToken = nextPageToken ?? ''
    if (pageToken === '') return undefined
  }
  return undefined
}

function asZone(path: string, { name, dnsName, nameServers }: z.infer<typeof ZONE>): Zone {
  return { id: `${path}/${name}`, name: plainName(dnsName), nameServers: (nameServers ?? []).map(plainName) }
}

function refusal(body: string): Refusal {
  const { message, errors } = REFUSED.parse(JSON.parse(body)).error
  const isRateLimit = errors?.some(
    ({ reason }) => reason?.endsWith('LimitExceeded') || reason === 'quotaExceeded',
  )
  return isRateLimit ? { message, fault: 'rate_limited' } : { message }
}
