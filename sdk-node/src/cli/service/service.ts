// The agent as a service of any system: its command line, its environment and its folders.

import { SvcError } from '@svc/sdk-core'

export interface Service {
  /** The program and its arguments; the program and all paths are absolute. */
  command: readonly [string, ...string[]]
  /** Variables of the environment that the agent needs. */
  environment: Readonly<Record<string, string>>
  /** Folders that the agent writes to besides its state directory: that of `svc.toml`. */
  writable: readonly string[]
  /** The account of a system service; undefined for a service of the installing user. */
  account: string | undefined
}

/** The name of the service for systemd and launchd. */
export const SERVICE_NAME = 'svc-agent'
export const DESCRIPTION = 'svc agent, which publishes the tunnels of svc.toml'
/** Seconds that a system waits for the agent to unregister its leases before it kills it. */
export const STOP_TIMEOUT_S = 20

/** Control characters, which units and XML 1.0 cannot express portably. */
const CONTROL = /\p{Cc}/u

/**
 * Refuses a service that some system cannot express.
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
