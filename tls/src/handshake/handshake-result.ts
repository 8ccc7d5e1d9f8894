// What a handshake, of either version, leaves behind for the connection.

import type { ConnectionInfo } from '../config.ts'

export interface HandshakeResult {
  info: ConnectionInfo
  /** Undefined when nothing may be exported. */
  exporter: Exporter | undefined
  postHandshake: PostHandshake
}

export interface Exporter {
  export(label: string, context: Uint8Array | undefined, length: number): Uint8Array
}

/** Handshake messages after the handshake. */
export interface PostHandshake {
  /** Content of a handshake record. */
  accept(content: Uint8Array): void
  /** Content of another type came. */
  acceptOther(): void
  /** Some of it was application data. */
  dataReceived(): void
}
