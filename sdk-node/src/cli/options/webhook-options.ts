// The options about webhooks, for the command line and a tunnel in svc.toml.

import { HOLD_ANSWERS, type HoldAnswer } from '../../hold/options.ts'
import { choice, FIELDS, type Kind, TEXT } from './option-kinds.ts'
import { withAbsolutePath } from './secret.ts'
import { optional, type Table } from './tunnel-options.ts'

/** The options about webhooks as the user wrote them: secrets may be elsewhere. */
export interface WebhookFlags {
  /** Each as `SENDER=SECRET`. */
  webhook?: string[]
  /** The header of an own HMAC, then its algorithm, encoding and prefix. */
  webhookHmac?: string
  /** How long requests are kept while the target is down. */
  hold?: string
  holdAnswer?: HoldAnswer
}

const isSecrets = (value: unknown): boolean =>
  TEXT.accepts(value) || (Array.isArray(value) && value.length > 0 && value.every(TEXT.accepts))

/** The secrets in svc.toml: a table of one or more by sender. */
const SECRETS: Kind<string[]> = {
  ...FIELDS,
  wanted: 'a table of secrets by sender, each a string or a list of strings',
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every(isSecrets),
  read: (secrets: Record<string, string | string[]>, path) =>
    Object.entries(secrets).flatMap(([sender, given]) =>
      [given].flat().map((secret) => `${sender}=${withAbsolutePath(secret, path)}`),
    ),
}

export const WEBHOOK_OPTIONS: Table<WebhookFlags> = {
  webhook: optional(SECRETS, {
    field: 'webhooks',
    flags: '--webhook <sender=secret>',
    help: 'check the signatures of this sender with its secret, which may be file:PATH or env:NAME, and show the result: github, stripe, slack, shopify, twilio, discord, standard or hmac; several times',
  }),
  webhookHmac: optional(TEXT, {
    field: 'webhook_hmac',
    flags: '--webhook-hmac <header>',
    help: 'the header that has the signature of hmac; "X-Signature sha256 hex sha256=" also names algorithm, encoding and prefix [sha256 hex]',
  }),
  hold: optional(TEXT, {
    field: 'hold',
    flags: '--hold <time>',
    help: 'keep requests of POST, PUT, PATCH and DELETE for so long while the target is down, such as 10m, and deliver them in order when it is back',
  }),
  holdAnswer: optional(choice(HOLD_ANSWERS), {
    field: 'hold_answer',
    flags: '--hold-answer <answer>',
    help: 'what their visitors get: 202 at once, or, with wait, the answer of the target [202]',
  }),
}
