// The protocol: core rules, network roles, reverse session protocol, routing and state files.

import { createHash, verify, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { BINDING_BYTES, KEEPALIVE_INTERVAL_MS } from '@svc/protocol'
import { mnemonicToAccount } from 'viem/accounts'
import { afterEach, expect, vi } from 'vitest'
import { captureHello } from '../../../tools/network/client-hello.ts'
import { useStarted } from '../../../tools/use-started.ts'
import { loadIdentity } from '../../src/core/auth/relay-identity.ts'
import type { Lease } from '../../src/core/lease/lease.ts'
import { ROOT_ROUTE, type Route } from '../../src/core/lease/route.ts'
import { RoutingTable } from '../../src/core/routing/routing-table.ts'
import { readSettings } from '../../src/settings.ts'
import { socketReader } from '../support/api-socket.ts'
import { openCarrier } from '../support/carrier.ts'
import { newAccount, ROOT_HOST, readAll } from '../support/relay.ts'
import { activate, genuine, sign } from '../support/sign.ts'
import { everyRow, failsWith, marker, startWorld } from './every-row.ts'

const world = useStarted(startWorld)
afterEach(() => void vi.useRealTimers())

/** A visitor's raw connection, its ClientHello sent. */
async function visitor(hostname: string) {
  const socket = await world.tcp()
  const hello = await captureHello(hostname)
  socket.write(hello)
  return { socket, hello, read: socketReader(socket) }
}

everyRow('Core rules', {
  '1 raw TCP reverse-connect is the stream transport': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    await visitor(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    session.abort()
  },
  '2 stream ingress is TLS-only': async () => {
    const lease = await world.lease()
    const socket = await world.tcp()
    socket.write(`GET / HTTP/1.1\r\nHost: ${lease.hostname}\r\n\r\n`)
    expect((await readAll(socket)).toString('latin1')).not.toContain('HTTP/')
  },
  '3 the relay peeks the ClientHello and bridges raw encrypted bytes (protocol §1.1.2, §9.1.5)': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    const { hello, read, socket } = await visitor(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    await session.read(BINDING_BYTES)
    expect(await session.read(hello.length)).toEqual(hello)
    await session.write(Buffer.from('not TLS at all'))
    expect((await read(14)).toString()).toBe('not TLS at all')
    socket.destroy()
  },
  '4 the relay signs handshake data through /v1/sign': async () => {
    const lease = await world.lease()
    const carrier = await openCarrier(world, lease.reverse_endpoint.capability)
    const activated = await activate(world, carrier, lease)
    const chain = new X509Certificate((await world.call('GET', '/sdk/certificate-chain')).text)
    const request = genuine(activated, [chain.raw])
    expect(await sign(world, 'no-token', request)).toMatchObject(failsWith(403, 'unauthorized'))
    const answer = await sign(world, lease.access_token, request)
    expect(answer).toMatchObject({ status: 200, json: { signature: expect.any(String) } })
    const transcript = [activated.clientHello, request.server_hello, request.encrypted_extensions]
    const digest = createHash('sha256')
      .update(Buffer.concat([...transcript, request.certificate]))
      .digest()
    // RFC 8446 §4.4.3
    const context = Buffer.from(`${' '.repeat(64)}TLS 1.3, server CertificateVerify\0`)
    const { signature } = answer.json as unknown as { signature: string }
    const signed = Buffer.concat([context, digest])
    expect(verify('sha256', signed, chain.publicKey, Buffer.from(signature, 'base64'))).toBe(true)
    carrier.socket.terminate()
  },
  '5 control plane, reverse session and tenant TLS are separate connections (protocol §1.1.3)': async () => {
    const request = Buffer.from(`GET /sdk/domain HTTP/1.1\r\nHost: ${ROOT_HOST}\r\n\r\n`)
    // A session is no control plane: one that speaks before its marker is dropped without an answer.
    const speaking = await world.session(await world.lease())
    await speaking.write(request)
    expect(await speaking.read(1)).toHaveLength(0)
    // Nor is a visitor's connection, whatever is said on it: the session hears it, and the relay does not answer.
    const lease = await world.lease()
    const session = await world.session(lease)
    const { socket, hello } = await visitor(lease.hostname)
    socket.write(request)
    expect(await marker(session)).toBe(0x02)
    const heard = await session.read(BINDING_BYTES + hello.length + request.length)
    expect(heard.subarray(BINDING_BYTES + hello.length)).toEqual(request)
    expect(socket.bytesRead).toBe(0)
    socket.destroy()
  },
  '6 relay URLs use https (protocol §1.1.1)': async () => {
    expect(() => readSettings({ SVC_URL: 'http://relay.example' })).toThrow(/SVC_URL: must begin with https/)
    expect((await world.lease()).reverse_endpoint.url).toMatch(/^https:/)
  },
  '6 HTTP/2 is disabled on the API listener': async () => {
    const ALPNProtocols = ['h2', 'http/1.1']
    const socket = connectTls({
      host: '127.0.0.1',
      port: world.port,
      servername: ROOT_HOST,
      ca: world.ca,
      ALPNProtocols,
    })
    await once(socket, 'secureConnect')
    expect(socket.alpnProtocol).toBe('http/1.1')
    socket.destroy()
  },
  '7 JSON answers use the envelope (protocol §2.2.4)': async () => {
    expect((await world.call('GET', '/sdk/domain')).json).toEqual({ ok: true, data: expect.any(Object) })
    const { json } = await world.post('/sdk/renew', {})
    expect(json).toEqual({ ok: false, error: { code: expect.any(String), message: expect.any(String) } })
  },
})

everyRow('Network roles', {
  'control-plane HTTP: ordinary JSON': async () => {
    const answer = await world.call('GET', '/sdk/domain')
    expect(answer.headers['content-type']).toBe('application/json')
  },
  'reverse session: HTTP/1.1, hijacked into a raw session, idle until claimed': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    expect(await world.policyLease(lease)).toMatchObject({ ready: 1 })
    await visitor(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    expect(await world.policyLease(lease)).toMatchObject({ ready: 0 })
    session.abort()
  },
})

everyRow('Reverse session protocol', {
  '0x00 idle keepalive, repeatedly while the session waits (protocol §7.5.2)': async () => {
    const lease = await world.lease()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const session = await world.session(lease)
    for (let i = 0; i < 3; i++) {
      vi.advanceTimersByTime(KEEPALIVE_INTERVAL_MS)
      expect(await session.read(1)).toEqual(Buffer.of(0))
    }
    session.abort()
  },
  '0x01 raw TCP activation': async () => {
    const lease = await world.lease({ tcp_enabled: true })
    const session = await world.session(lease)
    const client = connect(Number(lease.tcp_addr?.split(':')[1]), '127.0.0.1')
    expect(await marker(session)).toBe(0x01)
    client.destroy()
  },
  '0x02 TLS activation and a 16-byte binding': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    const { hello } = await visitor(lease.hostname)
    expect(await marker(session)).toBe(0x02)
    const bytes = await session.read(BINDING_BYTES + hello.length)
    expect(bytes.subarray(BINDING_BYTES)).toEqual(hello)
    session.abort()
  },
  'acquiring a session writes no session-start frame (protocol §7.5.2)': async () => {
    const lease = await world.lease()
    const session = await world.session(lease)
    await visitor(lease.hostname)
    expect(await session.read(1)).toEqual(Buffer.of(0x02))
    session.abort()
  },
  'TCP port flow: a port, tcp_addr, 0x01, bytes both ways (protocol §9.3.1, §7.5.5)': async () => {
    const lease = await world.lease({ tcp_enabled: true })
    const session = await world.session(lease)
    const [host, port] = lease.tcp_addr?.split(':') ?? []
    expect(host).toBe('127.0.0.1')
    const client = connect(Number(port), '127.0.0.1')
    client.write('ping')
    expect(await marker(session)).toBe(0x01)
    expect((await session.read(4)).toString()).toBe('ping')
    await session.write(Buffer.from('pong'))
    expect((await socketReader(client)(4)).toString()).toBe('pong')
    client.destroy()
  },
  'browser carrier: one WebSocket, a capability on each stream, the same markers (protocol §7.2.3)':
    async () => {
      const lease = await world.lease()
      const { capability } = lease.reverse_endpoint
      const carrier = await openCarrier(world, capability)
      const { read } = await carrier.open(capability)
      expect(await read(1)).toEqual(Buffer.of(0x00))
      await visitor(lease.hostname)
      expect(await read(1)).toEqual(Buffer.of(0x02))
      const refused = await carrier.open('another')
      expect(await refused.read(1)).toEqual(Buffer.of(0x01))
      carrier.socket.terminate()
    },
})

