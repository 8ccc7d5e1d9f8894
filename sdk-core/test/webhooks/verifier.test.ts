// Signatures of webhooks: published ones, those that do not fit, and headers that somebody else wrote.

import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { WebhookVerdict } from '../../src/webhooks/verdict.ts'
import { WebhookVerifier } from '../../src/webhooks/verifier.ts'
import { verifyWebhook } from '../../src/webhooks/verify-webhook.ts'
import { messageOf, VECTORS, type Vector } from './vectors.ts'

const entries = Object.entries(VECTORS)

/** @param late the seconds between the signature and now */
function verdictOf(vector: Vector, late = 0): Promise<WebhookVerdict | undefined> {
  const now = ((vector.at ?? 0) + late) * 1000
  return new WebhookVerifier(vector.secrets, () => now).verify(messageOf(vector))
}

function changed(vector: Vector): Vector {
  return { ...vector, body: `${vector.body} ` }
}

function withOtherSecret(vector: Vector): Vector {
  const [[sender, secret]] = Object.entries(vector.secrets) as [[string, object | string]]
  const other = typeof secret === 'object' ? { ...secret, secret: 'other' } : 'whsec_b3RoZXI='
  return { ...vector, secrets: { [sender]: other } }
}

describe.each(entries)('the published signature of %s', (_, vector) => {
  it('is valid', async () => {
    expect(await verdictOf(vector)).toMatchObject({ result: 'valid', code: 'fits' })
  })

  it('is invalid for another body', async () => {
    expect(await verdictOf(changed(vector))).toMatchObject({ result: 'invalid' })
  })

  it('is invalid for another secret, and does not say more than it knows', async () => {
    const found = await verdictOf(withOtherSecret(vector))
    expect(found).toMatchObject({ result: 'invalid', code: 'mismatch' })
    expect(found?.reason).toMatch(/the secret is another one, or the body was changed/)
  })

  it('is valid with one of two secrets', async () => {
    const [[sender, secret]] = Object.entries(vector.secrets) as [[string, string | { secret: string }]]
    const both =
      typeof secret === 'object'
        ? { ...secret, secret: ['other', secret.secret] }
        : ['whsec_b3RoZXI=', secret]
    expect(await verdictOf({ ...vector, secrets: { [sender]: both } })).toMatchObject({ result: 'valid' })
  })
})

