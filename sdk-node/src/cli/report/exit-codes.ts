// The exit codes of `svc`, which docs/guide/node.md lists for scripts.

export const EXIT = {
  /** Ended by Ctrl-C or SIGTERM, and taken off the relay; or nothing was to be run. */
  ok: 0,
  /** Something that this list does not foresee. */
  failed: 1,
  /** The command line, or a file that it names, is wrong. */
  usage: 2,
  /** No relay could be reached, or none is to be trusted; or no agent runs. */
  unreachable: 3,
  /** The relay refused: the name is taken, a port is not to be had, the identity or the address is banned. */
  refused: 4,
  /** The relay speaks another revision of the protocol, or does not keep to it. */
  incompatible: 5,
  /** The identity file is broken, open to others, or cannot be written. */
  identity: 6,
  /** It was online, and ended for good: another process took the name over, or the relay banned it. */
  ended: 7,
  /** `svc doctor`: a certificate that is seen from here is not what it should be. */
  differs: 8,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
