// Texts of the list of relays.

const number = (count: number): string => count.toLocaleString('en')

export const RELAYS = {
  title: 'Relays',
  lead: 'This relay found these relays through discovery. It checked that each one answers at its URL and signed its own description. Discovery does not show whether a relay’s operator is honest.',
  count: (all: number): string => (all === 1 ? '1 relay' : `${number(all)} relays`),
  list: 'Relays',
  here: 'this relay',
  release: (release: string): string => `release ${release}`,
  noRelease: 'unknown release',
  measuring: 'measuring …',
  answers: (ms: number): string => (ms < 1 ? 'less than 1 ms' : `${number(Math.round(ms))} ms`),
  answersTitle: 'Round trip from your browser to this relay, over an open connection',
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
  incompatibleAbout: 'They speak another version of the protocol. This relay does not list them for others.',
  version: (version: string, ago: string): string => `protocol ${version}, seen ${ago}`,
  off: 'This relay does not have discovery.',
} as const
