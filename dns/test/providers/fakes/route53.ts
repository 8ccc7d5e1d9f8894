// Amazon Route 53, as "Amazon Route 53 API Reference" (API version 2013-04-01, docs.aws.amazon.com/Route53/latest/APIReference; read
// 2026-11) describes it. It checks each signature as "Signature Version 4" (docs.aws.amazon.com/IAM) says, with code of its own.
import { createHash, createHmac } from 'node:crypto'
import { type Dialect, type FakeRequest, json, type Reply } from './fake-api.ts'
import type { FakeRecord, FakeZone } from './fake-zone.ts'

const KEY_ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMIxK7MDENGxbPxRfiCYEXAMPLEKEY'
const ZONE_ID = 'Z1D633PJN98FT9'
const XMLNS = 'xmlns="https://route53.amazonaws.com/doc/2013-04-01/"'

const xml = (body: string, status = 200): Reply => ({
  status,
  body: `<?xml version="1.0" encoding="UTF-8"?>\n${body}`,
  headers: { 'content-type': 'text/xml' },
})
const failed = (status: number, code: string, message: string): Reply =>
  xml(
    `<ErrorResponse ${XMLNS}><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>b25f48e8-84fd-11e6-80d9-574e0c4664cb</RequestId></ErrorResponse>`,
    status,
  )

export const route53: Dialect = {
  provider: 'route53',
  prefix: '',
  env: () => ({
    AWS_ACCESS_KEY_ID: KEY_ID,
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_DNSSEC_KMS_KEY_ARN: 'arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab',
  }),
  secrets: [SECRET],
  nameServers: ['ns-2048.awsdns-64.com', 'ns-2049.awsdns-65.net'],
  // What a container's credentials come from ("Container credential provider", docs.aws.amazon.com/sdkref).
  open: ({ url }) =>
    url.pathname === '/container-credentials'
      ? json({
          AccessKeyId: KEY_ID,
          SecretAccessKey: SECRET,
          Token: 'session',
          Expiration: '2099-01-01T00:00:00Z',
        })
      : undefined,
  isAuthorized: hasSignature,
  isChange: ({ method }) => method !== 'GET',
  refusal: (kind) =>
    ({
      unauthorized: failed(
        403,
        'SignatureDoesNotMatch',
        `The request signature does not match, not ${SECRET}`,
      ),
      forbidden: failed(
        403,
        'AccessDenied',
        'User is not authorized to perform: route53:ChangeResourceRecordSets',
      ),
      rate_limited: failed(400, 'Throttling', 'Rate exceeded'),
      error: failed(503, 'ServiceUnavailable', 'Service is unavailable'),
      unknown: failed(404, 'NoSuchHostedZone', 'No hosted zone found with ID'),
    })[kind],

  answer({ method, path, query, body }, { zone }) {
    const hosted = `/2013-04-01/hostedzone/${ZONE_ID}`
    if (path === '/2013-04-01/hostedzonesbyname') {
      // The list begins at the name that is asked for, and goes on after it.
      const isListed = (query.get('dnsname') ?? '').endsWith(`${zone.name}.`)
      const zones = isListed ? zoneOf(zone, 'Z0PRIVATE', true) + zoneOf(zone, ZONE_ID, false) : ''
      return xml(
        `<ListHostedZonesByNameResponse ${XMLNS}><HostedZones>${zones}</HostedZones><DNSName>${query.get('dnsname')}</DNSName><IsTruncated>false</IsTruncated><MaxItems>100</MaxItems></ListHostedZonesByNameResponse>`,
      )
    }
    if (path === hosted) {
      const servers = this.nameServers.map((server) => `<NameServer>${server}</NameServer>`).join('')
      return xml(
        `<GetHostedZoneResponse ${XMLNS}>${zoneOf(zone, ZONE_ID, false)}<DelegationSet><NameServers>${servers}</NameServers></DelegationSet></GetHostedZoneResponse>`,
      )
    }
    if (path === `${hosted}/rrset` && method === 'GET') return listSets(zone, query)
    if (path === `${hosted}/rrset`) return change(zone, body)
    if (path === `${hosted}/dnssec`) return signing(zone)
    if (path === '/2013-04-01/keysigningkey') {
      if (!body.includes('<Status>ACTIVE</Status>')) return failed(400, 'InvalidInput', 'no status')
      zone.dnssec = 'key'
      return xml(`<CreateKeySigningKeyResponse ${XMLNS}></CreateKeySigningKeyResponse>`, 201)
    }
    if (path === `${hosted}/enable-dnssec`) {
      if (zone.dnssec !== 'key') return failed(400, 'KeySigningKeyWithActiveStatusNotFound', 'no active key')
      zone.dnssec = 'signing'
      return xml(`<EnableHostedZoneDNSSECResponse ${XMLNS}></EnableHostedZoneDNSSECResponse>`)
    }
    return undefined
  },
}

