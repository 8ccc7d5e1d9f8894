// Texts of the administration.
import type { Invitation } from '@svc/protocol'

const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

export const LOGIN = {
  title: 'Administration',
  about:
    'This page is for the operator of this relay. The token is the relay’s ADMIN_TOKEN; this tab forgets it when it closes.',
  token: 'Admin token',
  submit: 'Log in',
  refused: 'That is not the admin token.',
  limited: 'Too many wrong tokens came from your address. Wait a minute.',
  off: 'This relay was started without an ADMIN_TOKEN: its administration is off.',
  expired: 'The relay no longer accepts the token: log in again.',
} as const

export const DASHBOARD = {
  title: 'Administration',
  logout: 'Log out',
  load: 'Load',
  notLoaded: 'The graphs could not be loaded. The numbers are above.',
  numbers: {
    leases: 'leases',
    connections: 'visitor connections',
    ready: 'sessions ready',
    carriers: 'carriers',
    received: 'received',
    sent: 'sent',
  },
  charts: {
    connections: 'Connections of visitors',
    traffic: 'Bytes per second',
    sessions: 'Sessions of sites',
  },
  lines: {
    connections: 'open',
    received: 'from visitors',
    sent: 'to visitors',
    ready: 'ready',
    carriers: 'carriers',
  },
} as const

export const MACHINES = {
  title: 'Machines',
  about:
    'This relay runs on several machines; the load above is that of all of them. Bytes count from the start of each machine.',
  count: (online: number, all: number): string => `${online} of ${all} online`,
  isThis: 'answers this page',
  columns: {
    address: 'Address',
    state: 'State',
    version: 'Release',
    carriers: 'Sites’ connections',
    visitors: 'Visitors',
    received: 'Received',
    sent: 'Sent',
    seen: 'Last seen',
  },
  states: {
    online: { name: 'online', about: 'It serves sites and visitors.' },
    draining: { name: 'draining', about: 'It accepts nothing new and will exit soon.' },
    unreachable: {
      name: 'unreachable',
      about: 'The machine that answers this page has no connection to it.',
    },
    gone: {
      name: 'gone',
      about: 'It has ended or has been silent for too long, and will leave this list soon.',
    },
  },
  none: '–',
  redisDown:
    'Redis, through which the machines share their state, does not answer. New sites cannot register until Redis answers again.',
} as const

export const CERTIFICATES = {
  title: 'Certificates',
  hosts: {
    root: (): string => 'The relay itself',
    wildcard: (): string => 'All sites together',
    site: (count: number): string => many(count, 'site with its own', 'sites with their own'),
  },
  none: 'none yet',
  ends: (ago: string): string => `ends ${ago}`,
  failed: (ago: string): string => `The last order failed ${ago}:`,
} as const

export const STORED = {
  title: 'Stored sites',
  about: (used: string, all: string): string =>
    `The relay stores files of these sites and reads them: they asked for it. It serves them at the site’s long hostname, also while the site is away. They take ${used} of ${all} on its disk. A ban removes the files at once.`,
  none: 'No files are stored.',
  files: (count: number, bytes: string): string => `${many(count, 'file', 'files')}, ${bytes}`,
  served: 'has a lease',
  away: 'has no lease',
  waiting: 'not served: waits for approval',
  ends: (ago: string): string => `ends ${ago}`,
} as const

export const PAYMENTS = {
  title: 'Payments',
  about: (network: string): string =>
    `The relay checks and settles payments for sites on ${network}. It holds no money: each payment goes straight to this address.`,
  payTo: 'Recipient',
  copy: 'Copy the address',
  settled: 'Settled since the start',
  refused: 'Refused as invalid',
  failed: 'Failed: full nodes, disk or capacity were missing',
  open: 'Without an outcome so far',
} as const

