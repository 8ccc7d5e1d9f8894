// The self-probe's connection to the site, which starts like a browser's.

import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'

export interface ProbeConnection {
  /** Rejects when there will be no handshake. */
  secured: Promise<void>
  /** Resolves when the connection has ended for any reason. */
  broken: Promise<void>
  exportKeyingMaterial(label: string, length: number): Buffer
  send(bytes: Buffer): void
  close(): void
}

/**
 * Opens a connection over another one to the site's port.
 * @param options a CA
 */
export function openProbeConnectionOver(
  opening: Promise<Duplex>,
  url: URL,
  options: object,
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

/** @param options a CA and a DNS lookup */
export function openProbeConnection(url: URL, options: object): ProbeConnection {
  const { hostname, port } = url
  const socket = connect({
    ...options,
    host: hostname,
    port: Number(port || 443),
    ...(isIP(hostname) === 0 && { servername: hostname }),
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  const secured = new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve)
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
