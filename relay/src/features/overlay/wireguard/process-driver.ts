// The drivers for WireGuard in user space: a separate process has the interface, which disappears with it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants, open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasProgram, programEnv, runCommand } from './command.ts'
import type { OverlayDriver, OverlayLink } from './driver.ts'
import { removeInterface } from './kernel-driver.ts'
import { COMMAND_ERROR_MAX_CHARS, DEVICE_DEADLINE_MS, DEVICE_LOOK_MS } from './limits.ts'

const TUN_DEVICE = '/dev/net/tun'
/** Characters that are kept of a process's last output. */
const LAST_WORDS_MAX_CHARS = 1000
/** The folder in which WireGuard processes have their control sockets (the cross-platform interface of wireguard.com). */
const SOCKETS = '/var/run/wireguard'

export const processDrivers: readonly OverlayDriver[] = [
  processDriver('wireguard-go', (name) => ['--foreground', name]),
  // Without an account of its own, it could not make an interface after dropping root's privileges.
  processDriver('boringtun-cli', (name) => ['--foreground', '--disable-drop-privileges', name]),
]

function processDriver(program: string, argsFor: (interfaceName: string) => string[]): OverlayDriver {
  return {
    name: program,
    isAvailable: async () => (await hasProgram(program)) && (await isThere(TUN_DEVICE)),
    obstacle,
    async open(interfaceName) {
      // A process that outlived its relay ends with its interface.
      await removeInterface(interfaceName)
      const { child, lastWords } = await start(program, argsFor(interfaceName))
      const link = linkOf(child, interfaceName)
      try {
        await waitForInterface(interfaceName, child, lastWords)
        return link
      } catch (error) {
        await link.close()
        throw error
      }
    },
  }
}

/** Starts the process. If the machine has `setpriv`, the kernel kills it however this process ends. */
async function start(
  program: string,
  args: string[],
): Promise<{ child: ChildProcess; lastWords: () => string }> {
  const command = [program, ...args]
  if (await hasProgram('setpriv')) command.unshift('setpriv', '--pdeathsig', 'SIGKILL', '--')
  const env = { ...programEnv(), LOG_LEVEL: 'error', WG_LOG_LEVEL: 'error' }
  const child = spawn(command[0]!, command.slice(1), { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
  child.on('error', () => {})
  // `once` throws when the process could not be started.
  await once(child, 'spawn')
  return { child, lastWords: lastWordsOf(child) }
}

/**
 * Keeps a little of its output. wireguard-go writes the cause of its exit to standard output, and advice to standard
 * error.
 */
function lastWordsOf({ stdout, stderr }: ChildProcess): () => string {
  const lasts = [stdout, stderr].map((stream) => {
    let text = ''
    // A stream that nobody reads would block the process.
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = `${text}${chunk}`.slice(-LAST_WORDS_MAX_CHARS)
    })
    return () => text.trimEnd().split('\n').at(-1) ?? ''
  })
  return () => lasts.map((last) => last()).find((line) => line !== '') ?? ''
}

function linkOf(child: ChildProcess, interfaceName: string): OverlayLink {
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  return {
    ended,
    close: async () => {
      // The process removes its interface and control socket at SIGTERM.
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), DEVICE_DEADLINE_MS)
      await ended
      clearTimeout(late)
      // A killed process leaves its socket.
      await rm(`${SOCKETS}/${interfaceName}.sock`, { force: true }).catch(() => {})
    },
  }
}

async function waitForInterface(
  interfaceName: string,
  child: ChildProcess,
  lastWords: () => string,
): Promise<void> {
  const until = performance.now() + DEVICE_DEADLINE_MS
  for (;;) {
    // `wg` needs the control socket, which appears after the interface.
    const isReady = await runCommand('wg', ['show', interfaceName, 'public-key']).then(
      () => true,
      () => false,
    )
    if (isReady) return
    if (child.exitCode !== null || child.signalCode !== null) {
      const end = `it ended with ${child.signalCode ?? `exit code ${child.exitCode}`}`
      // It has no peers yet, so its output cannot reveal their addresses.
      throw new Error(`${end}: ${lastWords()}`.slice(0, COMMAND_ERROR_MAX_CHARS))
    }
    if (performance.now() > until) throw new Error('it made no interface in time')
    await sleep(DEVICE_LOOK_MS)
  }
}

/** Checks what a process needs apart from privileges: the TUN device, and a folder for its control socket. */
async function obstacle(): Promise<string | undefined> {
  try {
    await (await open(TUN_DEVICE, 'r+')).close()
  } catch (error) {
    return `${TUN_DEVICE} cannot be opened: ${(error as NodeJS.ErrnoException).code}`
  }
  const folder = (await isThere(SOCKETS)) ? SOCKETS : dirname(SOCKETS)
  return await access(folder, constants.W_OK).then(
    () => undefined,
    () => `it cannot have its control socket in ${SOCKETS}`,
  )
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
