// Webhooks on their way to a handler: what is kept for a check is dropped in every case.

import { expect, it } from 'vitest'
import {
  DIRECT,
  type DirectlyHandled,
  type DirectRequest,
  type DirectResponse,
} from '../../src/exchange/direct.ts'
import { WebhookVerifier } from '../../src/webhooks/verifier.ts'
import { watchWebhooks } from '../../src/webhooks/watching.ts'
import { info } from '../handlers/ask.ts'
import { VECTORS } from './vectors.ts'

const { secrets, headers, body } = VECTORS.github!
const MEGABYTE = new Uint8Array(1024 * 1024)
/** More than a network has in memory at once. */
const TIMES = 40

function asked(content: BodyInit = body): Request {
  return new Request('https://site.example/', { method: 'POST', headers, body: content })
}

async function isStillChecked(watching: ReturnType<typeof watchWebhooks>): Promise<void> {
  const request = asked()
  await watching.handler(request, info)
  expect(await watching.verdictOf(request)).toMatchObject({ result: 'valid' })
}

it('a handler that reads and throws leaves nothing behind', async () => {
  const watching = watchWebhooks(async (request) => {
    if ((await request.bytes()).length === MEGABYTE.length) throw new Error('failed')
    return new Response()
  }, new WebhookVerifier(secrets))
  for (let time = 0; time < TIMES; time += 1)
    await expect(watching.handler(asked(MEGABYTE), info)).rejects.toThrow('failed')
  await isStillChecked(watching)
})

it('an exchange that breaks, or is cancelled, leaves nothing behind', async () => {
  const handler: DirectlyHandled = async (request) => {
    await request.text()
    return new Response()
  }
  handler[DIRECT] = ({ body }) => ({
    async respond(): Promise<DirectResponse> {
      await body!.next()
      throw new Error('broken')
    },
    cancel: () => {},
  })
  const watching = watchWebhooks(handler, new WebhookVerifier(secrets))
  const request: DirectRequest = {
    method: 'POST',
    url: new URL('https://site.example/'),
    fields: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    body: { next: async () => MEGABYTE },
  }
  for (let time = 0; time < TIMES; time += 1) {
    const exchange = watching.handler[DIRECT]!({ ...request })!
    await expect(exchange.respond()).rejects.toThrow('broken')
    exchange.cancel(undefined)
  }
  await isStillChecked(watching)
})
