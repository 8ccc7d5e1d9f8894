// The signature of a webhook in the inspector: by the time of the request, whenever somebody looks.

import { expect, it } from 'vitest'
import { Inspection } from '../../src/inspector/inspection.ts'
import { Inspector } from '../../src/inspector/inspector.ts'
import { signedHeaders } from '../../src/webhooks/sign.ts'
import { WebhookVerifier } from '../../src/webhooks/verifier.ts'
import { info } from '../handlers/ask.ts'

async function looked(secret: string | undefined, sent = '{}', late = 0) {
  const inspector = new Inspector()
  const verifier = secret === undefined ? undefined : new WebhookVerifier({ stripe: secret })
  const handler = inspector.wrap(async (request) => new Response(await request.text()), { verifier })
  const url = 'https://site.example/hook'
  const message = { method: 'POST', url, headers: new Headers(), body: new TextEncoder().encode('{}') }
  const seconds = Math.floor(Date.now() / 1000) - late
  const headers = await signedHeaders({ ...message, sender: 'stripe', secret: 'hush', id: '1', seconds })
  await (await handler(new Request(url, { method: 'POST', headers, body: sent }), info)).text()
  const { webhook } = await new Inspection(inspector).entry(inspector.entries[0]!.id, false)
  return webhook
}

it('is shown as valid, invalid or expired, with the reason', async () => {
  expect(await looked('hush')).toMatchObject({ sender: 'stripe', result: 'valid' })
  expect(await looked('hush', '{"a":1}')).toMatchObject({ result: 'invalid', code: 'mismatch' })
  expect(await looked('hush', '{}', 400)).toMatchObject({
    result: 'expired',
    reason: expect.stringMatching(/40[01] s ago/),
  })
})

it('is not shown without a secret', async () => {
  expect(await looked(undefined)).toBeUndefined()
})
