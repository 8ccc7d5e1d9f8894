// The payment facilitator of a relay, over TLS and with a local full node: its endpoints, their format, and what bounds them.

import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PAY_TO, PAYER, requestFor, requestOf, transactionOf } from '../../../payment/test/payments.ts'
import { startSuiNode } from '../../../tools/sui-node/server.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { createLog } from '../../src/core/log/log.ts'
import { startTestRelay } from '../support/relay.ts'

const ADMIN_TOKEN = 'a-long-random-value'
const payer = PAYER.toSuiAddress()
const KIND = {
  x402Version: 2,
  scheme: 'exact',
  network: 'sui:testnet',
  extra: { assetTransferMethod: 'sui-gasless-stablecoin-address-balance' },
}

let nonce = 1
const chain = useStarted(startSuiNode)
const relay = useStarted(() => startTestRelay(settings()))
beforeAll(async () => {
  chain.node.chain.ledger.epoch = 100n
  chain.node.chain.fund(payer, 100_000_000n)
})

function settings(more: Record<string, string> = {}): Record<string, string> {
  return {
    ADMIN_TOKEN,
    X402_ENABLED: 'true',
    X402_TESTNET: 'true',
    X402_PAY_TO: PAY_TO,
    X402_ENDPOINTS: chain.url,
    ...more,
  }
}

const ask = (name: string, body: unknown, at = relay) => at.call('POST', `/api/x402/${name}`, body)
const payment = () => requestOf({ nonce: nonce++ })
const received = () => chain.node.chain.balance(PAY_TO)

describe('the facilitator of a relay', () => {
  test('says what it takes, outside the envelope', async () => {
    const answer = await relay.call('GET', '/api/x402/supported')
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ kinds: [KIND], extensions: [], signers: {} })
  })

  test('verifies a payment, settles it once, and answers again as it did (protocol §19.1.4)', async () => {
    const request = await payment()
    const before = received()
    expect(await ask('verify', request)).toMatchObject({ status: 200, json: { isValid: true, payer } })
    const settled = await ask('settle', request)
    expect(settled).toMatchObject({ status: 200, json: { success: true, payer, network: 'sui:testnet' } })
    expect((await ask('settle', request)).json).toEqual(settled.json)
    expect(await ask('verify', request)).toMatchObject({
      status: 200,
      json: { isValid: false, invalidReason: 'invalid_transaction_state' },
    })
    expect(received() - before).toBe(10_000n)
  })

  test('prepares the transaction that a payer signs', async () => {
    const { paymentRequirements } = await payment()
    const { status, json } = await ask('prepare', { sender: payer, paymentRequirements })
    expect(status).toBe(200)
    const { paymentTransaction } = json as never as { paymentTransaction: { transaction: string } }
    const bytes = new Uint8Array(Buffer.from(paymentTransaction.transaction, 'base64'))
    expect((await ask('settle', await requestFor(bytes))).json).toMatchObject({ success: true })
  })

  test('GET /sdk/domain tells of it, and so do the administration and the description of the API', async () => {
    const { data } = (await relay.call('GET', '/sdk/domain')).json
    expect(data).toMatchObject({
      x402: {
        enabled: true,
        url: `${relay.origin}/api/x402`,
        network: 'sui:testnet',
        network_name: 'Sui Testnet',
        supported_url: `${relay.origin}/api/x402/supported`,
        pay_to: PAY_TO,
      },
    })
    await ask('settle', await payment())
    const admin = await relay.call('GET', '/api/admin/payments', undefined, {
      Authorization: `Bearer ${ADMIN_TOKEN}`,
    })
    expect(admin.json.data).toMatchObject({ enabled: true, pay_to: PAY_TO, open: 0 })
    expect((admin.json.data as never as { settled: number }).settled).toBeGreaterThan(0)
    const { paths } = (await relay.call('GET', '/api/openapi.json')).json as never as { paths: object }
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['supported', 'verify', 'settle', 'prepare'].map((name) => `/api/x402/${name}`)),
    )
  })

  test('may be asked by pages of any origin', async () => {
    expect(await relay.call('OPTIONS', '/api/x402/settle')).toMatchObject({
      status: 204,
      headers: { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'POST' },
    })
    expect((await ask('verify', {})).headers).toMatchObject({ 'access-control-allow-origin': '*' })
  })
})

