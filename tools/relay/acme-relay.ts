// A relay on a name of the Internet, as far as this machine is concerned: pebble, a real ACME server, gives it and its sites
// certificates, by either challenge. Its name and those below it lead to 127.0.0.1 for whoever is told so.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { writeNsupdateCommand } from '../../relay/test/support/nsupdate-command.ts'
import { freePort } from '../network/free-port.ts'
import { type Bind9, findBind9, startBind9 } from '../programs/bind9.ts'
import {
  type AcmeServer,
  type AcmeServerOptions,
  hasAcmeServer,
  startAcmeServer,
} from '../programs/pebble.ts'
import { BUDGETS_OF_MANY, type RelayProcess, startRelay, WITHOUT_OVERLOAD } from './process.ts'

export interface AcmeRelayOptions {
  /** With `dns-01` the relay has a wildcard certificate, and bind9 is its name server. */
  challenge: 'dns-01' | 'tls-alpn-01'
  env?: Record<string, string>
  /** With `dns-01`: orders of sites stop before their challenge until {@link AcmeRelay.releaseSites} is called. */
  holdsSites?: boolean
  acme?: Pick<AcmeServerOptions, 'env' | 'validityS'>
}

export interface AcmeRelay {
  url: string
  host: string
  port: number
  /** The state directory. */
  directory: string
  /** The root of the certificates that the ACME server issues: PEM, and a file with it. */
  ca: string
  caFile: string
  acme: AcmeServer
  /** Messages of the relay's log with their fields, of all its processes. */
  log: readonly Record<string, unknown>[]
  releaseSites(): Promise<void>
  /** Ends the process without a word. */
  kill(): Promise<void>
  /** Starts it again; resolves when it has a certificate. */
  start(): Promise<void>
  /** Ends everything, and removes its state. */
  close(): Promise<void>
}

export const ACME_HOST = 'relay.test'
/** It ends what hangs. */
const CERTIFICATE_TIMEOUT_MS = 120_000
const LOOK_MS = 50

/** @returns whether the programs are there, or could be downloaded */
export function hasAcmeRelay(): boolean {
  return hasAcmeServer() && findBind9() !== undefined
}

export async function startAcmeRelay(options: AcmeRelayOptions): Promise<AcmeRelay> {
  const { challenge, env = {}, holdsSites = false, acme: more } = options
  const [port, directory] = [await freePort(), await mkdtemp(path.join(tmpdir(), 'svc-acme-relay-'))]
  const bind9 = challenge === 'dns-01' ? await startBind9({ zone: ACME_HOST }) : undefined
  const acme = await startAcmeServer({ tlsPort: port, ...namesOf(bind9), ...more })
  const log: Record<string, unknown>[] = []
  const settings = {
    SVC_URL: `https://${ACME_HOST}:${port}`,
    IDENTITY_PATH: directory,
    ACME_AGREE: 'true',
    ACME_DIRECTORY: acme.directoryUrl,
    ACME_CA: acme.caFile,
    ACME_CHALLENGE: challenge,
    ...(bind9 && (await dnsSettings(bind9, directory, holdsSites))),
    ...BUDGETS_OF_MANY,
    ...env,
  }
  const onLog = (line: string): void => void log.push(JSON.parse(line))
  let relay: RelayProcess | undefined
  const ca = await acme.root()
  const caFile = path.join(directory, 'pebble.pem')
  await writeFile(caFile, ca)
  const start = async (): Promise<void> => {
    relay = await startRelay({ env: settings, onLog, execArgv: [...WITHOUT_OVERLOAD] })
    await waitForCertificate(port, ca)
  }
  const kill = async (): Promise<void> => {
    if (relay === undefined) return
    process.kill(relay.pid, 'SIGKILL')
    await relay.ended
  }
  const close = async (): Promise<void> => {
    await relay?.stop()
    await Promise.all([acme.close(), bind9?.close()])
    await rm(directory, { recursive: true })
  }
  try {
    await start()
  } catch (error) {
    await close()
    throw error
  }
  const releaseSites = (): Promise<void> => writeFile(gateIn(directory), '')
  const facts = { url: settings.SVC_URL, host: ACME_HOST, port, directory, ca, caFile, acme, log }
  return { ...facts, releaseSites, kill, start, close }
}

/** Where the ACME server looks names up. */
function namesOf(bind9: Bind9 | undefined): Pick<AcmeServerOptions, 'hosts' | 'zones'> {
  return bind9 ? { zones: { [ACME_HOST]: bind9.address.replace(':', '@') } } : { hosts: [ACME_HOST] }
}

async function dnsSettings(
  bind9: Bind9,
  directory: string,
  holdsSites: boolean,
): Promise<Record<string, string>> {
  const direct = await writeNsupdateCommand(directory, bind9)
  const command = holdsSites ? path.join(directory, 'dns-gate') : direct
  if (holdsSites) await writeFile(command, gate(direct, gateIn(directory)), { mode: 0o755 })
  return { ACME_DNS_PROVIDER: `exec:${command}`, ACME_DNS_SERVERS: bind9.address, PUBLIC_IPV4: '127.0.0.1' }
}

function gateIn(directory: string): string {
  return path.join(directory, 'sites-may-go')
}

/** A command that waits for a file before it proves a name below the relay's own. */
function gate(command: string, file: string): string {
  return `#!/bin/sh
case "$1 $2" in
  "add-txt _acme-challenge.${ACME_HOST}") ;;
  add-txt*) while [ ! -e '${file}' ]; do sleep 0.1; done ;;
esac
exec '${command}' "$@"
`
}

async function waitForCertificate(port: number, ca: string): Promise<void> {
  const until = performance.now() + CERTIFICATE_TIMEOUT_MS
  while (!(await isServed(port, ca))) {
    if (performance.now() > until) throw new Error('the relay gets no certificate')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

function isServed(port: number, ca: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, servername: ACME_HOST, ca })
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => resolve(false))
  }).finally(() => socket.destroy()) as Promise<boolean>
}
