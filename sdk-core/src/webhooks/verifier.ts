// Checks the signatures of webhooks with the secrets of their senders.

import { hexOf } from '../bytes/hex.ts'
import { fromBase64Text } from './encodings.ts'
import { fits, type Key, Unsupported } from './keys.ts'
import { BODY_MAX_BYTES, joined, type WebhookMessage } from './message.ts'
import type { Claim, Scheme } from './scheme.ts'
import { parseSecrets, type WebhookSecrets, type WebhookSender } from './secrets.ts'
import { ownScheme, SCHEMES, senderOf } from './senders.ts'
import { timeReason, verdict, type WebhookVerdict } from './verdict.ts'

/** The most seconds between a signature and now: what Stripe's, Slack's and Standard Webhooks' own libraries allow. */
const TOLERANCE_S = 300

const BOTH = 'the secret is another one, or the body was changed: a signature cannot tell which'

/** A WebhookVerifier checks webhooks, and remembers which secrets have fitted. */
export class WebhookVerifier {
  readonly #secrets: WebhookSecrets
  readonly #now: () => number
  /** The senders one of whose requests has fitted. */
  readonly #fitted = new Set<WebhookSender>()

  /**
   * @param now the time, in milliseconds since the epoch
   * @throws SvcError `invalid_option`
   */
  constructor(secrets: WebhookSecrets, now: () => number = Date.now) {
    this.#secrets = parseSecrets(secrets)
    this.#now = now
  }

  /** Returns the sender that a request names; undefined for what is no webhook of a known sender. */
  senderOf(headers: Headers): WebhookSender | undefined {
    return senderOf(headers, this.#secrets)
  }

  /** Returns whether the webhooks of a sender can be checked. */
  knows(sender: WebhookSender): boolean {
    return this.#secrets[sender] !== undefined
  }

  /**
   * Resolves with the verdict; with undefined for what is no webhook of a known sender.
   * @param at when the request came, in milliseconds since the epoch
   */
  async verify(message: WebhookMessage, at: number = this.#now()): Promise<WebhookVerdict | undefined> {
    const sender = this.senderOf(message.headers)
    if (!sender) return undefined
    const scheme = this.#schemeOf(sender)
    if (!this.knows(sender))
      return verdict(sender, 'no_secret', `no secret of ${scheme.label} is given, so nothing was checked`)
    if (message.body.length > BODY_MAX_BYTES)
      return verdict(
        sender,
        'too_large',
        `the body has more than ${BODY_MAX_BYTES} bytes, so it was not checked`,
      )
    if (!message.headers.has(scheme.field))
      return verdict(
        sender,
        'no_signature',
        `${scheme.field} is missing: whoever sent it has set no secret, or is not ${scheme.label}`,
      )
    try {
      return await this.#check(sender, scheme, message, at)
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error
      return verdict(sender, 'unsupported', `${error.message}, so nothing was checked`)
    }
  }

  #schemeOf(sender: WebhookSender): Scheme {
    return sender === 'hmac' ? ownScheme(this.#secrets.hmac!) : SCHEMES[sender]
  }

  #secretsOf(sender: WebhookSender): string[] {
    const given = sender === 'hmac' ? this.#secrets.hmac!.secret : this.#secrets[sender]!
    return [given].flat()
  }

  async #check(
    sender: WebhookSender,
    scheme: Scheme,
    message: WebhookMessage,
    at: number,
  ): Promise<WebhookVerdict> {
    const secrets = this.#secretsOf(sender)
    let last: Claim | undefined
    let wrong: string | undefined
    for (const secret of secrets) {
      const key = scheme.key(secret)
      if (!key) {
        wrong ??= `the secret cannot be one of ${scheme.label}, which is ${scheme.secretForm}`
        continue
      }
      const claim = await scheme.read(message, key)
      if (typeof claim === 'string') return verdict(sender, 'malformed', claim)
      last = claim
      if (await anyFits(key, claim)) return this.#fitting(sender, claim, message, at)
    }
    if (!last) return verdict(sender, 'wrong_secret', wrong!)
    return this.#whyNot(sender, scheme, message, last)
  }

  async #fitting(
    sender: WebhookSender,
    { timestamp, bodyDigest }: Claim,
    message: WebhookMessage,
    at: number,
  ): Promise<WebhookVerdict> {
    if (bodyDigest !== undefined && bodyDigest !== (await sha256(message.body)))
      return verdict(
        sender,
        'body_changed',
        'the body was changed: its digest is not the one in the signed URL',
      )
    this.#fitted.add(sender)
    const fine = 'the signature fits the secret'
    if (timestamp === undefined) return verdict(sender, 'fits', fine)
    const age = at / 1000 - timestamp
    if (Math.abs(age) <= TOLERANCE_S) return verdict(sender, 'fits', fine, age)
    return verdict(sender, age > 0 ? 'too_old' : 'too_new', timeReason(age, TOLERANCE_S), age)
  }

  /** Says what is known besides that no secret fits. */
  async #whyNot(
    sender: WebhookSender,
    scheme: Scheme,
    message: WebhookMessage,
    claim: Claim,
  ): Promise<WebhookVerdict> {
    for (const secret of this.#secretsOf(sender)) {
      const key = secret.trim() === secret ? undefined : scheme.key(secret.trim())
      if (key && (await anyFits(key, claim)))
        return verdict(
          sender,
          'wrong_secret',
          'the signature fits the secret without the white space around it: remove that',
        )
    }
    const digest = contentDigest(message.headers)
    if (digest !== undefined && digest !== (await sha256(message.body)))
      return verdict(
        sender,
        'body_changed',
        'the body was changed: it does not fit its Content-Digest either',
      )
    if (digest !== undefined)
      return verdict(
        sender,
        'mismatch',
        'the signature does not fit, and the body is what its Content-Digest says: the secret is probably another one',
      )
    if (this.#fitted.has(sender))
      return verdict(
        sender,
        'mismatch',
        'the signature does not fit, and one of these secrets fitted an earlier request: the body was changed, or who sent this does not know the secret',
      )
    const url = sender === 'twilio' ? ` (the URL ${message.url.split('?')[0]} is signed, too)` : ''
    return verdict(sender, 'mismatch', `the signature does not fit: ${BOTH}${url}`)
  }
}

async function anyFits(key: Key, { contents, signatures }: Claim): Promise<boolean> {
  for (const content of contents) if (await fits(key, content, signatures)) return true
  return false
}

async function sha256(body: Uint8Array): Promise<string> {
  return hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', joined(body))))
}

/** Returns the SHA-256 of the body that the sender gave beside it (RFC 9530), in hexadecimal digits. */
function contentDigest(headers: Headers): string | undefined {
  const [, text = ''] =
    /(?:^|,)\s*sha-256=:([A-Za-z\d+/]{43}=):/.exec(headers.get('content-digest') ?? '') ?? []
  const bytes = fromBase64Text(text)
  return bytes && hexOf(bytes)
}