describe.each(entries.filter(([, { at }]) => at !== undefined))('the time of %s', (_, vector) => {
  it.each([300, -300])('may be %i seconds off', async (late) => {
    expect(await verdictOf(vector, late)).toMatchObject({ result: 'valid', ageSeconds: late })
  })

  it('is said when it is too long ago', async () => {
    const found = await verdictOf(vector, 301)
    expect(found).toMatchObject({ result: 'expired', code: 'too_old', ageSeconds: 301 })
    expect(found?.reason).toMatch(/301 s ago by this machine's clock, where 300 s are allowed/)
  })

  it('is said when it is in the future', async () => {
    const found = await verdictOf(vector, -4000)
    expect(found).toMatchObject({ result: 'expired', code: 'too_new' })
    expect(found?.reason).toMatch(/4000 s from now .* the clock is slow/)
  })

  it('does not make a wrong signature an expired one', async () => {
    expect(await verdictOf(changed(vector), 4000)).toMatchObject({ result: 'invalid' })
  })
})

describe('Discord', () => {
  /** RFC 8032 §7.1 has no message that begins with a time, so a key of the platform signs. */
  async function signed(time: string, body: string): Promise<Vector> {
    const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair
    const raw = await crypto.subtle.exportKey('raw', pair.publicKey)
    const signature = await crypto.subtle.sign(
      'Ed25519',
      pair.privateKey,
      new TextEncoder().encode(time + body),
    )
    return {
      source: 'docs.discord.com, "Validating security request headers"',
      secrets: { discord: Buffer.from(raw).toString('hex') },
      headers: {
        'X-Signature-Ed25519': Buffer.from(signature).toString('hex'),
        'X-Signature-Timestamp': time,
      },
      body,
      at: Number(time),
    }
  }

  it('signs with Ed25519', async () => {
    const vector = await signed('1700000000', '{"type":1}')
    expect(await verdictOf(vector)).toMatchObject({ sender: 'discord', result: 'valid' })
    expect(await verdictOf({ ...vector, body: '{"type":2}' })).toMatchObject({ result: 'invalid' })
    expect(await verdictOf(vector, 400)).toMatchObject({ result: 'expired' })
  })

  it('takes a key of 64 hexadecimal digits alone', async () => {
    const vector = await signed('1700000000', '{"type":1}')
    const found = await verdictOf({ ...vector, secrets: { discord: 'a token' } })
    expect(found).toMatchObject({ result: 'invalid', code: 'wrong_secret' })
    expect(found?.reason).toMatch(/64 hexadecimal digits/)
  })

  it('has no signature of zeros', async () => {
    const zero = '00'.repeat(32)
    const vector = await signed('1700000000', '')
    const headers = { ...vector.headers, 'X-Signature-Ed25519': `${zero}${zero}` }
    expect(await verdictOf({ ...vector, headers })).toMatchObject({ result: 'invalid' })
  })
})

it('takes signatures by a public key of Standard Webhooks', async () => {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair
  const raw = Buffer.from(await crypto.subtle.exportKey('raw', pair.publicKey)).toString('base64')
  const content = new TextEncoder().encode('msg_1.1700000000.{}')
  const signature = Buffer.from(await crypto.subtle.sign('Ed25519', pair.privateKey, content)).toString(
    'base64',
  )
  const vector: Vector = {
    source: 'the specification of Standard Webhooks, "Asymmetric"',
    secrets: { standard: `whpk_${raw}` },
    headers: {
      'Webhook-Id': 'msg_1',
      'Webhook-Timestamp': '1700000000',
      'Webhook-Signature': `v1,AAAA v1a,${signature}`,
    },
    body: '{}',
    at: 1700000000,
  }
  expect(await verdictOf(vector)).toMatchObject({ result: 'valid' })
  expect(await verdictOf({ ...vector, body: '[]' })).toMatchObject({ result: 'invalid' })
})

describe('why a signature does not fit', () => {
  const github = VECTORS.github!

  it('is the white space around the secret, when it fits without', async () => {
    const secrets = { github: "It's a Secret to Everybody\n" }
    const found = await verdictOf({ ...github, secrets })
    expect(found).toMatchObject({ result: 'invalid', code: 'wrong_secret' })
    expect(found?.reason).toMatch(/white space/)
  })

  it('is the body, when it does not fit its own digest either', async () => {
    const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(github.body))).toString(
      'base64',
    )
    const headers = { ...github.headers, 'Content-Digest': `sha-512=:AA==:, sha-256=:${digest}:` }
    expect(await verdictOf({ ...github, headers })).toMatchObject({ result: 'valid' })
    expect(await verdictOf({ ...github, headers, body: 'changed' })).toMatchObject({ code: 'body_changed' })
    const found = await verdictOf({ ...github, headers, secrets: { github: 'other' } })
    expect(found).toMatchObject({ code: 'mismatch' })
    expect(found?.reason).toMatch(/probably another one/)
  })

  it('is the body, when Twilio signed its digest', async () => {
    const found = await verdictOf({ ...VECTORS['twilio, JSON']!, body: '{"property": "other"}' })
    expect(found).toMatchObject({ result: 'invalid', code: 'body_changed' })
  })

  it('is not the secret, when that fitted before', async () => {
    const verifier = new WebhookVerifier(github.secrets)
    const forged = messageOf({ ...github, body: 'other' })
    expect((await verifier.verify(forged))?.reason).not.toMatch(/earlier request/)
    await verifier.verify(messageOf(github))
    expect((await verifier.verify(forged))?.reason).toMatch(/fitted an earlier request/)
  })

  it('is said of a request without a signature', async () => {
    const headers = { 'X-GitHub-Event': 'push' }
    expect(await verdictOf({ ...github, headers })).toMatchObject({ result: 'invalid', code: 'no_signature' })
  })
})

