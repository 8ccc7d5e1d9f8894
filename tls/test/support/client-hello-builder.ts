// Builds ClientHellos field by field, so that a test changes exactly what it is about.

import { concat, extension, handshakeMessage, u8, u16, vector } from '../../src/messages/writer.ts'

export interface HelloFields {
  legacyVersion?: number
  random?: Uint8Array
  sessionId?: Uint8Array
  cipherSuites?: number[]
  compressionMethods?: number[]
  /** In order; a type may be given twice. */
  extensions?: [type: number, body: Uint8Array][]
}

const text = new TextEncoder()

export const ext = {
  serverName: (name: string): [number, Uint8Array] => [0, vector(2, u8(0), vector(2, text.encode(name)))],
  supportedVersions: (...versions: number[]): [number, Uint8Array] => [43, vector(1, ...versions.map(u16))],
  supportedGroups: (...groups: number[]): [number, Uint8Array] => [10, vector(2, ...groups.map(u16))],
  signatureAlgorithms: (...schemes: number[]): [number, Uint8Array] => [13, vector(2, ...schemes.map(u16))],
  keyShare: (...shares: [group: number, key: Uint8Array][]): [number, Uint8Array] => [
    51,
    vector(2, ...shares.map(([group, key]) => concat(u16(group), vector(2, key)))),
  ],
  alpn: (...names: string[]): [number, Uint8Array] => [
    16,
    vector(2, ...names.map((name) => vector(1, text.encode(name)))),
  ],
  pskModes: (...modes: number[]): [number, Uint8Array] => [45, vector(1, Uint8Array.from(modes))],
  preSharedKey: (identities: Uint8Array[], binders: Uint8Array[]): [number, Uint8Array] => [
    41,
    concat(
      vector(2, ...identities.map((identity) => concat(vector(2, identity), new Uint8Array(4)))),
      vector(2, ...binders.map((binder) => vector(1, binder))),
    ),
  ],
  recordSizeLimit: (limit: number): [number, Uint8Array] => [28, u16(limit)],
  earlyData: (): [number, Uint8Array] => [42, new Uint8Array()],
}

/** A TLS 1.3 hello for `localhost` unless the fields say otherwise. The X25519 share is the base point. */
export function buildClientHello(fields: HelloFields = {}): Uint8Array {
  const basePoint = new Uint8Array(32)
  basePoint[0] = 9
  const extensions = fields.extensions ?? [
    ext.serverName('localhost'),
    ext.supportedVersions(0x0304),
    ext.supportedGroups(0x001d, 0x0017),
    ext.signatureAlgorithms(0x0403, 0x0804, 0x0807),
    ext.keyShare([0x001d, basePoint]),
  ]
  return handshakeMessage(
    1,
    u16(fields.legacyVersion ?? 0x0303),
    fields.random ?? new Uint8Array(32).fill(0x5a),
    vector(1, fields.sessionId ?? new Uint8Array()),
    vector(2, ...(fields.cipherSuites ?? [0x1301]).map(u16)),
    vector(1, Uint8Array.from(fields.compressionMethods ?? [0])),
    vector(2, ...extensions.map(([type, body]) => extension(type, body))),
  )
}

/** Plaintext records of at most `fragment` bytes each. */
export function records(type: number, bytes: Uint8Array, fragment = 2 ** 14): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += fragment) {
    const piece = bytes.subarray(at, at + fragment)
    parts.push(Uint8Array.of(type, 3, 3), vector(2, piece))
  }
  return concat(...parts)
}
