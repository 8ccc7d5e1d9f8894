// The form of a site's certificate request (RFC 2986): what openssl makes is taken, and whatever differs is refused.

import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CERTIFICATE_REQUEST_MAX_BYTES } from '@svc/protocol'
import { DER_OID, DER_TAG, encodeDer, encodeDerOid } from '@svc/tls/der'
import { afterAll, describe, expect, test } from 'vitest'
import { atDepth, wholeOnly } from '../../../../tools/test-depth.ts'
import { parseCertificateRequest } from '../../../src/features/site-certificates/certificate-request.ts'
import { certificateRequest, NEW_KEY } from '../../support/certificate-request.ts'

const HOST = 'demo.relay.localhost'
const CANONICAL = `demo-${'0a'.repeat(20)}.relay.localhost`
const HOSTNAMES = [HOST, CANONICAL]
const directory = mkdtempSync(join(tmpdir(), 'svc-certificate-request-'))
afterAll(() => rmSync(directory, { recursive: true }))

const parse = (der: Uint8Array) => parseCertificateRequest(der, HOSTNAMES)
const refusal = (der: Uint8Array): unknown => {
  try {
    return parse(der)
  } catch (error) {
    return error
  }
}
const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) })

describe('takes', () => {
  // The largest keys take seconds to make.
  const kinds = Object.entries(NEW_KEY).filter(([kind]) => atDepth(true, kind !== 'RSA 4096'))
  test.each(kinds)('%s', (_, key) => {
    const der = certificateRequest([HOST], { key })
    const { names, publicKey } = parse(der)
    expect(names).toEqual([HOST])
    const pem = execFileSync('openssl', ['req', '-inform', 'DER', '-pubkey', '-noout'], { input: der })
    expect(createPublicKey(pem).export({ type: 'spki', format: 'der' })).toEqual(Buffer.from(publicKey))
  })

  test.each([
    ['all hostnames of the lease', HOSTNAMES, {}],
    ['a common name that is one of its names', [HOST], { subject: `/CN=${HOST}` }],
    ['SHA-384', [HOST], { more: ['-sha384'] }],
    ['SHA-512 with RSA', [HOST], { key: NEW_KEY['RSA 2048'], more: ['-sha512'] }],
  ])('%s', (_, names, options) => {
    expect(parse(certificateRequest(names, options)).names).toEqual(names)
  })
})

