// Cloudflare's API v4, as "Cloudflare API" (developers.cloudflare.com/api: Zones, DNS Records, DNSSEC; 2026-11) describes it.
import { type Dialect, json, type Reply } from './fake-api.ts'

const TOKEN = 'Sn3lZJTBX6kkg7OdcBUAxOO963GEIyGQqnFTOFYY'
const ZONE_ID = '023e105f4ecef8ad9ca31a8372d0c353'

const done = (result: unknown, info?: object): Reply =>
  json({ success: true, errors: [], messages: [], result, ...(info && { result_info: info }) })
const failed = (status: number, code: number, message: string): Reply =>
  json({ success: false, errors: [{ code, message }], messages: [], result: null }, status)

export const cloudflare: Dialect = {
  provider: 'cloudflare',
  prefix: '/client/v4',
  env: () => ({ CLOUDFLARE_TOKEN: TOKEN }),
  secrets: [TOKEN],
  nameServers: ['bob.ns.cloudflare.com', 'lola.ns.cloudflare.com'],
  isAuthorized: ({ headers }) => headers.authorization === `Bearer ${TOKEN}`,
  isChange: ({ method }) => method !== 'GET',
  refusal: (kind) =>
    ({
      unauthorized: failed(403, 9109, `Invalid access token ${TOKEN}`),
      forbidden: failed(403, 10000, 'Authentication error'),
      rate_limited: failed(429, 971, 'Please wait and consider throttling your request speed'),
      error: { status: 502, body: '<html><body>502 Bad Gateway</body></html>' },
      unknown: failed(404, 7003, 'Could not route to the requested resource'),
    })[kind],

  answer({ method, path, query, body }, api) {
    const { zone } = api
    if (path === '/zones') {
      const isAsked = query.get('name') === zone.name
      const found = { id: ZONE_ID, name: zone.name, status: 'active', name_servers: this.nameServers }
      return done(isAsked ? [found] : [], { page: 1, per_page: 20, total_pages: 1, count: isAsked ? 1 : 0 })
    }
    if (path === `/zones/${ZONE_ID}/dnssec`) {
      if (method === 'PATCH') zone.dnssec = JSON.parse(body).status === 'active' ? 'pending' : 'disabled'
      if (zone.dnssec === 'off') return done({ status: 'disabled' })
      return done({
        status: zone.dnssec,
        flags: 257,
        algorithm: '13',
        key_type: 'ECDSAP256SHA256',
        digest_type: '2',
        digest_algorithm: 'SHA256',
        digest: '48E939042E82C22542CB377B580DFDC52A361CEFDC72E7F9107E2B6BD9306A45',
        ds: 'example.com. 3600 IN DS 16953 13 2 48E939042E82C22542CB377B580DFDC52A361CEFDC72E7F9107E2B6BD9306A45',
        key_tag: 42,
        public_key:
          'oXiGYrSTO+LSCJ3mohc8EP+CzF9KxBj8/ydXJ22pKuZP3VAC3/Md/k7xZfz470CoRyZJ6gV6vml07IC3d8xqhA==',
      })
    }
    if (path === `/zones/${ZONE_ID}/dns_records`) {
      if (method === 'POST') {
        const { name, type, ttl, data, content: text } = JSON.parse(body)
        // The API makes a CAA record of its parts alone.
        if (type === 'CAA' && !data) return failed(400, 9005, 'Content for CAA record must be data.')
        const content = type === 'CAA' ? `${data.flags} ${data.tag} "${data.value}"` : text
        if (zone.data(name, type).includes(content))
          return failed(400, 81058, 'An identical record already exists.')
        if (zone.of(name, 'CNAME').length > 0)
          return failed(400, 81054, 'A CNAME record with that host already exists.')
        const { id } = zone.add(name, type, content, ttl)
        return done({ id, name, type, content, ttl, proxied: false })
      }
      const all = zone.of(query.get('name.exact') ?? '', query.get('type') ?? '')
      const number = Number(query.get('page') ?? 1)
      const { entries, pages } = api.page(all, number)
      return done(
        entries.map(({ id, name, type, data, ttl }) => ({
          id,
          name,
          type,
          content: data,
          ttl,
          proxied: false,
        })),
        {
          page: number,
          per_page: api.pageSize,
          count: entries.length,
          total_count: all.length,
          total_pages: pages,
        },
      )
    }
    const record = zone.records.find(({ id }) => path === `/zones/${ZONE_ID}/dns_records/${id}`)
    if (method !== 'DELETE') return undefined
    if (record === undefined) return failed(404, 81044, 'Record does not exist.')
    zone.remove([record])
    return done({ id: record.id })
  },
}
