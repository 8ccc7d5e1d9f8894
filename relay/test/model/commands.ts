// Lists what may happen to a control plane. Each command is done to the model and to the real one; then both must look the
// same.

import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type {
  ErrorCode,
  LeasePolicyUpdate,
  RegisterResponse,
  RenewResponse,
  ReverseEndpoint,
} from '@svc/protocol'
import { privateKeyToAccount } from 'viem/accounts'
import fc from '../../../tools/fast-check.ts'
import type { TokenUse } from '../../src/core/auth/trusted-issuers.ts'
import { RelayError } from '../../src/core/errors.ts'
import type { Clock } from './clock.ts'
import { Model, type ModelLease, type ModelToken, put, type Who } from './model.ts'
import type { System } from './system.ts'

const ROOT_HOST = 'relay.localhost'
const IPS = ['192.0.2.1', '192.0.2.2']
const ADMINISTRATOR = { address: '192.0.2.9', by: 'ADMIN_TOKEN' }
const ACCOUNTS = [1, 2, 3].map((n) => privateKeyToAccount(`0x${String(n).padStart(64, '0')}`))
const EVERYBODY = ACCOUNTS.flatMap((account) => ['one', 'two'].map((name) => ({ name, account })))

interface Issued extends ModelToken {
  text: string
  use: TokenUse
}

/** The state that commands have beside the model: credentials that were given out, and what moves time. */
export class Real {
  readonly system: System
  readonly clock: Clock
  readonly issued: Issued[] = []

  constructor(system: System, clock: Clock) {
    this.system = system
    this.clock = clock
  }

  keep(lease: ModelLease, { access_token, reverse_endpoint }: RenewResponse): void {
    const expiresAt = Math.floor(lease.expiresAt / 1000)
    const common = { key: Model.keyOf(lease), instance: lease.instance, expiresAt }
    this.issued.push({ ...common, text: access_token, use: 'lease' })
    this.issued.push({ ...common, text: reverse_endpoint.capability, use: 'reverse' })
  }

  /** One of the lease tokens; undefined when there is none yet. */
  token(which: number): Issued | undefined {
    const tokens = this.issued.filter(({ use }) => use === 'lease')
    return tokens[which % Math.max(1, tokens.length)]
  }
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly #text: string
  readonly #run: (model: Model, real: Real) => Promise<unknown>

  constructor(text: string, run: (model: Model, real: Real) => Promise<unknown>) {
    this.#text = text
    this.#run = run
  }

  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#run(model, real)
    compare(model, real)
  }

  toString(): string {
    return this.#text
  }
}

function whoOf({ name, account }: (typeof EVERYBODY)[number]): Who {
  return { name, address: account.address.toLowerCase() }
}

function register(
  one: (typeof EVERYBODY)[number],
  ttl: number | undefined,
  mayFallBack: boolean,
  ip: string,
): Command {
  const who = whoOf(one)
  return new Command(`register ${who.name} of ${who.address.slice(0, 6)}, ${ttl} s`, async (model, real) => {
    const { sdk } = real.system
    const expected = model.register(who, ttl, mayFallBack, ip)
    const answer = await outcome(async () => {
      const { challenge_id, siwe_message } = await sdk.challenge(
        { identity: who, ttl, allow_canonical_fallback: mayFallBack },
        ip,
      )
      const siwe_signature = await one.account.signMessage({ message: siwe_message })
      return await sdk.register({ challenge_id, siwe_message, siwe_signature }, ip)
    })
    if (agree(expected, answer)) {
      const { hostname, canonical_hostname, expires_at } = answer as RegisterResponse
      strictEqual(hostname, expected.isFriendly ? friendly(who) : '')
      strictEqual(canonical_hostname, canonical(who))
      strictEqual(Date.parse(expires_at), expected.expiresAt)
      real.keep(expected, answer as RegisterResponse)
    }
  })
}

function renew(which: number, ttl: number | undefined, ip: string): Command {
  return new Command(`renew ${which}, ${ttl} s`, async (model, real) => {
    const token = real.token(which)
    if (token === undefined) return
    const expected = model.renew(token, ttl, ip)
    const answer = await outcome(() => real.system.sdk.renew({ access_token: token.text, ttl }, ip))
    if (agree(expected, answer)) real.keep(expected, answer as RenewResponse)
  })
}

function reverse(which: number): Command {
  return new Command(`reverse ${which}`, async (model, real) => {
    const token = real.token(which)
    if (token === undefined) return
    const answer = await outcome(async () =>
      real.system.sdk.reverse({ access_token: token.text }, '192.0.2.9'),
    )
    const expected = model.refusalOf(token) ?? model.leases.get(token.key)!
    if (agree(expected, answer))
      strictEqual(Date.parse((answer as ReverseEndpoint).expires_at), expected.expiresAt)
  })
}

function unregister(which: number): Command {
  return new Command(`unregister ${which}`, async (model, real) => {
    const token = real.token(which)
    if (token === undefined) return
    const answer = await outcome(() => real.system.sdk.unregister({ access_token: token.text }, '192.0.2.9'))
    deepStrictEqual(answer, model.unregister(token) ?? {})
  })
}

function advance(ms: number): Command {
  return new Command(`advance ${ms} ms`, async (model, real) => {
    real.clock.advance(ms)
    model.advance(ms)
  })
}

function decide(update: LeasePolicyUpdate): Command {
  return new Command(`decide ${JSON.stringify(update)}`, async (model, real) => {
    deepStrictEqual(await real.system.admin.updateLease(update, ADMINISTRATOR), {})
    model.decide(update)
  })
}

