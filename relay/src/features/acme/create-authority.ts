// Creates the AcmeAuthority of a relay from account, challenges, budget and orders.

import { X509Certificate } from 'node:crypto'
import { type Settings, SettingsError } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'
import type { DnsProvider } from '../dns/provider.ts'
import { AcmeAccount } from './account.ts'
import { type AcmeAuthority, AcmeError, type CertificateOrder } from './authority.ts'
import type { OrderBudget } from './budget.ts'
import { dnsProver } from './dns-challenge.ts'
import { FIRST_LOOK_MS, ORDER_DEADLINE_MS } from './limits.ts'
import { placeOrder } from './order.ts'
import type { OrderSharing } from './order-sharing.ts'
import { AcmeProblem, errorOfProblem } from './problem.ts'
import type { Prover } from './proofs.ts'
import { certificateIdOf, renewalTimeOf, usualRenewalTime } from './renewal.ts'
import { readRoots } from './roots.ts'
import { AcmeTransport } from './transport.ts'

export interface AuthorityParts {
  settings: Pick<Settings, 'acme' | 'identityPath'>
  budget: Pick<OrderBudget, 'take' | 'failed' | 'abandoned' | 'succeeded' | 'mayBeIssued'>
  /** Proves names at the listener. */
  tlsAlpn: Prover
  /** Undefined: `dns-01` is not possible. */
  dns: DnsProvider | undefined
  /** The other machines; undefined on a single machine. */
  sharing?: OrderSharing | undefined
  /**
   * Turns a prover for this machine's name server into one for those of all machines.
   * @default there is only this one
   */
  shareDns?: ((prover: Prover) => Prover) | undefined
  log: Logger
}

/** The authority of a relay. Only one at a time may use a state directory. */
export interface RelayAuthority extends AcmeAuthority {
  /** With `ACME_CHALLENGE=auto`, checks again whether the DNS provider can answer. Never rejects. */
  refresh(): Promise<void>
}

/** @throws SettingsError when ACME_CA or the account's key cannot be used, or `dns-01` has no provider */
export async function createAcmeAuthority(parts: AuthorityParts): Promise<RelayAuthority> {
  const { settings, dns, sharing, log } = parts
  const { acme, identityPath: directory } = settings
  if (acme.challenge === 'dns-01' && dns === undefined)
    throw new SettingsError('ACME_CHALLENGE', 'dns-01 needs a DNS provider, which ACME_DNS_PROVIDER names')
  const transport = new AcmeTransport(acme.directory, await readRoots(acme.caFile))
  const closing = new AbortController()
  const { signal } = closing
  const account = await AcmeAccount.open({
    directory,
    settings: acme,
    transport,
    closing: signal,
    sharing,
    log,
  })
  const authority = new Authority(parts, account, transport, closing)
  // DNS that hangs must not keep a relay with a certificate from listening.
  await authority.refresh(AbortSignal.timeout(FIRST_LOOK_MS))
  return authority
}

class Authority implements RelayAuthority {
  readonly #parts: AuthorityParts
  readonly #account: AcmeAccount
  readonly #transport: AcmeTransport
  readonly #closing: AbortController
  readonly #running = new Set<Promise<unknown>>()
  #dns: Prover | undefined
  /** The last logged messages about the challenge type and the renewal time. */
  #told = { challenge: '', renewal: '' }

  constructor(
    parts: AuthorityParts,
    account: AcmeAccount,
    transport: AcmeTransport,
    closing: AbortController,
  ) {
    this.#parts = parts
    this.#account = account
    this.#transport = transport
    this.#closing = closing
  }

  get hasWildcards(): boolean {
    return this.#dns !== undefined
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    const { settings, dns, shareDns = (prover) => prover, log } = this.#parts
    const { challenge } = settings.acme
    let obstacle = 'the relay has no DNS provider'
    const tell = (reason: string): void => {
      obstacle = reason
    }
    const uses =
      dns !== undefined &&
      (challenge === 'dns-01' || (challenge === 'auto' && (await dns.canAnswer(this.#signal(signal), tell))))
    this.#dns = uses ? shareDns(dnsProver(dns, log)) : undefined
    if (challenge === 'auto' && !this.#closing.signal.aborted) this.#tellChallenge(uses ? '' : obstacle)
  }

  /** @param obstacle why names are not proven by `dns-01`; empty when they are */
  #tellChallenge(obstacle: string): void {
    if (obstacle === this.#told.challenge) return
    this.#told.challenge = obstacle
    const { log } = this.#parts
    if (obstacle === '') log.info('ACME_CHALLENGE=auto proves names by dns-01 from now on')
    else
      log.warn(
        { reason: obstacle },
        'ACME_CHALLENGE=auto proves names by tls-alpn-01, which gives no wildcard certificate',
      )
  }

  async obtain(order: CertificateOrder): Promise<string> {
    const { budget } = this.#parts
    await budget.take(order)
    const running = this.#place(order)
    this.#running.add(running)
    try {
      const chain = await running
      await budget.succeeded(order)
      return chain
    } catch (error) {
      const known = this.#errorOf(error, order)
      if (this.#closing.signal.aborted) await budget.abandoned(order)
      else await budget.failed(order, known)
      throw known
    } finally {
      this.#running.delete(running)
    }
  }

  async renewalTime(chain: string, signal?: AbortSignal): Promise<number> {
    try {
      const { directory } = this.#parts.settings.acme
      return await renewalTimeOf(chain, directory, this.#transport, this.#signal(signal))
    } catch (error) {
      this.#tellRenewal((error as Error).message)
      return usualRenewalTime(new X509Certificate(chain))
    }
  }

  #tellRenewal(reason: string): void {
    if (reason === this.#told.renewal || this.#closing.signal.aborted) return
    this.#told.renewal = reason
    this.#parts.log.info(
      { reason },
      'the ACME authority does not say when to renew: a third of the lifetime before the end',
    )
  }

  async close(): Promise<void> {
    this.#closing.abort(new AcmeError('unreachable', 'the relay is closing'))
    await Promise.allSettled(this.#running)
    await this.#account.settled()
  }

  async #place(order: CertificateOrder): Promise<string> {
    const { names, csr, replaces, signal } = order
    const isWild = names.some((name) => name.startsWith('*.'))
    if (isWild && this.#dns === undefined)
      throw new AcmeError('refused', `${names.join(', ')}: only dns-01 proves a wildcard`)
    return await placeOrder({
      account: this.#account,
      exchange: { transport: this.#transport, signal: this.#signal(signal) },
      prover: this.#dns ?? this.#parts.tlsAlpn,
      names,
      csr,
      replaces: replaces === undefined ? undefined : certificateIdOf(new X509Certificate(replaces)),
      mayBeIssued: (isPossible) => this.#parts.budget.mayBeIssued(order, isPossible),
    })
  }

  #signal(signal: AbortSignal | undefined): AbortSignal {
    const deadline = AbortSignal.timeout(ORDER_DEADLINE_MS)
    return AbortSignal.any([this.#closing.signal, deadline, ...(signal === undefined ? [] : [signal])])
  }

  /** Turns any error into one line that names the certificate. */
  #errorOf(error: unknown, { names, signal }: CertificateOrder): AcmeError {
    if (error instanceof AcmeError) return error
    if (error instanceof AcmeProblem) return errorOfProblem(error, names)
    const { message, name } = error as Error
    const why = signal?.aborted
      ? 'the order was given up'
      : name === 'TimeoutError'
        ? 'it took too long'
        : message
    return new AcmeError('unreachable', `no certificate for ${names.join(', ')}: ${why}`, { cause: error })
  }
}
