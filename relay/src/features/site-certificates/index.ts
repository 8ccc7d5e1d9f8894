// Certificates for sites' own keys as a feature. A relay that issues none loads none of its code.

import type { Lease } from '../../core/lease/lease.ts'
import type { Feature, Running } from '../../feature.ts'
import { acme } from '../acme/index.ts'
import { siteCertificateSettings } from './settings.ts'

export interface RunningSiteCertificates extends Running {
  /** Whether the relay has issued a certificate for a lease. @param leaf DER */
  hasIssued(lease: Lease, leaf: Buffer): Promise<boolean>
}

export const siteCertificates: Feature<RunningSiteCertificates> = {
  needs: [acme],
  settings: siteCertificateSettings,
  // With the operator's own certificates there is no authority that could issue another.
  isOn: (settings, { isManaged, certificates }) =>
    settings.siteCertificates !== 'off' && (isManaged || certificates.current.authority !== undefined),
  start: async ({ settings, state, log }, running) => {
    const [{ createSiteCertificateIssuer }, { createSiteCertificateHandler }] = await Promise.all([
      import('./issuer.ts'),
      import('./handlers.ts'),
    ])
    const { authority, sharing } = running.get(acme) ?? {}
    const issuer = await createSiteCertificateIssuer({ ...state, settings, authority, sharing, log })
    const { rootHost } = settings
    const durable = (): Promise<void> => state.journal.durable()
    return {
      extensions: ['site_certificate'],
      hasIssued: (lease, leaf) => issuer.hasIssued(lease, leaf),
      handlers: (api) => ({
        siteCertificate: createSiteCertificateHandler(api, { ...state, rootHost, issuer, durable }),
      }),
      close: () => issuer.close(),
    }
  },
}
