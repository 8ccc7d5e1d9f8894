// Njalla: records of a domain by JSON-RPC.
// Written in 2026-11 after the public description of the interface, "Njalla API" (list-domains, list-records,
// add-record, remove-record), at njal.la/api. It has not been tried with an account there.

import { ApiClient } from './api-client.ts'
import { ignoreMissing } from './api-error.ts'
import { required } from './credentials.ts'
import { RECORD_TTL_S } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import { fromPresentation } from './record-value.ts'
import { z } from './schema.ts'
import type { ZoneApi } from './zone-api.ts'
import { plainName, relativeName } from './zone-names.ts'

/** The API's reference names no rate. */
const SPACING_MS = 250
const NEEDS =
  'to be an API token of the account that has the domain, with all of list-domains, list-records, add-record and remove-record'
const NAME_SERVERS = ['1-you.njalla.no', '2-can.njalla.in', '3-get.njalla.fo']

const FAILED = z.object({ error: z.object({ code: z.number().nullish(), message: z.string() }) })
const DOMAINS = z.object({ domains: z.array(z.object({ name: z.string() })) })
const RECORDS = z.object({
  records: z.array(
    z.object({
      id: z.union([z.number(), z.string()]),
      name: z.string(),
      type: z.string(),
      content: z.union([z.string(), z.number()]),
    }),
  ),
})
const ANY = z.unknown()

type Call = <T>(method: string, params: object, result: z.ZodType<T>, signal: AbortSignal) => Promise<T>

export const open: OpenApi = async ({ env, ...connection }) => {
  const [token] = required('njalla', env, 'NJALLA_TOKEN')
  const api = new ApiClient({
    ...connection,
    provider: 'Njalla',
    publicUrl: 'https://njal.la',
    spacingMs: SPACING_MS,
    credential: 'the token in NJALLA_TOKEN',
    secrets: [token],
    authorize: async () => ({ authorization: `Njalla ${token}` }),
    refusal: (body) => ({ message: FAILED.parse(JSON.parse(body)).error.message }),
  })

  /** An answer with status 200 may be an error, whose code is similar to a status. */
  async function call<T>(
    method: string,
    params: object,
    result: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const request = { method: 'POST', path: '/api/1/', body, needs: NEEDS, signal } as const
    const answer = await api.json(request, z.union([FAILED, z.object({ result: ANY })]))
    if ('error' in answer)
      throw api.refused(answer.error.code ?? 400, { message: answer.error.message }, request)
    return api.read('', () => result.parse(answer.result))
  }

  return zonesOf(call)
}

function zonesOf(call: Call): ZoneApi {
  return {
    name: 'njalla',

    async findZone(candidates, signal) {
      const { domains } = await call('list-domains', {}, DOMAINS, signal)
      const names = new Set(domains.map((domain) => plainName(domain.name)))
      const name = candidates.find((candidate) => names.has(candidate))
      return name === undefined ? undefined : { id: name, name, nameServers: NAME_SERVERS }
    },

    async readRecords(zone, name, type, signal) {
      const { records } = await call('list-records', { domain: zone.id }, RECORDS, signal)
      const relative = relativeName(name, zone.name, '@')
      const found = records.filter(
        (one) => one.type === type && [relative, name].includes(plainName(one.name)),
      )
      return {
        name,
        type,
        records: found.map(({ id, content }) => ({
          id: `${id}`,
          raw: `${content}`,
          value: fromPresentation(type, `${content}`),
        })),
      }
    },

    async changeRecords(zone, { name, type, records }, { add, remove }, signal) {
      const domain = zone.id
      const relative = relativeName(name, zone.name, '@')
      for (const content of add)
        await call('add-record', { domain, name: relative, type, content, ttl: RECORD_TTL_S }, ANY, signal)
      for (const { id } of records.filter(({ value }) => remove.includes(value)))
        await call('remove-record', { domain, id }, ANY, signal).catch(ignoreMissing)
    },
  }
}
