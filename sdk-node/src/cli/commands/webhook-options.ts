// Converts the options about webhooks to those of `expose`, with the secrets that are elsewhere.

import { SvcError } from '@svc/sdk-core'
import type { HmacWebhook, WebhookSecrets } from '@svc/sdk-core/handlers'
import type { HoldOptions } from '../../hold/options.ts'
import { readSecret } from '../options/secret.ts'
import type { WebhookFlags } from '../options/webhook-options.ts'

const OWN = 'hmac'

/**
 * Resolves with the secrets of senders; undefined when there are none.
 * @throws SvcError `invalid_option`, whose message has no secret
 */
export async function webhookSecrets({
  webhook = [],
  webhookHmac,
}: WebhookFlags): Promise<WebhookSecrets | undefined> {
  const secrets: Record<string, string[]> = {}
  for (const text of webhook) {
    const [, sender, given] = /^([a-z]+)=(.+)$/s.exec(text) ?? []
    if (sender === undefined || given === undefined)
      throw new SvcError('invalid_option', '--webhook has to be SENDER=SECRET, such as github=env:SECRET')
    const known = Object.hasOwn(secrets, sender) ? secrets[sender]! : []
    secrets[sender] = [...known, await readSecret(`--webhook ${sender}`, given)]
  }
  if ((webhookHmac === undefined) !== (secrets[OWN] === undefined))
    throw new SvcError('invalid_option', '--webhook hmac=SECRET and --webhook-hmac HEADER belong together')
  if (webhook.length === 0) return undefined
  const checked: object = {
    ...secrets,
    ...(webhookHmac && { hmac: { ...ownHmac(webhookHmac), secret: secrets[OWN] } }),
  }
  const { parseSecrets } = await import('@svc/sdk-core/webhooks')
  return parseSecrets(checked, '--webhook')
}

/**
 * Returns the option `hold`; undefined without it.
 * @throws SvcError `invalid_option`
 */
export function holdOptions({ hold, holdAnswer: answer }: WebhookFlags): HoldOptions | undefined {
  if (hold !== undefined) return { for: hold, answer }
  if (answer === undefined) return undefined
  throw new SvcError('invalid_option', '--hold-answer is for --hold: without it nothing is kept')
}

/** Returns how an own HMAC is made. Its members are not checked yet. */
export function ownHmac(text: string): Omit<HmacWebhook, 'secret'> {
  const [header, algorithm, encoding, prefix] = text.trim().split(/\s+/)
  return { header, algorithm, encoding, prefix } as Omit<HmacWebhook, 'secret'>
}
