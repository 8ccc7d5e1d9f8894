// QUIC implementations that are not ours: how each is found, and a process of it as either end of a datagram tunnel.

import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Peer {
  name: string
  /** The command that installs it, when it is missing. */
  install: string
  /** @param fetches whether it may be fetched from a registry @returns undefined when it is not there */
  find(fetches: boolean): Promise<FoundPeer | undefined>
}

export interface FoundPeer {
  version: string
  command: string
  args: string[]
}

/** The folder for the peers: they are not in a checkout's lockfile, since only these tests need them. */
const CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/interop')
const DENO = 'deno@2.9.6'
/** A download of some 90 MB, in milliseconds. */
const FETCH_TIMEOUT_MS: number = 3 * 60_000
/** A build without a cache, in milliseconds. */
const BUILD_TIMEOUT_MS: number = 2 * 60_000
/** Milliseconds until a peer's next line. */
const LINE_TIMEOUT_MS: number = 15_000

/** Debian's quic-go needs Debian's Go: it builds with no later one. */
const GO = '/usr/lib/go-1.19/bin/go'
const GO_SOURCES = '/usr/share/gocode/src/github.com/lucas-clemente/quic-go'

const quicGo: Peer = {
  name: 'quic-go',
  install: 'apt-get install golang-1.19-go golang-github-lucas-clemente-quic-go-dev',
  find: async () => {
    if (!existsSync(GO) || !existsSync(GO_SOURCES)) return undefined
    const command = join(CACHE, 'quic-go-peer')
    await mkdir(CACHE, { recursive: true })
    const env = { ...process.env, GOPATH: '/usr/share/gocode', GO111MODULE: 'off', GOTOOLCHAIN: 'local' }
    const cwd = join(import.meta.dirname, 'go')
    await run(GO, ['build', '-o', command, '.'], { cwd, env, timeout: BUILD_TIMEOUT_MS })
    const asked = ['-W', '-f', `\${Version}`, 'golang-github-lucas-clemente-quic-go-dev']
    const { stdout: version } = await run('dpkg-query', asked)
    return { version, command, args: [] }
  },
}

const deno: Peer = {
  name: 'deno',
  install: `npm install --prefix node_modules/.cache/interop/deno ${DENO}`,
  find: async (fetches) => {
    const prefix = join(CACHE, 'deno')
    const own = join(prefix, 'node_modules/.bin/deno')
    if (fetches && !existsSync(own)) {
      await mkdir(prefix, { recursive: true })
      const args = ['install', '--prefix', prefix, '--no-audit', '--no-fund', DENO]
      await run('npm', args, { cwd: prefix, timeout: FETCH_TIMEOUT_MS }).catch(() => {})
    }
    const command = existsSync(own) ? own : 'deno'
    const { stdout } = await run(command, ['--version']).catch(() => ({ stdout: '' }))
    const version = /^deno (\S+)/.exec(stdout)?.[1]
    const allowed = ['--unstable-net', '--allow-net', '--allow-read', '--no-config', '--quiet']
    const args = ['run', ...allowed, join(import.meta.dirname, 'deno.mjs')]
    return version === undefined ? undefined : { version, command, args }
  },
}

export const PEERS: readonly Peer[] = [quicGo, deno]

/** One end of a datagram tunnel, as go/peer.go says. */
export class PeerProcess {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #complaints = ''

  constructor({ command, args }: FoundPeer, role: string[]) {
    this.#child = spawn(command, [...args, ...role])
    this.#child.stderr.on('data', (text) => (this.#complaints += text))
    this.#child.stdin.on('error', () => {})
    this.#child.on('error', (error) => (this.#complaints += error.message))
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]()
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** @returns the text behind `word` on the next line that has it */
  async hears(word: string): Promise<string> {
    const deadline = setTimeout(() => this.close(), LINE_TIMEOUT_MS)
    const { value = '(nothing)' } = await this.#lines.next()
    clearTimeout(deadline)
    if (!value.startsWith(`${word} `)) throw new Error(`not ${word}, but ${value} ${this.#complaints}`)
    return value.slice(word.length + 1)
  }

  close(): void {
    this.#child.kill('SIGKILL')
  }
}
