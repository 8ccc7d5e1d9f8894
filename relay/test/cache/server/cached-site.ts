// A site with stored files behind a real listener: the files are on disk, and a test decides which snapshot is served.

import { hash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect as connectTcp, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { certificatesOf } from '../../../src/core/certificates/certificate-files.ts'
import { CertificateRotation } from '../../../src/core/certificates/certificate-rotation.ts'
import { createCa, createLeaf } from '../../../src/core/certificates/development-ca.ts'
import { ServerCertificates } from '../../../src/core/certificates/server-certificate.ts'
import { ClientAddresses } from '../../../src/core/client-address/client-addresses.ts'
import { TrustedProxies } from '../../../src/core/client-address/trusted-proxies.ts'
import { ConnectionLimiter } from '../../../src/core/ingress/connection-limiter.ts'
import { createSniListener } from '../../../src/core/ingress/sni-listener.ts'
import type { Lease } from '../../../src/core/lease/lease.ts'
import { ROOT_ROUTE, type Route } from '../../../src/core/lease/route.ts'
import { createLog, type Logger } from '../../../src/core/log/log.ts'
import { Bandwidth } from '../../../src/core/rate-limit/bandwidth.ts'
import { RoutingTable } from '../../../src/core/routing/routing-table.ts'
import type { LiveSites } from '../../../src/features/static-cache/live-site/live-sites.ts'
import {
  type CacheServer,
  createCacheServer,
} from '../../../src/features/static-cache/server/cache-server.ts'
import type {
  BorrowedSnapshot,
  CacheResult,
  ServedSnapshots,
  Snapshot,
  SnapshotFile,
  StoredCoding,
} from '../../../src/features/static-cache/snapshot.ts'
import { ROOT_HOST } from '../../support/relay.ts'

export const HOSTNAME: string = `demo-${'ab'.repeat(20)}.${ROOT_HOST}`

/** The snapshots of a test: one at a time, at {@link HOSTNAME}. */
class TestSnapshots implements ServedSnapshots {
  snapshot: Snapshot | undefined
  lease: Lease | undefined
  /** Borrowed at the moment. */
  borrowed = 0
  readonly #listeners = new Set<(hostname: string, isBanned: boolean) => void>()
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  borrow(hostname: string): BorrowedSnapshot | undefined {
    const { snapshot } = this
    if (hostname !== HOSTNAME || snapshot === undefined) return undefined
    this.borrowed += 1
    return {
      snapshot,
      pathOf: ({ sha256 }, coding) =>
        join(this.#directory, sha256 + (coding === undefined ? '' : `.${coding}`)),
      release: () => {
        this.borrowed -= 1
      },
    }
  }

  leaseOf(hostname: string): Lease | undefined {
    return hostname === HOSTNAME ? this.lease : undefined
  }

  onClosed(listener: (hostname: string, isBanned: boolean) => void): void {
    this.#listeners.add(listener)
  }

  /** Takes the snapshot away. */
  remove(isBanned: boolean): void {
    this.snapshot = undefined
    for (const listener of this.#listeners) listener(HOSTNAME, isBanned)
  }

  /** Writes files, with compressed forms of those that are text. */
  async put(
    files: Readonly<Record<string, string | Buffer>>,
    { index = 'index.html', hasFallback = true } = {},
  ): Promise<void> {
    const stored = new Map<string, SnapshotFile>()
    for (const [path, content] of Object.entries(files)) {
      const bytes = Buffer.from(content)
      const sha256 = hash('sha256', bytes)
      const codings = new Map<StoredCoding, number>()
      await writeFile(join(this.#directory, sha256), bytes)
      if (typeof content === 'string' && bytes.length > 100)
        for (const [coding, form] of [
          ['br', brotliCompressSync(bytes)],
          ['gzip', gzipSync(bytes)],
        ] as const) {
          await writeFile(join(this.#directory, `${sha256}.${coding}`), form)
          codings.set(coding, form.length)
        }
      stored.set(path, { path, size: bytes.length, sha256, codings })
    }
    const [identityKey] = ['demo:0x00']
    this.snapshot = {
      id: `${Math.random()}`,
      identityKey,
      hostname: HOSTNAME,
      index,
      hasFallback,
      files: stored,
    }
  }
}

/** A site that is never there. */
export const NO_LIVE_SITE: LiveSites = {
  forward: async () => false,
  upgrade: async () => false,
  close: async () => {},
}

interface Limit {
  /** 0 means unlimited. */
  bytesPerSecond: number
  bandwidth: Bandwidth
  /** Bytes of stored files that were sent. */
  sentBytes: number
}

export interface CachedSite {
  port: number
  caFile: string
  ca: string
  directory: string
  snapshots: TestSnapshots
  server: CacheServer
  rotation: CertificateRotation
  /** The sources of the answers, in the order of the requests. */
  results: CacheResult[]
  /** The bandwidth that the operator allows the identity. */
  limit: Limit
  tcp(): Promise<Socket>
  tls(options?: ConnectionOptions): Promise<TLSSocket>
  close(): Promise<void>
}

interface CachedSiteOptions {
  live?: LiveSites
  log?: Logger
  /** True when the relay has an authority of its own. Else it has a wildcard. */
  hasAuthority?: boolean
  port?: number
}

export async function startCachedSite({
  live = NO_LIVE_SITE,
  log = createLog('silent'),
  hasAuthority = true,
  port: wanted = 0,
}: CachedSiteOptions = {}): Promise<CachedSite> {
  const directory = await mkdtemp(join(tmpdir(), 'svc-cache-'))
  const authority = createCa(ROOT_HOST)
  const leaf = createLeaf(authority, ROOT_HOST)
  const shared = certificatesOf(ROOT_HOST, leaf.chain, leaf.key)
  const rotation = new CertificateRotation(hasAuthority ? { ...shared, authority } : shared)
  const caFile = join(directory, 'ca.pem')
  await writeFile(caFile, authority.certificate)
  const snapshots = new TestSnapshots(directory)
  const results: CacheResult[] = []
  const certificates = new ServerCertificates(rotation)
  const observe = (result: CacheResult): void => void results.push(result)
  const limit: Limit = {
    bytesPerSecond: 0,
    bandwidth: new Bandwidth(() => limit.bytesPerSecond),
    sentBytes: 0,
  }
  const ownPorts = [443]
  const server = createCacheServer({
    ...{ snapshots, live, certificates, observe, log, ownPorts },
    limitOf: () => (limit.bandwidth.isLimited ? limit.bandwidth : undefined),
    onSent: (bytes) => {
      limit.sentBytes += bytes
    },
  })
  const listener = listen(server, snapshots, log)
  listener.listen(wanted, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  ownPorts.push(port)
  const ca = authority.certificate
  return {
    port,
    caFile,
    ca,
    directory,
    snapshots,
    server,
    rotation,
    results,
    limit,
    tcp: async () => {
      const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {})
      await once(socket, 'connect')
      return socket
    },
    tls: async (options = {}) => {
      const socket = connectTls({ port, host: '127.0.0.1', servername: HOSTNAME, ca, ...options })
      socket.on('error', () => {})
      await once(socket, 'secureConnect')
      return socket
    },
    close: async () => {
      listener.close()
      await server.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** The bytes that a visitor receives until its connection is closed, or reset. */
export function received(visitor: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  return new Promise((resolve) =>
    visitor
      .on('error', () => {})
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('close', () => resolve(Buffer.concat(chunks)))
      .resume(),
  )
}

function listen(server: CacheServer, snapshots: TestSnapshots, log: Logger): Server {
  const routes = new RoutingTable<Route>(ROOT_HOST, ROOT_ROUTE)
  routes.cover(HOSTNAME, {
    to: 'feature',
    isOpen: () => snapshots.snapshot !== undefined,
    serve: (...visitor) => server.serve(...visitor),
  })
  return createSniListener({
    clientAddresses: new ClientAddresses(new TrustedProxies('')),
    connectionLimiter: new ConnectionLimiter({ isOverloaded: () => false, onRefuse: () => {} }),
    routes,
    policy: { routes: () => true } as never,
    serveRoot: () => {
      throw new Error('a visitor of a site came to the root host')
    },
    visitors: {
      accept: () => {
        throw new Error('a visitor of stored files came to the live site')
      },
    },
    connectionsMax: 16_384,
    log,
  })
}
