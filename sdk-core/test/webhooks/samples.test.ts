// Payloads that one sends to oneself: their signatures are those that the published vectors have, and each is checked.

import { expect, it } from 'vitest'
import { SAMPLES } from '../../src/webhooks/samples.ts'
import type { WebhookSecrets, WebhookSender } from '../../src/webhooks/secrets.ts'
import { SENDERS } from '../../src/webhooks/secrets.ts'
import { publicKeyOf, signedHeaders } from '../../src/webhooks/sign.ts'
import { WebhookVerifier } from '../../src/webhooks/verifier.ts'
import { messageOf, VECTORS } from './vectors.ts'

const own = { header: 'X-Signature', algorithm: 'sha512', encoding: 'base64', prefix: 'v1=' } as const
const URL_ = 'https://site.example/hook?a=b'

it.each(SAMPLES.map((sample) => [`${sample.sender} ${sample.event}`, sample] as const))(
  '%s is signed so that its check is valid',
  async (_, { sender, headers, body: text }) => {
    const secret =
      sender === 'discord' ? '9d'.repeat(32) : sender === 'standard' ? 'whsec_c2VjcmV0' : 'secret'
    const body = new TextEncoder().encode(text)
    const message = { method: 'POST', url: URL_, headers: new Headers(headers), body }
    const signed = await signedHeaders({
      ...message,
      sender,
      secret,
      own,
      id: 'msg_1',
      seconds: 1_700_000_000,
    })
    const known = sender === 'discord' ? await publicKeyOf(secret) : secret
    const secrets: WebhookSecrets = { [sender]: sender === 'hmac' ? { ...own, secret } : known }
    const verifier = new WebhookVerifier(secrets, () => 1_700_000_000_000)
    expect(await verifier.verify({ ...message, headers: signed })).toMatchObject({ sender, result: 'valid' })
  },
)

it.each(['github', 'stripe', 'slack', 'twilio, a form', 'standard, HMAC', 'shopify'])(
  'the signature is the published one of %s',
  async (name) => {
    const vector = VECTORS[name]!
    const [[sender, secret]] = Object.entries(vector.secrets) as [[WebhookSender, string]]
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
    const signed = await signedHeaders({ ...messageOf(vector), sender, secret, id, seconds: vector.at ?? 0 })
    for (const [field, value] of Object.entries(vector.headers))
      expect(signed.get(field)).toBe(value.replace(/,v0=.*/, ''))
  },
)

it('RFC 8032 §7.1: the public key of a private key', async () => {
  const secret = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60'
  expect(await publicKeyOf(secret)).toBe('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
})

it.each([
  ['standard', 'whpk_c2VjcmV0', /whsec_ and base64/],
  ['discord', 'secret', /a private key of 64/],
] as const)('%s refuses a secret that cannot sign', async (sender, secret, message) => {
  const asked = { method: 'POST', url: URL_, headers: new Headers(), body: new Uint8Array(0) }
  await expect(signedHeaders({ ...asked, sender, secret, id: '1', seconds: 1 })).rejects.toThrow(message)
})

it('there is one at least of each sender', () => {
  expect(new Set(SAMPLES.map(({ sender }) => sender))).toEqual(new Set([...SENDERS, 'hmac']))
})
