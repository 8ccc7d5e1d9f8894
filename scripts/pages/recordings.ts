// Records `svc` in a real terminal at real relays, as SVG for the README and the guide: `node scripts/pages/recordings.ts`, after a
// change of what it prints. Times, sizes and addresses get fixed values, so that a file changes only with the program. It needs tmux
// and openssl.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startConnectProxy } from '../../tools/network/connect-proxy.ts'
import { freePort } from '../../tools/network/free-port.ts'
import { root } from '../../tools/programs/command.ts'
import { curl } from '../../tools/programs/curl.ts'
import { startRelay } from '../../tools/relay/process.ts'
import { startPublicRelay } from './public-relay.ts'
import { openTerminal, type Terminal } from './terminal.ts'
import { drawRecording, type Frame } from './terminal-svg.ts'

/** Of the identity: the canonical hostname is the same in each run. */
const PRIVATE_KEY = '11'.repeat(32)
const TYPED_CHARACTERS = 5
const TYPED_MS = 110
const READ_MS = 1600
const LAST_MS = 4500
/** Where visitors come from, in turn. */
const VISITORS = ['198.51.100.0/24', '203.0.113.0/24'] as const
/** The scenes: their text alternatives, and the size of the terminal. The live view shows a QR code where it has room for one. */
const SCENES = {
  expose: {
    title:
      'svc expose 3000 --name demo: the terminal shows a QR code, the URL https://demo.relay.example, and each request as it comes.',
    size: { columns: 66, rows: 26 },
  },
  serve: {
    title:
      'svc serve ./photos --listing: a folder is online, and the terminal shows each request for a file.',
    size: { columns: 66, rows: 14 },
  },
  doctor: {
    title: "svc doctor --name demo: both hostnames of the site show the site's own certificate.",
    size: { columns: 80, rows: 12 },
  },
} as const

const directory = mkdtempSync(path.join(tmpdir(), 'svc-recordings-'))
try {
  prepare()
  await recordSites()
  await recordDoctor()
} finally {
  rmSync(directory, { recursive: true })
}

/** A home with an identity, the command in PATH, and a folder to share. */
function prepare(): void {
  for (const name of ['bin', '.config/svc', 'photos', 'localhost'])
    mkdirSync(path.join(directory, name), { recursive: true })
  const main = path.join(root, 'sdk-node/src/cli/main.ts')
  const program = `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`
  writeFileSync(path.join(directory, 'bin/svc'), program, { mode: 0o755 })
  const identity = JSON.stringify({ private_key: PRIVATE_KEY })
  writeFileSync(path.join(directory, '.config/svc/identity.json'), identity, { mode: 0o600 })
  for (const name of ['beach.jpg', 'cat.jpg']) writeFileSync(path.join(directory, 'photos', name), name)
}

/** `svc expose` and `svc serve` at a relay with a public name: it is where a proxy leads to. */
async function recordSites(): Promise<void> {
  const { url, host, port, caFile, relay } = await startPublicRelay(path.join(directory, 'relay'))
  const proxy = await startConnectProxy(port)
  const service = createServer((_, response) => void response.end('hello\n')).listen(3000)
  const home = { ...homeOf(caFile, url), HTTPS_PROXY: proxy.url }
  const visit = async (url: string): Promise<void> =>
    void (await curl(caFile, '--output', '/dev/null', '--proxy', proxy.url, url))
  await record('expose', home, async (terminal, take) => {
    await typeIn(terminal, take, 'svc expose 3000 --name demo')
    await terminal.shows('online')
    take(READ_MS)
    await visit(`https://demo.${host}/`)
    await terminal.shows('GET /')
    take(READ_MS / 2)
    await visit(`https://demo.${host}/orders?id=7`)
    await terminal.shows('GET /orders')
    take(LAST_MS)
  })
  await record('serve', home, async (terminal, take) => {
    await typeIn(terminal, take, 'svc serve ./photos --listing --name photos')
    await terminal.shows('online')
    await visit(`https://photos.${host}/`)
    await visit(`https://photos.${host}/cat.jpg`)
    await terminal.shows('GET /cat')
    take(LAST_MS)
  })
  service.close()
  proxy.close()
  await relay.stop()
}

/** `svc doctor` at a relay that gives each site a certificate of its own. */
async function recordDoctor(): Promise<void> {
  const port = await freePort()
  const state = path.join(directory, 'localhost')
  const url = `https://relay.localhost:${port}`
  const relay = await startRelay({ env: { SVC_URL: url, IDENTITY_PATH: state } })
  const home = homeOf(`${state}/ca.pem`, url)
  const other = await openTerminal({ ...SCENES.serve.size, env: home, cwd: directory })
  other.type('svc serve ./photos --name demo')
  other.enter()
  await other.shows('online')
  await record('doctor', home, async (terminal, take) => {
    await typeIn(terminal, take, 'svc doctor --name demo')
    await terminal.shows('$', 2)
    take(LAST_MS)
  })
  other.close()
  await relay.stop()
}

function homeOf(ca: string, relay: string): Record<string, string> {
  return {
    HOME: directory,
    PATH: `${path.join(directory, 'bin')}:${process.env.PATH}`,
    NODE_EXTRA_CA_CERTS: ca,
    SVC_URL: relay,
  }
}

type Take = (ms: number) => void

async function typeIn(terminal: Terminal, take: Take, command: string): Promise<void> {
  take(READ_MS / 2)
  for (let at = 0; at < command.length; at += TYPED_CHARACTERS) {
    terminal.type(command.slice(at, at + TYPED_CHARACTERS))
    await terminal.shows(command.slice(0, at + TYPED_CHARACTERS).trimEnd())
    take(TYPED_MS)
  }
  terminal.enter()
}

/** Runs a scene in a new terminal and writes its file. */
async function record(
  name: keyof typeof SCENES,
  env: Record<string, string>,
  scene: (terminal: Terminal, take: Take) => Promise<void>,
): Promise<void> {
  const { title, size } = SCENES[name]
  const terminal = await openTerminal({ ...size, env, cwd: directory })
  const frames: Frame[] = []
  await scene(terminal, (ms) => void frames.push({ lines: masked(terminal.screen()), ms }))
  terminal.key('C-c')
  await terminal.shows('$')
  terminal.close()
  const svg = drawRecording(frames, { title, columns: size.columns })
  writeFileSync(path.join(root, `docs/pictures/svc-${name}.svg`), svg)
  console.log(`docs/pictures/svc-${name}.svg: ${frames.length} frames, ${svg.length} bytes`)
}

/** Fixed values for what differs from run to run. */
function masked(lines: readonly string[]): string[] {
  let visits = 0
  return lines.map((line) => {
    if (/^\d{3} +\d+ ms/.test(line)) {
      const address = VISITORS[visits % VISITORS.length]
      visits += 1
      return line.replace(/^(\d{3}) +\d+ ms {2}\S+/, `$1    ${visits + 2} ms  ${address}`)
    }
    return line
      .replace(/online {2}.*/, 'online  12 ms  1 connection  4.2 kB in  6.8 kB out')
      .replace(/relay\.localhost:\d+/, 'relay.localhost:4433')
      .replace(/\b[0-9A-F]{32}\b/, '4C1F8E0A92D64B37A5E0C9D183B6F254')
      .replace(/\d{4}-\d\d-\d\d/, '2026-03-01')
  })
}
