// Hetzner's Cloud API v1, as "Hetzner Cloud API" (docs.hetzner.cloud/reference/cloud: Zones, Zone RRSets, Actions; 2026-11)
// describes it.
import { type Dialect, json, type Reply } from './fake-api.ts'
import type { FakeZone } from './fake-zone.ts'

const TOKEN = 'LRK9DAWQ1ZAEFSrCNEEzLCUwhYX1U3g7wMg4dTlkkDC96fyDuyJ39nVbVjCKSDfj'
const ZONE_ID = 590000000000

const failed = (status: number, code: string, message: string): Reply =>
  json({ error: { code, message, details: null } }, status)
const action = (command: string, status: string, code = 200): Reply =>
  json(
    {
      action: {
        id: 1,
        command,
        status,
        progress: status === 'running' ? 50 : 100,
        started: '2016-01-30T23:55:00Z',
        finished: status === 'running' ? null : '2016-01-30T23:55:00Z',
        resources: [{ id: ZONE_ID, type: 'zone' }],
        error: null,
      },
    },
    code,
  )

export const hetzner: Dialect = {
  provider: 'hetzner',
  prefix: '/v1',
  env: () => ({ HETZNER_API_TOKEN: TOKEN }),
  secrets: [TOKEN],
  nameServers: ['hydrogen.ns.hetzner.com', 'oxygen.ns.hetzner.com', 'helium.ns.hetzner.de'],
  isAuthorized: ({ headers }) => headers.authorization === `Bearer ${TOKEN}`,
  isChange: ({ method }) => method !== 'GET',
  refusal: (kind) =>
    ({
      unauthorized: failed(401, 'unauthorized', `unable to authenticate ${TOKEN}`),
      forbidden: failed(403, 'token_readonly', 'token is only allowed to perform GET requests'),
      rate_limited: failed(429, 'rate_limit_exceeded', 'rate limit exceeded'),
      error: failed(503, 'unavailable', 'a service is unavailable'),
      unknown: failed(404, 'not_found', 'zone not found'),
    })[kind],

  answer({ method, path, body }, { zone }) {
    if (path === '/actions/1') return action('add_rrset_records', 'success')
    const [, top, id, rrsets, relative, type, actions, command] = path.split('/')
    if (top !== 'zones' || (id !== zone.name && id !== `${ZONE_ID}`)) return undefined
    if (rrsets === undefined) return json({ zone: zoneOf(zone, this.nameServers) })
    if (rrsets !== 'rrsets' || relative === undefined || type === undefined) return undefined
    const name = zone.absolute(relative)
    const present = zone.of(name, type)
    if (method === 'GET') {
      if (present.length === 0) return failed(404, 'not_found', 'rrset not found')
      const records = present.map(({ data }) => ({ value: data, comment: '' }))
      const ttl = present[0]?.ttl
      return json({ rrset: { id: `${relative}/${type}`, name: relative, type, ttl, records, zone: ZONE_ID } })
    }
    const { records, ttl } = JSON.parse(body) as { records: { value: string }[]; ttl?: number }
    const values = records.map(({ value }) => value)
    if (type === 'TXT' && values.some((value) => !/^".*"$/.test(value)))
      return failed(422, 'invalid_input', 'TXT records must be quoted')
    if (actions !== 'actions') return undefined
    if (command === 'add_records') {
      if (values.some((value) => zone.data(name, type).includes(value)))
        return failed(422, 'invalid_input', 'duplicate value')
      for (const value of values) zone.add(name, type, value, ttl ?? present[0]?.ttl)
    } else if (command === 'remove_records') {
      const gone = present.filter(({ data }) => values.includes(data))
      if (gone.length < values.length) return failed(404, 'not_found', 'record not found')
      zone.remove(gone)
    } else return undefined
    return action(`${command === 'add_records' ? 'add' : 'remove'}_rrset_records`, 'running', 201)
  },
}

function zoneOf({ name, records }: FakeZone, servers: readonly string[]): object {
  const assigned = servers.map((server) => `${server}.`)
  return {
    id: ZONE_ID,
    name,
    created: '2016-01-30T23:55:00Z',
    mode: 'primary',
    primary_nameservers: [],
    labels: {},
    protection: { delete: false },
    ttl: 10800,
    status: 'ok',
    record_count: records.length,
    authoritative_nameservers: { assigned, delegated: assigned, delegation_status: 'valid' },
    registrar: 'hetzner',
  }
}
