// The secrets with which webhooks are checked. They stay where the check is made.

import { isRecord } from '../control/json-checks.ts'
import { SvcError } from '../errors.ts'

/** One secret, or several while it is replaced. */
export type OneOrMoreSecrets = string | readonly string[]

/** WebhookSecrets are the secrets of each sender, as its own site shows them. */
export interface WebhookSecrets {
  /** The secret that the webhook's settings at GitHub have. */
  github?: OneOrMoreSecrets | undefined
  /** The signing secret of the endpoint at Stripe, `whsec_…`. */
  stripe?: OneOrMoreSecrets | undefined
  /** The signing secret of the app at Slack. */
  slack?: OneOrMoreSecrets | undefined
  /** The client secret of the app at Shopify. */
  shopify?: OneOrMoreSecrets | undefined
  /** The auth token of the account at Twilio. */
  twilio?: OneOrMoreSecrets | undefined
  /** The public key of the application at Discord, in hexadecimal digits. */
  discord?: OneOrMoreSecrets | undefined
  /** The secret of a sender by Standard Webhooks: `whsec_…`, or its public key, `whpk_…`. */
  standard?: OneOrMoreSecrets | undefined
  /** A sender with an HMAC of its own. */
  hmac?: HmacWebhook | undefined
}

/** A HmacWebhook says how a sender signs the body with an HMAC (RFC 2104). */
export interface HmacWebhook {
  secret: OneOrMoreSecrets
  /** The field that has the signature, such as `X-Signature`. */
  header: string
  /**
   * sha1, sha256, sha384 or sha512.
   * @default sha256
   */
  algorithm?: HmacAlgorithm | undefined
  /**
   * hex or base64.
   * @default hex
   */
  encoding?: 'hex' | 'base64' | undefined
  /**
   * What stands before the signature, such as `sha256=`.
   * @default nothing
   */
  prefix?: string | undefined
}

const HMAC_ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'] as const
const HMAC_ENCODINGS = ['hex', 'base64'] as const

/** A HmacAlgorithm is the hash of an HMAC. */
export type HmacAlgorithm = (typeof HMAC_ALGORITHMS)[number]

/** The senders of webhooks that are known by their own headers. */
export const SENDERS = ['github', 'stripe', 'slack', 'shopify', 'twilio', 'discord', 'standard'] as const

/** A WebhookSender is who sends a webhook; `hmac` is the one that the options describe. */
export type WebhookSender = (typeof SENDERS)[number] | 'hmac'

const FIELD_NAME = /^[!#$%&'*+.^_`|~\w-]+$/

/**
 * @param place where the secrets were given, for messages, which never have a secret
 * @throws SvcError `invalid_option`
 */
export function parseSecrets(given: unknown, place = 'webhooks'): WebhookSecrets {
  if (!isRecord(given)) wrong(place, 'has to be an object of secrets by sender')
  for (const [sender, secret] of Object.entries(given)) {
    if (secret === undefined) continue
    if (sender === 'hmac') checkHmac(secret, `${place}.hmac`)
    else if ((SENDERS as readonly string[]).includes(sender)) checkSecret(secret, `${place}.${sender}`)
    else wrong(`${place}.${sender}`, `is not known; known are ${SENDERS.join(', ')}, hmac`)
  }
  return given
}

function checkHmac(given: unknown, place: string): void {
  if (!isRecord(given)) wrong(place, 'has to be an object with header, secret, algorithm, encoding, prefix')
  const { secret, header, algorithm, encoding, prefix, ...others } = given
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    wrong(`${place}.${unknown}`, 'is not known; known are header, secret, algorithm, encoding, prefix')
  checkSecret(secret, `${place}.secret`)
  if (typeof header !== 'string' || !FIELD_NAME.test(header))
    wrong(`${place}.header`, 'has to be the name of a field, such as "X-Signature"')
  if (algorithm !== undefined && !(HMAC_ALGORITHMS as readonly unknown[]).includes(algorithm))
    wrong(`${place}.algorithm`, `has to be ${HMAC_ALGORITHMS.join(', ')}`)
  if (encoding !== undefined && !(HMAC_ENCODINGS as readonly unknown[]).includes(encoding))
    wrong(`${place}.encoding`, 'has to be hex or base64')
  if (prefix !== undefined && typeof prefix !== 'string') wrong(`${place}.prefix`, 'has to be a text')
}

function checkSecret(given: unknown, place: string): void {
  const secrets: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (secrets.length === 0 || !secrets.every((secret) => typeof secret === 'string' && secret !== ''))
    wrong(place, 'has to be a secret, or a list of secrets')
}

function wrong(place: string, what: string): never {
  throw new SvcError('invalid_option', `${place} ${what}`)
}
