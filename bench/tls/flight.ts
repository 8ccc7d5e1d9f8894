// Measures from a ClientHello to the server's whole flight; no client answers it. Runs in Node and in a page.
import { type CryptoProvider, type ServerConfig, TlsServer } from '@svc/tls'

export type FlightConfig = Pick<ServerConfig, 'certificateChain' | 'algorithm' | 'alpn'> & {
  crypto?: CryptoProvider
}

/** A signature as long as a real ECDSA P-256 signature in DER; no client verifies it. */
const SIGNATURE: Uint8Array = new Uint8Array(71)
/** Long after the last byte of a flight, in milliseconds. */
const SETTLED_MS = 300

/** @returns bytes of the flight */
export async function flightLength(config: FlightConfig, pieces: Uint8Array[]): Promise<number> {
  let bytes = 0
  const { tls, failed } = start(config, (sent) => {
    bytes += sent.length
  })
  for (const piece of pieces) await tls.receive(piece)
  await Promise.race([new Promise((resolve) => setTimeout(resolve, SETTLED_MS)), failed])
  const length = bytes
  tls.abort()
  return length
}

/** Settles when `length` bytes were sent. */
export async function flight(config: FlightConfig, pieces: Uint8Array[], length: number): Promise<void> {
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  let left = length
  const { tls, failed } = start(config, (bytes) => {
    left -= bytes.length
    if (left <= 0) resolve()
  })
  for (const piece of pieces) {
    const held = tls.receive(piece)
    if (held !== undefined) await held
  }
  await Promise.race([sent, failed])
  tls.abort()
}

function start(config: FlightConfig, send: (bytes: Uint8Array) => void) {
  const { promise: failed, reject } = Promise.withResolvers<never>()
  failed.catch(() => {})
  const events = { send, secure: () => {}, data: () => {}, end: () => {}, close: reject }
  return { tls: new TlsServer({ ...config, sign: () => SIGNATURE }, events), failed }
}
