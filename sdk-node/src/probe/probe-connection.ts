// The self-probe's connection to the site, which starts like a browser's.

import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect } from 'node:tls'

export interface ProbeConnection {
  /** Rejects when there will be no handshake. */
  secured: Promise<void>
  /** Resolves when the connection has ended for any reason. */
  broken: Promise<void>
  exportKeyingMaterial(label: string, length: number): Buffer
  send(bytes: Buffer): void
  close(): void
}

/** Something else than the site has shown a certificate. */
export class ForeignKeyError extends Error {
  /** Where it answered; undefined behind a proxy. */
  readonly address: string | undefined

  constructor(address: string | undefined) {
    super('the key is not the site’s')
    this.address = address
  }
}

/** A ProbeOptions says whom a visit trusts, and how it finds the site. */
export interface ProbeOptions extends Pick<ConnectionOptions, 'ca' | 'rejectUnauthorized' | 'lookup'> {
  /**
   * Whether a certificate is the site's.
   * @default any that is trusted
   */
  isOwn?: (leaf: X509Certificate) => boolean
}

/** Opens a connection over another one to the site's port. */
export function openProbeConnectionOver(
  opening: Promise<Duplex>,
  url: URL,
  options: ProbeOptions,
): ProbeConnection {
  const opened = opening.then((socket) => openProbeConnection(url, { ...options, socket }))
  opened.catch(() => {})
  let connection: ProbeConnection | undefined
  opened.then(
    (one) => {
      connection = one
    },
    () => {},
  )
  return {
    secured: opened.then(({ secured }) => secured),
    broken: opened.then(
      ({ broken }) => broken,
      () => {},
    ),
    exportKeyingMaterial: (label, length) => connection!.exportKeyingMaterial(label, length),
    send: (bytes) => connection?.send(bytes),
    close: () => void opened.then((one) => one.close()).catch(() => {}),
  }
}

export function openProbeConnection(
  url: URL,
  { isOwn, ...options }: ProbeOptions & Pick<ConnectionOptions, 'socket'>,
): ProbeConnection {
  const { hostname, port } = url
  const socket = connect({
    ...options,
    host: hostname,
    port: Number(port || 443),
    ...(isIP(hostname) === 0 && { servername: hostname }),
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  const secured = new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', () => {
      const leaf = socket.getPeerX509Certificate()
      if (!isOwn || (leaf && isOwn(leaf))) resolve()
      else reject(new ForeignKeyError(socket.remoteAddress))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the relay closed the connection')))
  })
  secured.catch(() => {}) // Callers await the promise that they need.
  socket.on('error', () => {})
  // Discards the site's answer.
  socket.resume()
  return {
    secured,
    broken: new Promise((resolve) => socket.once('close', () => resolve())),
    exportKeyingMaterial: (label, length) => socket.exportKeyingMaterial(length, label, Buffer.alloc(0)),
    send: (bytes) => void socket.write(bytes),
    close: () => void socket.destroy(),
  }
}
