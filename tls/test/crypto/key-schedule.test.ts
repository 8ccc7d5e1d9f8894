// §7.1, §7.3, §4.4.4 and §5.2 on the trace of RFC 8448 §3.

import { describe, expect, test } from 'vitest'
import { HASH } from '../../src/crypto/hash.ts'
import { EarlySecret } from '../../src/crypto/key-schedule.ts'
import { Secrets } from '../../src/crypto/secrets.ts'
import { TranscriptHash } from '../../src/crypto/transcript-hash.ts'
import { webCrypto } from '../../src/index.ts'
import { concat } from '../../src/messages/writer.ts'
import { ciphertextHeader, Tls13Protection } from '../../src/record/protection.ts'
import { RecordReader } from '../../src/record/record-reader.ts'
import { hex, toHex } from '../support/hex.ts'
import { syncCrypto } from '../support/sync-crypto.ts'
import trace from '../vectors/rfc8448-section3.json' with { type: 'json' }

/** The whole schedule as the server runs it, with what the key log saw. */
function schedule() {
  const log: Record<string, string> = {}
  const transcript = new TranscriptHash(HASH['SHA-256'])
  transcript.add(hex(trace.clientHello), hex(trace.serverHello))
  const secrets = new Secrets()
  secrets.log = (label, secret) => {
    log[label] = toHex(secret)
  }
  const early = new EarlySecret(HASH['SHA-256'], undefined, secrets)
  const handshake = early.handshake(hex(trace.sharedSecret))
  const clientHandshake = handshake.clientTraffic(transcript.digest())
  const serverHandshake = handshake.serverTraffic(transcript.digest())
  const master = handshake.master()
  transcript.add(hex(trace.encryptedExtensions), hex(trace.certificate), hex(trace.certificateVerify))
  const serverVerifyData = serverHandshake.verifyData(transcript.digest())
  transcript.add(hex(trace.serverFinished))
  const clientVerifyData = clientHandshake.verifyData(transcript.digest())
  const client = master.clientTraffic(transcript.digest())
  const server = master.serverTraffic(transcript.digest())
  master.exporter(transcript.digest())
  transcript.add(hex(trace.clientFinished))
  const resumption = master.resumption(transcript.digest())
  return {
    log,
    clientHandshake,
    serverHandshake,
    serverVerifyData,
    clientVerifyData,
    client,
    server,
    resumption,
  }
}

const keysOf = (secret: { keys(bytes: number): { key: Uint8Array; iv: Uint8Array } }) => {
  const { key, iv } = secret.keys(16)
  return [toHex(key), toHex(iv)]
}

describe('RFC 8448 §3', () => {
  test('§7.1 traffic secrets', () => {
    expect(schedule().log).toEqual({
      CLIENT_HANDSHAKE_TRAFFIC_SECRET: trace.clientHandshakeTrafficSecret,
      SERVER_HANDSHAKE_TRAFFIC_SECRET: trace.serverHandshakeTrafficSecret,
      CLIENT_TRAFFIC_SECRET_0: trace.clientApplicationTrafficSecret,
      SERVER_TRAFFIC_SECRET_0: trace.serverApplicationTrafficSecret,
      EXPORTER_SECRET: trace.exporterMasterSecret,
    })
  })

  test('§7.3 keys', () => {
    const { clientHandshake, serverHandshake, client, server } = schedule()
    expect(keysOf(clientHandshake)).toEqual([trace.clientHandshakeKey, trace.clientHandshakeIv])
    expect(keysOf(serverHandshake)).toEqual([trace.serverHandshakeKey, trace.serverHandshakeIv])
    expect(keysOf(client)).toEqual([trace.clientApplicationKey, trace.clientApplicationIv])
    expect(keysOf(server)).toEqual([trace.serverApplicationKey, trace.serverApplicationIv])
  })

  test('§4.4.4 Finished of both', () => {
    const { serverVerifyData, clientVerifyData } = schedule()
    expect(toHex(serverVerifyData)).toBe(trace.serverFinished.slice(8))
    expect(toHex(clientVerifyData)).toBe(trace.clientFinished.slice(8))
  })

  test('§4.6.1 the PSK of the ticket', () => {
    expect(toHex(schedule().resumption.psk(hex(trace.ticketNonce)))).toBe(trace.ticketPsk)
  })

  test.each([
    ['WebCrypto', webCrypto],
    ['a synchronous provider', syncCrypto],
  ])('§5.2 records, on %s', async (_, crypto) => {
    const { clientHandshake, client, server } = schedule()
    const data = Uint8Array.from({ length: 50 }, (_, i) => i)
    const sealing = new Tls13Protection(crypto, 0x1301, server)
    const seal = async (type: number, content: Uint8Array) => {
      const header = ciphertextHeader(content.length)
      return toHex(concat(header, await sealing.seal(header, { type, content })))
    }
    expect(await seal(22, hex(trace.newSessionTicket))).toBe(trace.newSessionTicketRecord)
    expect(await seal(23, data)).toBe(trace.serverApplicationRecord)
    expect(await seal(21, hex('0100'))).toBe(trace.serverAlertRecord)

    const opening = new Tls13Protection(crypto, 0x1301, client)
    const open = async (protection: Tls13Protection, record: string) => {
      const reader = new RecordReader()
      reader.push(hex(record))
      return toHex((await protection.open(reader.shift()!))!)
    }
    expect(await open(new Tls13Protection(crypto, 0x1301, clientHandshake), trace.clientFinishedRecord)).toBe(
      `${trace.clientFinished}16`,
    )
    expect(await open(opening, trace.clientApplicationRecord)).toBe(`${toHex(data)}17`)
    expect(await open(opening, trace.clientAlertRecord)).toBe('010015')
  })
})

test('§7.2 and §7.1: a phase that is over has erased its secret', () => {
  const early = new EarlySecret(HASH['SHA-256'], hex(trace.ticketPsk), new Secrets())
  const before = toHex(early.binder(new Uint8Array(32)))
  early.handshake(hex(trace.sharedSecret))
  const erased = new EarlySecret(HASH['SHA-256'], hex(trace.ticketPsk), new Secrets())
  erased.erase()
  expect(toHex(early.binder(new Uint8Array(32)))).not.toBe(before)
  expect(early.binder(new Uint8Array(32))).toEqual(erased.binder(new Uint8Array(32)))
})

test('§5.3 the sequence number reaches the nonce', async () => {
  const { server } = schedule()
  const protection = new Tls13Protection(syncCrypto, 0x1301, server)
  const header = ciphertextHeader(1)
  const sealed = new Set<string>()
  for (let i = 0; i < 300; i++)
    sealed.add(toHex(await protection.seal(header, { type: 23, content: hex('00') })))
  expect(sealed.size).toBe(300)
  expect(protection.records).toBe(300)
})
