// A certificate authority of a test, for clients: it issues certificates and revocation lists with any fault that one asks for.

import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  constants as rsa,
  sign,
} from 'node:crypto'
import { DER_TAG, encodeDer, encodeDerOid } from '@svc/tls/der'

type KeyKind = 'P-256' | 'P-384' | 'P-521' | 'Ed25519' | 'RSA-2048' | 'RSA-1024'
type SignatureKind = 'sha256' | 'sha384' | 'sha512' | 'sha1' | 'pss-sha256' | 'pss-sha384'

export interface CertificateOptions {
  name?: string
  key?: KeyKind
  /** Of the issuer's signature. @default sha256 */
  signature?: SignatureKind
  /** @default an hour ago, and in an hour */
  notBefore?: Date
  notAfter?: Date
  /** True, or the path length, for a CA. */
  ca?: boolean | number
  /** The bits of the first byte. */
  keyUsage?: number | undefined
  /** Object identifiers of extended key usages, in hexadecimal. */
  purposes?: string[] | undefined
  /** Further extensions: identifier in hexadecimal, criticality and value. */
  more?: [id: string, isCritical: boolean, value: Uint8Array][]
  serialNumber?: Uint8Array
  /** Damages the signature. */
  isForged?: boolean
  /** Keys already made, to make two certificates of one key. */
  keys?: { privateKey: KeyObject; publicKey: KeyObject }
  /** Leaves out the identifiers of keys. */
  withoutKeyIds?: boolean
}

export interface IssuedCertificate {
  der: Uint8Array<ArrayBuffer>
  pem: string
  key: KeyObject
  keyPem: string
  serialNumber: Uint8Array
}

/** The extended key usages of TLS (RFC 5280 §4.2.1.12). */
export const PURPOSE = {
  clientAuth: '2b06010505070302',
  serverAuth: '2b06010505070301',
  any: '551d2500',
} as const
/** Bits of keyUsage. */
export const USAGE = {
  digitalSignature: 0x80,
  keyEncipherment: 0x20,
  keyCertSign: 0x04,
  crlSign: 0x02,
} as const

const HOUR_MS = 3_600_000
const { sequence, set, integer, bitString, octetString, boolean, generalizedTime, utf8String } = DER_TAG
const RSA_OIDS = { sha1: '05', sha256: '0b', sha384: '0c', sha512: '0d' } as const
const ECDSA_OIDS = {
  sha1: '2a8648ce3d0401',
  sha256: '2a8648ce3d040302',
  sha384: '2a8648ce3d040303',
  sha512: '2a8648ce3d040304',
}
const HASH_OIDS = { sha256: '608648016503040201', sha384: '608648016503040202' } as const

/** One certificate, with the key by which it may issue others. */
export class TestAuthority implements IssuedCertificate {
  readonly der: Uint8Array<ArrayBuffer>
  readonly pem: string
  readonly key: KeyObject
  readonly keyPem: string
  readonly serialNumber: Uint8Array
  readonly #name: Uint8Array
  readonly #keyId: Uint8Array

