// How each known sender signs its webhooks, by its own documentation.

import { fromBase64Text, fromHex } from './encodings.ts'
import type { Hash } from './keys.ts'
import { joined } from './message.ts'
import { bodyScheme, hmacKey, type Scheme, SIGNATURES_MAX, secondsIn } from './scheme.ts'
import type { HmacWebhook, WebhookSecrets, WebhookSender } from './secrets.ts'
import { SENDERS } from './secrets.ts'
import { twilio } from './twilio.ts'

/** docs.github.com, "Validating webhook deliveries". */
const github: Scheme = bodyScheme(
  {
    label: 'GitHub',
    field: 'X-Hub-Signature-256',
    claims: (headers) => headers.has('x-hub-signature-256') || headers.has('x-github-event'),
  },
  hmacKey('SHA-256'),
  'sha256=',
  fromHex,
)

/** shopify.dev, "Verify webhook deliveries". */
const shopify: Scheme = bodyScheme(
  {
    label: 'Shopify',
    field: 'X-Shopify-Hmac-Sha256',
    claims: (headers) => headers.has('x-shopify-hmac-sha256') || headers.has('x-shopify-topic'),
  },
  hmacKey('SHA-256'),
  '',
  fromBase64Text,
)

/** docs.stripe.com, "Resolve webhook signature verification errors", manual verification. */
const stripe: Scheme = {
  label: 'Stripe',
  field: 'Stripe-Signature',
  secretForm: 'a text',
  claims: (headers) => headers.has('stripe-signature'),
  key: hmacKey('SHA-256'),
  read({ headers, body }) {
    const parts = (headers.get('stripe-signature') ?? '').split(',').map((part) => part.trim())
    const time = parts.find((part) => part.startsWith('t='))?.slice(2)
    const timestamp = secondsIn(time)
    const signatures = parts.flatMap((part) => (part.startsWith('v1=') ? (fromHex(part.slice(3)) ?? []) : []))
    if (timestamp === undefined || signatures.length === 0) return 'Stripe-Signature has no t= and v1='
    const contents = [joined(`${time}.`, body)]
    return { timestamp, signatures: signatures.slice(0, SIGNATURES_MAX), contents }
  },
}

/** docs.slack.dev, "Verifying requests from Slack". */
const slack: Scheme = {
  label: 'Slack',
  field: 'X-Slack-Signature',
  secretForm: 'a text',
  claims: (headers) => headers.has('x-slack-signature'),
  key: hmacKey('SHA-256'),
  read({ headers, body }) {
    const time = headers.get('x-slack-request-timestamp')
    const timestamp = secondsIn(time)
    if (timestamp === undefined) return 'X-Slack-Request-Timestamp is missing, or no number of seconds'
    const [, digits = ''] = /^v0=(.*)$/.exec(headers.get('x-slack-signature') ?? '') ?? []
    const signature = fromHex(digits)
    if (!signature) return 'X-Slack-Signature is not "v0=" and hexadecimal digits'
    return { timestamp, signatures: [signature], contents: [joined(`v0:${time}:`, body)] }
  },
}

/** docs.discord.com, "Interactions: validating security request headers". */
const discord: Scheme = {
  label: 'Discord',
  field: 'X-Signature-Ed25519',
  secretForm: 'a public key of 64 hexadecimal digits',
  claims: (headers) => headers.has('x-signature-ed25519'),
  key: (secret) => ed25519(fromHex(secret)),
  read({ headers, body }) {
    const time = headers.get('x-signature-timestamp') ?? ''
    const timestamp = secondsIn(time)
    if (timestamp === undefined) return 'X-Signature-Timestamp is missing, or no number of seconds'
    const signature = fromHex(headers.get('x-signature-ed25519') ?? '')
    if (!signature) return 'X-Signature-Ed25519 is not hexadecimal digits'
    return { timestamp, signatures: [signature], contents: [joined(time, body)] }
  },
}

const HMAC_PREFIX = 'whsec_'
const PUBLIC_PREFIX = 'whpk_'

/** The specification of Standard Webhooks, "Webhook headers" and "Signature scheme". */
const standard: Scheme = {
  label: 'Standard Webhooks',
  field: 'Webhook-Signature',
  secretForm: 'whsec_ and base64, or whpk_ and base64 for a public key',
  claims: (headers) => headers.has('webhook-signature') && headers.has('webhook-id'),
  key(secret) {
    if (secret.startsWith(PUBLIC_PREFIX)) return ed25519(fromBase64Text(secret.slice(PUBLIC_PREFIX.length)))
    const encoded = secret.startsWith(HMAC_PREFIX) ? secret.slice(HMAC_PREFIX.length) : secret
    const bytes = fromBase64Text(encoded)
    return bytes && { kind: 'hmac', hash: 'SHA-256', bytes }
  },
  read({ headers, body }, { kind }) {
    const time = headers.get('webhook-timestamp')
    const timestamp = secondsIn(time)
    if (timestamp === undefined) return 'Webhook-Timestamp is missing, or no number of seconds'
    const version = kind === 'hmac' ? 'v1,' : 'v1a,'
    const signatures = (headers.get('webhook-signature') ?? '')
      .split(' ')
      .flatMap((part) => (part.startsWith(version) ? (fromBase64Text(part.slice(version.length)) ?? []) : []))
    if (signatures.length === 0) return `Webhook-Signature has none that begins with "${version}"`
    const contents = [joined(`${headers.get('webhook-id')}.${time}.`, body)]
    return { timestamp, signatures: signatures.slice(0, SIGNATURES_MAX), contents }
  },
}

const ED25519_KEY_BYTES = 32

function ed25519(bytes: Uint8Array<ArrayBuffer> | undefined): ReturnType<Scheme['key']> {
  return bytes?.length === ED25519_KEY_BYTES ? { kind: 'ed25519', bytes } : undefined
}

export const SCHEMES: Readonly<Record<(typeof SENDERS)[number], Scheme>> = {
  github,
  stripe,
  slack,
  shopify,
  twilio,
  discord,
  standard,
}

const HASHES: Readonly<Record<string, Hash>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
}

/** Returns the scheme of a sender with an HMAC of its own. */
export function ownScheme({
  header,
  algorithm = 'sha256',
  encoding = 'hex',
  prefix = '',
}: HmacWebhook): Scheme {
  const decode = encoding === 'hex' ? fromHex : fromBase64Text
  return bodyScheme({ label: header, field: header }, hmacKey(HASHES[algorithm]!), prefix, decode)
}

/**
 * Returns the sender that the headers of a request name. One whose secret is known comes first, because several sign in the same
 * field.
 */
export function senderOf(headers: Headers, secrets: WebhookSecrets = {}): WebhookSender | undefined {
  const { hmac } = secrets
  if (hmac && headers.has(hmac.header)) return 'hmac'
  const found = SENDERS.filter((sender) => SCHEMES[sender].claims(headers))
  return found.find((sender) => secrets[sender] !== undefined) ?? found[0]
}
