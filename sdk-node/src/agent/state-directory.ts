// The state directory of the agent: its log, its endpoint and the identities of its tunnels. No other user may look into it.

import { mkdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AgentError } from './errors.ts'

const PRIVATE = 0o700
/** Any access of group and others. */
const OTHERS = 0o077

/** The state directory and the paths in it. */
export class StateDirectory {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  get endpoint(): string {
    return join(this.path, 'agent-endpoint.json')
  }

  get log(): string {
    return join(this.path, 'agent.log')
  }

  /** @returns the identity's file of a tunnel; names differ in no letter's case */
  identity(name: string | undefined): string {
    if (name === undefined) return join(this.path, 'identity.json')
    return join(this.path, 'identities', `${encodeURIComponent(name.toLowerCase())}.json`)
  }

  /**
   * Creates the directory if it is not there.
   * @throws AgentError `state_unusable` when it cannot be made, belongs to somebody else, or is open to others
   */
  async open(): Promise<void> {
    const found = await mkdir(this.path, { recursive: true, mode: PRIVATE })
      .then(() => stat(this.path))
      .catch((cause) => {
        throw new AgentError('state_unusable', `${this.path} cannot be the state directory`, cause)
      })
    // Windows protects directories by access lists, which a user's own directories inherit
    if (process.getuid === undefined) return
    if (found.uid !== process.getuid())
      throw new AgentError('state_unusable', `the state directory ${this.path} belongs to another user`)
    if ((found.mode & OTHERS) !== 0)
      throw new AgentError(
        'state_unusable',
        `the state directory ${this.path} is open to others: run chmod 700 on it`,
      )
  }
}

/** @returns the state directory that the XDG Base Directory Specification says; systemd's `STATE_DIRECTORY` comes first */
export function stateDirectoryOf(env: NodeJS.ProcessEnv): string {
  const ofService = env.STATE_DIRECTORY?.split(':')[0]
  return ofService || join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'svc', 'agent')
}
