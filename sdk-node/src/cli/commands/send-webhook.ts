// `svc webhook`: payloads in the shapes of known senders, which are signed and sent to a server of one's own.

import { randomUUID } from 'node:crypto'
import { SvcError } from '@svc/sdk-core'
import { parseSecrets, publicKeyOf, SAMPLES, type Sample, signedHeaders } from '@svc/sdk-core/webhooks'
import { visitorFetch } from '../../net/site-fetch.ts'
import type { WebhookSendOptions } from '../options/parsed-command.ts'
import { readPem } from '../options/pem-file.ts'
import { readSecret } from '../options/secret.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import type { Reporter } from '../report/report.ts'
import { readStatus } from './status-socket.ts'
import { ownHmac } from './webhook-options.ts'

/** The longest time for the answer, in milliseconds: senders give up before. */
const ANSWER_MAX_MS = 60_000

export function listWebhooks(tell: Reporter): void {
  for (const { sender, event: name } of SAMPLES) tell({ event: 'webhook', sender, name })
}

/**
 * Sends one, and reports the answer.
 * @param folder the folder of the sockets of running processes
 * @returns the failure code when the answer is an error
 * @throws SvcError `invalid_option` or `target_unreachable`
 */
export async function sendWebhook(
  { sender, name, options }: { sender: string; name: string | undefined; options: WebhookSendOptions },
  tell: Reporter,
  folder: string,
): Promise<ExitCode> {
  const sample = sampleOf(sender, name)
  const secret = await readSecret('--secret', options.secret)
  const url = await urlOf(options.to, folder)
  const body = new TextEncoder().encode(sample.body)
  const own = sample.sender === 'hmac' ? ownOf(options.webhookHmac, secret) : undefined
  const headers = await signedHeaders({
    ...{ sender: sample.sender, secret, own, method: 'POST', url: url.href, body },
    headers: new Headers(sample.headers),
    id: `msg_${randomUUID()}`,
    seconds: Math.floor(Date.now() / 1000),
  })
  if (sample.sender === 'discord') tell({ event: 'public_key', key: await publicKeyOf(secret) })
  const ca = options.ca === undefined ? undefined : await readPem('--ca', options.ca)
  const sentAt = performance.now()
  const { status } = await post(url, headers, body, ca)
  const ms = performance.now() - sentAt
  tell({ event: 'sent', sender: sample.sender, name: sample.event, url: url.href, status, ms })
  return status < 400 ? EXIT.ok : EXIT.failed
}

function sampleOf(sender: string, name: string | undefined): Sample {
  const known = SAMPLES.filter((sample) => sample.sender === sender)
  const sample = known.find(({ event }) => name === undefined || event === name)
  if (sample) return sample
  const names = known.length > 0 ? known.map(({ event }) => event) : SAMPLES.map((other) => other.sender)
  throw new SvcError(
    'invalid_option',
    `there is no webhook ${known.length > 0 ? name : sender}; known are ${[...new Set(names)].join(', ')}`,
  )
}

/** @throws SvcError `invalid_option` */
function ownOf(text: string | undefined, secret: string): ReturnType<typeof ownHmac> {
  if (text === undefined)
    throw new SvcError('invalid_option', 'hmac needs --webhook-hmac HEADER: where the signature is')
  return parseSecrets({ hmac: { ...ownHmac(text), secret } }, '--webhook').hmac!
}

/** @returns a URL as it is; a path at the one site that runs on this machine */
async function urlOf(to: string, folder: string): Promise<URL> {
  if (!to.startsWith('/')) {
    const url = URL.parse(to)
    if (url && /^https?:$/.test(url.protocol)) return url
    throw new SvcError('invalid_option', `--to ${to} is neither a URL nor a path that begins with /`)
  }
  const running = (await readStatus(folder)).flatMap((report) =>
    report.event === 'status' && report.url !== undefined ? [report.url] : [],
  )
  const [url, ...others] = new Set(running)
  if (url === undefined) throw new SvcError('invalid_option', `--to ${to} needs a running svc: give a URL`)
  if (others.length === 0) return new URL(to, url)
  throw new SvcError(
    'invalid_option',
    `--to ${to} could be at ${[url, ...others].join(', ')}: give the whole URL`,
  )
}

async function post(url: URL, headers: Headers, body: Uint8Array, ca: string | undefined): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS)
    const init = { method: 'POST', headers, body: Buffer.from(body), signal, redirect: 'manual' } as const
    const response = await (url.protocol === 'https:' ? visitorFetch(url, init, ca) : fetch(url, init))
    await response.body?.cancel()
    return response
  } catch (cause) {
    throw new SvcError('target_unreachable', `${url.href} does not answer`, { cause })
  }
}
