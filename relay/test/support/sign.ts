// Composes a page's request to `/v1/sign` for a visitor, by hand.

import { randomBytes } from 'node:crypto'
import type { ConnectionOptions } from 'node:tls'
import type { RegisterResponse, SignRequest } from '@svc/protocol'
import type { TestCarrier } from './carrier.ts'
import { certificate, EMPTY_ENCRYPTED_EXTENSIONS, helloOfRecords, serverHello } from './handshake.ts'
import type { Answer, TestClient } from './relay.ts'

/** The data that a page gets of a visitor. */
export interface Activated {
  binding: Buffer
  clientHello: Buffer
}

/** Byte strings may be Buffers, and other fields may be there. */
export type SignFields = Partial<Record<keyof SignRequest, unknown>> & Record<string, unknown>

/** A visitor comes, and the page's side gets the binding and the ClientHello. */
export async function activate(
  relay: TestClient,
  carrier: TestCarrier,
  { hostname, reverse_endpoint }: RegisterResponse,
  options: ConnectionOptions = {},
): Promise<Activated> {
  const { read } = await carrier.open(reverse_endpoint.capability)
  await read(1)
  relay.tls(hostname, options)
  await read(1)
  const binding = await read(16)
  const header = await read(5)
  const records = Buffer.concat([header, await read(header.readUInt16BE(3))])
  return { binding, clientHello: helloOfRecords(records) }
}

/** Fields of a request that gets its signature. */
export function genuine({ binding, clientHello }: Activated, chain: readonly Uint8Array[]) {
  return {
    binding,
    client_hello: clientHello,
    server_hello: serverHello(),
    encrypted_extensions: EMPTY_ENCRYPTED_EXTENSIONS,
    certificate: certificate(chain),
  }
}

export function sign(
  relay: TestClient,
  token: string,
  fields: SignFields,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return relay.call('POST', '/v1/sign', encode(fields), { 'X-Svc-Access-Token': token, ...headers })
}

function encode(fields: SignFields): Record<string, unknown> {
  const bytes = Object.entries(fields).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? value.toString('base64') : value,
  ])
  return {
    key_id: 'relay-cert',
    algorithm: 'ECDSA_SHA256',
    timestamp_unix: Math.floor(Date.now() / 1000),
    nonce: randomBytes(16).toString('hex'),
    ...Object.fromEntries(bytes),
  }
}