everyRow('Routing and hostnames', {
  '1 exact match on a friendly or identity-bound hostname (protocol §9.1.2)': async () => {
    const lease = await world.lease()
    expect(await world.visit(lease.hostname)).toBe('let in')
    expect(await world.visit(lease.canonical_hostname)).toBe('let in')
    expect(await world.visit(`deeper.${lease.hostname}`)).toBe('turned away')
    expect(await world.visit(`nobody.${ROOT_HOST}`)).toBe('turned away')
  },
  // No lease asks for a wildcard yet: the table of routes itself.
  '2 single-label wildcard, not deeper labels (protocol §9.1.2)': () => {
    const routes = new RoutingTable<Route>('relay.example', ROOT_ROUTE)
    const route: Route = { to: 'lease', lease: {} as Lease }
    routes.publish('*.parent.example.com', route)
    expect(routes.resolve('foo.parent.example.com')).toBe(route)
    expect(routes.resolve('bar.foo.parent.example.com')).toBeUndefined()
  },
  '3 root-host fallback to the admin/API handler': async () =>
    expect(await world.call('GET', '/api/healthz')).toMatchObject({ status: 200 }),
  'the exact root host is never served by the wildcard (protocol §9.1.2)': () => {
    const routes = new RoutingTable<Route>('relay.example', ROOT_ROUTE)
    routes.publish('*.example', { to: 'lease', lease: {} as Lease })
    expect(routes.resolve('relay.example')).toEqual({ to: 'root' })
  },
  'hostnames derive from the host of SVC_URL; path and query are ignored': () => {
    const { rootHost, host } = readSettings({ SVC_URL: 'https://a.relay.example:4433/path?query' })
    expect({ rootHost, host }).toEqual({ rootHost: 'a.relay.example', host: 'a.relay.example:4433' })
  },
  'a friendly hostname <name>.<root host> (protocol §3.1.5)': async () => {
    const { identity, hostname } = await world.lease()
    expect(hostname).toBe(`${identity.name}.${ROOT_HOST}`)
  },
  'a canonical hostname <name>-<address>, always present (protocol §3.1.6)': async () => {
    const { identity, canonical_hostname } = await world.lease()
    expect(canonical_hostname).toBe(`${identity.name}-${identity.address.slice(2)}.${ROOT_HOST}`)
    expect(identity.address).toMatch(/^0x[0-9a-f]{40}$/)
  },
  'lease names normalize to one ASCII label of at most 22 characters (protocol §3.1.1)': async () => {
    expect((await world.register(' MiXed-Case ')).identity.name).toBe('mixed-case')
    for (const name of ['two.labels', '-dash', 'ümlaut', 'x'.repeat(23)])
      await expect(world.register(name)).rejects.toThrow(/invalid_request/)
  },
  'the identity is the pair of name and address (protocol §3.1.4)': async () => {
    const account = newAccount()
    const [one, other] = [await world.lease({ account }), await world.lease({ account })]
    expect(await world.policyLease(one)).toMatchObject({ address: account.address.toLowerCase() })
    expect(await world.policyLease(other)).toMatchObject({ address: account.address.toLowerCase() })
    // The same name with another address is another identity; the same pair is this one.
    const namesake = await world.register(one.identity.name, { allow_canonical_fallback: true })
    expect(namesake.canonical_hostname).not.toBe(one.canonical_hostname)
    expect(await world.policyLease(one)).toMatchObject({ hostname: one.hostname })
    const again = await world.register(one.identity.name, { account })
    expect(again.hostname).toBe(one.hostname)
  },
  'registration publishes at once; visitors wait for a session (protocol §4.4.2)': async () => {
    const lease = await world.lease()
    await visitor(lease.hostname)
    const session = await world.session(lease)
    expect(await marker(session)).toBe(0x02)
    session.abort()
  },
  'a friendly-name conflict never transfers or blocks the canonical origin (protocol §4.4.4)': async () => {
    const owner = await world.lease()
    const second = await world.register(owner.identity.name, { allow_canonical_fallback: true })
    expect(second.hostname).toBe('')
    expect(await world.visit(second.canonical_hostname)).toBe('let in')
    const session = await world.session(owner)
    await visitor(owner.hostname)
    expect(await marker(session)).toBe(0x02)
    session.abort()
  },
})

