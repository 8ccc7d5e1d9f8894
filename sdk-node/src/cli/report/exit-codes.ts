// The exit codes of `svc`, which docs/guide/svc.md lists for scripts.

export const EXIT = {
  /** Ended by Ctrl-C or SIGTERM and unregistered; or there was nothing to run. */
  ok: 0,
  /** Another error. */
  failed: 1,
  /** The command line, or a file that it names, is wrong. */
  usage: 2,
  /** No relay could be reached, or none is trusted; or no agent is running. */
  unreachable: 3,
  /** The relay refused: the name is taken, no port is available, or the identity or the address is banned. */
  refused: 4,
  /** The relay speaks another revision of the protocol, or violates it. */
  incompatible: 5,
  /** The identity file is invalid, open to others, or cannot be written. */
  identity: 6,
  /** The site was online and ended for good: another process took over the name, or the relay banned it. */
  ended: 7,
  /** `svc doctor` saw an unexpected certificate, or `svc domain check` a record that is not as it has to be. */
  differs: 8,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
