// The protocol: every field of every resource, in live answers and in requests with that field at fault.

import type {
  DomainResponse,
  PolicySettings,
  PolicyStateResponse,
  PublicStateResponse,
  RegisterResponse,
  RenewResponse,
} from '@svc/protocol'
import { beforeAll, expect } from 'vitest'
import { useStarted } from '../../../tools/use-started.ts'
import { newAccount } from '../support/relay.ts'
import { ADMIN_TOKEN, everyRow, keyOf, startWorld } from './every-row.ts'
import { ANSWERS, REQUESTS } from './rows.ts'

const REPORTED_IP = '192.0.2.7'
const METADATA = {
  description: 'd',
  owner: 'o',
  thumbnail: 'https://a.example/t.png',
  tags: ['a'],
  hide: false,
}

type Sample = Record<string, unknown>

let samples: Record<keyof typeof ANSWERS, Sample>
let requests: Record<keyof typeof REQUESTS, { path: string; body: Sample; isAdmin?: true }>

const world = useStarted(startWorld)
beforeAll(async () => {
  const account = newAccount()
  const identity = { name: 'resources', address: account.address }
  const ports = { udp_enabled: true, tcp_enabled: true }
  const challenge = await data('POST', '/sdk/register/challenge', { identity, metadata: METADATA, ...ports })
  const siwe_message = challenge.siwe_message as string
  const proof = {
    challenge_id: challenge.challenge_id,
    siwe_message,
    siwe_signature: await account.signMessage({ message: siwe_message }),
    reported_ip: REPORTED_IP,
  }
  const lease = (await data('POST', '/sdk/register', proof)) as unknown as RegisterResponse
  const renewed = await data('POST', '/sdk/renew', { access_token: lease.access_token })
  const state = (await data('GET', '/api/state')) as unknown as PublicStateResponse
  const policy = (await data('GET', '/api/policy')) as unknown as PolicySettings
  const policyState = (await data('GET', '/api/policy/state')) as unknown as PolicyStateResponse
  const domain = (await data('GET', '/sdk/domain')) as unknown as DomainResponse
  const shown = (value: object): Sample => value as Sample
  samples = {
    Identity: shown(lease.identity),
    LeaseMetadata: shown(state.leases[0]!.metadata),
    Lease: shown(state.leases[0]!),
    PolicyLease: shown(policyState.leases[0]!),
    PublicStateResponse: shown(state),
    PolicyPortSettings: shown(policy.udp),
    PolicySettings: shown(policy),
    PolicyStateResponse: shown(policyState),
    AdminAuthLoginResponse: await data('POST', '/api/admin/auth/login', { token: ADMIN_TOKEN }),
    AdminAuthStatusResponse: await data('GET', '/api/admin/auth/status'),
    RegisterChallengeResponse: challenge,
    RegisterResponse: shown(lease),
    ReverseEndpoint: shown((renewed as unknown as RenewResponse).reverse_endpoint),
    RenewResponse: renewed,
    DomainResponse: shown(domain),
    ENSStatus: shown(domain.ens),
    X402FacilitatorInfo: shown(domain.x402),
  }
  const { access_token } = lease
  requests = {
    AdminAuthLoginRequest: { path: '/api/admin/auth/login', body: { token: ADMIN_TOKEN } },
    LeasePolicyUpdate: {
      path: '/api/policy/leases',
      body: { identity_key: keyOf(lease), is_banned: false, is_approved: true, is_denied: false, bps: 0 },
      isAdmin: true,
    },
    IPPolicyUpdate: { path: '/api/policy/ips', body: { ip: REPORTED_IP, is_banned: false }, isAdmin: true },
    RegisterChallengeRequest: {
      path: '/sdk/register/challenge',
      body: {
        identity,
        allow_canonical_fallback: true,
        metadata: METADATA,
        overlay: true,
        ttl: 60,
        udp_enabled: false,
        tcp_enabled: false,
        cache: true,
        cache_ttl: 0,
      },
    },
    // A challenge is used once: what is well-formed gets no further than that.
    RegisterRequest: { path: '/sdk/register', body: proof },
    RenewRequest: {
      path: '/sdk/renew',
      body: { access_token, ttl: 60, reported_ip: REPORTED_IP, metadata: METADATA },
    },
    ReverseEndpointRequest: {
      path: '/sdk/reverse',
      body: { access_token, failed_url: lease.reverse_endpoint.url },
    },
    // Else the lease would be gone.
    UnregisterRequest: { path: '/sdk/unregister', body: { access_token: 'no-token' } },
  }
})

