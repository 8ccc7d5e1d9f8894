// Warns in the log once a day when the root host's certificate expires soon, whichever way it is renewed.

import { X509Certificate } from 'node:crypto'
import type { Logger } from '../log/log.ts'
import type { CertificateRotation } from './certificate-rotation.ts'
import type { CertificateStatuses } from './certificate-status.ts'

/** Interval at which the relay checks whether its certificate expires soon. */
const CERTIFICATE_CHECK_MS = 3_600_000
/** Time before the certificate expires from which the relay warns in the log. */
const CERTIFICATE_WARNING_MS = 14 * 86_400_000
/**
 * Upper bound of that time, as a share of the certificate's lifetime: a six-day certificate is renewed when two days
 * are left.
 */
const CERTIFICATE_WARNING_SHARE = 0.3
const DAY_MS = 86_400_000

export class ExpiryWarning {
  readonly #rotation: CertificateRotation
  readonly #statuses: CertificateStatuses
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  /** Wall clock, milliseconds. */
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(rotation: CertificateRotation, statuses: CertificateStatuses, log: Logger) {
    this.#rotation = rotation
    this.#statuses = statuses
    this.#log = log
    this.#timer = setInterval(() => this.#check(), CERTIFICATE_CHECK_MS).unref()
    this.#check()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #check(): void {
    const leaf = this.#rotation.current.chain[0]
    if (leaf === undefined) return
    const { validFromDate, validToDate, subjectAltName } = new X509Certificate(leaf)
    const end = validToDate.getTime()
    const lifetimeMs = end - validFromDate.getTime()
    const leftMs = end - Date.now()
    if (leftMs > Math.min(CERTIFICATE_WARNING_MS, lifetimeMs * CERTIFICATE_WARNING_SHARE)) return
    // A wall clock that was set back must not silence the warning.
    const sinceMs = Math.abs(Date.now() - this.#warnedAt)
    if (sinceMs < DAY_MS - CERTIFICATE_CHECK_MS / 2) return
    this.#warnedAt = Date.now()
    const reason = this.#statuses.all().find(({ kind }) => kind === 'root')?.lastError?.message
    const fields = { notAfter: validToDate.toISOString(), names: subjectAltName, reason }
    if (leftMs > 0) this.#log.warn(fields, 'the certificate of the relay ends soon')
    else this.#log.error(fields, 'the certificate of the relay has ended: visitors and sites refuse it')
  }
}
