// The secrets of TLS 1.2 (RFC 5246 §5, §6.3, §8.1), with a class for each phase, as in the schedule of TLS 1.3.

import type { Hash } from '../crypto/hash.ts'
import type { TrafficKeys } from '../crypto/key-schedule.ts'
import { Secret, type Secrets } from '../crypto/secrets.ts'
import { TlsError } from '../errors.ts'
import type { Exporter } from '../handshake/handshake-result.ts'
import { concat, u16 } from '../messages/writer.ts'
import { KEY_BYTES } from '../record/protection.ts'
import type { Suite } from './cipher-suites.ts'

const MASTER_SECRET_BYTES = 48
const VERIFY_DATA_BYTES = 12
/** The labels of TLS itself (§7.4.9, §8.1, §6.3; RFC 7627 §4). An exporter must not use them (RFC 5705 §4). */
const LABELS = {
  masterSecret: 'master secret',
  extendedMasterSecret: 'extended master secret',
  keyExpansion: 'key expansion',
  clientFinished: 'client finished',
  serverFinished: 'server finished',
} as const

/** Randoms are the two Randoms of the hellos. */
export interface Randoms {
  client: Uint8Array
  server: Uint8Array
}

/** Computes PRF(secret, label, seed) = P_hash(secret, label + seed) with the suite's hash (§5). */
export function prf(
  hash: Hash,
  secret: Uint8Array,
  label: string,
  seed: Uint8Array,
  length: number,
): Uint8Array {
  const labelled = concat(new TextEncoder().encode(label), seed)
  const output = new Uint8Array(Math.ceil(length / hash.length) * hash.length)
  let a = labelled
  for (let at = 0; at < length; at += hash.length) {
    a = hash.hmac(secret, a)
    const block = hash.hmac(secret, concat(a, labelled))
    output.set(block, at)
    block.fill(0)
  }
  a.fill(0)
  const result = output.slice(0, length)
  output.fill(0)
  return result
}

/** The premaster secret is the result of the key exchange. */
export class PreMasterSecret extends Secret {
  /**
   * Derives the extended master secret (RFC 7627 §4) over the hash of ClientHello to ClientKeyExchange, and ends this
   * phase.
   */
  extendedMaster(hash: Hash, sessionHash: Uint8Array): MasterSecret {
    return this.#master(hash, LABELS.extendedMasterSecret, sessionHash)
  }

  /** Derives the master secret (§8.1), and ends this phase. */
  master(hash: Hash, { client, server }: Randoms): MasterSecret {
    return this.#master(hash, LABELS.masterSecret, concat(client, server))
  }

  #master(hash: Hash, label: string, seed: Uint8Array): MasterSecret {
    const bytes = prf(hash, this.bytes, label, seed, MASTER_SECRET_BYTES)
    this.erase()
    this.secrets.log('CLIENT_RANDOM', bytes)
    return new MasterSecret(hash, bytes, this.secrets)
  }
}

export class MasterSecret extends Secret {
  readonly #hash: Hash

  constructor(hash: Hash, bytes: Uint8Array, secrets: Secrets) {
    super(bytes, secrets)
    this.#hash = hash
  }

  /** Derives the keys of the key block (§6.3), without MAC keys, which an AEAD does not have. */
  keys(
    { aead, fixedIvBytes }: Suite,
    { client, server }: Randoms,
  ): { client: TrafficKeys; server: TrafficKeys } {
    const keyBytes = KEY_BYTES[aead]!
    const length = 2 * (keyBytes + fixedIvBytes)
    const block = prf(this.#hash, this.bytes, LABELS.keyExpansion, concat(server, client), length)
    const ivs = block.subarray(2 * keyBytes)
    const keys = {
      client: { key: block.slice(0, keyBytes), iv: ivs.slice(0, fixedIvBytes) },
      server: { key: block.slice(keyBytes, 2 * keyBytes), iv: ivs.slice(fixedIvBytes) },
    }
    block.fill(0)
    return keys
  }

  /** Returns verify_data (§7.4.9), over the hash of the messages before that Finished. */
  verifyData(side: 'client' | 'server', transcriptHash: Uint8Array): Uint8Array {
    return prf(this.#hash, this.bytes, LABELS[`${side}Finished`], transcriptHash, VERIFY_DATA_BYTES)
  }

  /** Returns the master secret in its last phase, only for exports. */
  exporter(randoms: Randoms): Exporter {
    return { export: (label, context, length) => this.#export(randoms, label, context, length) }
  }

  /** Exports keying material (RFC 5705 §4). */
  #export(
    { client, server }: Randoms,
    label: string,
    context: Uint8Array | undefined,
    length: number,
  ): Uint8Array {
    if (Object.values<string>(LABELS).includes(label))
      throw new TlsError('no_exporter', `the label "${label}" is TLS's own`)
    const contextValue = context === undefined ? new Uint8Array() : concat(u16(context.length), context)
    return prf(this.#hash, this.bytes, label, concat(client, server, contextValue), length)
  }
}