everyRow('State files', {
  'identity.json: a secp256k1 private key': async () => {
    const file = JSON.parse(await readFile(join(world.directory, 'identity.json'), 'utf8'))
    expect(file.private_key).toMatch(/^0x[0-9a-f]{64}$/)
  },
  'identity.json: a BIP-39 mnemonic with derivation path': async () => {
    const directory = await mkdtemp(join(tmpdir(), 'svc-ledger-'))
    const mnemonic = 'test test test test test test test test test test test junk'
    const path = "m/44'/60'/0'/0/7"
    await writeFile(join(directory, 'identity.json'), JSON.stringify({ mnemonic, derivation_path: path }), {
      mode: 0o600,
    })
    const { address } = await loadIdentity(directory)
    expect(address).toBe(mnemonicToAccount(mnemonic, { path }).address.toLowerCase())
  },
  'policy.json': async () => {
    const file = JSON.parse(await readFile(join(world.directory, 'policy.json'), 'utf8'))
    expect(file).toMatchObject({ approval_mode: 'auto', tcp_port_enabled: true, udp_enabled: true })
  },
  'localhost uses a development certificate': async () => {
    const chain = await world.call('GET', '/sdk/certificate-chain')
    expect(chain.headers['content-type']).toBe('application/x-pem-file')
    const leaf = new X509Certificate(chain.text)
    const ca = new X509Certificate(world.ca)
    expect(leaf.verify(ca.publicKey)).toBe(true)
    expect(leaf.checkHost(ROOT_HOST)).toBe(ROOT_HOST)
    expect(leaf.checkHost(`demo.${ROOT_HOST}`)).toBeDefined()
    expect(ca.ca).toBe(true)
  },
})
