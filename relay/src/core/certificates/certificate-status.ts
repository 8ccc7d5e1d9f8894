// Reports the relay's certificates, their expiry and the last failure to metrics, the administrator and the log.

import { X509Certificate } from 'node:crypto'
import type { CertificateRotation } from './certificate-rotation.ts'

/** Whose hostnames a certificate covers. */
type HostKind = 'root' | 'wildcard' | 'site'

/** Why the last order failed. */
export interface CertificateProblem {
  /** One line for the operator. */
  message: string
  /** Wall clock, milliseconds since the epoch. */
  time: number
}

/** The certificates of one kind of host. */
export interface CertificateStatus {
  kind: HostKind
  /** How many there are. */
  count: number
  /** DNS names of the one that expires first. */
  names: readonly string[]
  /** Expiry of that one: wall clock, milliseconds since the epoch; undefined when there is none. */
  notAfter: number | undefined
  /** undefined: the last order succeeded, or there was none. */
  lastError: CertificateProblem | undefined
}

/** Summary of the certificates of sites. */
export type SiteCertificateSummary = Pick<CertificateStatus, 'count' | 'names' | 'notAfter'>

/** The outcome of orders: `issued`, or the fault that the ACME client names. */
interface OrderCount {
  labels: { host_kind: 'root' | 'site'; result: string }
  count: number
}

export class CertificateStatuses {
  readonly #rotation: CertificateRotation
  readonly #problems = new Map<'root' | 'site', CertificateProblem>()
  /** By both labels; the number of labels is bounded. */
  readonly #orders = new Map<string, OrderCount>()
  /** Summarizes the certificates of sites; undefined when sites have no certificates of their own. */
  sites: (() => SiteCertificateSummary) | undefined

  constructor(rotation: CertificateRotation) {
    this.#rotation = rotation
  }

  /** Remembers why the last order for these hosts failed, until one succeeds. */
  failed(hosts: 'root' | 'site', error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.#problems.set(hosts, { message, time: Date.now() })
  }

  succeeded(hosts: 'root' | 'site'): void {
    this.#problems.delete(hosts)
  }

  /** Counts a finished order. @param result `issued`, or one of a few faults */
  countOrder(hosts: 'root' | 'site', result: string): void {
    const key = `${hosts} ${result}`
    const entry = this.#orders.get(key)
    if (entry === undefined) this.#orders.set(key, { labels: { host_kind: hosts, result }, count: 1 })
    else entry.count += 1
  }

  /** Live counts since the relay started. */
  get orders(): Iterable<OrderCount> {
    return { [Symbol.iterator]: () => this.#orders.values() }
  }

  all(): CertificateStatus[] {
    const held = this.#rootCertificate()
    const lastError = this.#problems.get('root')
    const count = held.notAfter === undefined ? 0 : 1
    const statuses: CertificateStatus[] = [{ kind: 'root', count, ...held, lastError }]
    if (held.names.some((name) => name.startsWith('*.')))
      statuses.push({ kind: 'wildcard', count, ...held, lastError })
    if (this.sites !== undefined)
      statuses.push({ kind: 'site', ...this.sites(), lastError: this.#problems.get('site') })
    return statuses
  }

  #rootCertificate(): Pick<CertificateStatus, 'names' | 'notAfter'> {
    const leaf = this.#rotation.current.chain[0]
    if (leaf === undefined) return { names: [], notAfter: undefined }
    const certificate = new X509Certificate(leaf)
    return { names: dnsNamesOf(certificate), notAfter: certificate.validToDate.getTime() }
  }
}

/** Node quotes names that could be mistaken for several; these are no DNS names. */
export function dnsNamesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((name) => (/^DNS:[^"]+$/.test(name) ? [name.slice(4)] : []))
}
