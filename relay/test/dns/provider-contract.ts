// The contract of DNS providers, as tests that each provider passes against the servers that it changes.

import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { ATTEMPTS_MAX } from '../../../dns/src/providers/limits.ts'
import {
  type DnsProvider,
  DnsProviderError,
  type DnsProviderFault,
  type NameAddresses,
} from '../../src/features/dns/provider.ts'

/** The faults of the servers of a provider. */
export interface Trouble {
  /**
   * - `rate_limited`: they answer 429 with Retry-After.
   * - `error`: they answer 5xx.
   * - `lost`: they make the change, and the answer is lost.
   * - `silent`: they take the request, and nothing comes.
   */
  kind: 'rate_limited' | 'error' | 'lost' | 'silent'
  /** Of requests that look, or that change records. */
  at: 'read' | 'change'
  /** The number of requests that have it. @default 1 */
  times?: number
  /** Seconds of Retry-After. */
  retryAfterS?: number
}

/** A provider of its own whose servers get into trouble when a test says so. */
interface Troubled {
  provider: DnsProvider
  trouble(next: Trouble): void
  /** Requests that the servers got so far. */
  requests(): number
}

/** A provider with the means to see and to spoil what it does. */
export interface ProviderUnderTest {
  provider: DnsProvider
  /** The relay's host, in the zone of the provider, without records of its own; such as `relay.test`. */
  host: string
  /** Asks the zone's name server; an empty list for no records. */
  txt(name: string): Promise<string[]>
  addresses(name: string): Promise<NameAddresses>
  /** Adds a record as another user of the zone does, and never through the provider; undefined where there is no other user. */
  addForeign?(name: string, type: 'TXT' | 'A', value: string): Promise<void>
  /** What the provider says when things go wrong: each entry makes it go wrong, and leads to this fault. */
  faults?: Readonly<
    Record<string, { fault: DnsProviderFault; provider: () => Promise<DnsProvider> | DnsProvider }>
  >
  /**
   * Opens the provider once more; undefined where it asks no servers by HTTP. A request of it that has no answer ends after
   * a second or so, so that a test can wait for it.
   */
  troubled?(): Promise<Troubled>
  close(): Promise<void>
}

export interface ContractOptions {
  /** Why the tests are skipped; undefined: they run. */
  skipped?: string | undefined
  /** Milliseconds of one test. @default 60000 */
  timeoutMs?: number
}

const TIMEOUT_MS = 120_000
const NO_SERVERS = 'it asks no servers by HTTP'
const NONE: NameAddresses = { ipv4: [], ipv6: [] }
/** Values as ACME has them: 43 characters of base64url, which may begin with a dash. */
const FIRST = '-KGlqPe1bGAhTTOjZAXGDWLi3nrbMbBKHPBq3eWH5ss'
const SECOND = '_zjTbDmkmSGlvfxGTPNhkcjvJGJvCBBNmVH5Bqk9kBw'

