// Checks the signature of one request.

import { concat } from '../bytes/concat.ts'
import { BODY_MAX_BYTES } from './message.ts'
import type { WebhookSecrets } from './secrets.ts'
import { verdict, type WebhookVerdict } from './verdict.ts'
import { WebhookVerifier } from './verifier.ts'

/** VerifyWebhookOptions are the options of `verifyWebhook`. */
export interface VerifyWebhookOptions {
  /**
   * The time, in milliseconds since the epoch.
   * @default now
   */
  now?: number | undefined
}

/**
 * Checks the signature of a webhook with the secret of its sender, which the headers name. It reads a copy of the body, so that the
 * handler can read the request afterwards.
 * @returns undefined when the request is no webhook of a known sender
 * @throws SvcError `invalid_option`, or the error of the body
 */
export async function verifyWebhook(
  request: Request,
  secrets: WebhookSecrets,
  { now = Date.now() }: VerifyWebhookOptions = {},
): Promise<WebhookVerdict | undefined> {
  const verifier = new WebhookVerifier(secrets, () => now)
  const { method, url, headers } = request
  const sender = verifier.senderOf(headers)
  if (!sender || !verifier.knows(sender))
    return verifier.verify({ method, url, headers, body: new Uint8Array(0) })
  const body = await bodyOf(request)
  if (!body)
    return verdict(
      sender,
      'too_large',
      `the body has more than ${BODY_MAX_BYTES} bytes, so it was not checked`,
    )
  return verifier.verify({ method, url, headers, body })
}

/** @returns undefined for a body that is too large */
async function bodyOf(request: Request): Promise<Uint8Array | undefined> {
  const reader = request.clone().body?.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > BODY_MAX_BYTES) {
      reader.cancel().catch(() => {}) // Ignores the failed clean-up of a body that nobody reads.
      return undefined
    }
    parts.push(value)
  }
  return concat(parts)
}
