// Vultr's API v2, as "Vultr API v2" (www.vultr.com/api: DNS; 2026-11) describes it.
import { type Dialect, json } from './fake-api.ts'

const KEY = 'VDQQSAXXBLWYPRZLABCDEFGHIJ4QXMFCJQGA'

export const vultr: Dialect = {
  provider: 'vultr',
  prefix: '/v2',
  env: () => ({ VULTR_API_KEY: KEY }),
  secrets: [KEY],
  nameServers: ['ns1.vultr.com', 'ns2.vultr.com'],
  isAuthorized: ({ headers }) => headers.authorization === `Bearer ${KEY}`,
  isChange: ({ method }) => method !== 'GET',
  refusal: (kind) =>
    ({
      unauthorized: json({ error: `Invalid API token: ${KEY}`, status: 401 }, 401),
      forbidden: json({ error: 'User is not authorized to perform this action', status: 403 }, 403),
      rate_limited: json({ error: 'Rate limit exceeded', status: 429 }, 429),
      error: json({ error: 'Internal error', status: 500 }, 500),
      unknown: json({ error: 'Invalid domain.', status: 404 }, 404),
    })[kind],

  answer({ method, path, query, body }, api) {
    const { zone } = api
    const domain = `/domains/${zone.name}`
    if (path === domain && method === 'GET') {
      const dns_sec = zone.dnssec === 'off' ? 'disabled' : 'enabled'
      return json({ domain: { domain: zone.name, date_created: '2026-11-01T14:11:52+00:00', dns_sec } })
    }
    if (path === domain && method === 'PUT') {
      zone.dnssec = JSON.parse(body).dns_sec === 'enabled' ? 'on' : 'off'
      return { status: 204, body: '' }
    }
    if (path === `${domain}/dnssec`) {
      const lines = [
        `${zone.name} IN DNSKEY 257 3 13 kRrxANp7YTGqVbaWtMy8hhsK0jcG4ajjICZKMb4fKv79Vx/RSn76vNjzIT7/Uo0BXil01Fk8RRQc4nWZctGJBA==`,
        `${zone.name} IN DS 27933 13 1 2d9ac457e5c11a104e25d971d0a6254562bddde7`,
        `${zone.name} IN DS 27933 13 2 8858e7b0dfb881280ce2ca1e0eafcd93d5b53687c21da284d4f8799ba82208a9`,
      ]
      return json({ dns_sec: zone.dnssec === 'off' ? [] : lines })
    }
    if (path === `${domain}/records` && method === 'POST') {
      const { name, type, data, ttl } = JSON.parse(body)
      const record = zone.add(zone.absolute(name), type, data, ttl)
      return json({ record: { id: record.id, type, name, data, priority: 0, ttl } }, 201)
    }
    if (path === `${domain}/records`) {
      const number = Number(query.get('cursor') || 1)
      const { entries, pages } = api.page(zone.records, number)
      const records = entries.map(({ id, name, type, data, ttl }) => {
        return { id, type, name: zone.relative(name, ''), data, priority: 0, ttl }
      })
      const links = { next: number < pages ? `${number + 1}` : '', prev: number > 1 ? `${number - 1}` : '' }
      return json({ records, meta: { total: zone.records.length, links } })
    }
    const record = zone.records.find(({ id }) => path === `${domain}/records/${id}`)
    if (method !== 'DELETE') return undefined
    if (record === undefined) return json({ error: 'Invalid record.', status: 404 }, 404)
    zone.remove([record])
    return { status: 204, body: '' }
  },
}
