// Hetzner: zones and RRsets by the Cloud API v1.
// Written in 2026-11 after the public description of the interface, "Hetzner Cloud API" (Zones, Zone RRSets,
// Actions), at docs.hetzner.cloud/reference/cloud. It has not been tried with an account there.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiClient, type ApiRequest } from './api-client.ts'
import { ApiError, ignoreMissing } from './api-error.ts'
import { required } from './credentials.ts'
import { ACTION_POLL_MS, ACTION_POLLS_MAX, RECORD_TTL_S } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import { fromPresentation, toPresentation } from './record-value.ts'
import { z } from './schema.ts'
import type { ZoneApi } from './zone-api.ts'
import { plainName, relativeName } from './zone-names.ts'

/** 3,600 requests an hour, refilled at one a second; a burst of changes may use up the rest. */
const SPACING_MS = 100
const READ = 'to be an API token of the project that has the zone'
const WRITE = 'the permission Read & Write in that project'

const ZONE = z.object({
  zone: z.object({
    id: z.number(),
    name: z.string(),
    authoritative_nameservers: z.object({ assigned: z.array(z.string()).nullish() }).nullish(),
  }),
})
const RRSET = z.object({
  rrset: z.object({ ttl: z.number().nullish(), records: z.array(z.object({ value: z.string() })) }),
})
const ACTION = z.object({
  action: z.object({
    id: z.number(),
    status: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullish(),
  }),
})
const REFUSED = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** Makes a change, and resolves when it is complete. */
type Act = (path: string, body: object, signal: AbortSignal) => Promise<void>

export const open: OpenApi = async ({ env, ...connection }) => {
  const [token] = required('hetzner', env, ['HETZNER_API_TOKEN', 'HCLOUD_TOKEN'])
  const api = new ApiClient({
    ...connection,
    provider: 'Hetzner',
    publicUrl: 'https://api.hetzner.cloud/v1',
    spacingMs: SPACING_MS,
    credential: 'the token in HETZNER_API_TOKEN or HCLOUD_TOKEN',
    secrets: [token],
    authorize: async () => ({ authorization: `Bearer ${token}` }),
    refusal(body) {
      const { code, message } = REFUSED.parse(JSON.parse(body)).error
      // The zone is busy with another change.
      if (code === 'locked' || code === 'conflict') return { message, fault: 'unavailable' }
      return { message: `${message} (${code})` }
    },
  })

  /** A change is an action, which continues after the response. */
  async function act(path: string, body: object, signal: AbortSignal): Promise<void> {
    const request: ApiRequest = { method: 'POST', path, body: JSON.stringify(body), needs: WRITE, signal }
    let { action } = await api.json(request, ACTION)
    for (let polls = 0; action.status === 'running' && polls < ACTION_POLLS_MAX; polls++) {
      if (polls > 0) await sleep(connection.pauseMs ?? ACTION_POLL_MS, undefined, { signal }).catch(() => {})
      ;({ action } = await api.json({ path: `/actions/${action.id}`, needs: READ, signal }, ACTION))
    }
    if (action.status === 'success') return
    const why = action.error?.message ?? `the change is ${action.status}`
    throw new ApiError('unavailable', `Hetzner did not make the change: ${why}`, { isRetryable: true })
  }

  return zonesOf(api, act)
}

function zonesOf(api: ApiClient, act: Act): ZoneApi {
  return {
    name: 'hetzner',

    async findZone(candidates, signal) {
      for (const name of candidates) {
        const answer = await api
          .json({ path: `/zones/${name}`, needs: READ, signal }, ZONE)
          .catch(ignoreMissing)
        if (answer === undefined || plainName(answer.zone.name) !== name) continue
        const { id, authoritative_nameservers: servers } = answer.zone
        return { id: `${id}`, name, nameServers: (servers?.assigned ?? []).map(plainName) }
      }
      return undefined
    },

    async readRecords(zone, name, type, signal) {
      const path = rrsetPath(zone, name, type)
      const answer = await api.json({ path, needs: READ, signal }, RRSET).catch(ignoreMissing)
      const records = (answer?.rrset.records ?? []).map(({ value: raw }) => ({
        raw,
        value: fromPresentation(type, raw),
      }))
      return { name, type, records }
    },

    async changeRecords(zone, { name, type, records }, { add, remove }, signal) {
      const path = `${rrsetPath(zone, name, type)}/actions`
      const added = add.map((value) => ({ value: toPresentation(type, value) }))
      const removed = records
        .filter(({ value }) => remove.includes(value))
        .map(({ raw: value }) => ({ value }))
      // An existing set keeps its TTL.
      const ttl = records.length === 0 ? { ttl: RECORD_TTL_S } : {}
      if (added.length > 0) await act(`${path}/add_records`, { ...ttl, records: added }, signal)
      if (removed.length > 0)
        await act(`${path}/remove_records`, { records: removed }, signal).catch(changedMeanwhile)
    },
  }
}

/** The API refuses a removal when one of its values no longer exists. @throws ApiError */
function changedMeanwhile(cause: unknown): never {
  if (!(cause instanceof ApiError && cause.status === 404)) throw cause
  throw new ApiError('conflict', cause.message, { cause, isRetryable: true })
}

function rrsetPath(zone: { id: string; name: string }, name: string, type: string): string {
  return `/zones/${zone.id}/rrsets/${encodeURIComponent(relativeName(name, zone.name, '@'))}/${type}`
}
