// The relay as a whole: makes the parts, joins them and ends them together.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { AdminApi } from './api/admin.ts'
import { PublicApi } from './api/public.ts'
import { createRouting } from './api/routing.ts'
import { SdkApi } from './api/sdk.ts'
import { createApiServer } from './api/server.ts'
import { createSite } from './api/site.ts'
import { Bandwidth } from './bridge/bandwidth.ts'
import { serveVisitor } from './bridge/visit.ts'
import { loadCertificates } from './certificates/store.ts'
import { loadIdentity } from './identity.ts'
import { createListener } from './ingress/listener.ts'
import { Bindings } from './keyless/bindings.ts'
import { KeylessSigner } from './keyless/signer.ts'
import { Challenges } from './lease/challenges.ts'
import { Credentials } from './lease/credentials.ts'
import type { Lease } from './lease/lease.ts'
import { LeaseRegistry } from './lease/registry.ts'
import { Tokens } from './lease/tokens.ts'
import { createLog, type Logger } from './log.ts'
import { Policy } from './policy/policy.ts'
import { ReverseConnect } from './reverse/connect.ts'
import { Routes } from './routing/routes.ts'
import type { Settings } from './settings.ts'
import { RELEASE_VERSION } from './version.ts'

export interface Relay {
  /** Where the SNI listener is bound. */
  port: number
  /** Ends every lease and connection; resolves when nothing of the relay is left. */
  close(): Promise<void>
}

/** @throws SettingsError when the state directory does not fit the settings, or the listener's own error */
export async function startRelay(
  settings: Settings,
  log: Logger = createLog(settings.logLevel),
): Promise<Relay> {
  const identity = await loadIdentity(settings.identityPath)
  const certificates = await loadCertificates(settings, log)
  const policy = await Policy.load(settings.identityPath, settings.portGates)
  const routes = new Routes(settings.rootHost)
  const leases = new LeaseRegistry(routes)
  const credentials = new Credentials(new Tokens(identity, settings.url.origin), leases)
  const bindings = new Bindings()
  policy.onChange(() => {
    for (const lease of leases) if (policy.bars(lease)) lease.bar()
  })
  const bandwidths = new WeakMap<Lease, Bandwidth>()
  const bandwidthOf = (lease: Lease): Bandwidth => {
    const bandwidth = bandwidths.get(lease) ?? new Bandwidth(() => policy.bytesPerSecond(lease))
    bandwidths.set(lease, bandwidth)
    return bandwidth
  }
  const sdk = new SdkApi({
    leases,
    challenges: new Challenges(settings.host),
    credentials,
    policy,
    host: settings.host,
    relayAddress: identity.address,
    releaseVersion: RELEASE_VERSION,
  })
  const api = createApiServer({
    certificates,
    routing: createRouting({
      public: new PublicApi(leases, policy),
      admin: new AdminApi(settings.adminToken, policy, leases),
      sdk,
      credentials,
      signer: new KeylessSigner(certificates, bindings),
      certificates,
    }),
    connect: new ReverseConnect(credentials, policy),
    site: createSite(settings.siteDir),
    log,
  })
  const listener = createListener(
    {
      resolve: (serverName) => {
        const route = routes.resolve(serverName)
        return route?.to === 'lease' && !policy.routes(route.lease) ? undefined : route
      },
      serveRoot: (socket) => api.emit('connection', socket),
      serveLease: (socket, hello, { lease }) =>
        serveVisitor(socket, hello, lease, { bindings, bandwidth: bandwidthOf(lease) }),
    },
    log,
  )
  const sockets = new Set<Socket>()
  listener.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  listener.listen(settings.sniPort)
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  log.info({ url: settings.url.origin, port, address: identity.address }, 'listening')
  return {
    port,
    close: async () => {
      for (const lease of [...leases]) leases.end(lease, 'shutdown')
      const closed = once(listener, 'close')
      listener.close()
      for (const socket of sockets) socket.destroy()
      api.close()
      await closed
    },
  }
}
