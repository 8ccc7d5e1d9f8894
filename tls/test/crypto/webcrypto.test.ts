// The AEAD of WebCrypto: what a caller does to its memory after a call changes nothing, so that memory is used again.

import { expect, test } from 'vitest'
import { webCrypto } from '../../src/crypto/webcrypto.ts'
import { CIPHER_SUITE } from '../../src/messages/constants.ts'

const SUITE = CIPHER_SUITE.TLS_AES_128_GCM_SHA256
const key = (): Uint8Array => new Uint8Array(16).fill(9)
const nonceOf = (record: number): Uint8Array => new Uint8Array(12).fill(record)
const headerOf = (record: number): Uint8Array => Uint8Array.of(23, 3, 3, 0, record)
const RECORDS = 16

test('records that are sealed in one turn have a nonce and additional data of their own', async () => {
  for (const isImported of [false, true]) {
    const aead = webCrypto.aead(SUITE, key())
    if (isImported) await aead.seal(nonceOf(0), headerOf(0), new Uint8Array(1))
    const [nonce, header, plaintext] = [new Uint8Array(12), new Uint8Array(5), new Uint8Array(100)]
    const sealing = Array.from({ length: RECORDS }, (_, record) => {
      plaintext.fill(record)
      // The key is not imported yet, and those that wait for it keep what they were given.
      if (!isImported) return aead.seal(nonceOf(record), headerOf(record), plaintext)
      nonce.set(nonceOf(record))
      header.set(headerOf(record))
      return aead.seal(nonce, header, plaintext)
    })
    const sealed = await Promise.all(sealing)
    const raw = await crypto.subtle.importKey('raw', key() as Uint8Array<ArrayBuffer>, 'AES-GCM', false, [
      'decrypt',
    ])
    for (const [record, bytes] of sealed.entries()) {
      const opened = await crypto.subtle.decrypt(
        {
          name: 'AES-GCM',
          iv: nonceOf(record) as Uint8Array<ArrayBuffer>,
          additionalData: headerOf(record) as Uint8Array<ArrayBuffer>,
        },
        raw,
        bytes as Uint8Array<ArrayBuffer>,
      )
      expect(new Uint8Array(opened)).toEqual(new Uint8Array(100).fill(record))
    }
    const openings = sealed.map((bytes, record) => aead.open(nonceOf(record), headerOf(record), bytes))
    const contents = await Promise.all(openings)
    expect(contents.map(([first]) => first)).toEqual(Array.from({ length: RECORDS }, (_, record) => record))
  }
})

test('additional data may have another length in each call (RFC 8446 §5.2, RFC 5246 §6.2.3.3)', async () => {
  const aead = webCrypto.aead(SUITE, key())
  const lengths = [5, 13, 0, 5]
  const sealed = await Promise.all(
    lengths.map((length, at) => aead.seal(nonceOf(at), new Uint8Array(length), Uint8Array.of(at))),
  )
  for (const [at, length] of lengths.entries())
    expect(await aead.open(nonceOf(at), new Uint8Array(length), sealed[at]!)).toEqual(Uint8Array.of(at))
  await expect((async () => aead.open(nonceOf(0), new Uint8Array(13), sealed[0]!))()).rejects.toThrow()
})
