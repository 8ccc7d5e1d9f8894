// Programs on the hosts of a test network, which end together.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { NetworkHost, TestNetwork } from '../../../tools/network/namespaces.ts'

export class HostProcesses {
  readonly #children: ChildProcess[] = []

  /** @param stderr 'pipe' where the caller reads it. @default that of this process */
  start(
    { env }: Pick<TestNetwork, 'env'>,
    { through }: Pick<NetworkHost, 'through'>,
    command: readonly string[],
    stderr: 'pipe' | 'inherit' = 'inherit',
  ): ChildProcess {
    const [program = '', ...args] = [...through, ...command]
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', stderr],
    })
    this.#children.push(child)
    return child
  }

  /** Resolves when one has ended. */
  async stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }

  /** Resolves when all have ended. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#children.map((child) => this.stop(child)))
  }
}
