// Keeps a worker's copy of certificates, policy, addresses and routes, which the primary sends.

import { createPublicKey } from 'node:crypto'
import { TokenVerifier } from '../../core/auth/token-verifier.ts'
import { ownTokens } from '../../core/auth/trusted-issuers.ts'
import { type Certificates, certificatesOf } from '../../core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../core/certificates/certificate-rotation.ts'
import { ClientAddresses } from '../../core/client-address/client-addresses.ts'
import { TrustedProxies } from '../../core/client-address/trusted-proxies.ts'
import { ROOT_ROUTE, type Route } from '../../core/lease/route.ts'
import { PolicyRules } from '../../core/policy/policy-rules.ts'
import { RoutingTable } from '../../core/routing/routing-table.ts'
import type { CertificateFiles, WorkerStart } from './messages.ts'

export class WorkerState {
  readonly certificates: CertificateRotation
  readonly policy: PolicyRules
  readonly clientAddresses: ClientAddresses
  readonly routes: RoutingTable<Route>
  readonly tokenVerifier: TokenVerifier
  readonly #rootHost: string

  constructor(start: WorkerStart) {
    this.#rootHost = start.rootHost
    this.certificates = new CertificateRotation(certificatesFrom(start.rootHost, start.certificates))
    this.policy = new PolicyRules(start.policy)
    this.clientAddresses = new ClientAddresses(new TrustedProxies(start.trustedProxies))
    this.routes = new RoutingTable(start.rootHost, ROOT_ROUTE)
    const publicKey = createPublicKey({ key: start.publicKey, format: 'der', type: 'spki' })
    this.tokenVerifier = new TokenVerifier(ownTokens(start.issuer, publicKey))
  }

  replaceCertificates(files: CertificateFiles): void {
    this.certificates.replace(certificatesFrom(this.#rootHost, files))
  }
}

function certificatesFrom(host: string, { chainPem, keyPem, isPlaceholder }: CertificateFiles): Certificates {
  const certificates = certificatesOf(host, chainPem, keyPem)
  return isPlaceholder ? { ...certificates, chain: [] } : certificates
}
