// The redirect listener as a feature: plain HTTP is redirected to https.

import type { Feature } from '../../feature.ts'
import { redirectSettings } from './settings.ts'

export const redirect: Feature = {
  settings: redirectSettings,
  checks: {
    redirects: async (settings, options) => {
      const { httpRedirectAddress: address } = settings
      const { checkPlainHttp } = await import('../../core/check/plain-http.ts')
      return await checkPlainHttp('HTTP_REDIRECT_ADDR', address, 'Requests are redirected', settings, options)
    },
  },
  isOn: ({ httpRedirectAddress }) => httpRedirectAddress !== undefined,
  start: async ({ settings, state, counters }) => {
    const [{ createRedirectListener }, { listenAt }, { reachable }] = await Promise.all([
      import('./redirect-listener.ts'),
      import('../../core/ingress/listen.ts'),
      import('../../core/ingress/sni-listener.ts'),
    ])
    const server = createRedirectListener({
      isServed: (host) => reachable(host, state) !== undefined,
      httpsPort: settings.url.port,
      trustedProxies: settings.trustedProxies,
      onRefuse: (reason) => counters.connectionsRefused.add({ reason }),
    })
    return {
      listen: () => listenAt(server, settings.httpRedirectAddress!, 'HTTP_REDIRECT_ADDR', settings),
      close: () => {
        server.close()
        server.closeAllConnections()
      },
    }
  },
}