/** Declares the tests. `start` is called once for all of them. */
export function testProviderContract(
  name: string,
  start: () => Promise<ProviderUnderTest>,
  { skipped, timeoutMs = TIMEOUT_MS }: ContractOptions = {},
): void {
  describe.skipIf(skipped !== undefined)(
    `the provider ${name}${skipped ? ` (${skipped})` : ''}`,
    { timeout: timeoutMs },
    () => {
      let under: ProviderUnderTest
      const at = (label: string): string => `${label}.${under.host}`
      const sorted = async (values: Promise<string[]>): Promise<string[]> => (await values).sort()

      beforeAll(async () => {
        under = await start()
      }, timeoutMs)
      afterAll(async () => {
        await under?.provider.close()
        await under?.close()
      }, timeoutMs)

      test('answers for its zone', async () => {
        expect(under.provider.name).toMatch(/^[a-z0-9]+$/)
        expect(await under.provider.canAnswer()).toBe(true)
      })

      test('adds a TXT value, which is there when the call ends, and removes it', async () => {
        const challenge = at('_acme-challenge')
        await under.provider.addTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([FIRST])
        await under.provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([])
      })

      test('keeps two values at one name, each added and removed alone', async () => {
        const challenge = at('_acme-challenge.two')
        await under.provider.addTxt(challenge, FIRST)
        await under.provider.addTxt(challenge, SECOND)
        expect(await sorted(under.txt(challenge))).toEqual([FIRST, SECOND].sort())
        await under.provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([SECOND])
        await under.provider.removeTxt(challenge, SECOND)
        expect(await under.txt(challenge)).toEqual([])
      })

      test('does the same again without an error and without a second record', async () => {
        const challenge = at('_acme-challenge.again')
        await under.provider.removeTxt(challenge, FIRST)
        for (let time = 0; time < 2; time++) await under.provider.addTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([FIRST])
        for (let time = 0; time < 2; time++) await under.provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([])
        for (let time = 0; time < 2; time++) await under.provider.setAddresses(at('again'), NONE)
        expect(await under.addresses(at('again'))).toEqual(NONE)
      })

      test('takes a value with blanks, as ENS has it, also where the caller does not wait', async () => {
        const value =
          'ENS1 0x238A8F792dFA6033814B18618aD4100654aeef01 0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'
        await under.provider.addTxt(under.host, value, undefined, 'taken')
        await expect.poll(() => under.txt(under.host), { timeout: timeoutMs }).toEqual([value])
        await under.provider.removeTxt(under.host, value)
        expect(await under.txt(under.host)).toEqual([])
      })

      test('sets, replaces and removes addresses of a host and of a wildcard', async () => {
        for (const name of [at('site'), at('*')]) {
          const asked = name.replace('*', 'anything')
          await under.provider.setAddresses(name, { ipv4: ['192.0.2.1'], ipv6: ['2001:db8::1'] })
          expect(await under.addresses(asked)).toEqual({ ipv4: ['192.0.2.1'], ipv6: ['2001:db8::1'] })
          await under.provider.setAddresses(name, { ipv4: ['192.0.2.2', '192.0.2.3'], ipv6: [] })
          const { ipv4, ipv6 } = await under.addresses(asked)
          expect([[...ipv4].sort(), ipv6]).toEqual([['192.0.2.2', '192.0.2.3'], []])
          await under.provider.setAddresses(name, NONE)
          expect(await under.addresses(asked)).toEqual(NONE)
        }
      })

      test('keeps the records of others', async (context) => {
        if (under.addForeign === undefined) return context.skip('nobody else changes this zone')
        const challenge = at('foreign')
        await under.addForeign(challenge, 'TXT', 'of-another-client')
        await under.addForeign(at('mail'), 'A', '192.0.2.99')
        await under.provider.addTxt(challenge, FIRST)
        expect(await sorted(under.txt(challenge))).toEqual([FIRST, 'of-another-client'].sort())
        await under.provider.removeTxt(challenge, FIRST)
        await under.provider.setAddresses(challenge, { ipv4: ['192.0.2.4'], ipv6: [] })
        await under.provider.setAddresses(challenge, NONE)
        expect(await under.txt(challenge)).toEqual(['of-another-client'])
        expect((await under.addresses(at('mail'))).ipv4).toEqual(['192.0.2.99'])
      })

      test('tells the state of DNSSEC, or that it has none', async () => {
        const state = await under.provider.dnssec().catch((error: unknown) => error)
        if (state instanceof DnsProviderError) expect(state.fault).toBe('unsupported')
        else
          expect(state).toEqual({
            state: expect.stringMatching(/./),
            dsRecord: expect.stringMatching(/^(\d+ \d+ \d+ [0-9A-F]+)?$/i),
            message: expect.any(String),
          })
      })

      test('gives up when its caller does', async () => {
        const signal = AbortSignal.abort(new Error('the caller gave up'))
        await expect(under.provider.addTxt(at('_acme-challenge.aborted'), FIRST, signal)).rejects.toThrow()
        expect(await under.txt(at('_acme-challenge.aborted'))).toEqual([])
      })

      const withTrouble = async (context: TestContext): Promise<Troubled> => {
        const opened = await (under.troubled?.() ?? context.skip(NO_SERVERS))
        onTestFinished(() => opened.provider.close())
        return opened
      }

      test('waits as long as its servers say, and tells the caller of a long wait', async (context) => {
        const { provider, trouble } = await withTrouble(context)
        const challenge = at('_acme-challenge.limited')
        trouble({ kind: 'rate_limited', at: 'change', retryAfterS: 0 })
        await provider.addTxt(challenge, FIRST)
        trouble({ kind: 'rate_limited', at: 'change', retryAfterS: 3600 })
        await expect(provider.addTxt(challenge, SECOND)).rejects.toMatchObject({
          fault: 'rate_limited',
          retryAfterMs: 3_600_000,
        })
        expect(await under.txt(challenge)).toEqual([FIRST])
        await provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([])
      })

      test('tries again after an error of its servers, so many times', async (context) => {
        const { provider, trouble, requests } = await withTrouble(context)
        const challenge = at('_acme-challenge.errors')
        trouble({ kind: 'error', at: 'read' })
        trouble({ kind: 'error', at: 'change', times: 2 })
        await provider.addTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([FIRST])
        const before = requests()
        trouble({ kind: 'error', at: 'read', times: ATTEMPTS_MAX })
        await expect(provider.addTxt(challenge, SECOND)).rejects.toMatchObject({ fault: 'unavailable' })
        expect(requests() - before).toBe(ATTEMPTS_MAX)
        await provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([])
      })

      test('makes a change once when the answer is lost, or does not come', async (context) => {
        const { provider, trouble } = await withTrouble(context)
        const challenge = at('_acme-challenge.lost')
        trouble({ kind: 'lost', at: 'change' })
        await provider.addTxt(challenge, FIRST)
        trouble({ kind: 'silent', at: 'change' })
        await provider.addTxt(challenge, SECOND)
        expect(await sorted(under.txt(challenge))).toEqual([FIRST, SECOND].sort())
        trouble({ kind: 'lost', at: 'change' })
        await provider.removeTxt(challenge, FIRST)
        expect(await under.txt(challenge)).toEqual([SECOND])
        trouble({ kind: 'silent', at: 'read' })
        await provider.removeTxt(challenge, SECOND)
        expect(await under.txt(challenge)).toEqual([])
      })

      test('says in one line what went wrong', async (context) => {
        const faults = Object.entries(under.faults ?? {})
        if (faults.length === 0) return context.skip('nothing can go wrong')
        for (const [what, { fault, provider: broken }] of faults) {
          const provider = await broken()
          const error = await provider
            .addTxt(at('_acme-challenge.fault'), FIRST)
            .catch((reason: unknown) => reason)
          await provider.close()
          expect(error, what).toBeInstanceOf(DnsProviderError)
          expect((error as DnsProviderError).fault, `${what}: ${(error as Error).message}`).toBe(fault)
          expect((error as Error).message, what).toMatch(/^[^\n]{10,600}$/)
        }
      })
    },
  )
}
