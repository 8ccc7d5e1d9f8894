// Starts pebble, the ACME server of Let's Encrypt for tests, with a real resolver beside it: a current one where `npm run interop
// -- acme` has built it, else Debian's.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCa, createLeaf } from '../../relay/src/core/certificates/development-ca.ts'
import { freePort } from '../network/free-port.ts'
import { root } from './command.ts'
import { findDebianPrograms } from './debian-packages.ts'
import { endServer, isRunning, spawnServer } from './server-process.ts'
import { findUnbound, startUnbound, type Unbound, type UnboundOptions } from './unbound.ts'

export interface AcmeServerOptions extends UnboundOptions {
  /** Port at which `tls-alpn-01` is validated: that of the relay's listener. */
  tlsPort: number
  /** Seconds for which certificates are valid. @default pebble's own, years */
  validityS?: number
  /** Percentage of good nonces that are rejected. @default 0 */
  nonceRejectPercent?: number
  /** Percentage of orders that reuse a valid authorization. @default 0 */
  authorizationReusePercent?: number
  /** Keys, base64url, by the identifiers of the only accounts to which ACME accounts may be bound. @default any account is taken */
  externalAccounts?: Readonly<Record<string, string>>
  /** Further variables of pebble, such as `PEBBLE_VA_ALWAYS_VALID`. */
  env?: Readonly<Record<string, string>>
}

export interface AcmeServer {
  directoryUrl: string
  /** File with the root of the directory's own certificate, for `ACME_CA`. */
  caFile: string
  /** The resolver that validates; its names can be changed. */
  resolver: Unbound
  /** The root of the certificates that are issued, PEM; another one after a {@link restart}. */
  root(): Promise<string>
  /** Kills pebble. The resolver stays. */
  kill(): Promise<void>
  /** Starts pebble again at the same port: it has forgotten accounts, orders and its CA. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** From the Go module proxy. */
export const CURRENT_PEBBLE = 'github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3'
/** The folder of the program that is built of it. */
export const CURRENT_PEBBLE_FOLDER: string = path.join(root, 'node_modules/.cache/pebble-2.10.3')

const HOST = 'localhost'
const START_TIMEOUT_MS = 60_000
const LOOK_MS = 20

/** @returns whether pebble is the current one, which refuses requests without `User-Agent` and has ARI */
export function hasCurrentPebble(): boolean {
  return existsSync(path.join(CURRENT_PEBBLE_FOLDER, 'pebble'))
}

/** @returns whether both programs are there, or could be downloaded */
export function hasAcmeServer(): boolean {
  return findPebble() !== undefined && findUnbound() !== undefined
}

/** Rejects where the programs cannot be had: a test asks {@link hasAcmeServer} first, and is skipped. */
export async function startAcmeServer(options: AcmeServerOptions): Promise<AcmeServer> {
  const program = findPebble()
  if (program === undefined) throw new Error('pebble cannot be had: it needs apt (Debian pebble)')
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-pebble-'))
  const [resolver, port, managementPort] = await Promise.all([startUnbound(options), freePort(), freePort()])
  const { ca, caFile, config } = writeFiles(directory, port, managementPort, options)
  const start = (): Promise<ChildProcess> =>
    startPebble([program, '-config', config, '-dnsserver', resolver.address], [port, managementPort], options)
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (child !== undefined) await endServer(child)
    child = undefined
  }
  const close = async (): Promise<void> => {
    await Promise.all([kill(), resolver.close()])
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    child = await start()
  } catch (error) {
    await close()
    throw error
  }
  return {
    directoryUrl: `https://${HOST}:${port}/dir`,
    caFile,
    resolver,
    root: () => get(`https://${HOST}:${managementPort}/roots/0`, ca),
    kill,
    restart: async () => {
      await kill()
      child = await start()
    },
    close,
  }
}

function findPebble(): string | undefined {
  if (hasCurrentPebble()) return path.join(CURRENT_PEBBLE_FOLDER, 'pebble')
  return findDebianPrograms('pebble', ['pebble'])?.pathOf('pebble')
}

function writeFiles(
  directory: string,
  port: number,
  managementPort: number,
  { tlsPort, validityS, externalAccounts }: AcmeServerOptions,
): { ca: string; caFile: string; config: string } {
  const authority = createCa(HOST)
  const leaf = createLeaf(authority, HOST, [HOST])
  const file = (name: string, content: string): string => {
    const at = path.join(directory, name)
    writeFileSync(at, content)
    return at
  }
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: file('certificate.pem', leaf.chain),
    privateKey: file('key.pem', leaf.key),
    // Nothing listens there: `http-01` is not used.
    httpPort: 1,
    tlsPort,
    ...(validityS !== undefined && { certificateValidityPeriod: validityS }),
    ...(externalAccounts && {
      externalAccountBindingRequired: true,
      externalAccountMACKeys: externalAccounts,
    }),
  }
  return {
    ca: authority.certificate,
    caFile: file('ca.pem', authority.certificate),
    config: file('config.json', JSON.stringify({ pebble })),
  }
}

async function startPebble(
  [command = '', ...args]: string[],
  ports: readonly number[],
  { nonceRejectPercent = 0, authorizationReusePercent = 0, env }: AcmeServerOptions,
): Promise<ChildProcess> {
  const child = spawnServer(command, args, {
    env: {
      ...process.env,
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: `${nonceRejectPercent}`,
      PEBBLE_AUTHZREUSE: `${authorizationReusePercent}`,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS)
  const isReady = await new Promise<boolean>((resolve) => {
    child.once('close', () => resolve(false))
    // The lines must be read until the end, else the program would wait for its reader.
    createInterface(child.stdout!).on('line', (line) => {
      if (line.includes('ACME directory available')) resolve(true)
    })
  })
  // It says so a moment before it listens.
  if (isReady) await Promise.all(ports.map((port) => untilListening(port, child)))
  clearTimeout(timer)
  if (!isReady || !isRunning(child)) throw new Error('pebble does not start')
  return child
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  while (isRunning(child)) {
    const socket = connect({ host: '127.0.0.1', port })
    try {
      await once(socket, 'connect')
      return
    } catch {
      await sleep(LOOK_MS)
    } finally {
      socket.destroy()
    }
  }
}

async function get(url: string, ca: string): Promise<string> {
  const [response] = await once(request(url, { ca, agent: false }).end(), 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}
