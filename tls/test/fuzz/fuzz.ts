// Fuzz target: damaged hellos, records and messages, before and after the keys. No crash, no hang, only alerts.

import { clientAuthentication } from '../../src/client-auth/client-auth.ts'
import { type ServerConfig, signAlgorithmOf, TicketSealer } from '../../src/index.ts'
import {
  ClientHelloReader,
  DecodeError,
  parseCertificate,
  parseClientHello,
  parseEncryptedExtensions,
  parseServerHello,
  TlsError,
} from '../../src/messages/index.ts'
import { concat, handshakeMessage, u16, vector } from '../../src/messages/writer.ts'
import { readCertificate } from '../../src/x509/certificate.ts'
import { validPath } from '../../src/x509/path.ts'
import { readRevocationList } from '../../src/x509/revocation-list.ts'
import corpus from '../corpus/certificates.json' with { type: 'json' }
import { records } from '../support/client-hello-builder.ts'
import { hex } from '../support/hex.ts'
import { RawClient, TYPE, until } from '../support/raw-client.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import { RawClient12 } from '../support/tls12-raw-client.ts'
import trace from '../vectors/rfc8448-section3.json' with { type: 'json' }
import { type FuzzInput, KEPT_HELLOS, KEPT_INPUTS, makeInput } from './inputs.ts'
import { mutate, oneOf, type Random, random, split } from './random.ts'

/** The engine's own steps; more than the longest handshake has. */
const TURNS = 20

const MESSAGES = [trace.clientHello, trace.serverHello, trace.encryptedExtensions, trace.certificate].map(hex)
const PARSERS = [
  parseClientHello,
  parseServerHello,
  parseEncryptedExtensions,
  parseCertificate,
  signAlgorithmOf,
]

/** A signature nobody checks: the raw clients do not. */
const config: ServerConfig = {
  certificateChain: [hex(trace.certificate).slice(11, 11 + 0x1b0)],
  algorithm: 'ECDSA_SHA256',
  alpn: ['http/1.1'],
  sign: () => new Uint8Array(70),
  signTls12: () => new Uint8Array(70),
  tickets: new TicketSealer({ crypto: syncCrypto }),
  crypto: syncCrypto,
}

const CERTIFICATES = corpus.certificates.map(hex)
const LISTS = corpus.revocationLists.map(hex)
/** The corpus was made before this moment, and its certificates are valid for decades. */
const now = (): number => Date.parse('2026-12-01')
const asking: ServerConfig = {
  ...config,
  clientCertificates: clientAuthentication({
    ca: `-----BEGIN CERTIFICATE-----${Buffer.from(CERTIFICATES[0]!).toString('base64')}-----END CERTIFICATE-----`,
    required: false,
    now,
  }),
}

/** One connection; @returns the code of the error that ended it, or `closed` */
async function runInput({ version, after, sent }: FuzzInput, below: Random): Promise<string> {
  const client = version === 'TLSv1.3' ? await at13(after) : await at12(after)
  client.deaf = true
  for (const [type, content] of sent)
    if (type !== 'raw') client.send(type, hex(content))
    else for (const piece of split(hex(content), below)) client.raw(piece)
  return outcome(client)
}

async function at13(after: FuzzInput['after']): Promise<RawClient> {
  const client = new RawClient(config)
  if (after === 'nothing') return client
  if (after === 'handshake') return client.connect()
  client.sendHello()
  await client.flight()
  return client
}

async function at12(after: FuzzInput['after']): Promise<RawClient12> {
  const client = new RawClient12(config)
  if (after === 'nothing') return client
  if (after === 'handshake') return client.connect()
  client.sendHello()
  await client.flight()
  if (after === 'flight') return client
  client.sendClientKeyExchange()
  client.sendChangeCipherSpec()
  return client
}

/** Keys are new each time: damage to what they protect is not kept. */
async function damageCiphertext(below: Random): Promise<void> {
  const client = below(2) === 0 ? await at13('handshake') : await at12('handshake')
  const good = Array.from({ length: 3 }, () => client.record(TYPE.data, new Uint8Array(below(50))))
  for (const piece of split(mutate(concat(...good), below), below)) client.raw(piece)
  await outcome(client)
}

