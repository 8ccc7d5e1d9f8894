// Manages the certificate of the root host: gets the first one, renews it in time, and puts each into use without a
// restart.

import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Certificates, certificatesOf } from '../../core/certificates/certificate-files.ts'
import type { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import type { CertificateStatuses } from '../../core/certificates/certificate-status.ts'
import {
  CERTIFICATE_FILES,
  type ManagedPair,
  readManagedPair,
  writeManagedPair,
} from '../../core/certificates/managed-files.ts'
import type { PreviousCertificates } from '../../core/certificates/previous-certificates.ts'
import { type Settings, SettingsError } from '../../core/config/settings.ts'
import type { Logger } from '../../core/log/log.ts'
import { StateFileError } from '../../core/storage/state-file.ts'
import { AcmeError } from './authority.ts'
import { namesOf } from './chain-check.ts'
import { createRequest } from './client.ts'
import type { RelayAuthority } from './create-authority.ts'
import {
  RENEWAL_ASK_MS,
  RENEWAL_LOOP_MS,
  RENEWAL_RETRY_MAX_MS,
  RENEWAL_RETRY_MS,
  RENEWAL_TICK_MS,
  WILDCARD_KEPT_SHARE,
  WILDCARD_RETRY_MS,
  WRITE_RETRY_MS,
} from './limits.ts'
import { withLock } from './lock.ts'
import type { OrderSharing } from './order-sharing.ts'
import { usualRenewalTime } from './renewal.ts'

export interface RootCertificateParts {
  settings: Pick<Settings, 'rootHost' | 'identityPath' | 'acme'>
  authority: RelayAuthority
  /** URL of the ACME directory that the initial certificate comes from; undefined: the relay did not order it. */
  acmeDirectory: string | undefined
  certificates: CertificateRotation
  previousCertificates: PreviousCertificates
  certificateStatuses: Pick<CertificateStatuses, 'failed' | 'succeeded'>
  /** The other machines, which use the same certificate; undefined on a single machine. */
  sharing?: OrderSharing | undefined
  log: Logger
}

export class RootCertificate {
  readonly #parts: RootCertificateParts
  readonly #closing = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #looking: Promise<void> = Promise.resolve()
  /** URL of the ACME directory that the certificate in use comes from. */
  #acmeDirectory: string | undefined
  /** A pair that is in use and could not be written: a restart would lose it. */
  #unwritten: ManagedPair | undefined
  /** When the relay writes it again, in milliseconds of `performance.now()`. */
  #writeAgainAt = 0

  constructor(parts: RootCertificateParts) {
    this.#parts = parts
    this.#acmeDirectory = parts.acmeDirectory
  }

  /** Starts ordering and renewing. */
  start(): void {
    const { certificates, sharing, log, settings } = this.#parts
    sharing?.onChange((file) => {
      if (CERTIFICATE_FILES.includes(file)) this.#looking = this.#looking.then(() => this.#look())
    })
    if (!certificates.hasCertificate)
      log.info(
        { host: settings.rootHost },
        'the relay has no certificate yet, and serves nobody until it has one',
      )
    else if (this.#acmeDirectory === undefined)
      log.warn(
        { keptAs: 'operator-fullchain.pem' },
        'the certificate on disk is not the one that the relay got by ACME: the relay orders another one now, and uses this one until then',
      )
    else if (this.#isOfOther(this.#acmeDirectory))
      log.info(
        { from: this.#acmeDirectory, to: settings.acme.directory },
        'ACME_DIRECTORY has changed: the relay orders another certificate now',
      )
    this.#running = this.#run().catch((error) => {
      if (!this.#closing.signal.aborted) log.error({ err: error }, 'renewal of the certificate ended')
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#running, this.#looking])
    if (this.#unwritten !== undefined) await this.#write(this.#unwritten)
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#sleepUntil(await this.#dueTime())
      const waitMs = await this.#renewIfDue()
      if (waitMs > 0) await this.#sleepUntil(Date.now() + waitMs)
    }
  }

  /** When to check again: at the renewal, or when to ask the authority again. Wall clock, milliseconds. */
  async #dueTime(): Promise<number> {
    await this.#parts.authority.refresh()
    return Math.min(await this.#renewalTime(), Date.now() + RENEWAL_ASK_MS)
  }

  /** 0 when there is no certificate, or one that lacks a name or comes from another authority. */
  async #renewalTime(): Promise<number> {
    const { authority, certificates } = this.#parts
    if (!this.#hasAllNames(certificates.current) || this.#isOfOther(this.#acmeDirectory)) return 0
    return await authority.renewalTime(certificates.current.chainPem, this.#closing.signal)
  }

  /** @returns milliseconds until the next try; 0 when nothing went wrong */
  async #renewIfDue(): Promise<number> {
    const { certificateStatuses, certificates, log } = this.#parts
    try {
      if (Date.now() < (await this.#renewalTime())) return 0
      await this.#renewAlone()
      certificateStatuses.succeeded('root')
      // With a wall clock that is far ahead, every certificate looks old.
      return Date.now() < usualRenewalTime(leafOf(certificates.current)) ? 0 : RENEWAL_LOOP_MS
    } catch (error) {
      this.#closing.signal.throwIfAborted()
      certificateStatuses.failed('root', error)
      const { retryAfterMs = RENEWAL_RETRY_MS } = error instanceof AcmeError ? error : {}
      const waitMs = Math.min(Math.max(retryAfterMs, 1), RENEWAL_RETRY_MAX_MS)
      const held = certificates.hasCertificate
        ? 'the one that it has stays in use'
        : 'it serves nobody without one'
      log.error(
        { reason: (error as Error).message, nextTryInS: Math.ceil(waitMs / 1000) },
        `the relay gets no certificate for now: ${held}`,
      )
      return waitMs
    }
  }

  async #renewAlone(): Promise<void> {
    const { settings, certificates, sharing } = this.#parts
    const { signal } = this.#closing
    const before = certificates.current
    const renew = (): Promise<void> => withLock(settings.identityPath, signal, () => this.#renew(before))
    if (sharing === undefined) return await renew()
    await sharing.alone('acme', signal, async () => {
      await sharing.refresh(CERTIFICATE_FILES)
      await renew()
      await this.#share()
    })
  }

  /** @param before the certificate to replace */
  async #renew(before: Certificates): Promise<void> {
    const { settings, authority, certificates, log } = this.#parts
    const { rootHost, acme } = settings
    // Another relay on this directory, or another machine, may have been faster.
    const pair = await this.#readPair()
    // Its certificate may already be in use: this machine reads the files that another one changes at once.
    if (certificates.current !== before) return
    const found = this.#isOfOther(pair.acmeDirectory) ? undefined : usable(rootHost, pair)
    if (found !== undefined && this.#isNewer(found)) {
      await this.#use(found, pair.acmeDirectory)
      return
    }
    this.#requireDns()
    const names = this.#names
    const key = newKey()
    const csr = await createRequest(names, key)
    const isSuccessor = certificates.hasCertificate && !this.#isOfOther(this.#acmeDirectory)
    const replaces = isSuccessor ? certificates.current.chainPem : undefined
    const chain = await authority.obtain({
      names,
      csr,
      for: 'root',
      renews: replaces !== undefined && namesOf(leafOf(certificates.current)).length === names.length,
      ...(replaces !== undefined && { replaces }),
      signal: this.#closing.signal,
    })
    const next = certificatesOf(rootHost, chain, key)
    const isFirst = !certificates.hasCertificate
    await this.#write({ chain, key, acmeDirectory: acme.directory })
    await this.#use(next, acme.directory)
    const until = new X509Certificate(chain).validToDate.toISOString()
    log.info({ names, until }, isFirst ? 'the relay has its first certificate' : 'certificate renewed')
  }

  /** Sends the certificate to the other machines. What cannot be sent now follows as soon as Redis answers. */
  async #share(): Promise<void> {
    const { sharing, log } = this.#parts
    try {
      await sharing?.publish(CERTIFICATE_FILES)
    } catch (error) {
      const { message: reason } = error as Error
      log.warn({ reason }, 'the new certificate is in use here, and the other machines get it later')
    }
  }

  /** Uses the certificate that another machine obtained. Never rejects. */
  async #look(): Promise<void> {
    const { settings, certificateStatuses, log } = this.#parts
    try {
      const pair = await this.#readPair()
      const found = this.#isOfOther(pair.acmeDirectory) ? undefined : usable(settings.rootHost, pair)
      if (found === undefined || !this.#isNewer(found)) return
      await this.#use(found, pair.acmeDirectory)
      certificateStatuses.succeeded('root')
      log.info('the relay uses the certificate that another machine has got')
    } catch (error) {
      log.error({ err: error }, 'the certificate that another machine has got cannot be used')
    }
  }

  /** The files as they are; an empty object when they cannot be read, since the next certificate replaces them. */
  async #readPair(): Promise<Partial<ManagedPair>> {
    const { settings, log } = this.#parts
    try {
      return await readManagedPair(settings.identityPath)
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error
      log.warn(
        { reason: error.message },
        'the certificate on disk cannot be read: the relay orders another one',
      )
      return {}
    }
  }

  /** A certificate that cannot be written is used all the same: visitors need it, and the disk may have room later. */
  async #write(pair: ManagedPair): Promise<void> {
    const { settings, log } = this.#parts
    try {
      await writeManagedPair(settings.identityPath, pair)
      this.#unwritten = undefined
    } catch (error) {
      if (!(error instanceof StateFileError)) throw error
      this.#unwritten = pair
      this.#writeAgainAt = performance.now() + WRITE_RETRY_MS
      log.warn({ reason: error.message }, 'the new certificate is in use, and a restart would lose it')
    }
  }

  async #writeAgain(pair: ManagedPair): Promise<void> {
    await this.#write(pair)
    if (this.#unwritten === undefined) await this.#share()
  }

  async #use(next: Certificates, acmeDirectory: string | undefined): Promise<void> {
    const { certificates, previousCertificates } = this.#parts
    this.#acmeDirectory = acmeDirectory
    const replaced = certificates.replace(next)
    if (replaced !== undefined) await previousCertificates.keep(replaced)
  }

  get #names(): readonly string[] {
    const { settings, authority } = this.#parts
    return authority.hasWildcards ? [settings.rootHost, `*.${settings.rootHost}`] : [settings.rootHost]
  }

  /** Whether a found certificate can be used in place of a new order: it is not due for renewal. */
  #isNewer(found: Certificates): boolean {
    const { current } = this.#parts.certificates
    if (found.chainPem === current.chainPem || !this.#hasAllNames(found)) return false
    return Date.now() < usualRenewalTime(leafOf(found))
  }

  /** Whether a certificate comes from another authority than the setting names, or from an unknown one. */
  #isOfOther(acmeDirectory: string | undefined): boolean {
    return acmeDirectory !== this.#parts.settings.acme.directory
  }

  #hasAllNames(held: Certificates): boolean {
    const names = held.chain.length === 0 ? [] : namesOf(leafOf(held))
    return this.#names.every((name) => names.includes(name))
  }

  /** A short outage of the DNS provider must not replace a wildcard certificate by one without a wildcard. */
  #requireDns(): void {
    const { settings, authority, certificates } = this.#parts
    const { current } = certificates
    if (settings.acme.challenge !== 'auto' || authority.hasWildcards || !current.hasWildcard) return
    const { validFromDate: from, validToDate: to } = leafOf(current)
    if (to.getTime() - Date.now() < (to.getTime() - from.getTime()) * WILDCARD_KEPT_SHARE) return
    const message = `the DNS provider does not answer for ${settings.rootHost} now, which *.${settings.rootHost} needs`
    throw new AcmeError('dns_failed', message, { retryAfterMs: WILDCARD_RETRY_MS })
  }

  /** Sleeps in short steps, and after each checks the wall clock and whether the disk has room again. */
  async #sleepUntil(time: number): Promise<void> {
    const from = Date.now()
    for (;;) {
      const leftMs = time - Date.now()
      if (this.#unwritten !== undefined && performance.now() >= this.#writeAgainAt)
        await this.#writeAgain(this.#unwritten)
      // After a clock was set back by more than a step, the remaining time is unknown.
      if (leftMs <= 0 || Date.now() < from - RENEWAL_TICK_MS) return
      await pause(Math.min(leftMs, RENEWAL_TICK_MS), undefined, { signal: this.#closing.signal, ref: false })
    }
  }
}

function leafOf({ chain }: Certificates): X509Certificate {
  return new X509Certificate(chain[0]!)
}

function usable(host: string, { chain, key }: Partial<ManagedPair>): Certificates | undefined {
  if (chain === undefined || key === undefined) return undefined
  try {
    return certificatesOf(host, chain, key)
  } catch {
    return undefined
  }
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
