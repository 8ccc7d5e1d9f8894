// The key schedule (RFC 8446 §7.1), one class for each phase, so that a secret can only be used for what it is for.

import type { Hash } from './hash.ts'
import { AEAD_NONCE_BYTES } from './provider.ts'
import { Secret, type Secrets } from './secrets.ts'

const NOTHING = new Uint8Array()

/** What protects one direction until the next key change (§7.3). */
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

  /** Derive-Secret, with the hash of the messages already taken. */
  protected derive(label: string, transcriptHash: Uint8Array): Uint8Array {
    return this.hash.expandLabel(this.bytes, label, transcriptHash, this.hash.length)
  }

  /** One step down the schedule. Ends this phase: its secret, and what it was mixed with, are erased. */
  protected step(inputKeyMaterial: Uint8Array): Uint8Array {
    const salt = this.derive('derived', this.hash.digest(NOTHING))
    const next = this.hash.extract(salt, inputKeyMaterial)
    salt.fill(0)
    inputKeyMaterial.fill(0)
    this.erase()
    return next
  }

  /** §4.4.4: HMAC with this secret's finished_key. */
  protected finishedMac(transcriptHash: Uint8Array): Uint8Array {
    const finishedKey = this.hash.expandLabel(this.bytes, 'finished', NOTHING, this.hash.length)
    const mac = this.hash.hmac(finishedKey, transcriptHash)
    finishedKey.fill(0)
    return mac
  }
}

/** Early Secret: holds the PSK, which it takes over and erases, or zeros. */
export class EarlySecret extends ScheduleSecret {
  constructor(hash: Hash, psk: Uint8Array | undefined, secrets: Secrets) {
    const zeros = new Uint8Array(hash.length)
    const bytes = hash.extract(zeros, psk ?? zeros)
    psk?.fill(0)
    super(hash, bytes, secrets)
  }

  /** §4.2.11.2: what a resumption binder must be, over the hash of the truncated ClientHello. */
  binder(transcriptHash: Uint8Array): Uint8Array {
    const key = new BinderKey(this.hash, this.derive('res binder', this.hash.digest(NOTHING)), this.secrets)
    const mac = key.mac(transcriptHash)
    key.erase()
    return mac
  }

  /** Ends this phase. Takes the shared secret over. */
  handshake(sharedSecret: Uint8Array): HandshakeSecret {
    return new HandshakeSecret(this.hash, this.step(sharedSecret), this.secrets)
  }
}

class BinderKey extends ScheduleSecret {
  mac(transcriptHash: Uint8Array): Uint8Array {
    return this.finishedMac(transcriptHash)
  }
}

/** Handshake Secret. The transcript is that of ClientHello…ServerHello. */
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

/** Protects the rest of the handshake and authenticates it. */
export class HandshakeTrafficSecret extends TrafficSecret {
  /** §4.4.4: verify_data of the Finished that this side sends. */
  verifyData(transcriptHash: Uint8Array): Uint8Array {
    return this.finishedMac(transcriptHash)
  }
}

/** Master Secret. */
export class MasterSecret extends ScheduleSecret {
  /** The transcript is that of ClientHello…server Finished, as for the next two. */
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

  /** The transcript is that of ClientHello…client Finished. */
  resumption(transcriptHash: Uint8Array): ResumptionSecret {
    return new ResumptionSecret(this.hash, this.derive('res master', transcriptHash), this.secrets)
  }

  #traffic(label: string, logLabel: string, transcriptHash: Uint8Array): ApplicationTrafficSecret {
    const secret = this.derive(label, transcriptHash)
    this.secrets.log(logLabel, secret)
    return new ApplicationTrafficSecret(this.hash, secret, this.secrets)
  }
}

/** Protects application data. */
export class ApplicationTrafficSecret extends TrafficSecret {
  /** §7.2: the secret after a KeyUpdate. Ends this one. */
  next(): ApplicationTrafficSecret {
    const secret = this.hash.expandLabel(this.bytes, 'traffic upd', NOTHING, this.hash.length)
    this.erase()
    return new ApplicationTrafficSecret(this.hash, secret, this.secrets)
  }
}

export class ExporterSecret extends ScheduleSecret {
  /** §7.5: without a context it is an empty one. */
  export(label: string, context: Uint8Array | undefined, length: number): Uint8Array {
    const secret = this.derive(label, this.hash.digest(NOTHING))
    const contextHash = this.hash.digest(context ?? NOTHING)
    const material = this.hash.expandLabel(secret, 'exporter', contextHash, length)
    secret.fill(0)
    return material
  }
}

export class ResumptionSecret extends ScheduleSecret {
  /** §4.6.1: the PSK of the ticket with this nonce. */
  psk(ticketNonce: Uint8Array): Uint8Array {
    return this.hash.expandLabel(this.bytes, 'resumption', ticketNonce, this.hash.length)
  }
}
