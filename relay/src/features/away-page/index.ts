// The away page as a feature: what the relay shows at the friendly hostname of a site that asked for it and has no lease.

import { ServerCertificates } from '../../core/certificates/server-certificate.ts'
import { RateLimits } from '../../core/rate-limit/client-rate-limits.ts'
import type { Feature } from '../../feature.ts'

export const awayPage: Feature = {
  isOn: () => true,
  start: async ({ settings, state, isClosing }) => {
    const [{ AwayPages }, { AwayServer }] = await Promise.all([
      import('./away-pages.ts'),
      import('./away-server.ts'),
    ])
    const certificates = new ServerCertificates(state.certificates)
    const server = new AwayServer({
      origin: settings.url.origin,
      certificates,
      rateLimits: new RateLimits(settings.rateLimits),
    })
    new AwayPages({ ...state, certificates, server, isClosing }).start()
    return { close: () => server.close() }
  },
}
