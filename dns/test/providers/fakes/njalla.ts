// Njalla's JSON-RPC, as "Njalla API" (njal.la/api; 2026-11) describes it.
import { type Dialect, type FakeRequest, json, type Reply } from './fake-api.ts'

const TOKEN = '9f3a1c5e7b2d4f6081a3c5e7f9b1d3f50718293a'

const method = ({ body }: FakeRequest): string => JSON.parse(body).method
const done = (result: unknown): Reply => json({ jsonrpc: '2.0', id: '1', result })
const failed = (code: number, message: string): Reply =>
  json({ jsonrpc: '2.0', id: '1', error: { code, message } })

export const njalla: Dialect = {
  provider: 'njalla',
  prefix: '',
  env: () => ({ NJALLA_TOKEN: TOKEN }),
  secrets: [TOKEN],
  nameServers: ['1-you.njalla.no', '2-can.njalla.in', '3-get.njalla.fo'],
  isAuthorized: ({ headers }) => headers.authorization === `Njalla ${TOKEN}`,
  isChange: (request) => ['add-record', 'remove-record'].includes(method(request)),
  refusal: (kind) =>
    ({
      unauthorized: failed(403, `Invalid token ${TOKEN}`),
      forbidden: failed(403, 'Permission denied.'),
      rate_limited: { status: 429, body: 'Too Many Requests' },
      error: { status: 500, body: 'Internal Server Error' },
      unknown: failed(400, 'Invalid method'),
    })[kind],

  answer(request, { zone }) {
    const { params } = JSON.parse(request.body)
    if (request.path !== '/api/1/') return undefined
    if (method(request) === 'list-domains')
      return done({
        domains: [
          { name: 'other.test', status: 'active', expiry: '2027-02-20T19:38:48Z' },
          { name: zone.name, status: 'active', expiry: '2027-02-20T19:38:48Z' },
        ],
      })
    if (params.domain !== zone.name) return failed(404, 'Domain not found')
    if (method(request) === 'list-records')
      return done({
        records: zone.records.map(({ id, name, type, data, ttl }) => {
          const content = type === 'TXT' ? data.replace(/^"(.*)"$/, '$1') : data
          return { id: Number(id), name: zone.relative(name, '@'), type, content, ttl }
        }),
      })
    if (method(request) === 'add-record') {
      const { name, type, content, ttl } = params
      const { id } = zone.add(zone.absolute(name), type, type === 'TXT' ? `"${content}"` : content, ttl)
      return done({ id: Number(id), name, type, content, ttl })
    }
    const record = zone.records.find(({ id }) => id === `${params.id}`)
    if (method(request) !== 'remove-record') return undefined
    if (record === undefined) return failed(404, 'Record not found')
    zone.remove([record])
    return done({})
  },
}
