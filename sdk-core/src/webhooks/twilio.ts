// How Twilio signs: the URL and the parameters of a form, or the URL with the digest of another body.
// twilio.com/docs, "Webhooks security", and the request validators of its libraries.

import { fromBase64Text } from './encodings.ts'
import { joined, type WebhookMessage } from './message.ts'
import { hmacKey, type Scheme } from './scheme.ts'

const FORM = /^application\/x-www-form-urlencoded\b/i
/** The most bytes of a form: Twilio's have a few kilobytes, and parsing and sorting a large one would take the page's time. */
const FORM_MAX_BYTES: number = 256 * 1024
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }

export const twilio: Scheme = {
  label: 'Twilio',
  field: 'X-Twilio-Signature',
  secretForm: 'a text',
  claims: (headers) => headers.has('x-twilio-signature'),
  key: hmacKey('SHA-1'),
  read(message) {
    const signature = fromBase64Text(message.headers.get('x-twilio-signature') ?? '')
    if (!signature) return 'X-Twilio-Signature is not base64'
    if (isForm(message) && message.body.length > FORM_MAX_BYTES)
      return `the form has more than ${FORM_MAX_BYTES} bytes, which Twilio does not send`
    const fields = parametersOf(message)
    const contents = urlsOf(message.url).map((url) => joined(url, fields))
    const bodyDigest = new URL(message.url).searchParams.get('bodySHA256') ?? undefined
    if (message.body.length > 0 && bodyDigest === undefined && !isForm(message))
      return 'the body is neither a form nor has its digest in the URL: the signature is not about it'
    return { signatures: [signature], contents, ...(bodyDigest !== undefined && { bodyDigest }) }
  },
}

/** Returns the names and values of a form, sorted by name, without those that are there twice. */
function parametersOf({ headers, body }: Pick<WebhookMessage, 'headers' | 'body'>): string {
  if (!isForm({ headers })) return ''
  const values = new Map<string, Set<string>>()
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(body)))
    values.set(name, (values.get(name) ?? new Set()).add(value))
  const names = [...values.keys()].sort()
  return names.flatMap((name) => [...values.get(name)!].sort().map((value) => name + value)).join('')
}

function isForm({ headers }: Pick<WebhookMessage, 'headers'>): boolean {
  return FORM.test(headers.get('content-type') ?? '')
}

/** Returns the URL as given, and with and without the port: Twilio's own libraries try these, because its services differ. */
function urlsOf(given: string): string[] {
  const { protocol, hostname, port, href, host } = new URL(given)
  const rest = href.slice(`${protocol}//${host}`.length)
  const known = port || DEFAULT_PORTS[protocol]
  return [...new Set([given, `${protocol}//${hostname}${rest}`, `${protocol}//${hostname}:${known}${rest}`])]
}