export const LEASES = {
  title: 'Leases',
  list: 'Leases',
  search: 'Search name, host, address',
  show: 'Show',
  filters: {
    all: 'all',
    waiting: 'waiting for approval',
    blocked: 'denied or banned',
    limited: 'limited',
    listed: 'listed',
  },
  count: (shown: number, all: number): string =>
    shown === all
      ? many(all, 'lease', 'leases')
      : `${shown.toLocaleString('en')} of ${many(all, 'lease', 'leases')}`,
  none: 'No leases.',
  status: {
    banned: 'banned',
    ipBanned: 'address banned',
    denied: 'denied',
    waiting: 'waits for approval',
    routed: 'routed',
  },
  details: (name: string): string => `Details of ${name}`,
  open: 'Details',
  ended: 'The lease has ended. The decisions about it stay in force.',
  yes: 'yes',
  no: 'no',
  unlimited: 'unlimited',
  rate: (bytes: string): string => `${bytes}/s`,
  domainStates: { pending: 'pending', active: 'active', refused: 'refused' },
  fields: {
    identity_key: 'Identity key',
    name: 'Name',
    address: 'Address',
    hostname: 'Hostname',
    domains: 'Custom domains',
    ready: 'Ready sessions',
    first_seen_at: 'First seen',
    last_seen_at: 'Last seen',
    expires_at: 'Expires',
    client_ip: 'Client IP, as seen',
    reported_ip: 'Client IP, as reported by the client',
    is_approved: 'Approved',
    is_denied: 'Denied',
    is_banned: 'Banned',
    is_ip_banned: 'IP banned',
    bps: 'Limit',
    udp_enabled: 'UDP port',
    tcp_enabled: 'TCP port',
    tcp_addr: 'TCP address',
    description: 'Description',
    owner: 'Owner',
    tags: 'Tags',
    listed: 'Listed',
    thumbnail: 'Thumbnail',
  },
} as const

export const ACTIONS = {
  approve: 'Approve',
  revoke: 'Revoke approval',
  deny: 'Deny',
  liftDenial: 'Lift denial',
  ban: 'Ban',
  liftBan: 'Lift ban',
  banIp: (ip: string): string => `Ban ${ip}`,
  liftIpBan: (ip: string): string => `Lift ban of ${ip}`,
  limit: 'Limit, bytes per second (0: none)',
  setLimit: 'Set limit',
  undo: 'Undo',
  dismiss: 'Dismiss',
} as const

export const DONE = {
  approved: (who: string): string => `${who} was approved`,
  revoked: (who: string): string => `${who} is no longer approved`,
  denied: (who: string): string => `${who} was denied`,
  undenied: (who: string): string => `${who} is no longer denied`,
  banned: (who: string): string => `${who} was banned`,
  unbanned: (who: string): string => `${who} is no longer banned`,
  limited: (who: string, limit: string): string => `${who} has the limit ${limit}`,
  pinned: (name: string): string => `The name ${name} was pinned`,
  unpinned: (name: string): string => `The name ${name} is no longer pinned`,
  invited: 'An invitation was made',
  withdrawn: (what: string): string => `The invitation ${what} was withdrawn`,
  appointed: (name: string): string => `${name} is an administrator`,
  dismissed: (name: string): string => `${name} is no longer an administrator`,
  settings: 'The settings were changed',
  undone: (text: string): string => `Taken back: ${text}`,
  failed: (text: string, why: string): string => `That did not work (${text}): ${why}`,
} as const

export const CONFIRM = {
  withdraw: (what: string): string =>
    `Withdraw the invitation ${what}? The relay closes the sites that came in with it at once.`,
  dismiss: (name: string): string => `Take the token of ${name} back? It is no longer valid at once.`,
  deny: (who: string): string =>
    `Deny ${who}? The relay closes its visitors’ connections at once and accepts no new ones.`,
  revoke: (who: string): string => `Revoke the approval of ${who}? Visitors can no longer reach it.`,
  ban: (who: string): string =>
    `Ban ${who}? The relay closes its sessions and visitors’ connections at once, and it cannot register again.`,
  banStored: (who: string): string =>
    `Ban ${who}? The relay removes its stored files at once, closes its visitors’ connections, and it cannot register again.`,
  banIp: (ip: string): string =>
    `Ban ${ip}? The relay closes every site published from this address at once and refuses new ones.`,
  banRelay: (relay: string): string =>
    `Ban ${relay}? This relay forgets it at once and no longer lists it. Its sites are not affected.`,
  banDomain: (domain: string): string =>
    `Ban ${domain}? New visitors of it, and of all names below it, come to no site from now on.`,
  manual:
    'Approve by hand from now on? Visitors cannot reach sites without an approval until you approve them.',
  token:
    'Ask for invitations from now on? The relay closes every site that has neither an invitation nor an approval.',
} as const

export const NEW_TOKEN = { copy: 'Copy the token' } as const

