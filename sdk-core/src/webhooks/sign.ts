// Signs webhooks as their senders do, for payloads that one sends to oneself.

import { toBase64 } from '../bytes/base64.ts'
import { hexOf } from '../bytes/hex.ts'
import { SvcError } from '../errors.ts'
import { fromHex } from './encodings.ts'
import { authenticationCode, type Key } from './keys.ts'
import type { WebhookMessage } from './message.ts'
import type { HmacWebhook, WebhookSender } from './secrets.ts'
import { ownScheme, SCHEMES } from './senders.ts'

/** How the fields of a sender look. */
interface Writer {
  /** The fields beside the signature. */
  fields?(seconds: number, id: string): Record<string, string>
  signature(code: Uint8Array, seconds: number): string
}

const WRITERS: Readonly<Record<Exclude<WebhookSender, 'hmac'>, Writer>> = {
  github: { signature: (code) => `sha256=${hexOf(code)}` },
  stripe: { signature: (code, seconds) => `t=${seconds},v1=${hexOf(code)}` },
  slack: {
    fields: (seconds) => ({ 'X-Slack-Request-Timestamp': String(seconds) }),
    signature: (code) => `v0=${hexOf(code)}`,
  },
  shopify: { signature: toBase64 },
  twilio: { signature: toBase64 },
  discord: { fields: (seconds) => ({ 'X-Signature-Timestamp': String(seconds) }), signature: hexOf },
  standard: {
    fields: (seconds, id) => ({ 'Webhook-Id': id, 'Webhook-Timestamp': String(seconds) }),
    signature: (code) => `v1,${toBase64(code)}`,
  },
}

/** The DER before the 32 bytes of an Ed25519 private key (RFC 8410 §7). */
const PKCS8_HEAD = '302e020100300506032b657004220420'

/** What is signed, and with what. */
export interface Signing extends WebhookMessage {
  readonly sender: WebhookSender
  /** The secret of the sender; for Discord a private key, of 64 hexadecimal digits. */
  readonly secret: string
  /** How the sender `hmac` signs. */
  readonly own?: Omit<HmacWebhook, 'secret'> | undefined
  /** The id of the message. */
  readonly id: string
  /** The time of the signature, in seconds since the epoch. */
  readonly seconds: number
}

/**
 * Resolves with the headers, and the signature among them.
 * @throws SvcError `invalid_option` for a secret that cannot be one of the sender
 */
export async function signedHeaders({
  sender,
  secret,
  own,
  id,
  seconds,
  ...message
}: Signing): Promise<Headers> {
  const scheme = sender === 'hmac' ? ownScheme({ ...own!, secret }) : SCHEMES[sender]
  const writer = sender === 'hmac' ? ownWriter(own!) : WRITERS[sender]
  const headers = new Headers(message.headers)
  for (const [name, value] of Object.entries(writer.fields?.(seconds, id) ?? {})) headers.set(name, value)
  // The same code that reads a claim says what is signed.
  headers.set(scheme.field, writer.signature(new Uint8Array(1), seconds))
  const key = sender === 'discord' ? discordKey(secret) : scheme.key(secret)
  if (!key || (key.kind === 'ed25519' && sender !== 'discord'))
    throw new SvcError(
      'invalid_option',
      `the secret cannot sign for ${scheme.label}: it has to be ${formOf(sender)}`,
    )
  const claim = await scheme.read({ ...message, headers }, key)
  if (typeof claim === 'string') throw new SvcError('invalid_option', claim)
  headers.set(scheme.field, writer.signature(await codeOf(key, claim.contents[0]!), seconds))
  return headers
}

/**
 * Resolves with the public key of a private key of Discord's kind, which the receiver needs, in hexadecimal digits.
 * @throws SvcError `invalid_option`
 */
export async function publicKeyOf(secret: string): Promise<string> {
  const { x = '' } = await crypto.subtle.exportKey('jwk', await privateKey(discordKey(secret)?.bytes))
  return hexOf(
    Uint8Array.from(atob(x.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0)),
  )
}

function formOf(sender: WebhookSender): string {
  if (sender === 'discord') return 'a private key of 64 hexadecimal digits, whose public key the receiver has'
  return sender === 'standard' ? 'whsec_ and base64' : 'a text'
}

function ownWriter({ encoding = 'hex', prefix = '' }: Omit<HmacWebhook, 'secret'>): Writer {
  return { signature: (code) => prefix + (encoding === 'hex' ? hexOf(code) : toBase64(code)) }
}

function discordKey(secret: string): Key | undefined {
  const bytes = fromHex(secret)
  return bytes?.length === 32 ? { kind: 'ed25519', bytes } : undefined
}

async function codeOf(key: Key, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (key.kind === 'hmac') return await authenticationCode(key, content)
  return new Uint8Array(await crypto.subtle.sign('Ed25519', await privateKey(key.bytes), content))
}

async function privateKey(bytes: Uint8Array | undefined): Promise<CryptoKey> {
  if (!bytes) throw new SvcError('invalid_option', `the secret has to be ${formOf('discord')}`)
  const der = fromHex(PKCS8_HEAD + hexOf(bytes))!
  return await crypto.subtle.importKey('pkcs8', der, 'Ed25519', true, ['sign'])
}
