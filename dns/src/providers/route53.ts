// Amazon Route 53: hosted zones, record sets and key-signing keys by the API of 2013-04-01.
// Written in 2026-11 after the public description of the interface, "Amazon Route 53 API Reference", at
// docs.aws.amazon.com/Route53/latest/APIReference. It has not been tried with an account there.

import { AwsV4Signer } from 'aws4fetch'
import { ApiClient, type ApiRequest } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { awsCredentials } from './aws-credentials.ts'
import { CredentialError } from './credentials.ts'
import { RECORD_TTL_S } from './limits.ts'
import type { OpenApi } from './open-api.ts'
import { fromPresentation, toPresentation } from './record-value.ts'
import { enableSigning } from './route53-dnssec.ts'
import { changeBatch, readHostedZone, readHostedZones, readRecordSets, refusal } from './route53-xml.ts'
import type { ZoneApi } from './zone-api.ts'

/** 5 requests a second for each account. */
const SPACING_MS = 250
const VERSION = '/2013-04-01'
const READ =
  'the actions route53:ListHostedZonesByName, route53:GetHostedZone and route53:ListResourceRecordSets'
const WRITE = 'the action route53:ChangeResourceRecordSets for the hosted zone'

interface Route53 {
  get<T>(path: string, needs: string, read: (xml: string) => T, signal: AbortSignal): Promise<T>
  post(path: string, body: string, needs: string, signal: AbortSignal): Promise<void>
  hostedZoneId: string | undefined
  keyArn: string | undefined
}

export const open: OpenApi = async ({ env, ...connection }) => {
  const credentials = await awsCredentials(env)
  const hostedZoneId = env.AWS_HOSTED_ZONE_ID?.replace(/^\/hostedzone\//, '')
  if (hostedZoneId && !/^[A-Z0-9]{1,32}$/.test(hostedZoneId))
    throw new CredentialError('AWS_HOSTED_ZONE_ID', 'is not the ID of a hosted zone, such as Z1D633PJN98FT9')
  const { publicUrl, region } = endpoint(env.AWS_REGION)
  const secrets: string[] = []
  const api = new ApiClient({
    ...connection,
    provider: 'Route 53',
    publicUrl,
    spacingMs: SPACING_MS,
    mediaType: 'application/xml',
    credential: 'the AWS credentials',
    secrets,
    async authorize({ method = 'GET', body }: ApiRequest, url) {
      const keys = await credentials()
      secrets.splice(0, 2, keys.secretAccessKey, keys.sessionToken ?? '')
      const { accessKeyId, secretAccessKey, sessionToken } = keys
      const session = sessionToken === undefined ? {} : { sessionToken }
      const content = body === undefined ? {} : { body }
      const signer = new AwsV4Signer({
        ...{ method, url, ...content, accessKeyId, secretAccessKey, ...session },
        ...{ service: 'route53', region },
      })
      return Object.fromEntries((await signer.sign()).headers)
    },
    refusal,
  })
  const get = async <T>(
    path: string,
    needs: string,
    read: (xml: string) => T,
    signal: AbortSignal,
  ): Promise<T> => api.read(await api.request({ path: VERSION + path, needs, signal }), read)
  const post = async (path: string, body: string, needs: string, signal: AbortSignal): Promise<void> => {
    await api.request({ method: 'POST', path: VERSION + path, body, needs, signal })
  }

  return zonesOf({ get, post, hostedZoneId, keyArn: env.AWS_DNSSEC_KMS_KEY_ARN })
}

function zonesOf({ get, post, hostedZoneId, keyArn }: Route53): ZoneApi {
  return {
    name: 'route53',

    async findZone(candidates, signal) {
      let id = hostedZoneId
      for (const name of id ? [] : candidates) {
        const query = new URLSearchParams({ dnsname: `${name}.`, maxitems: '100' })
        const zones = await get(`/hostedzonesbyname?${query}`, READ, readHostedZones, signal)
        id = zones.find((zone) => zone.name === name && !zone.isPrivate)?.id
        if (id !== undefined) break
      }
      if (!id) return undefined
      const zone = await get(`/hostedzone/${id}`, READ, readHostedZone, signal)
      return candidates.includes(zone.name) ? zone : undefined
    },

    async readRecords(zone, name, type, signal) {
      const query = new URLSearchParams({ name: `${name}.`, type, maxitems: '1' })
      const sets = await get(`/hostedzone/${zone.id}/rrset?${query}`, READ, readRecordSets, signal)
      const set = sets.find((one) => one.type === type && one.name === name)
      if (set === undefined) return { name, type, records: [] }
      if (set.ttl === undefined) {
        const message = `${name} ${type} is an alias or has a routing policy, which is not changed here`
        throw new ApiError('conflict', message)
      }
      const records = set.values.map((raw) => ({ raw, value: fromPresentation(type, raw) }))
      return { name, type, records, ttl: set.ttl }
    },

    /** A batch whose DELETE does not match the existing records exactly fails as a whole. */
    async changeRecords(zone, { name, type, records, ttl = RECORD_TTL_S }, { add, remove }, signal) {
      const before = records.map(({ raw }) => raw)
      const kept = records.filter(({ value }) => !remove.includes(value)).map(({ raw }) => raw)
      const after = [...kept, ...add.map((value) => toPresentation(type, value))]
      const body = changeBatch({ name: `${name}.`, type, ttl }, before, after)
      await post(`/hostedzone/${zone.id}/rrset`, body, WRITE, signal)
    },

    dnssec: (zone, signal) => enableSigning({ zone, keyArn, get, post, signal }),
  }
}

/** Route 53 has one endpoint in each AWS partition, with one region for signatures. */
function endpoint(region = ''): { publicUrl: string; region: string } {
  if (region.startsWith('cn-'))
    return { publicUrl: 'https://route53.amazonaws.com.cn', region: 'cn-northwest-1' }
  if (region.startsWith('us-gov-'))
    return { publicUrl: 'https://route53.us-gov.amazonaws.com', region: 'us-gov-west-1' }
  return { publicUrl: 'https://route53.amazonaws.com', region: 'us-east-1' }
}