describe('a wrong request', () => {
  test.each(['verify', 'settle', 'prepare'])(
    'to %s in another method gets 405 without an envelope',
    async (name) => {
      const answer = await relay.call('GET', `/api/x402/${name}`)
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } })
      expect(answer.json).not.toHaveProperty('ok')
    },
  )

  test.each([
    ['verify', { isValid: false, invalidReason: 'invalid_payload' }],
    ['settle', { success: false, errorReason: 'invalid_payload', transaction: '' }],
    ['prepare', { errorReason: 'invalid_payload' }],
  ])(
    'to %s that is no JSON, or of 10 MiB, gets 400 with the reason (protocol §19.1.1)',
    async (name, json) => {
      expect(await relay.call('POST', `/api/x402/${name}`, '{"x402Version":')).toMatchObject({
        status: 400,
        json,
      })
      // The relay refuses a body by its announced length, before one byte of it has come.
      const announced = relay.tls('relay.localhost')
      onTestFinished(() => void announced.destroy())
      announced.write(
        `POST /api/x402/${name} HTTP/1.1\r\nHost: relay.localhost:${relay.port}\r\nContent-Length: ${10 * 1024 * 1024}\r\n\r\n`,
      )
      const [head] = (await once(announced, 'data')) as [Buffer]
      expect(head.toString()).toMatch(/^HTTP\/1\.1 400 .*the body is larger than 65536 bytes/s)
    },
  )

  test.each([null, [], 7, {}, { x402Version: 1 }, { x402Version: 2, paymentPayload: 'x' }])(
    'of the form %j is refused with 200, as facilitators do',
    async (body) => {
      expect(await ask('verify', body)).toMatchObject({ status: 200, json: { isValid: false } })
      expect(await ask('settle', body)).toMatchObject({ status: 200, json: { success: false } })
      expect(await ask('prepare', body)).toMatchObject({
        status: 400,
        json: { errorReason: expect.any(String) },
      })
    },
  )

  test('of a payment with one more command is refused with its reason', async () => {
    const bytes = await transactionOf({ change: (transaction) => void transaction.pure.u64(1) })
    expect((await ask('verify', await requestFor(bytes))).json).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_exact_sui_payload_transaction',
    })
  })

  test('to prepare for somebody without money says so', async () => {
    const { paymentRequirements } = await payment()
    expect(await ask('prepare', { sender: `0x${'d'.repeat(64)}`, paymentRequirements })).toMatchObject({
      status: 400,
      json: { errorReason: 'insufficient_funds' },
    })
  })
})

describe('full nodes', () => {
  test('that do not answer make it 503, and not a word about the payment (protocol §19.1.1)', async () => {
    const request = await payment()
    for (const [name, json] of [
      ['verify', { isValid: false, invalidReason: 'unexpected_verify_error' }],
      ['settle', { success: false, errorReason: 'unexpected_settle_error', transaction: '' }],
    ] as const) {
      chain.node.faults.add({ http: 502, times: 10 })
      expect(await ask(name, request)).toMatchObject({ status: 503, headers: { 'retry-after': '1' }, json })
      chain.node.faults.clear()
    }
    expect((await ask('settle', request)).json).toMatchObject({ success: true })
  })
})

describe('a flood', () => {
  test('of one network is slowed down with 429, and the reason is in the format of x402', async () => {
    // A tenth of the usual rate leaves a burst of 12 requests.
    const small = await startTestRelay(settings({ SOURCE_BUDGET_PER_MINUTE: '1' }))
    onTestFinished(() => small.close())
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask('verify', {}, small)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]).toMatchObject({
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
      json: { isValid: false, invalidReason: 'rate_limited' },
    })
  })
})

test('requests of one network that full nodes keep waiting are 32 at once, and no one else waits for them (protocol §19.1.5)', async () => {
  const silent = await startSuiNode()
  const slow = await startTestRelay(settings({ X402_ENDPOINTS: silent.url }))
  onTestFinished(async () => {
    await slow.close()
    await silent.close()
  })
  silent.node.faults.add({ hang: true, times: 1_000 })
  const request = await payment()
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask('verify', request, slow)))
  expect(answers.filter(({ status }) => status === 503)).toHaveLength(32)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(8)
})

describe('a restart', () => {
  test('answers for what was settled before, from payments.jsonl', async () => {
    const first = await startTestRelay(settings())
    const request = await payment()
    const settled = await ask('settle', request, first)
    expect(settled.json).toMatchObject({ success: true })
    await first.stop()
    const lines = (await readFile(join(first.directory, 'payments.jsonl'), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines.join()).not.toContain((request.paymentPayload.payload as { signature: string }).signature)
    const second = await startTestRelay(settings(), { directory: first.directory })
    onTestFinished(() => second.close())
    expect((await ask('settle', request, second)).json).toEqual(settled.json)
  })

  test('with a journal that somebody changed says which line is wrong, and does not start', async () => {
    const first = await startTestRelay(settings())
    await first.stop()
    await writeFile(join(first.directory, 'payments.jsonl'), 'nonsense\n', { mode: 0o600 })
    await expect(startTestRelay(settings(), { directory: first.directory })).rejects.toThrow(
      /payments cannot start: line 1 of the journal/,
    )
  })
})

test('neither log nor answers hold a signature, and URLs of nodes keep what is after their host to themselves', async () => {
  let log = ''
  const loud = await startTestRelay(settings({ X402_ENDPOINTS: `${chain.url}/secret-key-of-an-account` }), {
    log: createLog('trace', { write: (line) => (log += line) }),
  })
  onTestFinished(() => loud.close())
  const request = await payment()
  const answers = [await ask('verify', request, loud), await ask('settle', request, loud)]
  const text = log + JSON.stringify(answers)
  expect(text).not.toContain((request.paymentPayload.payload as { signature: string }).signature)
  expect(text).not.toContain('secret-key-of-an-account')
})
