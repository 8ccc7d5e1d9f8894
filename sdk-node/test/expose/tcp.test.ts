// `expose` of local TCP services, at a dedicated port and behind the visitor's own TLS, at a real relay.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Server, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { CERTIFICATE_PEM, PRIVATE_KEY_PEM } from '../../../sdk-core/test/support/certificate.ts'
import { describeVariants } from '../../../tools/describe-variants.ts'
import { useStarted } from '../../../tools/use-started.ts'
import type { Exposure, SvcError } from '../../src/index.ts'
import { exposeAt, listening, TCP_PORTS, TCP_SETTINGS, tcpServer } from '../support/exposed.ts'
import { freePort, freeRange, startTestRelay } from '../support/relay.ts'

const relay = useStarted(async () => startTestRelay(TCP_SETTINGS(await freeRange(TCP_PORTS))))

let exposure: Exposure | undefined
let service: Server | undefined
afterEach(async () => {
  await exposure?.close()
  exposure = undefined
  service?.close()
  service = undefined
})

async function exposeTcp(serve: (socket: Socket) => void, carrier: 'native' | 'websocket' = 'native') {
  service = tcpServer(serve)
  exposure = await exposeAt(relay, { tcp: await listening(service), carrier })
}

function visitPort(allowHalfOpen = true): Socket {
  const port = Number(exposure!.sites[0]!.tcpAddress!.split(':').at(-1))
  return connect({ port, host: '127.0.0.1', allowHalfOpen })
}

describeVariants('a dedicated port by the carrier %s', ['native', 'websocket'] as const, (carrier) => {
  it('keeps a half-close of the visitor: the service answers behind it', async () => {
    await exposeTcp(async (socket) => {
      socket.end(`${await allOf(socket)} was all`)
    }, carrier)
    const visitor = visitPort()
    visitor.end('this')
    expect(String(await allOf(visitor))).toBe('this was all')
  })

  it('keeps a half-close of the service: the visitor still sends', async () => {
    const got = Promise.withResolvers<string>()
    await exposeTcp((socket) => {
      socket.end('no more from here')
      allOf(socket).then((all) => got.resolve(String(all)), got.reject)
    }, carrier)
    const visitor = visitPort()
    expect(String(await allOf(visitor))).toBe('no more from here')
    visitor.end('but from there')
    expect(await got.promise).toBe('but from there')
  })

  it('breaks with the visitor: what came before is not taken for all', async () => {
    const broken = Promise.withResolvers<string>()
    await exposeTcp((socket) => {
      socket.on('end', () => broken.resolve('an orderly end'))
      socket.on('error', (error: NodeJS.ErrnoException) => broken.resolve(error.code!))
      socket.once('data', () => socket.write('go'))
    }, carrier)
    const visitor = visitPort()
    visitor.write('a part')
    await once(visitor, 'data')
    visitor.resetAndDestroy()
    expect(await broken.promise).toBe('ECONNRESET')
  })

  it('lets a service speak first, and breaks with it (protocol §7.5.6)', async () => {
    await exposeTcp((socket) => {
      socket.write('220 hello')
      socket.once('data', () => socket.resetAndDestroy())
    }, carrier)
    const visitor = visitPort(false)
    const broken = new Promise<Error>((resolve) => visitor.once('error', resolve))
    expect(String((await once(visitor, 'data'))[0])).toBe('220 hello')
    visitor.write('go')
    expect(await broken).toMatchObject({ code: 'ECONNRESET' })
  })
})

it('a service that is down: the visitor is cut off, and the reason told', async () => {
  const failures: SvcError[] = []
  const port = await freePort()
  exposure = await exposeAt(relay, { tcp: port, onTargetError: (error) => failures.push(error) })
  const visitor = visitPort(false)
  const broken = new Promise<Error>((resolve) => visitor.once('error', resolve))
  visitor.resume()
  expect(await broken).toMatchObject({ code: 'ECONNRESET' })
  expect(failures).toEqual([
    expect.objectContaining({
      code: 'target_unreachable',
      message: `localhost:${port} does not answer: ECONNREFUSED`,
    }),
  ])
})

it('a visitor that is slow holds the service back', async () => {
  let written = 0
  await exposeTcp((socket) => {
    socket.on('error', () => {})
    const block = randomBytes(64 * 1024)
    const more = (): void => {
      while (!socket.destroyed && socket.write(block)) written += block.length
    }
    socket.on('drain', more)
    more()
  })
  const visitor = visitPort()
  visitor.on('error', () => {})
  await once(visitor, 'connect')
  const isStill = async (): Promise<boolean> => {
    const before = written
    await new Promise((resolve) => setTimeout(resolve, 500))
    return written > 0 && written === before
  }
  // what fits into the kernel's buffers on the way, and no more
  await expect.poll(isStill).toBe(true)
  expect(written).toBeLessThan(64 * 1024 * 1024)
  visitor.destroy()
})

describe('TLS passthrough', () => {
  it("gives the visitor the certificate of the local service, and the service the visitor's bytes", async () => {
    const tls = createTlsServer(
      { cert: CERTIFICATE_PEM, key: PRIVATE_KEY_PEM, allowHalfOpen: true },
      (socket) => {
        socket.pipe(socket)
      },
    )
    exposure = await exposeAt(relay, { tls: await listening(tls) })
    const { hostname } = new URL(exposure.sites[0]!.url)
    const visitor = connectTls({
      host: '127.0.0.1',
      port: relay.port,
      servername: hostname,
      ca: CERTIFICATE_PEM,
      // the local certificate is for another name
      checkServerIdentity: () => undefined,
    })
    await once(visitor, 'secureConnect')
    expect(visitor.getPeerCertificate().subjectaltname).toContain('relay.localhost')
    const sent = randomBytes(1_000_000)
    visitor.end(sent)
    expect((await allOf(visitor)).equals(sent)).toBe(true)
    tls.close()
  })
})

/** Reads until the other side ends its half; iterating would then destroy the socket. */
function allOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('end', () => resolve(Buffer.concat(chunks)))
    socket.on('error', reject)
  })
}
