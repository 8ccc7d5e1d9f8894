// A certificate that one machine gets, from whomever, is soon that of all machines.

import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, test as every, expect } from 'vitest'
import { wholeOnly } from '../../../tools/test-depth.ts'
import { WAIT_TIMEOUT_MS } from '../../../tools/test-timeouts.ts'
import { createLeaf } from '../../src/core/certificates/development-ca.ts'
import {
  type ClusterRelay,
  type ClusterRelays,
  startClusterRelays,
  whyNoRedis,
} from '../support/cluster-relays.ts'
import { ROOT_HOST } from '../support/relay.ts'

const test = wholeOnly(every, 'variant')

const SOON = { timeout: WAIT_TIMEOUT_MS }
/** A certificate names the second from which it is valid. */
const NEXT_SECOND_MS = 1_100

let cluster: ClusterRelays
let a: ClusterRelay
let b: ClusterRelay

async function serialOf({ port }: { port: number }): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port, servername: ROOT_HOST, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return serialNumber
}

const serials = async (): Promise<Set<string>> => new Set(await Promise.all(cluster.relays.map(serialOf)))

/** Puts another certificate into the state directory of a machine, as an operator does. */
async function rotate({ directory }: ClusterRelay): Promise<void> {
  const leaf = createLeaf(await authorityOf(directory), ROOT_HOST)
  await writeFile(join(directory, 'privatekey.pem'), leaf.key, { mode: 0o600 })
  await writeFile(join(directory, 'fullchain.pem'), leaf.chain)
}

async function untilAllHaveAnother(before: string): Promise<void> {
  await expect.poll(async () => [...(await serials())].filter((one) => one !== before).length, SOON).toBe(1)
  await expect.poll(async () => (await serials()).size, SOON).toBe(1)
  expect(await serials()).not.toContain(before)
}

describe.skipIf(whyNoRedis() !== undefined)(`three machines (skipped: ${whyNoRedis()})`, () => {
  beforeAll(async () => {
    cluster = await startClusterRelays(3)
    ;[a, b] = cluster.relays as [ClusterRelay, ClusterRelay]
  })
  afterAll(() => cluster?.close())

  test('show within seconds the certificate that the operator gives to one of them', async () => {
    const before = await serialOf(a)
    await rotate(b)
    await untilAllHaveAnother(before)
  })

  test('show a certificate that came while Redis was down, once it answers', async () => {
    const before = await serialOf(a)
    await cluster.redis.kill()
    await rotate(a)
    await expect.poll(() => serialOf(a), SOON).not.toBe(before)
    expect(await serialOf(b)).toBe(before)
    await cluster.redis.restart()
    await untilAllHaveAnother(before)
  })

  test('keep their certificate when an operator leaves half of another one', async () => {
    const before = await serialOf(a)
    const path = join(a.directory, 'privatekey.pem')
    const key = await readFile(path, 'utf8')
    await writeFile(path, createLeaf(await authorityOf(a.directory), ROOT_HOST).key)
    await cluster.redis.kill()
    await cluster.redis.restart()
    await sleep(2_000)
    expect(await readFile(join(b.directory, 'privatekey.pem'), 'utf8')).toBe(key)
    await writeFile(path, key)
    expect(await serials()).toEqual(new Set([before]))
  })

  test('show the certificate that a machine was given while it was stopped', async () => {
    const before = await serialOf(b)
    await a.stop()
    await sleep(NEXT_SECOND_MS)
    await rotate(a)
    a = await cluster.add({}, a)
    await untilAllHaveAnother(before)
  })
})

async function authorityOf(directory: string): Promise<{ certificate: string; key: string }> {
  const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8')
  return { certificate: await read('ca.pem'), key: await read('ca-key.pem') }
}
