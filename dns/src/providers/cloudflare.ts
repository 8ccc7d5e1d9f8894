// Cloudflare: zones, records and DNSSEC by the API v4.
// Written in 2026-11 after the public description of the interface, "Cloudflare API" (DNS records, zones,
// DNSSEC), at developers.cloudflare.com/api. It has not been tried with an account there.

import { ApiClient } from './api-client.ts'
import { ApiError, ignoreMissing } from './api-error.ts'
import { required } from './credentials.ts'
import { PAGES_MAX, RECORD_TTL_S } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import type { DnssecState } from './provider-error.ts'
import { caaParts, fromPresentation, toPresentation } from './record-value.ts'
import { z } from './schema.ts'
import type { RecordType, ZoneApi, ZoneRecord } from './zone-api.ts'
import { plainName } from './zone-names.ts'

/** 1,200 requests in 5 minutes. */
const SPACING_MS = 250
const READ = 'the permission Zone: Read for the zone'
const WRITE = 'the permission DNS: Edit for the zone'
/** Codes of errors about the token, regardless of the status. */
const TOKEN_ERRORS = [1000, 6003, 6111, 9106, 9109, 10000, 10001]

const PAGE = z.object({ total_pages: z.number().optional() }).nullish()
const ZONES = z.object({
  result: z.array(
    z.object({ id: z.string(), name: z.string(), name_servers: z.array(z.string()).nullish() }),
  ),
})
const RECORDS = z.object({
  result: z.array(z.object({ id: z.string(), name: z.string(), type: z.string(), content: z.string() })),
  result_info: PAGE,
})
const DNSSEC = z.object({
  result: z.object({
    status: z.string().nullish(),
    key_tag: z.number().nullish(),
    algorithm: z.string().nullish(),
    digest_type: z.string().nullish(),
    digest: z.string().nullish(),
  }),
})
const DONE = z.object({ success: z.literal(true) })
const REFUSED = z.object({ errors: z.array(z.object({ code: z.number(), message: z.string() })) })

export const open: OpenApi = async ({ env, ...connection }) => {
  const [token] = required('cloudflare', env, 'CLOUDFLARE_TOKEN')
  const api = new ApiClient({
    ...connection,
    provider: 'Cloudflare',
    publicUrl: 'https://api.cloudflare.com/client/v4',
    spacingMs: SPACING_MS,
    credential: 'the token in CLOUDFLARE_TOKEN',
    secrets: [token],
    authorize: async () => ({ authorization: `Bearer ${token}` }),
    refusal(body) {
      const { errors } = REFUSED.parse(JSON.parse(body))
      const message = errors.map(({ code, message }) => `${message} (${code})`).join(', ')
      return errors.some(({ code }) => TOKEN_ERRORS.includes(code))
        ? { message, fault: 'unauthorized' }
        : { message }
    },
  })
  return zonesOf(api)
}

function zonesOf(api: ApiClient): ZoneApi {
  return {
    name: 'cloudflare',

    async findZone(candidates, signal) {
      for (const name of candidates) {
        const { result } = await api.json({ path: `/zones?name=${name}`, needs: READ, signal }, ZONES)
        const zone = result.find((one) => plainName(one.name) === name)
        if (zone) return { id: zone.id, name, nameServers: (zone.name_servers ?? []).map(plainName) }
      }
      return undefined
    },

    async readRecords(zone, name, type, signal) {
      const records: ZoneRecord[] = []
      for (let page = 1; page <= PAGES_MAX; page++) {
        const query = new URLSearchParams({ type, 'name.exact': name, per_page: '100', page: `${page}` })
        const path = `/zones/${zone.id}/dns_records?${query}`
        const { result, result_info } = await api.json({ path, needs: WRITE, signal }, RECORDS)
        for (const one of result)
          if (one.type === type && plainName(one.name) === name)
            records.push({ id: one.id, raw: one.content, value: fromPresentation(type, one.content) })
        if (page >= (result_info?.total_pages ?? 1)) return { name, type, records }
      }
      throw new ApiError('unavailable', `Cloudflare lists more than ${PAGES_MAX} pages of records of ${name}`)
    },

    async changeRecords(zone, { name, type, records }, { add, remove }, signal) {
      const path = `/zones/${zone.id}/dns_records`
      for (const value of add) {
        const record = { name, type, ...contentOf(type, value), ttl: RECORD_TTL_S, proxied: false }
        await api.json({ method: 'POST', path, body: JSON.stringify(record), needs: WRITE, signal }, DONE)
      }
      for (const { id } of records.filter(({ value }) => remove.includes(value)))
        await api
          .request({ method: 'DELETE', path: `${path}/${id}`, needs: WRITE, signal })
          .catch(ignoreMissing)
    },

    async dnssec({ id, name }, signal): Promise<DnssecState> {
      const request = { path: `/zones/${id}/dnssec`, needs: WRITE, signal }
      let { result } = await api.json(request, DNSSEC)
      if (result.status !== 'active' && result.status !== 'pending')
        ({ result } = await api.json({ ...request, method: 'PATCH', body: '{"status":"active"}' }, DNSSEC))
      const { status, key_tag, algorithm, digest_type, digest } = result
      const dsRecord = digest ? `${key_tag} ${algorithm} ${digest_type} ${digest}` : ''
      const isPending = status !== 'active' && dsRecord !== ''
      return {
        state: status ?? '',
        dsRecord,
        message: isPending ? `add the DS record of ${name} at its registrar` : '',
      }
    },
  }
}

/** A CAA record is made of its parts; hosts have no trailing dot. */
function contentOf(type: RecordType, value: string): object {
  if (type === 'CAA') return { data: caaParts(value) }
  return { content: type === 'CNAME' ? value : toPresentation(type, value) }
}
