// Contract wallets (ERC-1271): what the endpoint is asked, and that a slow, large, broken or hostile one costs a bounded amount.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeFunctionData, hashMessage, parseAbi } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { RPC_QUESTIONS_MAX } from '../../../src/handlers/wallet/limits.ts'
import { newAccount, WalletSite } from './wallet-site.ts'

const CONTRACT = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const SIGNATURE = `0x${'ab'.repeat(97)}` as const
const YES = `0x1626ba7e${'0'.repeat(56)}`
const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const mallory = newAccount()

let rpc: Server
let site: WalletSite
/** The body that the endpoint answers with; undefined: it never answers. */
let answer: string | undefined
let status = 200
const asked: { method: string; params: [{ to: string; data: string }, string] }[] = []

beforeAll(async () => {
  rpc = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    asked.push(JSON.parse(text))
    // Whoever follows a redirect is told yes.
    if (request.url === '/elsewhere') return response.end(JSON.stringify({ result: YES }))
    if (answer !== undefined) response.writeHead(status, { Location: '/elsewhere' }).end(answer)
  })
  await new Promise<void>((resolve) => rpc.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}/`
  site = await WalletSite.start(() => new Response('inside'), { wallets: [CONTRACT], rpc: url, chainId: 10 })
})
afterAll(() => {
  site.close()
  rpc.closeAllConnections()
  rpc.close()
})
afterEach(() => {
  vi.useRealTimers()
  asked.length = 0
  status = 200
})

async function signIn(signature: string = SIGNATURE) {
  const message = await site.challenge(CONTRACT)
  return { message, answer: await site.post('sign-in', { message, signature }) }
}

test('the contract is asked about the hash of the message, and says yes', async () => {
  answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: YES })
  const { message, answer: given } = await signIn()
  expect(given.status).toBe(200)
  expect(message).toContain('Chain ID: 10')
  const data = encodeFunctionData({
    abi,
    functionName: 'isValidSignature',
    args: [hashMessage(message), SIGNATURE],
  })
  expect(asked).toMatchObject([{ method: 'eth_call', params: [{ to: CONTRACT, data }, 'latest'] }])
  const cookie = given.headers.get('set-cookie')!.split(';')[0]!
  expect((await site.ask('/', { headers: { Cookie: cookie } })).text).toBe('inside')
})

test.each([
  ['no', { result: `0xffffffff${'0'.repeat(56)}` }],
  ['yes and more', { result: `${YES}00` }],
  ['yes in another place', { result: `0x${'0'.repeat(56)}1626ba7e` }],
  ['nothing, for there is no contract', { result: '0x' }],
  ['that it reverts', { error: { code: 3, message: 'execution reverted' } }],
  ['that it reverts, in words', { error: { code: -32000, message: 'VM execution: revert' } }],
])('a contract that answers %s did not sign', async (_what, body) => {
  answer = JSON.stringify({ jsonrpc: '2.0', id: 1, ...body })
  expect((await signIn()).answer.status).toBe(401)
})

test.each<[string, string, number]>([
  ['an error of its own', JSON.stringify({ error: { code: -32005, message: 'limit exceeded' } }), 200],
  ['no JSON', '<html>', 200],
  ['null', 'null', 200],
  ['a long answer', JSON.stringify({ result: YES, padding: 'x'.repeat(20_000) }), 200],
  ['a redirect', '', 307],
])('an endpoint that answers %s decides nothing', async (_what, body, code) => {
  answer = body
  status = code
  const { answer: given } = await signIn()
  expect([given.status, given.headers.get('retry-after')]).toEqual([503, '5'])
  expect(given.text).not.toContain('127.0.0.1')
})

test('an endpoint that does not answer is given up, and is asked no more questions at once than the limit', async () => {
  answer = undefined
  const messages: string[] = []
  for (let at = 0; at <= RPC_QUESTIONS_MAX; at++) messages.push(await site.challenge(CONTRACT))
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const all = messages.map((message) => site.post('sign-in', { message, signature: SIGNATURE }))
  expect((await Promise.race(all)).status).toBe(503) // The one above the limit is not asked about.
  await vi.waitFor(() => expect(asked).toHaveLength(RPC_QUESTIONS_MAX), { timeout: 30_000 })
  await vi.advanceTimersByTimeAsync(5_000)
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(messages.map(() => 503))
})

test('nobody is asked about a wallet that is not on the list, nor about what is no bytes', async () => {
  answer = JSON.stringify({ result: YES })
  const message = await site.challenge(mallory.address)
  expect((await site.post('sign-in', { message, signature: SIGNATURE })).status).toBe(401)
  for (const signature of ['0x1', '', 'yes', '0xzz'])
    expect((await signIn(signature)).answer.status).toBe(401)
  expect(asked).toEqual([])
})