/** What a client sends that is asked for a certificate. */
async function damageClientCertificate(below: Random): Promise<void> {
  const is13 = below(2) === 0
  const client = is13 ? new RawClient(asking) : new RawClient12(asking)
  client.sendHello()
  await client.flight()
  client.deaf = true
  const chain = [oneOf(CERTIFICATES, below), ...CERTIFICATES].slice(0, 1 + below(3))
  const [first, ...others] = below(3) === 0 ? chain : [mutate(chain[0]!, below), ...chain.slice(1)]
  const entries = [first!, ...others].map((der) =>
    concat(vector(3, der), is13 ? vector(2) : new Uint8Array()),
  )
  const certificate = handshakeMessage(11, is13 ? vector(1) : new Uint8Array(), vector(3, ...entries))
  const verify = handshakeMessage(
    15,
    u16(oneOf([0x0403, 0x0804, 0x0807, below(65_536)], below)),
    vector(2, new Uint8Array(below(80))),
  )
  for (const message of [certificate, verify])
    client.sendMessage(below(2) === 0 ? message : mutate(message, below))
  await outcome(client)
}

async function damageChain(below: Random): Promise<void> {
  const damaged = (list: readonly Uint8Array[]) =>
    list.map((der) => (below(2) === 0 ? der : mutate(der, below)))
  try {
    const [leaf, ...others] = damaged([oneOf(CERTIFICATES, below), ...CERTIFICATES]).map(readCertificate)
    const anchors = [readCertificate(CERTIFICATES[0]!)]
    const revocationLists = below(2) === 0 ? undefined : damaged(LISTS).map(readRevocationList)
    await validPath([leaf!, ...others], { anchors, revocationLists, now: now() })
  } catch (error) {
    if (!(error instanceof TlsError)) throw error
  }
}

async function outcome(client: RawClient | RawClient12): Promise<string> {
  // The engine may still wait for the rest of a record: then the client leaves.
  for (let i = 0; i < TURNS && !client.closed; i++) await new Promise((resolve) => setImmediate(resolve))
  client.server.receiveEnd()
  if (client.ended) void client.server.end()
  await until(() => client.closed)
  const { error } = client
  if (error !== undefined && !(error instanceof TlsError)) throw error
  if (error?.code === 'internal_error') throw error
  return error?.code ?? 'closed'
}

function runParsers(below: Random): void {
  const message = mutate(oneOf(MESSAGES, below), below)
  if (message.length > 4 && below(2) === 0)
    new DataView(message.buffer, message.byteOffset).setUint32(0, message.length - 4 + (message[0]! << 24))
  for (const parse of PARSERS) expectOnly(TlsError, () => parse(message))
  expectOnly(TlsError, () => readCertificate(mutate(oneOf(CERTIFICATES, below), below)))
  expectOnly(TlsError, () => readRevocationList(mutate(oneOf(LISTS, below), below)))
  expectOnly(DecodeError, () =>
    new ClientHelloReader({ maxBytes: 1000 }).push(records(22, message, 1 + below(100))),
  )
}

function expectOnly(type: typeof TlsError | typeof DecodeError, run: () => unknown): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof type)) throw error
  }
}

/** The whole corpus, as it is. */
async function replay(): Promise<void> {
  const below = random(0)
  for (const { client, records } of KEPT_HELLOS) {
    const input = { version: 'TLSv1.3', after: 'nothing', sent: [['raw', records]] } satisfies FuzzInput
    const code = await runInput(input, below)
    if (code !== 'truncated') throw new Error(`the hello of ${client}: ${code}`)
  }
  for (const [index, kept] of KEPT_INPUTS.entries()) {
    const code = await runInput(kept, below)
    if (code !== kept.code) throw new Error(`input ${index} of the corpus: ${code} instead of ${kept.code}`)
  }
}

/** Starts from the corpus. The same seed gives the same inputs; a failure names the seed of its run. */
export async function fuzz(goesOn: (runs: number) => boolean, seed: number): Promise<{ runs: number }> {
  await replay()
  let runs = 0
  while (goesOn(runs)) {
    const runSeed = seed + runs
    runs++
    try {
      const below = random(runSeed)
      runParsers(below)
      const kind = below(8)
      if (kind === 0) await damageCiphertext(below)
      else if (kind === 1) await damageClientCertificate(below)
      else if (kind === 2) await damageChain(below)
      else await runInput(makeInput(below), below)
    } catch (cause) {
      throw new Error(`fuzz failed with seed ${runSeed}`, { cause })
    }
  }
  return { runs }
}
