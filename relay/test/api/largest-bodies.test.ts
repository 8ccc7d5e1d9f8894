// Every endpoint takes the largest body that the contract allows: no general bound of bytes, values or depth is below it.

import {
  BAN_REASON_MAX_CHARS,
  CACHE_FILES_MAX,
  CACHE_MANIFEST_MAX_BYTES,
  CERTIFICATE_REQUEST_MAX_BYTES,
  CUSTOM_DOMAINS_MAX,
  LEASE_DECISIONS_MAX,
  METADATA_DESCRIPTION_MAX_CHARS,
  METADATA_OWNER_MAX_CHARS,
  METADATA_TAG_MAX_CHARS,
  METADATA_TAGS_MAX,
  METADATA_THUMBNAIL_MAX_CHARS,
  type RegisterResponse,
  X402_BODY_MAX_BYTES,
} from '@svc/protocol'
import { beforeAll, describe, expect, test } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { ENDPOINTS, type EndpointName } from '../../src/core/api/endpoints/endpoints.ts'
import {
  HOP_FIELD_MAX_CHARS,
  SIGN_MESSAGE_MAX_BYTES,
  SIWE_MESSAGE_MAX_CHARS,
  SIWE_SIGNATURE_MAX_CHARS,
  TOKEN_TEXT_MAX_CHARS,
  URL_MAX_CHARS,
} from '../../src/core/api/endpoints/request-schemas.ts'
import { RESERVED_NAMES_MAX } from '../../src/core/policy/reserved-names.ts'
import { PAYMENT_ENDPOINTS } from '../../src/features/payment/endpoints.ts'
import { put, statusOf } from '../support/cache-client.ts'
import { manifestOf, sha256 } from '../support/multipart-body.ts'
import { type Answer, newAccount, startTestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'an-admin-token-of-32-characters!'
/** Takes four bytes of UTF-8, and two of the characters that the contract counts. */
const WIDE = '\u{1f310}'
const PATH_CHARS = 480

const METADATA = {
  description: WIDE.repeat(METADATA_DESCRIPTION_MAX_CHARS / 2),
  owner: WIDE.repeat(METADATA_OWNER_MAX_CHARS / 2),
  thumbnail: `data:image/png;base64,${'A'.repeat(METADATA_THUMBNAIL_MAX_CHARS - 22)}`,
  tags: Array.from({ length: METADATA_TAGS_MAX }, () => WIDE.repeat(METADATA_TAG_MAX_CHARS / 2)),
  hide: true,
}

/** As many files as there may be, with paths so long that the manifest has hardly less than it may have. */
const LARGEST_MANIFEST = ((): object => {
  const size = (pathChars: number): number => JSON.stringify(manifest(pathChars)).length
  let chars = PATH_CHARS
  while (size(chars) > CACHE_MANIFEST_MAX_BYTES) chars -= 1
  return manifest(chars)
})()

function manifest(pathChars: number): object {
  const files = Array.from({ length: CACHE_FILES_MAX }, (_, number) => ({
    path: `${String(number).padStart(4, '0')}${'x'.repeat(pathChars)}`,
    size: 1,
    sha256: sha256(`${number}`),
  }))
  return { index: files[0]!.path, files }
}

let lease: RegisterResponse
let leaving: RegisterResponse
const account = newAccount()
const relay = useStarted(() =>
  startTestRelay({
    ADMIN_TOKEN,
    STATIC_CACHE_ENABLED: 'true',
    DISCOVERY: 'true',
    DISCOVERY_ALLOW_LOOPBACK_FOR_TESTS: 'true',
  }),
)
beforeAll(async () => {
  lease = await relay.register('largest', { account, cache: true })
  leaving = await relay.register('leaves', {})
})

const message = Buffer.alloc(SIGN_MESSAGE_MAX_BYTES).toString('base64')
const hopText = 'x'.repeat(HOP_FIELD_MAX_CHARS)
/** As long as a name of the DNS may be. */
const DOMAIN = `${`${'d'.repeat(63)}.`.repeat(3)}${'d'.repeat(53)}.example`
const LARGEST_BAN = {
  is_banned: true,
  reason: WIDE.repeat(BAN_REASON_MAX_CHARS / 2),
  until: '9999-12-31T23:59:59.999+00:00',
}
const names = Array.from({ length: RESERVED_NAMES_MAX }, (_, number) => `n${number}`.padEnd(22, 'x'))
const settings = {
  approval_mode: 'auto',
  landing_page_enabled: true,
  udp: { enabled: false, max_leases: 0 },
  tcp_port: { enabled: false, max_leases: 0 },
}

/** The largest body of each endpoint that takes JSON, and what a relay says of it that has read it. */
const LARGEST: Partial<Record<EndpointName, () => [body: unknown, answer: RegExp]>> = {
  adminLogin: () => [{ token: 'x'.repeat(TOKEN_TEXT_MAX_CHARS) }, /"unauthorized"/],
  updatePolicy: () => [{ ...settings, reserved_names: names }, /"ok":true/],
  updateLease: () => [
    {
      identity_key: `${'n'.repeat(22)}:${account.address}`,
      is_banned: false,
      is_approved: false,
      is_denied: false,
      bps: Number.MAX_SAFE_INTEGER,
    },
    /"ok":true/,
  ],
  updateLeases: () => [
    {
      decisions: Array.from({ length: LEASE_DECISIONS_MAX }, (_, number) => ({
        identity_key: `${`n${number}`.padEnd(22, 'n')}:${account.address}`,
        is_approved: false,
        is_denied: false,
        ...LARGEST_BAN,
        // Three bytes of UTF-8 for each character that the contract counts: more than one that counts as two.
        reason: '\u6f22'.repeat(BAN_REASON_MAX_CHARS),
      })),
    },
    /"ok":true/,
  ],
  updateIp: () => [{ ip: '2001:db8:1111:2222:3333:4444:5555:6666/128', ...LARGEST_BAN }, /"ok":true/],
  updateDomain: () => [{ domain: DOMAIN, ...LARGEST_BAN }, /"ok":true/],
  updateRelay: () => [{ relay: account.address, is_banned: false }, /"ok":true/],
  registerChallenge: () => [
    {
      identity: { name: 'n'.repeat(22), address: account.address },
      allow_canonical_fallback: true,
      metadata: METADATA,
      overlay: false,
      ttl: 600,
      udp_enabled: false,
      tcp_enabled: false,
      cache: true,
      cache_ttl: 999_999_999,
      domains: Array.from({ length: CUSTOM_DOMAINS_MAX }, () => DOMAIN),
    },
    /"challenge_id"/,
  ],
  register: () => [
    {
      challenge_id: `rch_${'0'.repeat(16)}`,
      siwe_message: WIDE.repeat(SIWE_MESSAGE_MAX_CHARS / 2),
      siwe_signature: 'x'.repeat(SIWE_SIGNATURE_MAX_CHARS),
      reported_ip: '2001:db8:1111:2222:3333:4444:5555:6666',
    },
    /"unauthorized"/,
  ],
  renew: () => [{ access_token: lease.access_token, ttl: 600, metadata: METADATA }, /"access_token"/],
  customDomains: () => [{ access_token: lease.access_token }, /"domains":\[\]/],
  reverse: () => [
    {
      access_token: lease.access_token,
      failed_url: 'x'.repeat(URL_MAX_CHARS),
    },
    /"capability"/,
  ],
  unregister: () => [{ access_token: leaving.access_token }, /"ok":true/],
  siteCertificate: () => [
    { csr: Buffer.alloc(CERTIFICATE_REQUEST_MAX_BYTES).toString('base64') },
    // That it is no request of a certificate is seen when it was read.
    /certificate request|PKCS|csr/i,
  ],
  hopRoute: () => [
    {
      method: 'POST',
      route: {
        owner_public_key: hopText,
        relay_url: hopText,
        public_hostname: hopText,
        route_hostname: hopText,
        hostname_hash: hopText,
        match_token: hopText,
        metadata: {},
        forward_relay: hopText,
        forward_token: hopText,
        first_seen_at: hopText,
        expires_at: hopText,
        signature: hopText,
      },
    },
    /"feature_unavailable"/,
  ],
  addAdministrator: () => [{ name: 'a'.repeat(63) }, /"token"/],
  removeAdministrator: () => [{ name: 'b'.repeat(63) }, /no administrator/],
  addInvitation: () => [{ names: 10_000, ttl: 3_650 * 86_400, note: WIDE.repeat(100) }, /"token"/],
  withdrawInvitation: () => [{ id: 'x'.repeat(64) }, /no invitation/],
  updateName: () => [{ name: 'p'.repeat(22), address: account.address }, /"ok":true/],
  checkCache: () => [LARGEST_MANIFEST, /"present":false/],
  sign: () => [
    {
      key_id: 'relay-cert',
      algorithm: 'ECDSA_SHA256',
      binding: Buffer.alloc(16).toString('base64'),
      client_hello: message,
      server_hello: message,
      encrypted_extensions: message,
      certificate: message,
      timestamp_unix: Math.floor(Date.now() / 1000),
      nonce: '0'.repeat(32),
    },
    // What the messages are is seen when they were read.
    /^(?!.*(larger than|values|must be))/s,
  ],
  announce: () => [
    { protocol_version: '10', descriptor: { address: account.address, signature: 'x'.repeat(88) } },
    /"ok":(?!.*(larger than|values))/s,
  ],
}

async function ask(name: EndpointName, body: unknown): Promise<Answer> {
  const { method, path } = ENDPOINTS[name]
  const Authorization = `Bearer ${ADMIN_TOKEN}`
  return await relay.call(method, path, body, {
    Authorization,
    'X-Svc-Access-Token': lease.access_token,
    'Content-Type': 'application/json',
  })
}

const takesJson = (name: string): boolean => ENDPOINTS[name as EndpointName].body?.kind === 'json'

test('the table has every endpoint that takes JSON', () => {
  expect(Object.keys(LARGEST).sort()).toEqual(Object.keys(ENDPOINTS).filter(takesJson).sort())
})

describe('the largest body is read whole by', () => {
  test.each(Object.keys(LARGEST) as EndpointName[])('%s', async (name) => {
    const [body, answer] = LARGEST[name]!()
    expect((await ask(name, body)).text).toMatch(answer)
  })
})

test('a manifest of 2,048 files has hardly less than 1 MiB', () => {
  const { length } = JSON.stringify(LARGEST_MANIFEST)
  expect(length).toBeGreaterThan(CACHE_MANIFEST_MAX_BYTES - CACHE_FILES_MAX - 1)
})

test('payments have 64 KiB', () => {
  for (const { body } of Object.values(PAYMENT_ENDPOINTS))
    if (body !== undefined) expect(body.maxBytes).toBe(X402_BODY_MAX_BYTES)
})

wholeOnly(test, 'depth')('a snapshot of 2,048 files is uploaded, and found again', async () => {
  const files = Object.fromEntries(
    Array.from({ length: CACHE_FILES_MAX }, (_, number) => [
      `${String(number).padStart(4, '0')}.txt`,
      `${number}`,
    ]),
  )
  expect(statusOf(await put(relay, lease, files))).toMatchObject({ present: true })
  expect((await ask('checkCache', manifestOf(files))).text).toContain('"present":true')
})
