// Names that strangers chose: a name server that is silent holds up no other lookup. A real server of names over UDP.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { lookup } from 'node:dns'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HttpClient } from '../../src/core/outbound/http-client.ts'
import { createNameLookup } from '../../src/core/outbound/name-lookup.ts'

vi.mock('node:dns', async (original) => ({
  ...(await original<object>()),
  lookup: vi.fn((_name, _options, callback) => callback(null, [{ address: '127.0.0.9', family: 4 }])),
}))

const A = 1
const HEAD_BYTES = 12
let server: Socket
let servers: string[]
let closing: AbortController
let asked: string[]
/** Addresses of each name, by the type of the question; a name without any is not answered. */
let zone: Record<string, { a?: Buffer[]; aaaa?: Buffer[] }>

beforeEach(async () => {
  server = createSocket('udp4')
  server.on('message', answer)
  await once(server.bind(0, '127.0.0.1'), 'listening')
  servers = [`127.0.0.1:${(server.address() as AddressInfo).port}`]
  closing = new AbortController()
  asked = []
  zone = {}
  vi.mocked(lookup).mockClear()
})
afterEach(() => {
  closing.abort()
  server.close()
})

function answer(message: Buffer, from: RemoteInfo): void {
  let at = HEAD_BYTES
  const labels: string[] = []
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString())
    at += 1 + length
  }
  const name = labels.join('.')
  asked.push(name)
  const found = zone[name]
  if (found === undefined) return
  const type = message.readUInt16BE(at + 1)
  const addresses = (type === A ? found.a : found.aaaa) ?? []
  const head = Buffer.from(message.subarray(0, at + 5))
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt16BE(0, 10)
  const records = addresses.map((address) => {
    const record = Buffer.from([0xc0, HEAD_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length])
    return Buffer.concat([record, address])
  })
  server.send(Buffer.concat([head, ...records]), from.port, from.address)
}

const find = (hostname: string, isOfSystem = (_: string) => false): Promise<unknown> =>
  promisify(createNameLookup({ isOfSystem, signal: closing.signal, servers }))(hostname, { all: true })
const v4 = (last: number): Buffer => Buffer.from([192, 0, 2, last])
const v6 = (last: number): Buffer => Buffer.from([0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), last])

test('two addresses of each family are found, IPv4 first', async () => {
  zone['relay.example'] = { a: [1, 2, 3, 4].map(v4), aaaa: [1, 2, 3].map(v6) }
  const found = (await find('relay.example')) as { address: string; family: number }[]
  expect(found.map(({ family }) => family)).toEqual([4, 4, 6, 6])
  expect(found.every(({ address }) => /^(192\.0\.2|2001:db8:)/.test(address))).toBe(true)
})

test('one family is enough', async () => {
  zone['six.example'] = { aaaa: [v6(7)] }
  expect(await find('six.example')).toEqual([{ address: '2001:db8::7', family: 6 }])
})

test('a name without addresses is an error', async () => {
  zone['empty.example'] = {}
  await expect(find('empty.example')).rejects.toMatchObject({ code: 'ENODATA' })
})

test('many names whose server is silent hold up no other one, take no lookup of the system, and end', async () => {
  zone['relay.example'] = { a: [v4(1)] }
  const silent = Array.from({ length: 40 }, (_, index) =>
    find(`silent${index}.example`).catch((error) => error),
  )
  await vi.waitFor(() => expect(new Set(asked).size).toBe(40))
  let isOver = false
  void Promise.race(silent).then(() => (isOver = true))
  expect(await find('relay.example')).toEqual([{ address: '192.0.2.1', family: 4 }])
  expect(isOver).toBe(false)
  closing.abort()
  for (const error of await Promise.all(silent)) expect(error).toMatchObject({ code: 'ECANCELLED' })
  expect(lookup).not.toHaveBeenCalled()
})

test('names of the operator are looked up by the system', async () => {
  expect(await find('boot.example', (name) => name === 'boot.example')).toEqual([
    { address: '127.0.0.9', family: 4 },
  ])
  expect(asked).toEqual([])
})

test('a request to a name that is not found says so', async () => {
  zone['empty.example'] = {}
  const client = new HttpClient({
    lookup: createNameLookup({ isOfSystem: () => false, signal: closing.signal, servers }),
  })
  await expect(client.request('https://empty.example')).rejects.toMatchObject({ code: 'name_not_resolved' })
})
