// An authority may say what pebble never does: limits, CAA, endless answers, and when to renew (RFC 9773).

import { X509Certificate } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createCa, createLeaf, createLeafFor } from '../../../src/core/certificates/development-ca.ts'
import { AcmeError, type CertificateOrder } from '../../../src/features/acme/authority.ts'
import { checkedChain } from '../../../src/features/acme/chain-check.ts'
import { createRequest } from '../../../src/features/acme/client.ts'
import type { RelayAuthority } from '../../../src/features/acme/create-authority.ts'
import { ANSWER_MAX_BYTES, CHAIN_MAX } from '../../../src/features/acme/limits.ts'
import { certificateIdOf, usualRenewalTime } from '../../../src/features/acme/renewal.ts'
import { newDirectory, waitFor } from './acme-relay.ts'
import { newKey, publicKeyOf } from './keys.ts'
import { type ScriptedAnswer, type ScriptedAuthority, startScriptedAuthority } from './scripted-authority.ts'
import { newAuthority } from './test-authority.ts'

const HOST = 'relay.test'
const DAY_MS = 86_400_000

let scripted: ScriptedAuthority
let authority: RelayAuthority
let remove: () => Promise<void>
beforeAll(async () => {
  scripted = await startScriptedAuthority()
})
beforeEach(async () => {
  const found = await newDirectory()
  remove = found.remove
  authority = await newAuthority({
    host: HOST,
    directory: found.directory,
    directoryUrl: scripted.url,
    caFile: scripted.caFile,
  })
})
afterEach(async () => {
  await authority.close()
  await remove()
})
afterAll(() => scripted.close())

describe('the account that several orders wait for', () => {
  const LIMITED: ScriptedAnswer = { status: 429 }
  const UNKNOWN: ScriptedAnswer = {
    status: 400,
    body: { type: 'urn:ietf:params:acme:error:accountDoesNotExist', detail: 'no such account' },
  }
  const obtain = async (name: string, signal?: AbortSignal): Promise<AcmeError> => {
    const csr = await createRequest([name], newKey())
    const order: CertificateOrder = { names: [name], csr, for: 'site', ...(signal && { signal }) }
    return await authority.obtain(order).then(
      () => expect.unreachable(),
      (reason) => reason,
    )
  }
  const asked = (path: string): number => scripted.requests.filter((one) => one === path).length

  test('is made for the others, too, when the first one is given up', async () => {
    const made = Promise.withResolvers<void>()
    const account = scripted.answers['/account'] as ScriptedAnswer
    scripted.requests.length = 0
    scripted.answers['/account'] = { ...account, after: made.promise }
    scripted.answers['/order'] = LIMITED
    const giveUp = new AbortController()
    const first = obtain(`a.${HOST}`, giveUp.signal)
    await waitFor(() => asked('/account') === 1)
    const second = obtain(HOST)
    giveUp.abort()
    expect((await first).message).toBe(`no certificate for a.${HOST}: the order was given up`)
    made.resolve()
    scripted.answers['/account'] = account
    expect(await second).toMatchObject({ fault: 'rate_limited' })
    expect(asked('/account')).toBe(1)
  })

  test('is made anew once when all of them hear that it is unknown', async () => {
    const both = Promise.withResolvers<void>()
    scripted.requests.length = 0
    scripted.answers['/order'] = { ...UNKNOWN, after: both.promise }
    const orders = [obtain(`a.${HOST}`), obtain(`b.${HOST}`), obtain(HOST)]
    await waitFor(() => asked('/order') === orders.length)
    scripted.answers['/order'] = LIMITED
    both.resolve()
    for (const error of await Promise.all(orders)) expect(error).toMatchObject({ fault: 'rate_limited' })
    expect(asked('/account')).toBe(2)
  })

  test('is no longer being made when the relay has closed', async () => {
    const made = Promise.withResolvers<void>()
    const account = scripted.answers['/account'] as ScriptedAnswer
    scripted.requests.length = 0
    scripted.answers['/account'] = { ...account, after: made.promise }
    const order = obtain(HOST)
    await waitFor(() => asked('/account') === 1)
    await authority.close()
    expect((await order).message).toContain('the relay is closing')
    made.resolve()
    scripted.answers['/account'] = account
  })
})

