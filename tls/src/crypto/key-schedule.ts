// The key schedule (RFC 8446 §7.1) with one class for each phase, so that each secret is used only for its purpose.

import type { Hash } from './hash.ts'
import { AEAD_NONCE_BYTES } from './provider.ts'
import { Secret, type Secrets } from './secrets.ts'

const NOTHING = new Uint8Array()

/** TrafficKeys protect one direction until the next key change (§7.3). */
export interface TrafficKeys {
  key: Uint8Array
  iv: Uint8Array
}

class ScheduleSecret extends Secret {
  protected readonly hash: Hash

  constructor(hash: Hash, bytes: Uint8Array, secrets: Secrets) {
    super(bytes, secrets)
    this.hash = hash
  }

  /** Derive-Secret over the given transcript hash. */
  protected derive(label: string, transcriptHash: Uint8Array): Uint8Array {
    return this.hash.expandLabel(this.bytes, label, transcriptHash, this.hash.length)
  }

  /** Derives the next phase's secret, and ends this phase: erases its secret and the input. */
  protected step(inputKeyMaterial: Uint8Array): Uint8Array {
    const salt = this.derive('derived', this.hash.digest(NOTHING))
    const next = this.hash.extract(salt, inputKeyMaterial)
    salt.fill(0)
    inputKeyMaterial.fill(0)
    this.erase()
    return next
  }

  /** Returns the HMAC with this secret's finished_key (§4.4.4). */
  protected finishedMac(transcriptHash: Uint8Array): Uint8Array {
    const finishedKey = this.hash.expandLabel(this.bytes, 'finished', NOTHING, this.hash.length)
    const mac = this.hash.hmac(finishedKey, transcriptHash)
    finishedKey.fill(0)
    return mac
  }
}

/** The Early Secret, from zeros or the PSK, which it owns and erases. */
export class EarlySecret extends ScheduleSecret {
  constructor(hash: Hash, psk: Uint8Array | undefined, secrets: Secrets) {
    const zeros = new Uint8Array(hash.length)
    const bytes = hash.extract(zeros, psk ?? zeros)
    psk?.fill(0)
    super(hash, bytes, secrets)
  }

  /** Returns the expected resumption binder for the hash of the truncated ClientHello (§4.2.11.2). */
  binder(transcriptHash: Uint8Array): Uint8Array {
    const key = new BinderKey(this.hash, this.derive('res binder', this.hash.digest(NOTHING)), this.secrets)
    const mac = key.mac(transcriptHash)
    key.erase()
    return mac
  }

  /** Ends this phase. Owns and erases the shared secret. */
  handshake(sharedSecret: Uint8Array): HandshakeSecret {
    return new HandshakeSecret(this.hash, this.step(sharedSecret), this.secrets)
  }
}

class BinderKey extends ScheduleSecret {
  mac(transcriptHash: Uint8Array): Uint8Array {
    return this.finishedMac(transcriptHash)
  }
}

/** The Handshake Secret. Its transcript is ClientHello to ServerHello. */
export class HandshakeSecret extends ScheduleSecret {
  clientTraffic(transcriptHash: Uint8Array): HandshakeTrafficSecret {
    return this.#traffic('c hs traffic', 'CLIENT_HANDSHAKE_TRAFFIC_SECRET', transcriptHash)
  }

  serverTraffic(transcriptHash: Uint8Array): HandshakeTrafficSecret {
    return this.#traffic('s hs traffic', 'SERVER_HANDSHAKE_TRAFFIC_SECRET', transcriptHash)
  }

  /** Ends this phase. */
  master(): MasterSecret {
    return new MasterSecret(this.hash, this.step(new Uint8Array(this.hash.length)), this.secrets)
  }

  #traffic(label: string, logLabel: string, transcriptHash: Uint8Array): HandshakeTrafficSecret {
    const secret = this.derive(label, transcriptHash)
    this.secrets.log(logLabel, secret)
    return new HandshakeTrafficSecret(this.hash, secret, this.secrets)
  }
}

class TrafficSecret extends ScheduleSecret {
  keys(keyBytes: number): TrafficKeys {
    return {
      key: this.hash.expandLabel(this.bytes, 'key', NOTHING, keyBytes),
      iv: this.hash.expandLabel(this.bytes, 'iv', NOTHING, AEAD_NONCE_BYTES),
    }
  }
}

/** A HandshakeTrafficSecret protects and authenticates the rest of the handshake. */
export class HandshakeTrafficSecret extends TrafficSecret {
  /** Returns verify_data of the Finished that this side sends (§4.4.4). */
  verifyData(transcriptHash: Uint8Array): Uint8Array {
    return this.finishedMac(transcriptHash)
  }
}

/** The Master Secret. */
export class MasterSecret extends ScheduleSecret {
  /** Derives the client's secret. The transcript is ClientHello to server Finished, as for the next two methods. */
  clientTraffic(transcriptHash: Uint8Array): ApplicationTrafficSecret {
    return this.#traffic('c ap traffic', 'CLIENT_TRAFFIC_SECRET_0', transcriptHash)
  }

  serverTraffic(transcriptHash: Uint8Array): ApplicationTrafficSecret {
    return this.#traffic('s ap traffic', 'SERVER_TRAFFIC_SECRET_0', transcriptHash)
  }

  exporter(transcriptHash: Uint8Array): ExporterSecret {
    const secret = this.derive('exp master', transcriptHash)
    this.secrets.log('EXPORTER_SECRET', secret)
    return new ExporterSecret(this.hash, secret, this.secrets)
  }

  /** Derives the resumption secret. The transcript is ClientHello to client Finished. */
  resumption(transcriptHash: Uint8Array): ResumptionSecret {
    return new ResumptionSecret(this.hash, this.derive('res master', transcriptHash), this.secrets)
  }

  #traffic(label: string, logLabel: string, transcriptHash: Uint8Array): ApplicationTrafficSecret {
    const secret = this.derive(label, transcriptHash)
    this.secrets.log(logLabel, secret)
    return new ApplicationTrafficSecret(this.hash, secret, this.secrets)
  }
}

/** An ApplicationTrafficSecret protects application data. */
export class ApplicationTrafficSecret extends TrafficSecret {
  /** Returns the secret after a KeyUpdate (§7.2), and ends this one. */
  next(): ApplicationTrafficSecret {
    const secret = this.hash.expandLabel(this.bytes, 'traffic upd', NOTHING, this.hash.length)
    this.erase()
    return new ApplicationTrafficSecret(this.hash, secret, this.secrets)
  }
}

export class ExporterSecret extends ScheduleSecret {
  /** Exports keying material (§7.5). No context counts as an empty one. */
  export(label: string, context: Uint8Array | undefined, length: number): Uint8Array {
    const secret = this.derive(label, this.hash.digest(NOTHING))
    const contextHash = this.hash.digest(context ?? NOTHING)
    const material = this.hash.expandLabel(secret, 'exporter', contextHash, length)
    secret.fill(0)
    return material
  }
}

export class ResumptionSecret extends ScheduleSecret {
  /** Returns the PSK of the ticket with this nonce (§4.6.1). */
  psk(ticketNonce: Uint8Array): Uint8Array {
    return this.hash.expandLabel(this.bytes, 'resumption', ticketNonce, this.hash.length)
  }
}