  /** @param issuer undefined for a root */
  constructor(options: CertificateOptions = {}, issuer?: TestAuthority) {
    const { publicKey, privateKey } = options.keys ?? newKeys(options.key ?? 'P-256')
    const spki = new Uint8Array(publicKey.export({ type: 'spki', format: 'der' }))
    this.key = privateKey
    this.keyPem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    this.serialNumber = options.serialNumber ?? positive(randomBytes(9))
    this.#name = distinguishedName(options.name ?? 'Test CA')
    this.#keyId = new Uint8Array(createHash('sha1').update(spki).digest())
    const by = issuer ?? this
    const algorithm = algorithmOf(by.key, options.signature ?? 'sha256')
    const { notBefore = new Date(Date.now() - HOUR_MS), notAfter = new Date(Date.now() + HOUR_MS) } = options
    const tbs = encodeDer(
      sequence,
      encodeDer(0xa0, encodeDer(integer, Uint8Array.of(2))),
      encodeDer(integer, this.serialNumber),
      algorithm.identifier,
      by.#name,
      encodeDer(sequence, time(notBefore), time(notAfter)),
      this.#name,
      spki,
      encodeDer(0xa3, encodeDer(sequence, ...this.#extensions(options, by))),
    )
    this.der = signed(tbs, algorithm, by.key, options.isForged)
    this.pem = pemOf('CERTIFICATE', this.der)
  }

  /** A root that a client's certificate needs nothing else for. */
  static root(options: CertificateOptions = {}): TestAuthority {
    return new TestAuthority({ ca: true, keyUsage: USAGE.keyCertSign | USAGE.crlSign, ...options })
  }

  /** A certificate of another CA below this one. */
  intermediate(options: CertificateOptions = {}): TestAuthority {
    const usual = { name: 'Intermediate', ca: true, keyUsage: USAGE.keyCertSign | USAGE.crlSign }
    return new TestAuthority({ ...usual, ...options }, this)
  }

  /** A client's certificate. */
  client(options: CertificateOptions = {}): TestAuthority {
    const usual = { name: 'Alice', keyUsage: USAGE.digitalSignature, purposes: [PURPOSE.clientAuth] }
    return new TestAuthority({ ...usual, ...options }, this)
  }

  /** PEM of a revocation list. */
  revocationList(
    revoked: readonly IssuedCertificate[],
    options: Pick<CertificateOptions, 'signature' | 'isForged'> & {
      thisUpdate?: Date
      nextUpdate?: Date
      /** Extensions of the list, and of its entries. */
      more?: CertificateOptions['more']
      ofEntries?: CertificateOptions['more']
    } = {},
  ): string {
    const algorithm = algorithmOf(this.key, options.signature ?? 'sha256')
    const { thisUpdate = new Date(Date.now() - HOUR_MS), nextUpdate = new Date(Date.now() + HOUR_MS) } =
      options
    const ofEntries = (options.ofEntries ?? []).map(extension)
    const entries = revoked.map(({ serialNumber }) =>
      encodeDer(
        sequence,
        encodeDer(integer, serialNumber),
        time(thisUpdate),
        ...(ofEntries.length > 0 ? [encodeDer(sequence, ...ofEntries)] : []),
      ),
    )
    const number: NonNullable<CertificateOptions['more']>[number] = [
      '551d14',
      false,
      encodeDer(integer, Uint8Array.of(1)),
    ]
    const tbs = encodeDer(
      sequence,
      encodeDer(integer, Uint8Array.of(1)),
      algorithm.identifier,
      this.#name,
      time(thisUpdate),
      time(nextUpdate),
      ...(entries.length > 0 ? [encodeDer(sequence, ...entries)] : []),
      encodeDer(0xa0, encodeDer(sequence, ...[number, ...(options.more ?? [])].map(extension))),
    )
    return pemOf('X509 CRL', signed(tbs, algorithm, this.key, options.isForged))
  }

  #extensions(options: CertificateOptions, issuer: TestAuthority): Uint8Array[] {
    const { ca, keyUsage, purposes, more = [], withoutKeyIds } = options
    const list: NonNullable<CertificateOptions['more']> = []
    if (ca !== undefined && ca !== false) {
      const length = ca === true ? [] : [encodeDer(integer, Uint8Array.of(ca))]
      list.push(['551d13', true, encodeDer(sequence, encodeDer(boolean, Uint8Array.of(0xff)), ...length)])
    }
    if (keyUsage !== undefined)
      list.push(['551d0f', true, encodeDer(bitString, Uint8Array.of(unusedBits(keyUsage), keyUsage))])
    if (purposes) list.push(['551d25', false, encodeDer(sequence, ...purposes.map(encodeDerOid))])
    if (!withoutKeyIds) {
      list.push(['551d0e', false, encodeDer(octetString, this.#keyId)])
      list.push(['551d23', false, encodeDer(sequence, encodeDer(0x80, issuer.#keyId))])
    }
    return [...list, ...more].map(extension)
  }
}

function newKeys(kind: KeyKind): { privateKey: KeyObject; publicKey: KeyObject } {
  if (kind === 'Ed25519') return generateKeyPairSync('ed25519')
  if (kind === 'RSA-1024' || kind === 'RSA-2048')
    return generateKeyPairSync('rsa', { modulusLength: Number(kind.slice(4)) })
  return generateKeyPairSync('ec', { namedCurve: kind })
}

interface Algorithm {
  identifier: Uint8Array
  sign(content: Uint8Array, key: KeyObject): Buffer
}

function algorithmOf({ asymmetricKeyType }: KeyObject, kind: SignatureKind): Algorithm {
  const hash = kind.replace('pss-', '') as keyof typeof RSA_OIDS
  if (asymmetricKeyType === 'ed25519')
    return {
      identifier: encodeDer(sequence, encodeDerOid('2b6570')),
      sign: (content, key) => sign(null, content, key),
    }
  if (asymmetricKeyType === 'ec') {
    const identifier = encodeDer(sequence, encodeDerOid(ECDSA_OIDS[hash]))
    return { identifier, sign: (content, key) => sign(hash, content, key) }
  }
  if (!kind.startsWith('pss-')) {
    const id = encodeDerOid(`2a864886f70d0101${RSA_OIDS[hash]}`)
    return {
      identifier: encodeDer(sequence, id, encodeDer(5)),
      sign: (content, key) => sign(hash, content, key),
    }
  }
  const padding = { padding: rsa.RSA_PKCS1_PSS_PADDING, saltLength: rsa.RSA_PSS_SALTLEN_DIGEST }
  const ofHash = encodeDer(sequence, encodeDerOid(HASH_OIDS[hash as 'sha256' | 'sha384']), encodeDer(5))
  const parameters = encodeDer(
    sequence,
    encodeDer(0xa0, ofHash),
    encodeDer(0xa1, encodeDer(sequence, encodeDerOid('2a864886f70d010108'), ofHash)),
    encodeDer(0xa2, encodeDer(integer, Uint8Array.of(hash === 'sha384' ? 48 : 32))),
  )
  return {
    identifier: encodeDer(sequence, encodeDerOid('2a864886f70d01010a'), parameters),
    sign: (content, key) => sign(hash, content, { key, ...padding }),
  }
}

function signed(
  tbs: Uint8Array,
  algorithm: Algorithm,
  key: KeyObject,
  isForged = false,
): Uint8Array<ArrayBuffer> {
  const content = isForged ? Uint8Array.of(...tbs, 0) : tbs
  return encodeDer(
    sequence,
    tbs,
    algorithm.identifier,
    encodeDer(bitString, Uint8Array.of(0), new Uint8Array(algorithm.sign(content, key))),
  )
}

function extension([id, isCritical, value]: NonNullable<CertificateOptions['more']>[number]): Uint8Array {
  const mark = isCritical ? [encodeDer(boolean, Uint8Array.of(0xff))] : []
  return encodeDer(sequence, encodeDerOid(id), ...mark, encodeDer(octetString, value))
}

function distinguishedName(name: string): Uint8Array {
  const text = (value: string) => encodeDer(utf8String, new TextEncoder().encode(value))
  return encodeDer(sequence, encodeDer(set, encodeDer(sequence, encodeDerOid('550403'), text(name))))
}

function time(date: Date): Uint8Array {
  const text = date.toISOString().replace(/[-:T]|\.\d+/g, '')
  return date.getUTCFullYear() < 2050
    ? encodeDer(DER_TAG.utcTime, new TextEncoder().encode(text.slice(2)))
    : encodeDer(generalizedTime, new TextEncoder().encode(text))
}

function unusedBits(bits: number): number {
  return bits === 0 ? 0 : 31 - Math.clz32(bits & -bits)
}

function positive(bytes: Buffer): Uint8Array {
  return Uint8Array.of((bytes[0]! & 0x7f) | 1, ...bytes.subarray(1))
}

function pemOf(label: string, der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
