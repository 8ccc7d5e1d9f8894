// The agent as a service, whatever system runs it: its command line, its environment and its folders.

import { SvcError } from '@svc/sdk-core'

export interface Service {
  /** The program and its arguments; the program and all paths are absolute. */
  command: readonly [string, ...string[]]
  /** Variables of the environment that the agent needs. */
  environment: Readonly<Record<string, string>>
  /** Folders that the agent writes to, beside its state directory: that of `svc.toml`. */
  writable: readonly string[]
  /** The account under which a service of the system runs; undefined for a service of the user who installs it. */
  account: string | undefined
}

/** The name of the service for systemd and launchd. */
export const SERVICE_NAME = 'svc-agent'
export const DESCRIPTION = 'svc agent, which publishes the tunnels of svc.toml'
/** Seconds for which a system lets the agent unregister its leases before it kills it. */
export const STOP_TIMEOUT_S = 20

/** Characters that neither a line of a unit nor XML 1.0 can hold in any notation that all systems read. */
const CONTROL = /\p{Cc}/u

/**
 * Refuses a service that would not be the same in every notation.
 * @throws SvcError `invalid_option` for a control character in a path or a value
 */
export function requireWritable({ command, environment, writable, account = '' }: Service): void {
  for (const text of [...command, ...Object.values(environment), ...writable, account])
    if (CONTROL.test(text) || !text.isWellFormed())
      throw new SvcError(
        'invalid_option',
        `a service cannot be installed with ${JSON.stringify(text)}: it has a control character`,
      )
}