export const INVITATIONS = {
  title: 'Invitations',
  about:
    'Where only invited sites may register, each of these lets in a number of names. Withdrawing one turns away who came in with it.',
  names: 'Names',
  days: 'Days until it ends',
  note: 'Note',
  make: 'Invite',
  made: 'Pass on this invitation. It is shown only now:',
  none: 'There is no invitation.',
  withdraw: 'Withdraw',
  line: ({ id, note, names, identity_keys, expires_at }: Invitation, at: number): string => {
    const used = `${identity_keys.length} of ${names} names used`
    const isOver = expires_at !== undefined && Date.parse(expires_at) <= at
    const end =
      expires_at === undefined ? 'without end' : `${isOver ? 'ended' : 'until'} ${expires_at.slice(0, 10)}`
    return [note || id, used, end].join(', ')
  },
} as const

export const ADMINISTRATORS = {
  title: 'Administrators',
  about:
    'Each has a token of their own, beside ADMIN_TOKEN, and may do what you may. The audit log says who did what.',
  field: 'Name of an administrator',
  make: 'Make a token',
  made: (name: string): string => `Pass on this token to ${name}. It is shown only now:`,
  none: 'Only the holder of ADMIN_TOKEN is an administrator.',
  remove: 'Take back',
} as const

export const PINNED_NAMES = {
  title: 'Pinned names',
  about:
    'Nobody but this identity gets the name. Another site that has it loses it when it renews its lease.',
  name: 'Name to pin',
  address: 'Address of its owner',
  pin: 'Pin',
  none: 'No name is pinned.',
  unpin: 'Unpin',
} as const

export const IP_BANS = {
  title: 'Bans of addresses',
  about:
    'Nobody can publish sites from a banned address. An IPv6 address bans its /64, since one subscriber has all of it; write other networks like 192.0.2.0/24.',
  field: 'IP address or network',
  none: 'No address is banned.',
} as const

export const RELAY_BANS = {
  title: 'Bans of other relays',
  about:
    'This relay neither lists a banned relay nor asks it for others. A ban of an origin applies to any identity there; a ban of an address applies to that identity at any origin.',
  field: 'URL of a relay, or address of its identity',
  none: 'No relay is banned.',
} as const

export const DOMAIN_BANS = {
  title: 'Bans of custom domains',
  about: 'A banned domain and all names below it lead to no site. Their sites keep their other names.',
  field: 'Domain',
  none: 'No domain is banned.',
} as const

export const DECISIONS = {
  ban: 'Ban',
  absentTitle: 'Decisions about sites without a lease',
  absentAbout: 'They apply when the site registers again.',
  absentNone: 'None.',
  kinds: { approved: 'approved', denied: 'denied', banned: 'banned' },
  lift: 'Lift',
} as const

export const SETTINGS = {
  title: 'Settings',
  mode: 'Who may register',
  modes: {
    auto: { name: 'Everybody', about: 'Visitors reach a new site at once, unless it is denied or banned.' },
    manual: { name: 'With approval', about: 'Visitors reach a site only after you approve it.' },
    token: {
      name: 'With an invitation',
      about: 'A site can register only with an invitation, or if you have approved it before.',
    },
  },
  landing: 'Serve the landing page and the list of sites',
  landingAbout:
    'If off, the relay answers both with 404. This administration, the list of relays, the examples and the API stay.',
  udp: 'Allow UDP ports',
  tcp: 'Allow TCP ports',
  udpMax: 'Leases with a UDP port, at most (0: as many as there are ports)',
  tcpMax: 'Leases with a TCP port, at most (0: as many as there are ports)',
  gates: (variable: string): string =>
    `A port needs three things: ${variable}=true and a range from MIN_PORT to MAX_PORT, both set where the relay is started, and this switch. Turning it off closes existing ports.`,
  reserved: 'Reserved names',
  reservedAbout:
    'Visitors would think that www or admin are your own sites. A site that has such a name keeps it until its lease ends; the relay refuses it to new sites.',
  save: 'Save',
  reset: 'Discard',
} as const

export const DNS = {
  title: 'DNS',
  provider: 'Provider',
  dnssec: 'DNSSEC',
  ens: 'ENS names',
  on: (address: string): string => `on: this host is ${address}, and each site its identity`,
  off: 'off',
  lastError: 'Last error',
  dsAbout: 'This is the DS record of this host for its parent zone.',
  copyDs: 'Copy the DS record',
} as const

export const CHANGES = {
  title: 'Changes',
  about:
    'The last hundred changes of all administrators. A restart of the relay clears this list, but not the changes.',
  none: 'Nothing yet.',
  undone: 'taken back',
} as const
