// Machines of one relay, as processes behind haproxy, that get their certificates from pebble.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../tools/network/free-port.ts'
import { findHaproxy, type Haproxy, startHaproxy } from '../../../tools/programs/haproxy.ts'
import { type AcmeServer, hasAcmeServer, startAcmeServer } from '../../../tools/programs/pebble.ts'
import { type Redis, startRedis } from '../../../tools/programs/redis.ts'
import { findRedis } from '../../../tools/programs/services.ts'
import { type DirectCall, directCall } from '../../../tools/relay/direct-client.ts'
import { type Machine, startMachine } from '../../../tools/relay/machine.ts'
import { ACME_HOST } from '../certificates/acme/acme-relay.ts'

/** Passes connections on, once it may. */
interface Gate {
  readonly port: number
  /** Connections that come now wait. */
  hold(): void
  release(): void
  close(): void
}

export interface AcmeMachines {
  readonly machines: readonly Machine[]
  readonly redis: Redis
  readonly balancer: Haproxy
  readonly acme: AcmeServer
  /** The root of the certificates, PEM. */
  readonly ca: string
  /** The way from the machines to the authority's directory, and from the authority to one machine after the other. */
  readonly directory: Gate
  readonly validation: Gate
  /** Asks a machine past the balancer. */
  caller(machine: Machine): DirectCall
  close(): Promise<void>
}

/** @returns the reason for which they cannot be had here */
export function whyNoAcmeMachines(): string | undefined {
  if (!hasAcmeServer()) return 'there is no pebble'
  if (findRedis() === undefined) return 'there is no redis-server'
  return findHaproxy() === undefined ? 'there is no haproxy' : undefined
}

interface AcmeMachinesOptions {
  count: number
  /** Of certificates, in seconds. */
  validityS: number
  /** Settings of a machine. */
  env?: (index: number) => Record<string, string>
  /** Servers of zones, each as `ADDRESS@PORT`, where the machines do not prove names at their listeners. */
  zones?: Readonly<Record<string, string>>
}

/** The authority's directory does not answer before it is released. */
export async function startAcmeMachines({
  count,
  validityS,
  env: more = () => ({}),
  zones,
}: AcmeMachinesOptions): Promise<AcmeMachines> {
  const machines: Machine[] = []
  let turn = 0
  // As a load balancer does, it leaves out those that do not run.
  const next = (): number => {
    const running = machines.filter(({ pid }) => pid !== undefined)
    return running[turn++ % running.length]!.port
  }
  const validation = await openGate(next)
  const names = zones === undefined ? { hosts: [ACME_HOST] } : { zones }
  const acme = await startAcmeServer({ tlsPort: validation.port, validityS, ...names })
  const directory = await openGate(() => Number(new URL(acme.directoryUrl).port))
  directory.hold()
  const [redis, folder] = [await startRedis(), await mkdtemp(join(tmpdir(), 'svc-acme-machines-'))]
  const url = `https://${ACME_HOST}:${await freePort()}`
  const shared = { url, secret: randomBytes(32).toString('hex'), redis, directory: folder, process: {} }
  const directoryUrl = new URL(acme.directoryUrl)
  directoryUrl.port = `${directory.port}`
  const env = {
    ACME_AGREE: 'true',
    ACME_DIRECTORY: directoryUrl.href,
    ACME_CA: acme.caFile,
    ACME_CHALLENGE: 'tls-alpn-01',
  }
  let balancer: Haproxy | undefined
  const close = async (): Promise<void> => {
    for (const gate of [validation, directory]) gate.close()
    await Promise.all(machines.map((machine) => machine.stop()))
    await Promise.all([balancer?.stop(), acme.close(), redis.stop()])
    await rm(folder, { recursive: true })
  }
  try {
    for (let index = 0; index < count; index++)
      machines.push(await startMachine(index, shared, { ...env, ...more(index) }, false))
    balancer = await startHaproxy({ port: Number(new URL(url).port), backends: machines, host: ACME_HOST })
  } catch (error) {
    await close()
    throw error
  }
  const ca = await acme.root()
  const caller = ({ port }: Machine): DirectCall => directCall(port, url, ca)
  return { machines, redis, balancer, acme, ca, directory, validation, caller, close }
}

async function openGate(target: () => number): Promise<Gate> {
  let mayPass = Promise.withResolvers<void>()
  mayPass.resolve()
  const sockets = new Set<Socket>()
  const server = createServer(async (near) => {
    sockets.add(near.on('error', () => {}))
    await mayPass.promise
    const far = connect(target(), '127.0.0.1').on('error', () => near.destroy())
    sockets.add(far)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    hold: () => {
      mayPass = Promise.withResolvers<void>()
    },
    release: () => mayPass.resolve(),
    close: () => {
      server.close()
      mayPass.resolve()
      for (const socket of sockets) socket.destroy()
    },
  }
}
