// The XML that Route 53 reads and writes. The only importer of the AWS SDK's parser, which loads no DTD.

import { parseXML } from '@aws-sdk/xml-builder'
import type { Refusal } from './api-client.ts'
import { z } from './schema.ts'
import { plainName } from './zone-names.ts'

const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/'

/** An element that may occur any number of times. */
function list<T>(item: z.ZodType<T>): z.ZodType<T[]> {
  return z.preprocess((value) => (value === undefined || value === '' ? [] : [value].flat()), z.array(item))
}

const ZONE = z
  .object({
    Id: z.string(),
    Name: z.string(),
    Config: z.object({ PrivateZone: z.string().optional() }).optional(),
  })
  .transform(({ Id, Name, Config }) => ({
    id: Id.replace('/hostedzone/', ''),
    name: plainName(Name),
    isPrivate: Config?.PrivateZone === 'true',
  }))
const ZONES = z.object({ HostedZones: z.union([z.literal(''), z.object({ HostedZone: list(ZONE) })]) })
const ONE_ZONE = z.object({
  HostedZone: ZONE,
  DelegationSet: z.object({ NameServers: z.object({ NameServer: list(z.string()) }) }).optional(),
})
const RECORD_SET = z.object({
  Name: z.string(),
  Type: z.string(),
  TTL: z.string().optional(),
  SetIdentifier: z.string().optional(),
  ResourceRecords: z.object({ ResourceRecord: list(z.object({ Value: z.string() })) }).optional(),
})
const RECORD_SETS = z.object({
  ResourceRecordSets: z.union([z.literal(''), z.object({ ResourceRecordSet: list(RECORD_SET) })]),
})
const DNSSEC = z.object({
  Status: z.object({ ServeSignature: z.string(), StatusMessage: z.string().optional() }),
  KeySigningKeys: z
    .union([
      z.literal(''),
      z.object({ member: list(z.object({ Status: z.string(), DSRecord: z.string().optional() })) }),
    ])
    .optional(),
})
const REFUSED = z.union([
  z.object({
    ErrorResponse: z.object({ Error: z.object({ Code: z.string(), Message: z.string().optional() }) }),
  }),
  z.object({ InvalidChangeBatch: z.object({ Messages: z.object({ Message: list(z.string()) }) }) }),
])

export interface HostedZone {
  id: string
  name: string
  isPrivate: boolean
}

/** Functions that read an answer throw Error when it does not match the API's reference. */
export function readHostedZones(xml: string): HostedZone[] {
  const { HostedZones } = parse(xml, ZONES)
  return HostedZones === '' ? [] : HostedZones.HostedZone
}

export function readHostedZone(xml: string): HostedZone & { nameServers: string[] } {
  const { HostedZone, DelegationSet } = parse(xml, ONE_ZONE)
  return { ...HostedZone, nameServers: (DelegationSet?.NameServers.NameServer ?? []).map(plainName) }
}

export interface ResourceRecordSet {
  name: string
  type: string
  /** Undefined for an alias, and for one of several sets under a routing policy. */
  ttl: number | undefined
  values: string[]
}

export function readRecordSets(xml: string): ResourceRecordSet[] {
  const { ResourceRecordSets: sets } = parse(xml, RECORD_SETS)
  return (sets === '' ? [] : sets.ResourceRecordSet).map(
    ({ Name, Type, TTL, SetIdentifier, ResourceRecords }) => ({
      name: plainName(Name.replaceAll('\\052', '*')),
      type: Type,
      ttl: TTL === undefined || SetIdentifier !== undefined ? undefined : Number(TTL),
      values: (ResourceRecords?.ResourceRecord ?? []).map(({ Value }) => Value),
    }),
  )
}

export interface ZoneSigning {
  state: string
  message: string
  /** The DS record of the active key-signing key. */
  dsRecord: string
  hasActiveKey: boolean
}

export function readSigning(xml: string): ZoneSigning {
  const { Status, KeySigningKeys: keys } = parse(xml, DNSSEC)
  const active = keys ? keys.member.find((key) => key.Status === 'ACTIVE') : undefined
  return {
    state: Status.ServeSignature,
    message: Status.StatusMessage ?? '',
    dsRecord: active?.DSRecord ?? '',
    hasActiveKey: active !== undefined,
  }
}

export function refusal(body: string): Refusal {
  const refused = REFUSED.parse(parseXML(body))
  if ('InvalidChangeBatch' in refused) {
    const { Message } = refused.InvalidChangeBatch.Messages
    return { message: Message.join(', '), fault: 'conflict', isRetryable: true }
  }
  const { Code, Message } = refused.ErrorResponse.Error
  const message = Message === undefined ? Code : `${Message} (${Code})`
  if (['Throttling', 'ThrottlingException', 'PriorRequestNotComplete'].includes(Code))
    return { message, fault: 'rate_limited' }
  if (Code === 'InvalidChangeBatch') return { message, fault: 'conflict', isRetryable: true }
  return /Token|Signature|AccessDenied|NotAuthorized/.test(Code)
    ? { message, fault: 'unauthorized' }
    : { message }
}

/** A batch that replaces exactly the old values with the new ones. */
export function changeBatch(
  { name, type, ttl }: { name: string; type: string; ttl: number },
  before: readonly string[],
  after: readonly string[],
): string {
  const change = (action: string, values: readonly string[]): string => {
    if (values.length === 0) return ''
    const records = values
      .map((value) => `<ResourceRecord>${element('Value', value)}</ResourceRecord>`)
      .join('')
    const set = `${element('Name', name)}${element('Type', type)}${element('TTL', `${ttl}`)}`
    return `<Change>${element('Action', action)}<ResourceRecordSet>${set}<ResourceRecords>${records}</ResourceRecords></ResourceRecordSet></Change>`
  }
  const changes = change('DELETE', before) + change('CREATE', after)
  return `<ChangeResourceRecordSetsRequest xmlns="${NAMESPACE}"><ChangeBatch><Changes>${changes}</Changes></ChangeBatch></ChangeResourceRecordSetsRequest>`
}

/** A key-signing key whose private key is in the Key Management Service. */
export function keySigningKeyRequest(
  zoneId: string,
  keyArn: string,
  name: string,
  reference: string,
): string {
  const elements = [
    element('CallerReference', reference),
    element('HostedZoneId', zoneId),
    element('KeyManagementServiceArn', keyArn),
    element('Name', name),
    element('Status', 'ACTIVE'),
  ]
  return `<CreateKeySigningKeyRequest xmlns="${NAMESPACE}">${elements.join('')}</CreateKeySigningKeyRequest>`
}

/** Reads the root element. */
function parse<T>(xml: string, schema: z.ZodType<T>): T {
  return schema.parse(Object.values(parseXML(xml) as Record<string, unknown>)[0])
}

function element(name: string, text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<${name}>${escaped}</${name}>`
}