async function data(method: string, path: string, body?: unknown): Promise<Sample> {
  const answer = await world.admin(method, path, body)
  expect(answer.json, answer.text).toMatchObject({ ok: true })
  return answer.json.data as unknown as Sample
}

const KINDS: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number' && value >= 0,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  timestamp: (value) => typeof value === 'string' && new Date(value).toISOString() === value,
  'string[]': (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
  'object[]': (value) => Array.isArray(value) && value.every((one) => typeof one === 'object'),
}

/** The samples have everything that may be there. */
async function proveAnswer(resource: keyof typeof ANSWERS, field: string, kind: string): Promise<void> {
  expect(samples[resource]).toHaveProperty(field)
  expect(samples[resource][field]).toSatisfy(KINDS[kind.replace('?', '')]!)
}

/** Refused with another kind, and when it is missing but for optional ones. */
async function proveRequest(resource: keyof typeof REQUESTS, field: string, kind: string): Promise<void> {
  const { path, body, isAdmin } = requests[resource]
  const send = (sent: object) => (isAdmin ? world.admin('POST', path, sent) : world.post(path, sent))
  const isMalformed = async (sent: object) => {
    const { status, json } = await send(sent)
    return status === 400 && (json as { error: { code: string } }).error.code === 'invalid_request'
  }
  expect(body).toHaveProperty(field)
  expect(await isMalformed(body)).toBe(false)
  expect(await isMalformed({ ...body, [field]: [[]] })).toBe(true)
  const { [field]: _left, ...rest } = body
  expect(await isMalformed(rest)).toBe(!kind.endsWith('?'))
}

function rowsOf<R extends string>(
  resources: Record<R, Record<string, string>>,
  prove: (resource: R, field: string, kind: string) => Promise<void>,
): Record<string, () => Promise<void>> {
  const rows = (Object.keys(resources) as R[]).flatMap((resource) =>
    Object.entries(resources[resource]).map(([field, kind]): [string, () => Promise<void>] => [
      `${resource}.${field}: ${kind}`,
      () => prove(resource, field, kind),
    ]),
  )
  return Object.fromEntries(rows)
}

everyRow('Resources', {
  'APIEnvelope.ok: boolean': async () => {
    expect((await world.call('GET', '/sdk/domain')).json.ok).toBe(true)
    expect((await world.post('/sdk/renew', {})).json.ok).toBe(false)
  },
  'APIEnvelope.data: object, omitted on error': async () => {
    expect((await world.call('GET', '/sdk/domain')).json.data).toBeTypeOf('object')
    expect((await world.post('/sdk/renew', {})).json).not.toHaveProperty('data')
  },
  'APIEnvelope.error: {code, message}, omitted on success': async () => {
    expect((await world.call('GET', '/sdk/domain')).json).not.toHaveProperty('error')
    const error = { code: expect.any(String), message: expect.any(String) }
    expect((await world.post('/sdk/renew', {})).json.error).toEqual(error)
  },
  'RegisterResponse.udp_addr, tcp_addr: omitted when that transport is disabled': async () => {
    const addresses = async (fields: Record<string, unknown>) =>
      Object.keys(await world.lease(fields)).filter((field) => field.endsWith('_addr'))
    expect(await addresses({})).toEqual([])
    expect(await addresses({ udp_enabled: true })).toEqual(['udp_addr'])
    expect(await addresses({ tcp_enabled: true })).toEqual(['tcp_addr'])
  },
  ...rowsOf(ANSWERS, proveAnswer),
  ...rowsOf(REQUESTS, proveRequest),
})