function setMode(mode: 'auto' | 'manual'): Command {
  return new Command(`mode ${mode}`, async (model, { system }) => {
    await system.admin.updateSettings({ ...system.policy.settings, approval_mode: mode }, ADMINISTRATOR)
    model.mode = mode
  })
}

function banIp(ip: string, isBanned: boolean): Command {
  return new Command(`${isBanned ? 'ban' : 'unban'} ${ip}`, async (model, { system }) => {
    await system.admin.updateIp({ ip, is_banned: isBanned }, ADMINISTRATOR)
    put(model.bannedIps, ip, isBanned)
  })
}

/** @returns the result, or the code of the error */
async function outcome<T>(work: () => Promise<T>): Promise<T | ErrorCode> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RelayError) return error.code
    throw error
  }
}

function agree(expected: ErrorCode | ModelLease, answer: unknown): expected is ModelLease {
  if (typeof expected === 'string') strictEqual(answer, expected)
  else if (typeof answer === 'string') strictEqual(answer, 'an answer')
  return typeof expected !== 'string'
}

function friendly({ name }: Who): string {
  return `${name}.${ROOT_HOST}`
}

function canonical({ name, address }: Who): string {
  return `${name}-${address.slice(2)}.${ROOT_HOST}`
}

function compare(model: Model, { system, issued }: Real): void {
  const { routes, policy, open, admin, credentials } = system
  const leases = [...model.leases.values()]
  const owners = new Map(leases.map((lease) => [canonical(lease), lease]))
  for (const lease of leases) if (lease.isFriendly) owners.set(friendly(lease), lease)
  for (const one of EVERYBODY)
    for (const hostname of [friendly(whoOf(one)), canonical(whoOf(one))]) {
      const route = routes.resolve(hostname)
      const owner = owners.get(hostname)
      strictEqual(
        route?.to === 'lease' ? Model.keyOf(route.lease.identity) : undefined,
        owner && Model.keyOf(owner),
      )
      if (route?.to === 'lease') strictEqual(policy.routes(route.lease), model.routes(owner!))
    }
  deepStrictEqual(
    open
      .state('')
      .leases.map((lease) => lease.hostname)
      .toSorted(),
    leases
      .filter((lease) => model.routes(lease))
      .map(shownHostname)
      .toSorted(),
  )
  deepStrictEqual(
    admin
      .state('')
      .leases.map(
        ({
          metadata,
          ready,
          udp_enabled,
          tcp_enabled,
          tcp_addr,
          domains,
          custom_domains,
          ban,
          traffic,
          ...lease
        }) => lease,
      )
      .toSorted(byKey),
    leases.map((lease) => policyLease(model, lease)).toSorted(byKey),
  )
  for (const token of issued) {
    const found = accepts(() => credentials.leaseOf(token.text, token.use))
    strictEqual(found, model.refusalOf(token) ?? 'accepted')
  }
}

function accepts(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return (error as RelayError).code
  }
}

function shownHostname(lease: ModelLease): string {
  return lease.isFriendly ? friendly(lease) : canonical(lease)
}

function policyLease(model: Model, lease: ModelLease) {
  const key = Model.keyOf(lease)
  return {
    name: lease.name,
    expires_at: new Date(lease.expiresAt).toISOString(),
    first_seen_at: new Date(lease.firstSeenAt).toISOString(),
    last_seen_at: new Date(lease.lastSeenAt).toISOString(),
    hostname: shownHostname(lease),
    identity_key: key,
    address: lease.address,
    bps: model.bps.get(key) ?? 0,
    client_ip: lease.clientIp,
    reported_ip: undefined,
    is_approved: model.isApproved(key),
    is_banned: model.banned.has(key),
    is_denied: model.denied.has(key),
    is_ip_banned: model.bannedIps.has(lease.clientIp),
    ip_bans: model.bannedIps.has(lease.clientIp) ? [lease.clientIp] : [],
  }
}

function byKey(one: { identity_key: string }, other: { identity_key: string }): number {
  return one.identity_key < other.identity_key ? -1 : 1
}

const ttls = fc.constantFrom(undefined, -1, 0, 1, 30, 600, 601)
const ips = fc.constantFrom(...IPS)
const somebody = fc.constantFrom(...EVERYBODY)
const updates = fc.record(
  {
    identity_key: somebody.map((one) => Model.keyOf(whoOf(one))),
    is_banned: fc.boolean(),
    is_approved: fc.boolean(),
    is_denied: fc.boolean(),
    bps: fc.constantFrom(0, 1000),
  },
  { requiredKeys: ['identity_key'] },
)

/** Makes sequences of at most `length` commands. */
export function commands(length: number): fc.Arbitrary<Iterable<fc.AsyncCommand<Model, Real>>> {
  return fc.commands(
    [
      fc.tuple(somebody, ttls, fc.boolean(), ips).map((drawn) => register(...drawn)),
      fc.tuple(somebody, ttls, fc.boolean(), ips).map((drawn) => register(...drawn)),
      fc.tuple(fc.nat(50), ttls, ips).map((drawn) => renew(...drawn)),
      fc.nat(50).map(reverse),
      fc.nat(50).map(unregister),
      fc.constantFrom(1, 999, 1000, 29_999, 120_000, 600_000).map(advance),
      updates.map(decide),
      fc.constantFrom('auto' as const, 'manual' as const).map(setMode),
      fc.tuple(ips, fc.boolean()).map((drawn) => banIp(...drawn)),
    ],
    { maxCommands: length },
  )
}
