// Texts of the list of relays.

const number = (count: number): string => count.toLocaleString('en')

export const RELAYS = {
  title: 'Relays',
  lead: 'This relay found these relays through discovery. It checked that each one answers at its URL and signed what it says of itself. Discovery says nothing of whether a relay’s operator is honest.',
  count: (all: number): string => (all === 1 ? '1 relay' : `${number(all)} relays`),
  list: 'Relays',
  here: 'this relay',
  release: (release: string): string => `release ${release}`,
  noRelease: 'release not known',
  measuring: 'measuring …',
  answers: (ms: number): string => (ms < 1 ? 'less than 1 ms' : `${number(Math.round(ms))} ms`),
  answersTitle: 'Time from your browser to this relay and back, over a connection that is open',
  silent: 'does not answer',
  silentTitle: 'Your browser got no valid answer from this relay',
  unmeasured: 'not measured',
  unmeasuredTitle: 'Your browser could not start the measurement',
  again: 'Measure again',
  more: (count: number): string => (count === 1 ? 'Show 1 more' : `Show ${number(count)} more`),
  supports: 'Supports',
  features: { https: 'HTTPS', udp: 'UDP', tcp: 'TCP', overlay: 'overlay' },
  signedBy: 'Signed by',
  signedAt: 'Signed at',
  expires: 'Expires',
  incompatible: 'Incompatible relays',
  incompatibleAbout: 'They speak another version of the protocol. This relay does not pass them on.',
  version: (version: string, ago: string): string => `protocol ${version}, seen ${ago}`,
  off: 'This relay does not have discovery.',
} as const
