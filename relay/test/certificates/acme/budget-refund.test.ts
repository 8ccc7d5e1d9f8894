// Orders that fail at an authority over https, and the budget: a certificate that the authority may have issued stays counted.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { createLog } from '../../../src/core/log/log.ts'
import type { CertificateOrder } from '../../../src/features/acme/authority.ts'
import { OrderBudget } from '../../../src/features/acme/budget.ts'
import { createRequest } from '../../../src/features/acme/client.ts'
import type { RelayAuthority } from '../../../src/features/acme/create-authority.ts'
import { newDirectory } from './acme-relay.ts'
import { newKey } from './keys.ts'
import { type ScriptedAnswer, type ScriptedAuthority, startScriptedAuthority } from './scripted-authority.ts'
import { newAuthority } from './test-authority.ts'

const HOST = 'relay.test'
/** A pause that the relay does not wait for within one order. */
const LATER = { 'Retry-After': '600' }
const problem = (type: string) => ({ type: `urn:ietf:params:acme:error:${type}`, detail: 'no' })

let scripted: ScriptedAuthority
let budget: OrderBudget
let authority: RelayAuthority
let remove: () => Promise<void>
beforeAll(async () => {
  scripted = await startScriptedAuthority()
})
beforeEach(async () => {
  const found = await newDirectory()
  remove = found.remove
  const log = createLog('silent')
  const rates = { ordersPerHour: 100, certificatesPerWeek: 1 }
  budget = await OrderBudget.open({ directory: found.directory, rates, log })
  authority = await newAuthority({
    host: HOST,
    directory: found.directory,
    directoryUrl: scripted.url,
    caFile: scripted.caFile,
    budget,
  })
})
afterEach(async () => {
  await authority.close()
  await remove()
})
afterAll(() => scripted.close())

/** An order whose names are proven, and whose certificate is ready as soon as the relay has sent its request. */
function script({ finalize, ...after }: Record<string, ScriptedAnswer>): void {
  const order = (status: string): ScriptedAnswer => ({
    status: 200,
    headers: { Location: new URL('/order/1', scripted.url).href },
    body: {
      status,
      identifiers: [{ type: 'dns', value: HOST }],
      authorizations: [],
      finalize: new URL('/finalize', scripted.url).href,
      ...(status === 'valid' && { certificate: new URL('/certificate', scripted.url).href }),
    },
  })
  const answers: Record<string, ScriptedAnswer> = { '/order/1': order('valid'), ...after }
  let isFinal = false
  scripted.requests.length = 0
  for (const path of ['/order/1', '/certificate'])
    scripted.answers[path] = () => (isFinal ? answers[path]! : order('ready'))
  scripted.answers['/order'] = { ...order('ready'), status: 201 }
  scripted.answers['/finalize'] = () => {
    isFinal = true
    return finalize ?? order('processing')
  }
}

/** Places an order that fails. @returns whether its certificate came back to the week, which has one */
async function isRefunded(why: string, signal?: AbortSignal): Promise<boolean> {
  const csr = await createRequest([HOST], newKey())
  const order: CertificateOrder = { names: [HOST], csr, for: 'root', ...(signal && { signal }) }
  await expect(authority.obtain(order)).rejects.toThrow(why)
  return await budget.take({ for: 'root', names: [`next.${HOST}`] }).then(
    () => true,
    (error) => {
      expect(error.message).toContain('ACME_CERTIFICATES_PER_WEEK')
      return false
    },
  )
}

describe('the certificate of an order that fails', () => {
  const wrongChain: ScriptedAnswer = {
    status: 200,
    headers: { 'Content-Type': 'application/pem-certificate-chain' },
    body: createLeaf(createCa(HOST), HOST).chain,
  }
  const unavailable: ScriptedAnswer = { status: 503, headers: LATER }

  test.each<[string, Record<string, ScriptedAnswer>, string]>([
    ['whose chain does not fit the request', { '/certificate': wrongChain }, 'is not for the key'],
    ['whose chain cannot be fetched', { '/certificate': unavailable }, 'status 503'],
    ['whose end cannot be learned', { '/order/1': unavailable }, 'status 503'],
    ['whose request may have arrived', { finalize: unavailable }, 'status 503'],
    [
      'whose request had arrived before its answer was lost',
      { finalize: { status: 403, body: problem('orderNotReady') } },
      'does not issue',
    ],
  ])('%s stays counted', async (_, answers, why) => {
    script(answers)
    expect(await isRefunded(why)).toBe(false)
    expect(scripted.requests).toContain('/finalize')
  })

  test('that is given up after the authority had its request stays counted', async () => {
    const giveUp = new AbortController()
    script({ '/order/1': { status: 200, after: new Promise(() => {}) } })
    const look = scripted.answers['/order/1'] as () => ScriptedAnswer
    scripted.answers['/order/1'] = () => {
      const answer = look()
      if (answer.after !== undefined) giveUp.abort()
      return answer
    }
    expect(await isRefunded('the order was given up', giveUp.signal)).toBe(false)
  })

  test.each<[string, Record<string, ScriptedAnswer>, string]>([
    ['whose request is refused', { finalize: { status: 403, body: problem('caa') } }, 'a CAA record forbids'],
    ['that becomes invalid', { '/order/1': { status: 200, body: { status: 'invalid' } } }, 'refuses'],
  ])('%s comes back', async (_, answers, why) => {
    script(answers)
    expect(await isRefunded(why)).toBe(true)
    expect(scripted.requests).toContain('/finalize')
  })

  test('that the authority does not take comes back', async () => {
    scripted.answers['/order'] = { status: 403, body: problem('rejectedIdentifier') }
    expect(await isRefunded('does not issue')).toBe(true)
  })
})
