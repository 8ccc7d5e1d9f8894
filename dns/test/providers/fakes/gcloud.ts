// Google's Cloud DNS API v1, as "Cloud DNS API v1" (cloud.google.com/dns/docs/reference/rest/v1; 2026-11) describes it, and the
// Security Token Service that gives a token for a workload identity ("Security Token Service API", cloud.google.com/iam/docs).
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Dialect, json, type Reply } from './fake-api.ts'
import type { FakeRecord, FakeZone } from './fake-zone.ts'

const PROJECT = 'relay-project-471'
const ACCESS_TOKEN = 'ya29.d.c0ASRK0GZ-access-token-of-the-workload'
const SUBJECT_TOKEN = 'eyJhbGciOiJSUzI1NiJ9.subject-token.signature'
const ZONES = `/projects/${PROJECT}/managedZones`
/** Path of the metadata server that each machine of Google Cloud has ("About VM metadata", cloud.google.com/compute/docs). */
const METADATA = '/computeMetadata/v1/'
const MANAGED_ZONE = 'example-zone'

const failed = (status: number, reason: string, message: string): Reply =>
  json({ error: { code: status, message, errors: [{ message, domain: 'global', reason }] } }, status)

export const gcloud: Dialect = {
  provider: 'gcloud',
  prefix: '/dns/v1',
  env: (origin, newFolder) => ({
    GCP_PROJECT_ID: PROJECT,
    GOOGLE_APPLICATION_CREDENTIALS: credentialsFile(origin, newFolder()),
  }),
  secrets: [ACCESS_TOKEN, SUBJECT_TOKEN],
  nameServers: ['ns-cloud-a1.googledomains.com', 'ns-cloud-a2.googledomains.com'],
  open({ url: { pathname } }) {
    const token = { access_token: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 3599 }
    if (pathname === '/v1/token')
      return json({ ...token, issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' })
    if (!pathname.startsWith(METADATA)) return undefined
    const path = pathname.slice(METADATA.length)
    const isToken = path === 'instance/service-accounts/default/token'
    const value = isToken ? JSON.stringify(token) : path === 'project/project-id' ? PROJECT : 'googleapis.com'
    const headers = {
      'Metadata-Flavor': 'Google',
      'content-type': isToken ? 'application/json' : 'application/text',
    }
    return { status: 200, body: value, headers }
  },
  isAuthorized: ({ headers }) => headers.authorization === `Bearer ${ACCESS_TOKEN}`,
  isChange: ({ method }) => method !== 'GET',
  refusal: (kind) =>
    ({
      unauthorized: failed(401, 'authError', `Invalid Credentials ${ACCESS_TOKEN}`),
      forbidden: failed(403, 'forbidden', "The 'dns.changes.create' permission is required"),
      rate_limited: failed(403, 'rateLimitExceeded', 'Quota exceeded for quota metric'),
      error: failed(500, 'backendError', 'Internal error'),
      unknown: failed(404, 'notFound', 'The resource was not found'),
    })[kind],

  answer({ method, path, query, body }, api) {
    const { zone } = api
    const managed = `${ZONES}/${MANAGED_ZONE}`
    if (path === ZONES) {
      const all = [...privateZones(zone), zoneOf(zone, this.nameServers)]
      const matching = all.filter(({ dnsName }) => dnsName === query.get('dnsName'))
      const number = Number(query.get('pageToken') || 1)
      const { entries, pages } = api.page(matching, number)
      const next = number < pages ? { nextPageToken: `${number + 1}` } : {}
      return json({ kind: 'dns#managedZonesListResponse', managedZones: entries, ...next })
    }
    if (path === managed && method === 'GET') return json(zoneOf(zone, this.nameServers))
    if (path === managed && method === 'PATCH') {
      zone.dnssec = JSON.parse(body).dnssecConfig.state
      return json({ kind: 'dns#operation', status: 'done' })
    }
    if (path === `${managed}/dnsKeys`) return json({ kind: 'dns#dnsKeysListResponse', dnsKeys: keysOf(zone) })
    if (path === `${managed}/rrsets`) {
      const name = (query.get('name') ?? '').slice(0, -1)
      const type = query.get('type') ?? ''
      const found = zone.of(name, type)
      const rrdatas = found.map(({ data }) => data)
      const set = {
        kind: 'dns#resourceRecordSet',
        name: `${name}.`,
        type,
        ttl: found[0]?.ttl,
        rrdatas,
        signatureRrdatas: [],
      }
      return json({ kind: 'dns#resourceRecordSetsListResponse', rrsets: found.length > 0 ? [set] : [] })
    }
    return path === `${managed}/changes` ? change(zone, JSON.parse(body)) : undefined
  },
}

interface RecordSets {
  name: string
  type: string
  ttl: number
  rrdatas: string[]
}

function change(
  zone: FakeZone,
  { additions, deletions }: { additions: RecordSets[]; deletions: RecordSets[] },
): Reply {
  const gone: FakeRecord[] = []
  for (const { name, type, ttl, rrdatas } of deletions) {
    const present = zone.of(name.slice(0, -1), type)
    if (present.map(({ data }) => data).join() !== rrdatas.join() || present[0]?.ttl !== ttl)
      return failed(412, 'conditionNotMet', "Precondition not met for 'entity.change.deletions[0]'")
    gone.push(...present)
  }
  for (const { name, type } of additions)
    if (zone.of(name.slice(0, -1), type).some((record) => !gone.includes(record)))
      return failed(409, 'alreadyExists', "The resource 'entity.change.additions[0]' already exists")
  zone.remove(gone)
  for (const { name, type, ttl, rrdatas } of additions)
    for (const data of rrdatas) zone.add(name.slice(0, -1), type, data, ttl)
  return json({ kind: 'dns#change', additions, deletions, id: '1', status: 'pending' })
}

function zoneOf({ name, dnssec }: FakeZone, nameServers: readonly string[]) {
  return {
    kind: 'dns#managedZone',
    name: MANAGED_ZONE,
    dnsName: `${name}.`,
    id: '7241036493423642312',
    nameServers: nameServers.map((server) => `${server}.`),
    visibility: 'public',
    dnssecConfig: { kind: 'dns#managedZoneDnsSecConfig', state: dnssec, nonExistence: 'nsec3' },
  }
}

/** Zones of networks of the project's own may have the same name. */
function privateZones({ name }: FakeZone) {
  return [
    { ...zoneOf({ name, dnssec: 'off' } as FakeZone, []), name: 'example-inside', visibility: 'private' },
  ]
}

function keysOf({ dnssec }: FakeZone): object[] {
  if (dnssec === 'off') return []
  const key = { kind: 'dns#dnsKey', algorithm: 'ecdsap256sha256', keyLength: 256, isActive: true }
  const digest = '6DEF5C4F9E3B1B61D8B1F2C3A4958677685A4B3C2D1E0F1A2B3C4D5E6F708192'
  return [
    { ...key, type: 'zoneSigning', keyTag: 11111, digests: [] },
    { ...key, type: 'keySigning', keyTag: 32632, digests: [{ type: 'sha256', digest }] },
  ]
}

/** Credentials of a workload identity federation, whose subject token is in a file. */
function credentialsFile(origin: string, folder: string): string {
  writeFileSync(join(folder, 'subject-token'), SUBJECT_TOKEN)
  const file = join(folder, 'credentials.json')
  writeFileSync(
    file,
    JSON.stringify({
      type: 'external_account',
      audience:
        '//iam.googleapis.com/projects/471/locations/global/workloadIdentityPools/pool/providers/provider',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${origin}/v1/token`,
      credential_source: { file: join(folder, 'subject-token') },
    }),
  )
  return file
}
