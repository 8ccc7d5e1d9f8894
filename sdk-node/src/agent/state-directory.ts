// The state directory of the agent: its log, its endpoint and the identities of its tunnels. Other users must not read it.

import { mkdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AgentError } from './errors.ts'

const PRIVATE = 0o700
/** The permission bits of group and others. */
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

  /** @returns the path of a tunnel's identity; names are lower case */
  identity(name: string | undefined): string {
    if (name === undefined) return join(this.path, 'identity.json')
    return join(this.path, 'identities', `${encodeURIComponent(name.toLowerCase())}.json`)
  }

  /**
   * Creates the directory if needed.
   * @throws AgentError `state_unusable` when it cannot be created, belongs to another user, or is open to others
   */
  async open(): Promise<void> {
    const found = await mkdir(this.path, { recursive: true, mode: PRIVATE })
      .then(() => stat(this.path))
      .catch((cause) => {
        throw new AgentError('state_unusable', `${this.path} cannot be the state directory`, cause)
      })
    // Windows uses access control lists, which a user's own directories inherit.
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

/** @returns the state directory: systemd's `STATE_DIRECTORY`, otherwise by the XDG Base Directory Specification */
export function stateDirectoryOf(env: NodeJS.ProcessEnv): string {
  const ofService = env.STATE_DIRECTORY?.split(':')[0]
  return ofService || join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'svc', 'agent')
}
