// Signatures of webhooks in a page: the published ones, by the browser's own Web Crypto.

import { expect, it } from 'vitest'
import { messageOf, VECTORS } from '../../sdk-core/test/webhooks/vectors.ts'
import { verifyWebhook, type WebhookSecrets } from '../src/handlers.ts'

/** The key pair of RFC 8032 §7.1, test 1, and its signature of what Discord signs: the time, then the body. */
const DISCORD = {
  key: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  time: '1700000000',
  body: '{"type":1}',
  signature:
    '1695961a47c91a1ec033b819b7e87e3dbc583dd0cee6d1fd0216f58ac87b6228ae531ddbf91fb7bc28d7edf7f08604da16f54624f38a6bc0614e4dc13cd47f0f',
}

async function result(secrets: WebhookSecrets, headers: Headers, url: string, body: string, at: number) {
  // A page's own Request drops no field of these.
  const request = new Request(url, { method: 'POST', headers, body })
  return (await verifyWebhook(request, secrets, { now: at * 1000 }))?.result
}

it.each(Object.entries(VECTORS))('the published signature of %s', async (_, vector) => {
  const { url, headers } = messageOf(vector)
  const { secrets, body, at = 0 } = vector
  expect(await result(secrets, headers, url, body, at)).toBe('valid')
  expect(await result(secrets, headers, url, `${body} `, at)).toBe('invalid')
})

it('a signature of Discord', async () => {
  const { key, time, body, signature } = DISCORD
  const headers = new Headers({ 'X-Signature-Ed25519': signature, 'X-Signature-Timestamp': time })
  const isKnown = await crypto.subtle.generateKey('Ed25519', false, ['sign', 'verify']).then(
    () => true,
    () => false,
  )
  const url = 'https://site.example/'
  expect(await result({ discord: key }, headers, url, body, Number(time))).toBe(
    isKnown ? 'valid' : 'unchecked',
  )
})
