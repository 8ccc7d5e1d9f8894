// The texts of the page, except those that it shares with the relay's pages.

import { formatAgo } from '@svc/relay-web/common/format.ts'
import { SITE_STATES } from '@svc/relay-web/texts/site-states.ts'
import type { AgentShare } from '../../../src/agent/api-messages.ts'

const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

export const APP = {
  name: 'svc agent',
  command: 'svc',
  pages: 'Pages',
  tunnels: 'Tunnels',
  requests: 'Requests',
  signOut: 'Sign out',
  readOnly: 'read only',
  loading: 'Loading …',
  gone: 'The agent does not answer. Start it with svc agent run; this page tries again.',
  goneWithData: 'The agent does not answer. This page shows older data and tries again.',
  titleOf: (online: number, all: number): string => `${online} of ${all} online · svc agent`,
} as const

export const SIGN_IN = {
  title: 'Sign in',
  about: 'This page belongs to the svc agent that runs on this machine.',
  byCommand: 'From a terminal',
  aboutCommand:
    'This command prints a link that opens this page once, within a minute. Then you can change tunnels, relays and settings.',
  command: 'svc agent open',
  copyCommand: 'Copy the command',
  byWallet: 'With a wallet, to look only',
  aboutWallet:
    'Your wallet signs a message that says where you sign in. It pays nothing. Then you can see the tunnels, but change nothing.',
  noWallet: 'No wallet was found in this browser.',
  with: (wallet: string): string => `Sign in with ${wallet}`,
  askWallet: (wallet: string): string => `${wallet} asks you to sign.`,
  declined: 'You declined in your wallet. Nothing was signed.',
  notAllowed: 'The agent does not accept this wallet: its owner can add it to allowed_wallets.',
  failed: (why: string): string => `That did not work: ${why}.`,
  over: 'The sign-in has expired, or the agent was restarted. Sign in again.',
  usedTicket: 'This link was already used, or is older than a minute. Run svc agent open again.',
  unreachable: 'The agent does not answer. Start it with svc agent run, then reload this page.',
} as const

/** The sign-in at the page of a command. */
export const COMMAND_SIGN_IN = {
  about: 'This page shows the requests of an svc command that runs on this machine.',
  how: 'Press i in its terminal, or open the address that it prints. Each address works once.',
  usedTicket: 'This address was already used. Press i in the terminal for another one.',
  over: 'The sign-in has expired, or the command was restarted.',
  unreachable: 'The command does not answer: it may have ended.',
} as const

export const REQUESTS_PAGE = {
  title: 'Requests',
  errors: {
    unreachable: 'The command does not answer: it may have ended. This page tries again.',
    inspector_off:
      'The agent records no requests yet. Press “Record requests” at a tunnel, or write inspect = true into svc.toml.',
  } as Readonly<Record<string, string>>,
} as const

export const DASHBOARD = {
  title: 'Tunnels',
  add: 'Add a tunnel',
  none: 'No tunnel yet',
  addFirst: (path: string): string =>
    `Add one here, or write it into ${path}. It gets a public HTTPS address at each relay.`,
  noneToSee: 'The agent publishes nothing.',
  brokenFile: 'The agent could not read its file again, and continues as before.',
} as const

export const FIGURES = {
  online: 'tunnels online',
  connections: 'visitor connections',
  received: 'received',
  sent: 'sent',
} as const

type StateWord = keyof typeof SITE_STATES | 'failed' | 'retrying' | 'paused' | 'ending' | 'ended'

export const STATE: Readonly<Record<StateWord, string>> = {
  ...SITE_STATES,
  failed: 'failed',
  retrying: 'failed, tries again',
  paused: 'paused',
  ending: 'ending',
  ended: 'ended',
}