describe('headers that anybody may write', () => {
  it.each([
    ['github', { 'X-Hub-Signature-256': 'sha1=00' }],
    ['github', { 'X-Hub-Signature-256': 'sha256=xy' }],
    ['stripe', { 'Stripe-Signature': 'v1=00' }],
    ['stripe', { 'Stripe-Signature': 't=now,v1=00' }],
    ['slack', { 'X-Slack-Signature': 'v0=00' }],
    ['slack', { 'X-Slack-Signature': 'v1=00', 'X-Slack-Request-Timestamp': '1' }],
    ['shopify', { 'X-Shopify-Hmac-SHA256': '%' }],
    ['twilio', { 'X-Twilio-Signature': '' }],
    ['discord', { 'X-Signature-Ed25519': '00' }],
    ['standard', { 'Webhook-Id': '1', 'Webhook-Signature': 'v1,AA', 'Webhook-Timestamp': '-1' }],
    ['standard', { 'Webhook-Id': '1', 'Webhook-Signature': 'v2,AA', 'Webhook-Timestamp': '1' }],
  ])('%s %o are malformed', async (sender, headers) => {
    const secret = sender === 'discord' ? '00'.repeat(32) : 'c2VjcmV0'
    const vector = { source: '', secrets: { [sender]: secret }, headers, body: '' }
    expect(await verdictOf(vector as unknown as Vector)).toMatchObject({
      result: 'invalid',
      code: 'malformed',
    })
  })

  it('have no more signatures than a few', async () => {
    const stripe = VECTORS.stripe!
    const flood = `t=1533204620,${'v1=00,'.repeat(10_000)}${stripe.headers['Stripe-Signature']}`
    expect(await verdictOf({ ...stripe, headers: { 'Stripe-Signature': flood } })).toMatchObject({
      code: 'mismatch',
    })
  })

  it('do not let a large form be parsed', async () => {
    const twilio = VECTORS['twilio, a form']!
    const found = await verdictOf({ ...twilio, body: 'a=&'.repeat(100_000) })
    expect(found).toMatchObject({ result: 'invalid', code: 'malformed' })
  })

  it('name a sender whose secret is known before another one', () => {
    const headers = new Headers({ 'X-Hub-Signature-256': 'sha256=00', 'X-Slack-Signature': 'v0=00' })
    expect(new WebhookVerifier({ slack: 'a' }).senderOf(headers)).toBe('slack')
    expect(new WebhookVerifier({ github: 'a' }).senderOf(headers)).toBe('github')
    expect(new WebhookVerifier({}).senderOf(new Headers())).toBeUndefined()
  })

  it('of Twilio are not about a body that is no form and has no digest', async () => {
    const url = 'https://site.example/hook?from=1'
    const signature = createHmac('sha1', '12345').update(url).digest('base64')
    const headers = { 'Content-Type': 'application/json', 'X-Twilio-Signature': signature }
    const call = { source: '', secrets: { twilio: '12345' }, url, headers, body: '' }
    expect(await verdictOf(call)).toMatchObject({ result: 'valid' })
    expect(await verdictOf({ ...call, body: '{}' })).toMatchObject({ result: 'invalid', code: 'malformed' })
  })

  it('with a digest that is no base64 do not end the check', async () => {
    const github = VECTORS.github!
    const headers = { ...github.headers, 'Content-Digest': `sha-256=:${'_'.repeat(43)}=:` }
    expect(await verdictOf({ ...github, headers, body: 'other' })).toMatchObject({ code: 'mismatch' })
  })

  it('of a sender without a secret are not checked', async () => {
    const found = await verdictOf({ ...VECTORS.github!, secrets: { slack: 'a' } })
    expect(found).toMatchObject({ sender: 'github', result: 'unchecked', code: 'no_secret' })
  })
})

describe('verifyWebhook', () => {
  const { headers, body, secrets } = VECTORS.github!
  const request = (sent: BodyInit = body): Request =>
    new Request('https://site.example/hook', { method: 'POST', headers, body: sent })

  it('leaves the body to the handler', async () => {
    const asked = request()
    expect(await verifyWebhook(asked, secrets)).toMatchObject({ result: 'valid' })
    expect(await asked.text()).toBe(body)
  })

  it('returns undefined for what is no webhook', async () => {
    expect(await verifyWebhook(new Request('https://site.example/'), secrets)).toBeUndefined()
  })

  it('does not read a body without end', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
    const asked = new Request('https://site.example/', {
      method: 'POST',
      headers,
      body: endless,
      duplex: 'half',
    } as RequestInit)
    expect(await verifyWebhook(asked, secrets)).toMatchObject({ result: 'unchecked', code: 'too_large' })
    expect(sent).toBeLessThan(40)
  })
})

it.each([
  [{ githup: 'a' }, /webhooks.githup is not known; known are github, stripe/],
  [{ github: '' }, /webhooks.github has to be a secret/],
  [{ github: [] }, /webhooks.github has to be a secret/],
  [{ hmac: { secret: 'a' } }, /webhooks.hmac.header has to be the name of a field/],
  [{ hmac: { secret: 'a', header: 'X-A', algorithm: 'md5' } }, /algorithm has to be sha1, sha256/],
  [{ hmac: { secret: 'a', header: 'X-A', encoding: 'hax' } }, /encoding has to be hex or base64/],
  [{ hmac: { secret: 'a', header: 'X-A', name: 'x' } }, /webhooks.hmac.name is not known/],
])('refuses the secrets %o', (secrets, message) => {
  expect(() => new WebhookVerifier(secrets as never)).toThrow(message)
})