describe('an order that the authority answers with', () => {
  const order = async (answer: ScriptedAnswer | (() => ScriptedAnswer)): Promise<AcmeError> => {
    scripted.answers['/order'] = answer
    const wanted: CertificateOrder = {
      names: [HOST],
      csr: await createRequest([HOST], newKey()),
      for: 'root',
    }
    const error = await authority.obtain(wanted).then(
      () => undefined,
      (reason) => reason,
    )
    expect(error).toBeInstanceOf(AcmeError)
    expect(error.message).not.toMatch(/\p{Cc}/u)
    return error
  }
  const problem = (type: string, detail: string) => ({ type: `urn:ietf:params:acme:error:${type}`, detail })

  test.each([
    [
      429,
      problem('rateLimited', 'too many\ncertificates'),
      'rate_limited',
      'wants no more orders for relay.test',
    ],
    [
      403,
      problem('caa', 'CAA forbids'),
      'refused',
      'a CAA record forbids the authority to issue for relay.test',
    ],
    [
      400,
      problem('rejectedIdentifier', 'not this one'),
      'refused',
      'does not issue for relay.test: not this one',
    ],
    [403, problem('externalAccountRequired', 'no'), 'refused', 'only accepts accounts of its customers'],
    [400, '<html>not JSON</html>', 'refused', 'status 400'],
    [400, problem('rejectedIdentifier', 'x'.repeat(10_000)), 'refused', 'x'],
  ])('%i %j', async (status, body, fault, message) => {
    const error = await order({ status, body, headers: { 'Retry-After': '3600' } })
    expect(error).toMatchObject({ fault, retryAfterMs: 3_600_000 })
    expect(error.message).toContain(message)
    expect(error.message.length).toBeLessThan(500)
  })

  test('a status that no order has, and a large document', async () => {
    const error = await order({ status: 202, body: { note: 'one and another '.repeat(1000) } })
    expect(error.fault).toBe('unusable')
    expect(error.message.length).toBeLessThan(500)
  })

  test('a time to come back as a date', async () => {
    const at = new Date(Date.now() + 600_000)
    const error = await order({ status: 429, headers: { 'Retry-After': at.toUTCString() } })
    expect(error.fault).toBe('rate_limited')
    expect(Math.abs(error.retryAfterMs! - 600_000)).toBeLessThan(60_000)
  })

  test('503 and a long time to come back (Retry-After) is not asked again before', async () => {
    const before = scripted.requests.length
    const error = await order({ status: 503, headers: { 'Retry-After': '600' } })
    expect(error).toMatchObject({ fault: 'unreachable', retryAfterMs: 600_000 })
    const asked = scripted.requests.slice(before).filter((path) => path === '/order')
    expect(asked).toHaveLength(1)
  })

  test('503 and a short time to come back is asked again then', async () => {
    const asked: number[] = []
    const error = await order(() => {
      asked.push(performance.now())
      return asked.length > 1 ? { status: 429 } : { status: 503, headers: { 'Retry-After': '1' } }
    })
    expect(error.fault).toBe('rate_limited')
    const [first = 0, second = 0] = asked
    // A timer may fire a moment early.
    expect(second - first).toBeGreaterThan(900)
    expect(asked).toHaveLength(2)
  })

  test('more bytes than an answer may have, or nothing that is an order', async () => {
    const endless = {
      status: 201,
      body: 'x'.repeat(ANSWER_MAX_BYTES + 1),
      headers: { Location: scripted.url },
    }
    expect((await order(endless)).message).toContain(`more than ${ANSWER_MAX_BYTES} bytes`)
    expect((await order({ status: 201 })).fault).toBe('unusable')
    expect((await order({ status: 201, body: 'null', headers: { Location: scripted.url } })).fault).toBe(
      'unusable',
    )
  })
})