export const TUNNEL = {
  unnamed: 'a tunnel without a name',
  again: (when: string): string => `(next attempt ${when})`,
  at: (relay: string, state: string): string => (state === '' ? `at ${relay}` : `at ${relay}: ${state}`),
  copy: (address: string): string => `Copy ${address}`,
  share: 'This link waits for the tunnel while it is away, and then opens it.',
  code: (name: string): string => `Show the QR code of ${name} larger`,
  codeOf: (url: string): string => `QR code of ${url}`,
  close: 'Close',
  suspected: 'This relay answers visitors itself and can read their traffic.',
  milliseconds: (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`,
  figures: { rtt: 'round trip', connections: 'connections', received: 'received', sent: 'sent' },
} as const

/** A custom domain of a tunnel. */
export const DOMAIN = {
  states: {
    online: 'online',
    records: 'needs records',
    refused: 'refused',
    ordering: 'gets its certificate',
    failed: 'no certificate',
    away: 'tunnel away',
  },
  suspected:
    'Something else than this tunnel answers here: the key is not the site’s. A relay that ends TLS itself does so.',
  protected: 'Only this tunnel’s account can get certificates for it.',
  records: 'Set these records where the domain’s DNS is:',
  either: 'Or, in place of the addresses, though such a domain cannot be protected:',
  protect: 'This record leaves the domain to this tunnel’s account alone:',
  copy: (what: string): string => `Copy ${what}`,
} as const

export const ACTIONS = {
  share: 'Share',
  record: 'Record requests',
  stopRecording: 'Stop recording',
  recording: (name: string): string => `Requests of ${name} are recorded: they appear under “Requests”.`,
  notRecording: (name: string): string => `Requests of ${name} are not recorded any more.`,
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Try again',
  change: 'Change',
  remove: 'Remove',
  paused: (name: string): string => `${name} is paused.`,
  resumed: (name: string): string => `${name} starts.`,
  removed: (name: string): string => `${name} is removed.`,
  sureToRemove: (name: string): string =>
    `Remove ${name}? The agent ends it and removes it from svc.toml. Its identity is kept, so that the same name has the same address later.`,
} as const

export const REQUESTS = {
  title: 'Last requests',
  list: 'Newest first',
  filter: 'Requests of which tunnel',
  all: 'All tunnels',
  none: 'No requests yet.',
  ms: (ms: number): string => `${Math.round(ms)} ms`,
} as const

export const FLOWS = {
  title: 'Last UDP visitors',
  about: 'The service sees each visitor as a port of this machine.',
  unknown: 'address unknown',
  localPort: (port: number): string => `port ${port}`,
} as const

export const KNOCKS = {
  title: 'Visitors who wait',
  unknownAddress: 'unknown address',
  answers: [
    { text: 'Let in', admit: true, always: false },
    { text: 'Always', admit: true, always: true },
    { text: 'Refuse', admit: false, always: false },
    { text: 'Never', admit: false, always: true },
  ],
  answered: (code: string, isAdmitted: boolean): string => `${code} is ${isAdmitted ? 'let in' : 'refused'}.`,
} as const

export const SHARES = {
  title: (tunnel: string): string => `Share links of ${tunnel}`,
  note: 'For whom it is (optional)',
  end: 'It ends',
  ends: [
    { until: '1h', text: 'after an hour' },
    { until: '1d', text: 'after a day' },
    { until: '7d', text: 'after a week' },
    { until: '', text: 'when it is withdrawn' },
  ],
  once: 'It signs in once',
  make: 'Make a link',
  made: 'Whoever has this link comes in. It cannot be shown again.',
  copy: 'Copy the link',
  none: 'There are no links.',
  withdraw: 'Withdraw',
  describe: ({ id, note, once, until, uses, used_at, address }: AgentShare): string =>
    [
      note && id,
      once && 'for one sign-in',
      until && `ends ${formatAgo(until)}`,
      uses === 0 ? 'not used' : many(uses, 'sign-in', 'sign-ins'),
      used_at && `last ${formatAgo(used_at)}${address === undefined ? '' : ` from ${address}`}`,
    ]
      .filter(Boolean)
      .join(' · '),
} as const

export const RELAYS = {
  title: 'Relays',
  none: 'The agent has no relay yet. Connect one.',
  label: 'Connect a relay for all tunnels',
  connect: 'Connect',
  leave: 'Leave',
  documentation: 'documentation',
  connected: (relay: string): string => `The agent connects to ${relay}.`,
  left: (relay: string): string => `The agent has left ${relay}.`,
  sureToLeave: (relay: string): string => `Leave ${relay}? The addresses of all tunnels there stop working.`,
  describe: (online: number, ms: number | undefined): string =>
    `${online === 0 ? 'no tunnel online' : many(online, 'tunnel online', 'tunnels online')}${ms === undefined ? '' : ` · ${TUNNEL.milliseconds(ms)}`}`,
} as const

export const AGENT = {
  title: 'Agent',
  release: 'release',
  since: 'started',
  process: 'process',
  address: 'address',
  file: 'file',
  settings: 'Settings for all tunnels',
  aboutSettings: 'They are at the head of svc.toml. Edit the file, then let the agent read it again.',
  noSettings: 'The head of svc.toml has only relays. Edit the file, then let the agent read it again.',
  reload: 'Read svc.toml again',
  reloaded: 'The agent has read svc.toml again.',
  end: 'Shut down',
  ended: 'The agent ends its tunnels and exits.',
  sureToEnd: 'Shut the agent down? It ends all tunnels. svc agent run starts it again.',
} as const

export const ACT = {
  reload: 'Read it again',
  reloaded: 'The agent has read svc.toml again.',
  /** Messages for codes whose own message does not say what to do here. */
  reasons: {
    unreachable: 'The agent does not answer. Nothing was changed.',
    forbidden: 'You may view, but change nothing.',
    config_changed: 'svc.toml was edited meanwhile. Nothing was written.',
    tunnel_not_found: 'This tunnel no longer exists.',
  } as Readonly<Record<string, string>>,
} as const
