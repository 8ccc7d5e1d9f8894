// A facilitator at a URL: what it answers, and what becomes of invalid answers.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { expect, onTestFinished, test } from 'vitest'
import { type Facilitator, facilitatorAt, type PaymentRequest, usdcRequirements } from '../src/index.ts'
import { PAY_TO, PAYER, requestOf } from './payments.ts'
import { startFacilitator } from './support.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

async function serve(answer: Answer): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/x402`
}

/** Serves a facilitator as x402 has it. */
function serveFacilitator(facilitator: Facilitator): Promise<string> {
  return serve(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const name = request.url!.split('/').at(-1) as keyof Facilitator
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(await facilitator[name](body as never)))
  })
}

const REQUIREMENTS = usdcRequirements('sui:testnet', PAY_TO, '10000')
const PREPARE = { sender: PAYER.toSuiAddress(), paymentRequirements: REQUIREMENTS }

test('a facilitator over HTTP answers as the one behind it', async () => {
  const chain = await startFacilitator()
  onTestFinished(() => chain.close())
  const remote = facilitatorAt(await serveFacilitator(chain.facilitator))
  const request = await requestOf()
  expect(await remote.supported()).toEqual(await chain.facilitator.supported())
  expect(await remote.verify(request)).toEqual({ isValid: true, payer: PAYER.toSuiAddress() })
  expect(await remote.prepare(PREPARE)).toHaveProperty('paymentTransaction')
  const settled = await remote.settle(request)
  expect(settled).toMatchObject({ success: true })
  expect(await chain.facilitator.settle(request)).toEqual(settled)
})

test('the client of @x402/core takes the answers of the facilitator, right and wrong', async () => {
  const chain = await startFacilitator()
  onTestFinished(() => chain.close())
  const client = new HTTPFacilitatorClient({ url: await serveFacilitator(chain.facilitator) })
  const { paymentPayload, paymentRequirements } = (await requestOf()) as PaymentRequest & {
    paymentPayload: Parameters<typeof client.verify>[0]
    paymentRequirements: Parameters<typeof client.verify>[1]
  }
  expect((await client.getSupported()).kinds).toMatchObject([{ scheme: 'exact', network: 'sui:testnet' }])
  expect(await client.verify(paymentPayload, paymentRequirements)).toMatchObject({ isValid: true })
  expect(await client.settle(paymentPayload, paymentRequirements)).toMatchObject({ success: true })
  expect(await client.verify(paymentPayload, paymentRequirements)).toMatchObject({
    isValid: false,
    invalidReason: 'invalid_transaction_state',
  })
})

const BAD: [what: string, answer: Answer][] = [
  ['a page', (_request, response) => response.end('<h1>Hello</h1>')],
  ['another form', (_request, response) => response.end('{"ok":true}')],
  ['an array', (_request, response) => response.end('[]')],
  [
    'a failure of its own',
    (_request, response) => response.writeHead(503).end('{"isValid":false,"success":false}'),
  ],
  ['nothing', (_request, response) => response.end()],
]
test.each(BAD)('%s is no answer', async (_what, answer) => {
  const remote = facilitatorAt(await serve(answer))
  const request = await requestOf()
  for (const asked of [
    remote.supported(),
    remote.verify(request),
    remote.settle(request),
    remote.prepare(PREPARE),
  ])
    await expect(asked).rejects.toMatchObject({ code: 'facilitator_failed' })
})

const SILENT: [what: string, answer: Answer][] = [
  ['does not answer', () => {}],
  ['never ends', (_request, response) => response.write('{"isValid":')],
  ['breaks the connection', (request) => request.socket.destroy()],
  ['redirects', (_request, response) => response.writeHead(307, { Location: 'http://127.0.0.1:1/' }).end()],
  ['answers with a megabyte', (_request, response) => response.end(' '.repeat(1024 * 1024))],
]
test.each(SILENT)('a facilitator that %s is not available', async (_what, answer) => {
  const remote = facilitatorAt(await serve(answer), { timeoutMs: 300 })
  await expect(remote.verify(await requestOf())).rejects.toMatchObject({ code: 'facilitator_unavailable' })
})

test('one without prepare says so, and one that refuses says why', async () => {
  const without = facilitatorAt(
    await serve((_request, response) => response.writeHead(404).end('Not found\n')),
  )
  await expect(without.prepare(PREPARE)).rejects.toMatchObject({ code: 'prepare_unsupported' })
  const refusing = facilitatorAt(
    await serve((_request, response) =>
      response
        .writeHead(400)
        .end('{"errorReason":"insufficient_funds","errorMessage":"there is not enough"}'),
    ),
  )
  await expect(refusing.prepare(PREPARE)).rejects.toMatchObject({
    code: 'invalid_request',
    reason: 'insufficient_funds',
    message: 'there is not enough',
  })
})

test.each(['relay.example', 'ftp://relay.example', ''])('%j is no URL of a facilitator', (url) => {
  expect(() => facilitatorAt(url)).toThrow(expect.objectContaining({ code: 'invalid_settings' }))
})