describe('a chain', () => {
  const ca = createCa(HOST)
  const key = newKey()

  test('that does not fit the request is not used, and the reason is said', async () => {
    const csr = await createRequest([HOST], key)
    const { publicKey } = new X509Certificate(createLeaf(ca, HOST).chain)
    const other = publicKey.export({ type: 'spki', format: 'der' })
    const own = publicKeyOf(key)
    const refused = (chain: string, why: string): void => {
      const check = (): unknown => checkedChain(chain, csr, [HOST])
      expect(check).toThrow(
        expect.objectContaining({ fault: 'unusable', message: expect.stringContaining(why) }),
      )
    }
    refused('', 'has no certificate')
    refused('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----', 'has no certificate')
    refused(createLeafFor(ca, other, [HOST]), 'is not for the key of the request')
    refused(createLeafFor(ca, own, [HOST, 'bank.test']), `is for ${HOST}, bank.test`)
    refused(createLeafFor(ca, own, ['bank.test']), 'is for bank.test')
    const leaf = createLeafFor(ca, own, [HOST])
    refused(leaf + createCa('other.test').certificate, 'is not in order')
    refused(leaf + ca.certificate.repeat(CHAIN_MAX), `has more than ${CHAIN_MAX} certificates`)
    expect(checkedChain(`text\n${leaf}${ca.certificate}`, csr, [HOST])).toMatch(/^-----BEGIN/)
  })
})

describe('the time of renewal', () => {
  const { chain } = createLeaf(createCa(HOST), HOST)
  const leaf = new X509Certificate(chain)
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()]
  const usual = to - (to - from) / 3
  const path = `/renewal/${certificateIdOf(leaf)}`
  const suggest = (start: number, end: number): void => {
    const suggestedWindow = { start: new Date(start).toISOString(), end: new Date(end).toISOString() }
    scripted.answers[path] = { status: 200, body: { suggestedWindow } }
  }
  afterEach(() => {
    delete scripted.answers[path]
  })

  test('is at a third of the lifetime left, also when the authority says nothing or does not answer', async () => {
    expect(usualRenewalTime(leaf)).toBe(usual)
    expect(await authority.renewalTime(chain)).toBe(usual)
    expect(scripted.requests).toContain(path)
    scripted.answers[path] = { status: 200, body: { suggestedWindow: { start: 'soon', end: 7 } } }
    expect(await authority.renewalTime(chain)).toBe(usual)
  })

  test('is within the window that the authority suggests, the same at each look', async () => {
    suggest(from + 10 * DAY_MS, from + 12 * DAY_MS)
    const time = await authority.renewalTime(chain)
    expect(time).toBeGreaterThanOrEqual(from + 10 * DAY_MS)
    expect(time).toBeLessThan(from + 12 * DAY_MS)
    expect(await authority.renewalTime(chain)).toBe(time)
  })

  test('is at once when the window has passed, but not as soon as the certificate is issued', async () => {
    suggest(from - 3 * DAY_MS, from - DAY_MS)
    const time = await authority.renewalTime(chain)
    expect(time).toBeGreaterThan(from)
    expect(time - from).toBeLessThanOrEqual(3_600_000)
  })

  test('is never later than usual, and a window longer than the lifetime does not count', async () => {
    suggest(to - DAY_MS, to)
    expect(await authority.renewalTime(chain)).toBe(usual)
    suggest(from - DAY_MS, to + DAY_MS)
    expect(await authority.renewalTime(chain)).toBe(usual)
  })
})

test('the identifier of a certificate is that of the example in RFC 9773 §4.1', () => {
  const pem = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`
  expect(certificateIdOf(new X509Certificate(pem))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE')
})