describe('refuses with openssl (protocol §11.1.1, §11.1.2)', () => {
  const NOT_OF_LEASE = /must have hostnames of this lease and no others/
  const KEY = /must be ECDSA P-256 or P-384, or RSA of 2048 to 4096 bits/
  test.each([
    ["another lease's hostname", ['other.relay.localhost'], {}, NOT_OF_LEASE],
    ["another lease's hostname beside its own", [HOST, 'other.relay.localhost'], {}, NOT_OF_LEASE],
    ['the root host', ['relay.localhost'], {}, NOT_OF_LEASE],
    ['a wildcard', ['*.relay.localhost'], {}, NOT_OF_LEASE],
    ['a wildcard below the hostname', [`*.${HOST}`], {}, NOT_OF_LEASE],
    ['a hostname in upper case', [HOST.toUpperCase()], {}, NOT_OF_LEASE],
    ['a trailing dot', [`${HOST}.`], {}, NOT_OF_LEASE],
    ['a hostname twice', [HOST, HOST], {}, /each once/],
    ['no name', [], {}, /not the DER of such a request/],
    ['no name, but a common name', [], { subject: `/CN=${HOST}` }, /not the DER of such a request/],
    ['another common name', [HOST], { subject: '/CN=bank.example' }, /common name one of its names/],
    ['an organization', [HOST], { subject: `/O=Bank/CN=${HOST}` }, /more than a common name|trailing/],
    ['an address', [], { more: ['-addext', 'subjectAltName=IP:192.0.2.1'] }, /DER tag 135/],
    ['another extension', [HOST], { more: ['-addext', 'keyUsage=keyCertSign'] }, /trailing/],
    [
      'only another extension',
      [],
      { more: ['-addext', 'basicConstraints=CA:TRUE'] },
      /beside the subjectAltName/,
    ],
    ['RSA 1024', [HOST], { key: ['-newkey', 'rsa:1024'] }, KEY],
    [
      'RSA with the exponent 3',
      [HOST],
      { key: ['-newkey', 'rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:3'] },
      KEY,
    ],
    ['P-521', [HOST], { key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp521r1'] }, KEY],
    ['secp256k1', [HOST], { key: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'] }, KEY],
    ['Ed25519', [HOST], { key: ['-newkey', 'ed25519'] }, KEY],
    ['SHA-1', [HOST], { more: ['-sha1'] }, /must be signed with ECDSA or RSA and SHA-2/],
    [
      'RSASSA-PSS',
      [HOST],
      { key: NEW_KEY['RSA 2048'], more: ['-sigopt', 'rsa_padding_mode:pss'] },
      /must be signed with/,
    ],
  ])('%s', (_, names, options, message) => {
    expect(refusal(certificateRequest(names, options))).toEqual(refused(message))
  })

  wholeOnly(test, 'depth')('RSA 4104', () => {
    const request = certificateRequest([HOST], { key: ['-newkey', 'rsa:4104'] })
    expect(refusal(request)).toEqual(refused(KEY))
  })

  test('a point in compressed form', () => {
    const [file, compressed] = [join(directory, 'key.pem'), join(directory, 'compressed.pem')]
    execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', file])
    execFileSync('openssl', ['ec', '-in', file, '-conv_form', 'compressed', '-out', compressed], {
      stdio: 'ignore',
    })
    expect(parse(certificateRequest([HOST], { key: ['-key', file] })).names).toEqual([HOST])
    expect(refusal(certificateRequest([HOST], { key: ['-key', compressed] }))).toEqual(
      refused(/not in its usual encoding/),
    )
  })
})

/** One that is built field by field, so that a test changes one. */
interface Fields {
  version: Uint8Array
  subject: Uint8Array
  names: Uint8Array
  /** Attributes beside the extension request. */
  attributes: Uint8Array
  /** What follows the attributes. */
  after: Uint8Array
  signedBy: KeyObject
  trailing: Uint8Array
  unusedBits: number
}

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const NOTHING = new Uint8Array()
const sequence = (...parts: Uint8Array[]): Uint8Array => encodeDer(DER_TAG.sequence, ...parts)
const dnsName = (name: string): Uint8Array => encodeDer(DER_TAG.dnsName, Buffer.from(name))

function build(change: Partial<Fields> = {}): Uint8Array {
  const fields: Fields = {
    version: Uint8Array.of(0),
    subject: sequence(),
    names: sequence(dnsName(HOST)),
    attributes: NOTHING,
    after: NOTHING,
    signedBy: privateKey,
    trailing: NOTHING,
    unusedBits: 0,
    ...change,
  }
  const extension = sequence(
    encodeDerOid(DER_OID.subjectAltName),
    encodeDer(DER_TAG.octetString, fields.names),
  )
  const values = encodeDer(DER_TAG.set, sequence(extension))
  const info = sequence(
    encodeDer(DER_TAG.integer, fields.version),
    fields.subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    encodeDer(
      DER_TAG.constructed0,
      sequence(encodeDerOid(DER_OID.extensionRequest), values),
      fields.attributes,
    ),
    fields.after,
  )
  const signature = sign('sha256', info, fields.signedBy)
  const request = sequence(
    info,
    sequence(encodeDerOid(DER_OID.ecdsaWithSha256)),
    encodeDer(DER_TAG.bitString, Uint8Array.of(fields.unusedBits), signature),
  )
  return Buffer.concat([request, fields.trailing])
}

/** RFC 2985 §5.4.1. */
const CHALLENGE_PASSWORD = sequence(
  encodeDerOid('2a864886f70d010907'),
  encodeDer(DER_TAG.set, encodeDer(DER_TAG.utf8String, Buffer.from('secret'))),
)

describe('refuses byte for byte', () => {
  const DER = /not the DER of such a request/
  test.each<[string, Partial<Fields>, RegExp]>([
    ['another version', { version: Uint8Array.of(1) }, /the version is not 0/],
    [
      "another key's signature",
      { signedBy: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey },
      /its signature is not of its key/,
    ],
    ['bytes behind it', { trailing: Uint8Array.of(0) }, DER],
    ['a password as a further attribute', { attributes: CHALLENGE_PASSWORD }, DER],
    ['a field behind the attributes', { after: sequence() }, DER],
    ['a signature that is no whole bytes', { unusedBits: 1 }, DER],
    ['names that go on', { names: Buffer.concat([sequence(dnsName(HOST)), sequence(dnsName(HOST))]) }, DER],
    ['an empty list of names', { names: sequence() }, /at least one name/],
    [
      'a name with a zero byte',
      { names: sequence(dnsName(`${HOST}\0.bank.example`)) },
      /hostnames of this lease/,
    ],
    ['a name that is no text', { names: sequence(encodeDer(DER_TAG.octetString, Buffer.from(HOST))) }, DER],
  ])('%s', (_, change, message) => {
    expect(refusal(build(change))).toEqual(refused(message))
  })

  test('but not what it should be', () => {
    expect(parse(build()).names).toEqual([HOST])
  })

  test('any other byte in any place, and any end', () => {
    const der = build()
    for (let at = 0; at < der.length; at++) {
      const changed = Uint8Array.from(der)
      changed[at]! ^= 1
      expect([at, refusal(changed)]).toEqual([at, refused(/is refused/)])
      expect([at, refusal(der.subarray(0, at))]).toEqual([at, refused(DER)])
    }
  })

  test('a length that is not in its shortest form (X.690 §10.1)', () => {
    // The outer length as three bytes where two are enough: what is signed stays the same.
    const der = Buffer.from(build({ names: sequence(...HOSTNAMES.map(dnsName)) }))
    expect(der[1]).toBe(0x82)
    const longer = Buffer.concat([Buffer.of(0x30, 0x83, 0x00), der.subarray(2)])
    expect(refusal(longer)).toEqual(refused(/length of another form/))
    const short = Buffer.from(sequence(Buffer.alloc(3)))
    expect(refusal(Buffer.concat([Buffer.of(0x30, 0x81, 3), short.subarray(2)]))).toEqual(
      refused(/length of another form/),
    )
  })

  test(`more than ${CERTIFICATE_REQUEST_MAX_BYTES} bytes, however well signed`, () => {
    const names = Array.from({ length: 200 }, () => dnsName(CANONICAL))
    const der = build({ names: sequence(...names) })
    expect(der.length).toBeGreaterThan(CERTIFICATE_REQUEST_MAX_BYTES)
    expect(refusal(der)).toEqual(refused(/more than 8192 bytes/))
  })

  test('garbage', () => {
    for (const der of [NOTHING, Buffer.from('hello'), Buffer.alloc(1000, 0x30), Buffer.alloc(1000, 0x80)])
      expect(refusal(der)).toEqual(refused(DER))
  })
})

test('what is parsed is what openssl verifies', () => {
  const der = build()
  const said = execFileSync('openssl', ['req', '-inform', 'DER', '-verify', '-noout', '-text'], {
    input: der,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  expect(String(said)).toContain(`DNS:${HOST}`)
})