function zoneOf({ name }: FakeZone, id: string, isPrivate: boolean): string {
  return `<HostedZone><Id>/hostedzone/${id}</Id><Name>${name}.</Name><CallerReference>RISWorkflow</CallerReference><Config><PrivateZone>${isPrivate}</PrivateZone></Config><ResourceRecordSetCount>17</ResourceRecordSetCount></HostedZone>`
}

/** The first set at or after the name and type. */
function listSets(zone: FakeZone, query: URLSearchParams): Reply {
  const name = (query.get('name') ?? '').slice(0, -1)
  const type = query.get('type') ?? ''
  const exact = zone.of(name, type)
  const [other] = zone.records
  const found = exact.length > 0 || other === undefined ? exact : zone.of(other.name, other.type)
  const [first] = found
  const records = found
    .map(({ data }) => `<ResourceRecord><Value>${data.replaceAll('"', '&quot;')}</Value></ResourceRecord>`)
    .join('')
  const set =
    first === undefined
      ? ''
      : `<ResourceRecordSet><Name>${first.name.replace('*', '\\052')}.</Name><Type>${first.type}</Type><TTL>${first.ttl}</TTL><ResourceRecords>${records}</ResourceRecords></ResourceRecordSet>`
  return xml(
    `<ListResourceRecordSetsResponse ${XMLNS}><ResourceRecordSets>${set}</ResourceRecordSets><IsTruncated>false</IsTruncated><MaxItems>1</MaxItems></ListResourceRecordSetsResponse>`,
  )
}

function change(zone: FakeZone, body: string): Reply {
  const gone: FakeRecord[] = []
  const added: [string, string, string, number][] = []
  for (const [, one = ''] of body.matchAll(/<Change>(.*?)<\/Change>/g)) {
    const field = (name: string): string => new RegExp(`<${name}>(.*?)</${name}>`).exec(one)?.[1] ?? ''
    const [name, type, ttl] = [field('Name').slice(0, -1), field('Type'), Number(field('TTL'))]
    const values = [...one.matchAll(/<Value>(.*?)<\/Value>/g)].map(([, value = '']) => value)
    const present = zone.of(name, type)
    if (field('Action') === 'DELETE') {
      const isSame = present.map(({ data }) => data).join() === values.join() && present[0]?.ttl === ttl
      if (!isSame)
        return invalid(
          `Tried to delete resource record set [name='${name}.', type='${type}'] but it was not found`,
        )
      gone.push(...present)
    } else if (present.some((record) => !gone.includes(record)))
      return invalid(
        `Tried to create resource record set [name='${name}.', type='${type}'] but it already exists`,
      )
    else for (const value of values) added.push([name, type, value, ttl])
  }
  zone.remove(gone)
  for (const record of added) zone.add(...record)
  return xml(
    `<ChangeResourceRecordSetsResponse ${XMLNS}><ChangeInfo><Id>/change/C2682N5HXP0BZ4</Id><Status>PENDING</Status><SubmittedAt>2026-11-10T01:36:41.958Z</SubmittedAt></ChangeInfo></ChangeResourceRecordSetsResponse>`,
  )
}

function invalid(message: string): Reply {
  return xml(
    `<InvalidChangeBatch ${XMLNS}><Messages><Message>${message}</Message></Messages></InvalidChangeBatch>`,
    400,
  )
}

function signing({ dnssec }: FakeZone): Reply {
  const ds = '2371 13 2 4104F2A5B8C9D0E1F2031425364758697A8B9CADBECFD0E1F20314253647586B'
  const key = `<member><Name>svc_relay</Name><KmsArn>arn</KmsArn><Flag>257</Flag><KeyTag>2371</KeyTag><DSRecord>${ds}</DSRecord><Status>ACTIVE</Status></member>`
  const status = dnssec === 'signing' ? 'SIGNING' : 'NOT_SIGNING'
  return xml(
    `<GetDNSSECResponse ${XMLNS}><Status><ServeSignature>${status}</ServeSignature></Status><KeySigningKeys>${dnssec === 'off' ? '' : key}</KeySigningKeys></GetDNSSECResponse>`,
  )
}

function hasSignature({ method, url, headers, body }: FakeRequest): boolean {
  const [, scope = '', signed = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    ) ?? []
  const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort()
  const fields = signed.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = [method, url.pathname, query.join('&'), fields.join(''), signed, hash(body)].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n')
  const key = scope.split('/').reduce((from: string | Buffer, part) => hmac(from, part), `AWS4${SECRET}`)
  return scope.endsWith('/us-east-1/route53/aws4_request') && hmac(key, toSign).toString('hex') === signature
}
