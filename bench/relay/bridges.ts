// Programs that join connections, each as its manual says: the relay's pipe, and the programs that it is measured beside.
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { V8_FLAGS } from '../../relay/src/core/config/v8-flags.ts'
import { findProgram } from '../node/peers.ts'
import type { Programs } from '../node/processes.ts'
import { onTestedCore } from './cores.ts'
import { type Forward, formatForward, type Kind } from './forward.ts'

interface Setup {
  /** The connections to join, all of kinds that the bridge has. */
  forwards: Forward[]
  /** PEM file with a certificate and its key. */
  identity: string
  /** The folder for configuration. */
  directory: string
}

export interface Bridge {
  name: string
  kinds: readonly Kind[]
  isInstalled(): boolean
  start(programs: Programs, setup: Setup): void
}

export const INSTALL_PEERS = 'BENCH_PEERS=FOLDER sh bench/relay/peers.sh'

const NGINX_STREAM = '/usr/lib/nginx/modules/ngx_stream_module.so'

export const OURS: Bridge = {
  name: 'ours',
  kinds: ['tcp', 'tls', 'carrier'],
  isInstalled: () => true,
  start: (programs, { forwards, identity }) => {
    const program = path.join(import.meta.dirname, 'bridge-process.ts')
    start(programs, process.execPath, [...V8_FLAGS, program, identity, ...forwards.map(formatForward)])
  },
}

const HAPROXY: Bridge = {
  name: 'haproxy',
  kinds: ['tcp', 'tls'],
  isInstalled: () => findProgram('haproxy') !== undefined,
  start: (programs, setup) => {
    const file = path.join(setup.directory, 'haproxy.cfg')
    writeFileSync(file, haproxyConfiguration(setup))
    start(programs, 'haproxy', ['-db', '-f', file])
  },
}

const NGINX: Bridge = {
  name: 'nginx',
  kinds: ['tcp'],
  isInstalled: () => findProgram('nginx') !== undefined && existsSync(NGINX_STREAM),
  start: (programs, setup) => {
    const file = path.join(setup.directory, 'nginx.conf')
    writeFileSync(file, nginxConfiguration(setup))
    start(programs, 'nginx', ['-p', setup.directory, '-e', 'stderr', '-c', file])
  },
}

const GO_SPLICE: Bridge = {
  name: 'Go',
  kinds: ['tcp', 'tls'],
  isInstalled: () => findProgram('svc-bench-splice') !== undefined,
  start: (programs, { forwards, identity }) =>
    start(programs, 'svc-bench-splice', [identity, ...forwards.map(formatForward)]),
}

const GO_CARRIER: Bridge = {
  name: 'Go, hashicorp/yamux',
  kinds: ['carrier'],
  isInstalled: () => findProgram('svc-bench-carrier') !== undefined,
  start: (programs, { forwards, identity }) =>
    start(programs, 'svc-bench-carrier', [identity, ...forwards.map(formatForward)]),
}

export const PEERS: readonly Bridge[] = [HAPROXY, NGINX, GO_SPLICE, GO_CARRIER]

function start(programs: Programs, name: string, args: readonly string[]): void {
  const program = path.isAbsolute(name) ? name : findProgram(name)!
  programs.start(...onTestedCore(program, args))
}

/** Every other setting has its default; timeouts have none, and HAProxy warns where they are missing. */
function haproxyConfiguration({ forwards, identity }: Setup): string {
  const head = ['global', 'nbthread 1', 'defaults', 'mode tcp']
  const timeouts = ['timeout connect 5s', 'timeout client 1m', 'timeout server 1m']
  const listeners = forwards.flatMap(({ kind, from, to }) => [
    `listen ${kind}-${from}`,
    `bind 127.0.0.1:${from}${kind === 'tls' ? ` ssl crt ${identity}` : ''}`,
    `server service 127.0.0.1:${to}`,
  ])
  return lines([...head, ...timeouts, ...listeners])
}

function nginxConfiguration({ forwards, directory }: Setup): string {
  const pid = path.join(directory, 'nginx.pid')
  const servers = forwards.map(
    ({ from, to }) => `server { listen 127.0.0.1:${from}; proxy_pass 127.0.0.1:${to}; }`,
  )
  return lines([
    `load_module ${NGINX_STREAM};`,
    `daemon off; master_process off; pid ${pid};`,
    'events { worker_connections 4096; }',
    'stream {',
    ...servers,
    '}',
  ])
}

function lines(texts: string[]): string {
  return texts.map((text) => `${text}\n`).join('')
}
