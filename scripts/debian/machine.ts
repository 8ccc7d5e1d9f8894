// A Debian system that runs in namespaces of its own, without a network: systemd or one program is its process 1.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { type RunOptions, run } from './run.ts'

export interface Machine {
  /** Runs a shell script as root inside. @returns its standard output */
  sh(script: string, options?: RunOptions): Promise<string>
  /** Runs it until it succeeds. @throws Error of the last attempt */
  eventually(script: string): Promise<string>
  /** Resolves with what the machine has printed once it has ended. */
  end(): Promise<string>
}

const BOOT_TIMEOUT_MS = 60_000
const EVENTUALLY_MS = 30_000
const LOOK_MS = 500
/** systemd ends in an orderly way on SIGRTMIN+4 (systemd(1)). */
const POWER_OFF = 'RTMIN+4'
const END_TIMEOUT_MS = 20_000

/** Boots the system in a directory. Resolves when systemd has started everything. */
export async function boot(directory: string): Promise<Machine> {
  const machine = await start(directory, ['--boot', '--private-network'])
  try {
    await machine.eventually('systemctl is-system-running --wait')
    return machine
  } catch (error) {
    await machine.end()
    throw error
  }
}

/** @param options of systemd-nspawn, and the program when there is no --boot */
export async function start(directory: string, options: string[]): Promise<Machine> {
  const fixed = ['--register=no', '--keep-unit', '--console=pipe', `--machine=svc-${process.pid}`]
  const child = spawn('systemd-nspawn', [...fixed, `--directory=${directory}`, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (printed += text))
  const killAtExit = (): void => void child.kill('SIGKILL')
  process.once('exit', killAtExit)
  const ended = once(child, 'exit').then(() => void process.off('exit', killAtExit))
  const leader = await leaderOf(child).catch(async (error: Error) => {
    child.kill('SIGKILL')
    await ended
    throw new Error(`${error.message}\n${printed}`)
  })
  const sh: Machine['sh'] = (script, settings) =>
    run(
      ['nsenter', `--target=${leader}`, '-m', '-u', '-i', '-n', '-p', '--', '/bin/sh', '-ec', script],
      settings,
    )
  return {
    sh,
    eventually: async (script) => {
      const until = Date.now() + EVENTUALLY_MS
      for (;;) {
        try {
          return await sh(script)
        } catch (error) {
          if (Date.now() > until) throw error
          await setTimeout(LOOK_MS)
        }
      }
    },
    end: async () => {
      await run(['kill', '-s', options.includes('--boot') ? POWER_OFF : 'TERM', leader]).catch(() => {})
      const timer = new AbortController()
      const late = setTimeout(END_TIMEOUT_MS, undefined, { signal: timer.signal }).then(
        () => child.kill('SIGKILL'),
        () => {},
      )
      await Promise.race([ended, late])
      await ended
      timer.abort()
      return printed
    },
  }
}

/** The process that is number 1 inside, as the kernel tells the parent. */
async function leaderOf(child: ChildProcess): Promise<string> {
  const children = `/proc/${child.pid}/task/${child.pid}/children`
  const until = Date.now() + BOOT_TIMEOUT_MS
  while (Date.now() < until && child.exitCode === null) {
    for (const pid of (await readFile(children, 'utf8').catch(() => '')).split(' ').filter(Boolean))
      if (await isFirst(pid)) return pid
    await setTimeout(LOOK_MS)
  }
  throw new Error('systemd-nspawn starts no system here')
}

async function isFirst(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return /^NSpid:.*\s1$/m.test(status)
}
