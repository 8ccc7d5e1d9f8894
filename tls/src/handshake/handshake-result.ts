// The result of a handshake, of either version, for its connection.

import type { ConnectionInfo } from '../config.ts'

export interface HandshakeResult {
  info: ConnectionInfo
  /** The exporter. Undefined when nothing may be exported. */
  exporter: Exporter | undefined
  postHandshake: PostHandshake
}

export interface Exporter {
  export(label: string, context: Uint8Array | undefined, length: number): Uint8Array
}

/** PostHandshake handles handshake messages after the handshake. */
export interface PostHandshake {
  /** Called with the content of a handshake record. */
  accept(content: Uint8Array): void
  /** Called when content of another type came. */
  acceptOther(): void
  /** Called when application data came. */
  dataReceived(): void
}
