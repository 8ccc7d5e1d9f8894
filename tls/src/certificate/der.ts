// Reads the DER (X.690 §10) of certificates that this side chose itself, and so takes without judging their form.

import { TlsError } from '../errors.ts'
import { Reader } from '../messages/reader.ts'

/** A DER element: its tag, its content, and its whole encoding. */
export interface Element {
  tag: number
  content: Uint8Array
  der: Uint8Array
}

/** The tags of X.690 §8 and of the fields of RFC 5280 that are read. */
export const TAG = {
  boolean: 0x01,
  utcTime: 0x17,
  sequence: 0x30,
  keyIdentifier: 0x80,
  dnsName: 0x82,
  version: 0xa0,
  extensions: 0xa3,
} as const

/** Reads one element: tag, definite length, content. */
export function read(reader: Reader): Element {
  const start = reader.offset
  const tag = reader.u8()
  const first = reader.u8()
  let length = first
  if (first >= 0x80) {
    length = 0
    for (const byte of reader.bytes(first - 0x80)) length = length * 256 + byte
  }
  const content = reader.bytes(length)
  return { tag, content, der: reader.since(start) }
}

/** Returns a reader of the content of the next element, which must have that tag. */
export function open(reader: Reader, tag: number): Reader {
  const found = read(reader)
  if (found.tag !== tag) throw new TlsError('unsupported_certificate', `DER tag ${found.tag}, not ${tag}`)
  return new Reader(found.content, 'certificate')
}

/**
 * Returns the fields of the TBSCertificate (RFC 5280 §4.1), from `signature` on.
 * @param der a certificate
 */
export function tbsFields(der: Uint8Array): {
  issuer: Element
  validity: Element
  publicKey: Element
  /** The Extension structures, in their order. */
  extensions: Element[]
} {
  const tbs = open(open(new Reader(der, 'certificate'), TAG.sequence), TAG.sequence)
  // A certificate of version 2 or 3 has the field version [0]. The serial number follows.
  if (read(tbs).tag === TAG.version) read(tbs)
  read(tbs) // signature
  const [issuer, validity] = [read(tbs), read(tbs)]
  read(tbs) // subject
  const publicKey = read(tbs)
  const extensions: Element[] = []
  while (!tbs.done) {
    const { tag, content } = read(tbs)
    if (tag !== TAG.extensions) continue
    const list = open(new Reader(content, 'extensions'), TAG.sequence)
    while (!list.done) extensions.push(read(list))
  }
  return { issuer, validity, publicKey, extensions }
}

/**
 * Returns the value of an extension (RFC 5280 §4.2), or undefined.
 * @param id the content of the OBJECT IDENTIFIER, in hexadecimal
 */
export function extensionValue(extensions: readonly Element[], id: string): Uint8Array | undefined {
  for (const { content } of extensions) {
    const extension = new Reader(content, 'extension')
    if (hex(read(extension).content) !== id) continue
    let value = read(extension)
    if (value.tag === TAG.boolean) value = read(extension) // critical
    return value.content
  }
  return undefined
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
