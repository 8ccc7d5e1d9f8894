// Vultr: domains, records and DNSSEC by the API v2.
// Written in 2026-11 after the public description of the interface, "Vultr API v2" (DNS), at
// www.vultr.com/api. It has not been tried with an account there.

import { ApiClient } from './api-client.ts'
import { ApiError, ignoreMissing } from './api-error.ts'
import { required } from './credentials.ts'
import { PAGES_MAX } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import type { DnssecState } from './provider-error.ts'
import { fromPresentation, toPresentation } from './record-value.ts'
import { z } from './schema.ts'
import type { ZoneApi, ZoneRecord } from './zone-api.ts'
import { plainName, relativeName } from './zone-names.ts'

/** 30 requests a second. */
const SPACING_MS = 50
/** The shortest TTL that Vultr allows, in seconds. */
const TTL_S = 120
const NEEDS = 'access from this machine (Account, API, Access Control) and the permission Manage DNS'
const NAME_SERVERS = ['ns1.vultr.com', 'ns2.vultr.com']

const DOMAIN = z.object({ domain: z.object({ domain: z.string(), dns_sec: z.string().nullish() }) })
const RECORDS = z.object({
  records: z.array(z.object({ id: z.string(), type: z.string(), name: z.string(), data: z.string() })),
  meta: z.object({ links: z.object({ next: z.string().nullish() }).nullish() }).nullish(),
})
const DNSSEC = z.object({ dns_sec: z.array(z.string()).nullish() })
const REFUSED = z.object({ error: z.string() })

export const open: OpenApi = async ({ env, ...connection }) => {
  const [key] = required('vultr', env, 'VULTR_API_KEY')
  const api = new ApiClient({
    ...connection,
    provider: 'Vultr',
    publicUrl: 'https://api.vultr.com/v2',
    spacingMs: SPACING_MS,
    credential: 'the key in VULTR_API_KEY',
    secrets: [key],
    authorize: async () => ({ authorization: `Bearer ${key}` }),
    refusal: (body) => ({ message: REFUSED.parse(JSON.parse(body)).error }),
  })
  return zonesOf(api)
}

function zonesOf(api: ApiClient): ZoneApi {
  return {
    name: 'vultr',

    async findZone(candidates, signal) {
      for (const name of candidates) {
        const request = { path: `/domains/${name}`, needs: NEEDS, signal }
        const answer = await api.json(request, DOMAIN).catch(ignoreMissing)
        if (answer && plainName(answer.domain.domain) === name)
          return { id: name, name, nameServers: NAME_SERVERS }
      }
      return undefined
    },

    async readRecords(zone, name, type, signal) {
      const relative = relativeName(name, zone.name, '')
      const records: ZoneRecord[] = []
      let cursor = ''
      for (let page = 1; page <= PAGES_MAX; page++) {
        const path = `/domains/${zone.id}/records?${new URLSearchParams({ per_page: '500', ...(cursor && { cursor }) })}`
        const { records: found, meta } = await api.json({ path, needs: NEEDS, signal }, RECORDS)
        for (const one of found)
          if (one.type === type && plainName(one.name) === relative)
            records.push({ id: one.id, raw: one.data, value: fromPresentation(type, one.data) })
        cursor = meta?.links?.next ?? ''
        if (cursor === '') return { name, type, records }
      }
      throw new ApiError('unavailable', `Vultr lists more than ${PAGES_MAX} pages of records of ${zone.name}`)
    },

    async changeRecords(zone, { name, type, records }, { add, remove }, signal) {
      const path = `/domains/${zone.id}/records`
      const relative = relativeName(name, zone.name, '')
      for (const value of add) {
        // Hosts have no trailing dot.
        const data = type === 'CNAME' ? value : toPresentation(type, value)
        const body = JSON.stringify({ name: relative, type, data, ttl: TTL_S })
        await api.request({ method: 'POST', path, body, needs: NEEDS, signal })
      }
      for (const { id } of records.filter(({ value }) => remove.includes(value)))
        await api
          .request({ method: 'DELETE', path: `${path}/${id}`, needs: NEEDS, signal })
          .catch(ignoreMissing)
    },

    async dnssec({ id, name }, signal): Promise<DnssecState> {
      const request = { path: `/domains/${id}`, needs: NEEDS, signal }
      const { domain } = await api.json(request, DOMAIN)
      if (domain.dns_sec !== 'enabled')
        await api.request({ ...request, method: 'PUT', body: '{"dns_sec":"enabled"}' })
      const { dns_sec } = await api.json({ ...request, path: `/domains/${id}/dnssec` }, DNSSEC)
      const dsRecord = (dns_sec ?? []).map(sha256Ds).find((ds) => ds !== undefined) ?? ''
      // Callers expect `on`; Vultr says `enabled`.
      const message =
        dsRecord === '' ? 'Vultr has not made its keys yet' : `add the DS record of ${name} at its registrar`
      return { state: dsRecord === '' ? 'pending' : 'on', dsRecord, message }
    },
  }
}

/** The data of a line such as `example.com IN DS 27933 13 2 8858e7…`, whose digest is SHA-256. */
function sha256Ds(line: string): string | undefined {
  return /\sDS\s+(\d{1,5} \d{1,3} 2 [0-9a-fA-F]{64})$/.exec(line.trim())?.[1]
}
