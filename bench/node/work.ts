// The request of a visitor to the service behind a tunnel: one byte says what, four how much.

export const WORK = { download: 0x64, upload: 0x75, echo: 0x65 } as const
export const REQUEST_BYTES = 5
/** Bytes of one write of a transfer. */
export const CHUNK_BYTES: number = 64 * 1024
/** A question, and its answer: a small request of any protocol. */
export const MESSAGE_BYTES = 128

export function encodeRequest(work: number, bytes = 0): Buffer {
  const request = Buffer.alloc(REQUEST_BYTES)
  request[0] = work
  request.writeUInt32BE(bytes, 1)
  return request
}

/** The ports of the service: as it is, behind its own TLS, and as a web server without and with TLS. */
export interface Service {
  tcp: number
  tls: number
  http: number
  https: number
  /** PEM of its certificate, for `localhost`. */
  certificate: string
}
