// An authority whose orders a test holds, answers or lets fail, and requests of sites of many identities. A real CA signs.

import { generateKeyPairSync } from 'node:crypto'
import { createCa, createLeafFor } from '../../src/core/certificates/development-ca.ts'
import { Lease } from '../../src/core/lease/lease.ts'
import { type AcmeAuthority, AcmeError, type CertificateOrder } from '../../src/features/acme/authority.ts'
import type { CertificateRequest } from '../../src/features/site-certificates/certificate-request.ts'

const ROOT = 'relay.example.com'

/** An order that waits for the test. */
export interface HeldOrder extends CertificateOrder {
  /** Issues the certificate. */
  issue(): void
  fail(error: Error): void
}

export class HeldAuthority implements AcmeAuthority {
  readonly hasWildcards = true
  /** In the order in which the relay made them. */
  readonly orders: HeldOrder[] = []
  readonly #ca = createCa(ROOT)
  readonly #requests: Map<Uint8Array, CertificateRequest>

  constructor(requests: Map<Uint8Array, CertificateRequest>) {
    this.#requests = requests
  }

  obtain(order: CertificateOrder): Promise<string> {
    return new Promise((resolve, reject) => {
      const { publicKey, names } = this.#requests.get(order.csr)!
      const issue = (): void => resolve(createLeafFor(this.#ca, publicKey, names))
      order.signal?.addEventListener('abort', () => reject(order.signal!.reason), { once: true })
      this.orders.push({ ...order, issue, fail: reject })
    })
  }

  renewalTime = async (): Promise<number> => 0
  close = async (): Promise<void> => {}
}

export class Sites {
  /** By their DER, which here only names them. */
  readonly requests: Map<Uint8Array, CertificateRequest> = new Map()

  lease(name: string, clientIp: string = '192.0.2.1'): Lease {
    const address = `0x${Buffer.from(name).toString('hex').padStart(40, '0')}`
    return new Lease({
      identity: { name, address },
      hostname: `${name}.${ROOT}`,
      canonicalHostname: `${name}-${address.slice(2)}.${ROOT}`,
      metadata: {},
      ttlS: 120,
      firstSeenAt: 0,
      clientIp,
      reportedIp: undefined,
    })
  }

  /** @param publicKey of the site @default a new one */
  request(lease: Lease, publicKey: Uint8Array = newPublicKey()): CertificateRequest {
    const request = { der: new Uint8Array(8), publicKey, names: lease.hostnames }
    this.requests.set(request.der, request)
    return request
  }
}

export function newPublicKey(): Buffer {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return publicKey.export({ type: 'spki', format: 'der' })
}

export const refusedByAuthority = (retryAfterMs?: number): AcmeError =>
  new AcmeError('refused', 'a CAA record forbids it', retryAfterMs === undefined ? {} : { retryAfterMs })
