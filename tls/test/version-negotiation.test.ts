// Which version a client gets, and who is told that it is none.

import { describe, expect, test } from 'vitest'
import type { ServerConfig } from '../src/index.ts'
import { ALERT } from '../src/messages/index.ts'
import { makeIdentity } from './support/certificates.ts'
import { ext } from './support/client-hello-builder.ts'
import { expectAlert } from './support/expect-alert.ts'
import { RawClient } from './support/raw-client.ts'
import { RawClient12 } from './support/tls12-raw-client.ts'

const tls12: ServerConfig = { ...makeIdentity('ec').tls12, alpn: ['http/1.1'] }

describe('RFC 8446 §4.2.1 the version', () => {
  const SCSV = 0x5600

  test('without a signer for it a client of TLS 1.2 gets protocol_version', async () => {
    const client = new RawClient12({ ...tls12, signTls12: undefined })
    client.sendHello()
    await expectAlert(client, ALERT.protocol_version)
  })

  test('RFC 7507: with a fallback signal that is still protocol_version', async () => {
    const client = new RawClient12({ ...tls12, signTls12: undefined })
    client.sendHello(client.hello({ cipherSuites: [0xc02b, SCSV] }))
    await expectAlert(client, ALERT.protocol_version)
  })

  test('RFC 7507 §3 a client that fell back', async () => {
    const client = new RawClient12(tls12)
    client.sendHello(client.hello({ cipherSuites: [0xc02b, SCSV] }))
    await expectAlert(client, ALERT.inappropriate_fallback)
  })

  test('RFC 7507 §3 does not concern a client that offers TLS 1.3', async () => {
    const client = new RawClient(tls12)
    await client.connect(client.hello({ cipherSuites: [0x1301, SCSV] }))
    expect(client.info).toMatchObject({ version: 'TLSv1.3' })
  })

  test('TLS 1.3 whenever it is offered', async () => {
    const client = new RawClient(tls12)
    const versions = ext.supportedVersions(0x0303, 0x0304)
    await client.connect(
      client.hello({ extensions: client.extensions(versions), cipherSuites: [0xc02b, 0x1301] }),
    )
    expect(client.info).toMatchObject({ version: 'TLSv1.3', cipherSuite: 0x1301 })
  })

  test.each<[string, number, number[] | undefined, boolean]>([
    ['supported_versions of TLS 1.2 alone', 0x0303, [0x0303], true],
    ['supported_versions decides, whatever legacy_version says', 0x0301, [0x0303, 0x0302], true],
    ['a version of the future, without supported_versions', 0x0305, undefined, true],
    ['TLS 1.1', 0x0302, undefined, false],
    ['supported_versions without TLS 1.2', 0x0303, [0x0302], false],
    ['SSL 3.0', 0x0300, undefined, false],
  ])('%s', async (_, legacyVersion, versions, served) => {
    const client = new RawClient12(tls12)
    const extensions = client.extensions(...(versions ? [ext.supportedVersions(...versions)] : []))
    await client.connect(client.hello({ legacyVersion, extensions }))
    expect(client.info?.version).toBe(served ? 'TLSv1.2' : undefined)
    if (!served) await expectAlert(client, ALERT.protocol_version)
    client.server.abort()
  })
})
