// The engine in Chromium: main-thread time of a handshake, and bulk sealing beside WebCrypto alone.

import path from 'node:path'
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import type { Page } from '@playwright/test'
import { alternate, median } from '../lib/alternate.ts'
import { compared, type Entry, limited, missing } from '../lib/entry.ts'
import { INSTALL_CHROMIUM, mainThreadSeconds, openPage } from '../lib/page.ts'
import { recordClientHello } from './client-hello.ts'
import type { Identity } from './identity.ts'
import type { SignedMessages } from './page.ts'

const HANDSHAKES = [
  { group: 'X25519', maxMs: 1 },
  { group: 'X25519MLKEM768', maxMs: 1.2 },
]
const HANDSHAKES_PER_RUN = 200
const RECORDS_PER_RUN = 4096
const RECORD_BYTES: number = 2 ** 14
const FLIGHT = { unit: 'main-thread ms', better: 'less' } as const
const BULK = {
  name: 'Chromium: bulk sealing',
  unit: 'MB/s',
  better: 'more',
  peer: 'WebCrypto AES-GCM, the same records',
  target: 0.7,
} as const

export async function* browser(identity: Identity, runs: number): AsyncGenerator<Entry> {
  const opened = await openPage(path.join(import.meta.dirname, 'page.ts'))
  if (opened === undefined) {
    for (const { group } of HANDSHAKES)
      yield missing({ ...FLIGHT, name: flightName(group), peer: 'limit' }, null, INSTALL_CHROMIUM)
    yield missing(BULK, null, INSTALL_CHROMIUM)
    return
  }
  const { page } = opened
  for (const { group, maxMs } of HANDSHAKES) {
    const ms = await handshakeMs(page, identity, group, runs)
    yield limited({ ...FLIGHT, name: flightName(group) }, ms, maxMs)
  }
  yield await bulk(page, identity, runs)
  await opened.close()
}

function flightName(group: string): string {
  return `Chromium: ClientHello to full flight, ${group}`
}

async function handshakeMs(page: Page, identity: Identity, group: string, runs: number): Promise<number> {
  const certificate = leaf(identity)
  const hello = encode(await recordClientHello(group))
  const count = HANDSHAKES_PER_RUN
  const evaluate = (): Promise<void> =>
    page.evaluate(([certificate, hello, count]) => globalThis.bench.flights(certificate, hello, count), [
      certificate,
      hello,
      count,
    ] as const)
  await evaluate()
  const times: number[] = []
  for (let run = 0; run < runs; run++) times.push((await mainThreadSeconds(page, evaluate)) / count)
  return median(times) * 1000
}

async function bulk(page: Page, identity: Identity, runs: number): Promise<Entry> {
  await connectTo(page, identity)
  const megabytes = (RECORDS_PER_RUN * RECORD_BYTES) / 1e6
  const { ours, theirs } = await alternate(runs, {
    ours: async () => megabytes / (await page.evaluate((n) => globalThis.bench.seal(n), RECORDS_PER_RUN)),
    theirs: async () =>
      megabytes / (await page.evaluate((n) => globalThis.bench.encrypt(n), RECORDS_PER_RUN)),
  })
  return compared(BULK, ours, theirs)
}

/** A handshake of node:tls with the engine in the page. */
async function connectTo(page: Page, identity: Identity): Promise<void> {
  const transport = new Duplex({
    read() {},
    write: (chunk, _encoding, callback) => {
      page
        .evaluate((bytes) => globalThis.bench.receive(bytes), encode(chunk))
        .then(() => callback(), callback)
    },
  })
  await page.exposeFunction('toClient', (bytes: string) => void transport.push(decode(bytes)))
  await page.exposeFunction('sign', async ({ clientHello, ...rest }: SignedMessages) => {
    const request = {
      algorithm: identity.config.algorithm,
      clientHello: decode(clientHello),
      serverHello: decode(rest.serverHello),
      encryptedExtensions: decode(rest.encryptedExtensions),
      certificate: decode(rest.certificate),
    } as const
    return encode(await identity.config.sign(request, AbortSignal.any([])))
  })
  await page.evaluate((certificate) => globalThis.bench.accept(certificate), leaf(identity))
  connect({ socket: transport, ca: identity.certificate, servername: 'localhost' }).on('error', () => {})
  await page.evaluate(() => globalThis.bench.secure())
}

function leaf({ config }: Identity): string {
  return encode(config.certificateChain[0]!)
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

function decode(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
