// Inputs of the fuzz target: from the corpus, damaged, or generated. They are data, so that a failing one can be kept.

import { readFileSync } from 'node:fs'
import type { ProtocolVersion } from '../../src/index.ts'
import { concat, handshakeMessage, vector } from '../../src/messages/writer.ts'
import { buildClientHello, ext, records } from '../support/client-hello-builder.ts'
import { hex, toHex } from '../support/hex.ts'
import { mutate, oneOf, type Random } from './random.ts'

export interface FuzzInput {
  version: ProtocolVersion
  /** How far the handshake has come without a fault: the server's flight; also the client's keys; all of it. */
  after: 'nothing' | 'flight' | 'keys' | 'handshake'
  /** Contents of records with their types, protected when there are keys; or bytes as they are. Hexadecimal. */
  sent: [type: number | 'raw', content: string][]
}

/** Kept because it brought about something else than the others. */
interface KeptInput extends FuzzInput {
  /** Of the error that ended the connection; `truncated` when the engine would have waited for more. */
  code: string
}

interface KeptHello {
  client: string
  /** The records that its ClientHello came in. */
  records: string
}

const read = <T>(name: string): T[] =>
  JSON.parse(readFileSync(new URL(`../corpus/${name}.json`, import.meta.url), 'utf8'))

export const KEPT_INPUTS: readonly KeptInput[] = read<KeptInput>('inputs')
/** Of real clients, as they were on the wire. */
export const KEPT_HELLOS: readonly KeptHello[] = read<KeptHello>('client-hellos')

const HANDSHAKE = 22
/** Content types, and two that are none. */
const TYPES = [20, 21, 22, 22, 23, 24, 0] as const
const VERSIONS: readonly ProtocolVersion[] = ['TLSv1.3', 'TLSv1.2']

/** Contents that mean something after the hello, in one version or the other. */
const CONTENTS: readonly Uint8Array[] = [
  // KeyUpdate, alerts, change_cipher_spec, NewSessionTicket, Finished, an empty content.
  ...['1800000101', '0100', '0250', '015a', '01', '04000000', `1400000c${'00'.repeat(12)}`, ''].map(hex),
  handshakeMessage(20, new Uint8Array(32)),
  handshakeMessage(16, vector(1, new Uint8Array(32).fill(9))),
  buildClientHello(),
]

export function makeInput(below: Random): FuzzInput {
  const kind = below(4)
  if (kind === 0) return damaged(oneOf(KEPT_INPUTS, below), below)
  const version = oneOf(VERSIONS, below)
  if (kind === 1) {
    const bytes = mutate(hex(oneOf(KEPT_HELLOS, below).records), below)
    return { version, after: 'nothing', sent: [['raw', toHex(bytes)]] }
  }
  if (kind === 2) {
    const hello = mutate(someHello(below), below)
    const sent = records(HANDSHAKE, hello, 1 + below(300))
    return { version, after: 'nothing', sent: [['raw', toHex(sent)]] }
  }
  const sent = Array.from({ length: 1 + below(4) }, (): [number, string] => [
    oneOf(TYPES, below),
    toHex(below(3) === 0 ? oneOf(CONTENTS, below) : mutate(oneOf(CONTENTS, below), below)),
  ])
  return { version, after: oneOf(['flight', 'keys', 'handshake'] as const, below), sent }
}

function damaged({ version, after, sent }: FuzzInput, below: Random): FuzzInput {
  return {
    version,
    after,
    sent: sent.map(([type, content]) => [
      below(8) === 0 ? oneOf(TYPES, below) : type,
      below(2) === 0 ? content : toHex(mutate(hex(content), below)),
    ]),
  }
}

function someHello(below: Random): Uint8Array {
  const usual: [number, Uint8Array][] = [
    ext.serverName('localhost'),
    ext.supportedGroups(...(below(4) === 0 ? [0x0017] : [0x001d, 0x0017])),
    ext.signatureAlgorithms(0x0403, 0x0804, 0x0807),
  ]
  const extras: [number, Uint8Array][] = [
    ext.supportedVersions(0x0304, 0x0303),
    ext.keyShare([0x001d, concat(Uint8Array.of(9), new Uint8Array(31))]),
    ext.pskModes(1),
    ext.alpn('http/1.1', 'h2'),
    ext.recordSizeLimit(60 + below(1000)),
    ext.earlyData(),
    [23, new Uint8Array()],
    [0xff01, Uint8Array.of(0)],
    [11, Uint8Array.of(1, below(2))],
  ]
  const psk = ext.preSharedKey([new Uint8Array(40).fill(below(256))], [new Uint8Array(32)])
  const chosen = [...extras, psk].filter(() => below(3) > 0)
  return buildClientHello({
    cipherSuites: [0x1301, 0xc02b, 0x5600].slice(0, 1 + below(3)),
    extensions: [...usual, ...chosen],
  })
}
