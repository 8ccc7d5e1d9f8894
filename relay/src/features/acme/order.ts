// One order at an ACME authority, from the names to the chain (RFC 8555 §7.4).

import { lookup } from 'node:dns/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { acmeProblemDetail } from '@svc/protocol/acme'
import type { AcmeAccount } from './account.ts'
import { AcmeError } from './authority.ts'
import { checkedChain } from './chain-check.ts'
import { type Authorization, type Exchange, type Order, poll } from './client.ts'
import { LOOKUP_DEADLINE_MS } from './limits.ts'
import { AcmeProblem } from './problem.ts'
import type { Prover } from './proofs.ts'

export interface OrderParts {
  account: AcmeAccount
  exchange: Exchange
  prover: Prover
  names: readonly string[]
  /** PKCS #10, DER. */
  csr: Uint8Array
  /** Identifier of the certificate that this one replaces (RFC 9773 §5). */
  replaces?: string | undefined
  /** Called with whether the authority may have issued the certificate by now, which counts towards its limits. */
  mayBeIssued(isPossible: boolean): void
}

/** The fields that all challenges share: the library has types for only two of them. */
type Challenge = Authorization['challenges'][number]

const WILDCARD = /^\*\./
const SERVER_ERROR = 500
const ORDER_NOT_READY = 'orderNotReady'

/** @returns the chain as PEM, checked. @throws AcmeProblem, AcmeError, StateFileError, or the signal's reason */
export async function placeOrder(parts: OrderParts): Promise<string> {
  const { account, exchange, names, csr, mayBeIssued } = parts
  const order = await newOrder(parts)
  if (order.status === 'pending') await prove(order, parts)
  const ready = await follow(order, parts, ({ status }) => status !== 'pending')
  requireValid(ready, names)
  mayBeIssued(true)
  if (ready.status === 'ready') await finalize(order, parts)
  const issued = await follow(order, parts, ({ status }) => status === 'valid' || status === 'invalid')
  if (issued.status === 'invalid') mayBeIssued(false)
  requireValid(issued, names)
  const chain = await account.use(exchange, (client) => client.getCertificate(issued))
  return checkedChain(chain, csr, names)
}

async function newOrder({ account, exchange, names, replaces }: OrderParts): Promise<Order> {
  const identifiers = names.map((value) => ({ type: 'dns', value }))
  const order = (extra: object): Promise<Order> =>
    account.use(exchange, (client) => client.createOrder({ identifiers, ...extra }))
  if (replaces === undefined) return await order({})
  try {
    return await order({ replaces })
  } catch (error) {
    // The certificate may be from another authority, or be replaced already. A rate limit is passed on.
    const isRefusal = error instanceof AcmeProblem && error.type !== 'rateLimited'
    if (!isRefusal || error.retryAfterMs !== undefined) throw error
    return await order({})
  }
}

/** Shows all proofs, lets the authority check them, and removes them whatever the outcome. */
async function prove(order: Order, parts: OrderParts): Promise<void> {
  const { account, exchange, prover } = parts
  const authorizations = await account.use(exchange, (client) => client.getAuthorizations(order))
  const pending = authorizations.filter(({ status }) => status === 'pending')
  const hide: (() => Promise<void>)[] = []
  try {
    const challenges: Challenge[] = []
    // One after the other: two proofs may be records of one name.
    for (const authorization of pending) {
      const challenge = challengeOf(authorization, prover.type)
      const proof = await account.use(exchange, (client) => client.getChallengeKeyAuthorization(challenge))
      hide.push(await prover.show(authorization.identifier.value, proof, exchange.signal))
      challenges.push(challenge)
    }
    await Promise.all(
      challenges.map((challenge) => account.use(exchange, (client) => client.completeChallenge(challenge))),
    )
    await validated(order, parts)
  } finally {
    await Promise.all(hide.map((take) => take()))
  }
}

/** Waits until the authority has checked every name. @throws AcmeError `validation_failed` */
async function validated(order: Order, { account, exchange, prover }: OrderParts): Promise<void> {
  const seen = await poll(
    exchange,
    () => account.use(exchange, (client) => client.getAuthorizations(order)),
    (all) =>
      all.every(({ status }) => status !== 'pending') || all.some(({ status }) => status === 'invalid'),
  )
  // Others may still be pending when one is invalid.
  const failed =
    seen.find(({ status }) => status === 'invalid') ?? seen.find(({ status }) => status !== 'valid')
  if (failed === undefined) return
  const { value: name } = failed.identifier
  const problem = Object(failed.challenges.find(({ error }) => error !== undefined)?.error)
  const detail = acmeProblemDetail(problem) || `the authorization is ${failed.status}`
  if (`${problem.type}`.endsWith(':caa'))
    throw new AcmeError('refused', `a CAA record forbids the authority to issue for ${name}: ${detail}`)
  const where = await whereTo(name)
  throw new AcmeError(
    'validation_failed',
    `${name} could not be validated by ${prover.type}: ${detail}; ${where}`,
  )
}

async function finalize(order: Order, { account, exchange, csr, mayBeIssued }: OrderParts): Promise<void> {
  try {
    await account.use(exchange, (client) => client.finalizeOrder(order, pemOf(csr)))
  } catch (error) {
    // An order that is no longer ready may have been accepted by a request whose answer was lost.
    const isRefused =
      error instanceof AcmeProblem && error.status < SERVER_ERROR && error.type !== ORDER_NOT_READY
    if (isRefused) mayBeIssued(false)
    throw error
  }
}

async function follow(
  order: Order,
  { account, exchange }: OrderParts,
  isDone: (order: Order) => boolean,
): Promise<Order> {
  return await poll(exchange, () => account.use(exchange, (client) => client.getOrder(order)), isDone)
}

function requireValid({ status, error }: Order, names: readonly string[]): void {
  if (status === 'invalid')
    throw new AcmeError(
      'refused',
      `the authority refuses ${names.join(', ')}: ${acmeProblemDetail(error) || 'without a reason'}`,
    )
}

function challengeOf({ identifier, challenges }: Authorization, type: Prover['type']): Challenge {
  const found = challenges.find((challenge) => (challenge.type as string) === type)
  if (found !== undefined) return found
  const offered = challenges.map((challenge) => challenge.type).join(', ') || 'nothing'
  throw new AcmeError(
    'refused',
    `the authority does not offer ${type} for ${identifier.value}, but ${offered}: change ACME_CHALLENGE`,
  )
}

/** Says in words which addresses this machine finds for a name. */
async function whereTo(name: string): Promise<string> {
  const host = name.replace(WILDCARD, '')
  const timeout = pause(LOOKUP_DEADLINE_MS, undefined, { ref: false }).then(() => undefined)
  const found = await Promise.race([lookup(host, { all: true }).catch(() => []), timeout])
  if (found === undefined) return `here, no name server answers for ${host}`
  if (found.length === 0) return `here, ${host} does not resolve`
  return `here, ${host} resolves to ${found.map(({ address }) => address).join(', ')}`
}

function pemOf(csr: Uint8Array): string {
  const lines =
    Buffer.from(csr)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n')
}
