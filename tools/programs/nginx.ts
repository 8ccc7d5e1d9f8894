// Starts Debian's nginx as one process, with a configuration of a test's.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endServer, isRunning, spawnServer } from './server-process.ts'

const START_TIMEOUT_MS = 60_000
const LOOK_MS = 50

/** @returns the program's path, which is not in the PATH of every user */
export function findNginx(): string | undefined {
  const programs = ['nginx', '/usr/sbin/nginx']
  return programs.find((program) => spawnSync(program, ['-v']).error === undefined)
}

export interface Nginx {
  stop(): Promise<void>
}

/**
 * Rejects where nginx cannot run: a test asks {@link findNginx} first, and is skipped.
 * @param port at which `configuration` listens
 * @param configuration what stands beside the block `events`
 */
export async function startNginx(port: number, configuration: string): Promise<Nginx> {
  const program = findNginx()
  if (program === undefined) throw new Error('nginx cannot be had: it needs apt (Debian nginx)')
  const directory = mkdtempSync(path.join(tmpdir(), 'svc-nginx-'))
  const config = path.join(directory, 'nginx.conf')
  const head = `daemon off;\nmaster_process off;\npid ${directory}/pid;\nerror_log stderr;\nevents {}\n`
  writeFileSync(config, head + configuration)
  const child = spawnServer(program, ['-p', directory, '-e', 'stderr', '-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    output = `${output}${bytes}`.slice(-10_000)
  })
  child.on('error', () => {})
  const stop = async (): Promise<void> => {
    await endServer(child)
    rmSync(directory, { recursive: true, force: true })
  }
  const until = performance.now() + START_TIMEOUT_MS
  while (!(await answers(port))) {
    if (isRunning(child) && performance.now() < until) await sleep(LOOK_MS)
    else {
      await stop()
      throw new Error(`nginx does not listen: ${output}`)
    }
  }
  return { stop }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const settle = (isOpen: boolean): void => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.on('connect', () => settle(true)).on('error', () => settle(false))
  })
}
