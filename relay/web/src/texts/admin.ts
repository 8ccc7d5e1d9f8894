// Texts of the administration.

const many = (count: number, one: string, more: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString('en')} ${more}`

const HOUR_MS = 3_600_000
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

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

export const SECTIONS = {
  overview: 'Overview',
  sites: 'Sites',
  access: 'Access',
  certificates: 'Certificates',
  dns: 'DNS',
  cache: 'Cache',
  relays: 'Relays',
  payments: 'Payments',
  machines: 'Machines',
  domains: 'Domains',
  settings: 'Settings',
  history: 'History',
} as const

export const DASHBOARD = {
  title: 'Administration',
  sections: 'Sections',
  logout: 'Log out',
  noPage: 'There is no such page',
  off: 'This feature is off at this relay',
  noAnswer: (why: string): string => `Nothing can be shown yet: ${why}. This page tries again.`,
  toOverview: 'Go to the overview',
  waiting: (count: number): string => `${many(count, 'site waits', 'sites wait')} for approval`,
} as const

export const OVERVIEW = {
  title: 'Overview',
  online: 'Sites online',
  of: (all: number): string => `of ${many(all, 'lease', 'leases')}`,
  connections: 'Connections now',
  ready: (count: number): string => `${many(count, 'session', 'sessions')} ready for more`,
  now: 'Traffic now',
  dayVisitors: 'Visitors in 24 hours',
  dayTraffic: 'Traffic in 24 hours',
  about: (count: string): string => `≈ ${count}`,
  visits: (count: number): string => many(count, 'connection', 'connections'),
  rate: (bytes: string): string => `${bytes}/s`,
  directions: (sent: string, received: string): string => `${sent} out, ${received} in`,
  allWell: 'Nothing is wrong, and nothing waits for you',
  attention: 'This needs you',
  load: 'Load',
  busiest: 'Most traffic in 24 hours',
  noneBusy: 'No site has had a visitor.',
  newest: 'Newest sites',
  none: 'Nobody publishes here at the moment.',
} as const

export const PROBLEMS = {
  redis: 'Redis does not answer',
  machines: (count: number): string => `${many(count, 'machine is', 'machines are')} unreachable`,
  order: (which: string, ago: string): string => `${which}: the last order of a certificate failed ${ago}`,
  ending: (which: string, ago: string): string => `${which}: the certificate ends ${ago} and was not renewed`,
  dns: (error: string): string => `The DNS records could not be set: ${error}`,
  waiting: (count: number): string => `${many(count, 'site waits', 'sites wait')} for your approval`,
} as const

export const GRAPHS = {
  now: 'Traffic since this page is open',
  dayTraffic: 'Traffic per hour',
  dayVisits: 'Visits per hour',
  sent: 'to visitors',
  received: 'from visitors',
  connections: 'connections',
  visitors: 'visitors',
  notLoaded: 'The graph could not be loaded. The table below has its values.',
  asTable: 'These hours as a table',
  columns: ['Hour', 'To visitors', 'From visitors', 'Connections', 'Visitors'],
  hour: (time: number): string => `${clock.format(time)} to ${clock.format(time + HOUR_MS)}`,
  most: (label: string, value: string, time: number, now: string): string =>
    `At most ${value} ${label} at ${clock.format(time)}, now ${now}.`,
  nothing: (label: string): string => `Nothing ${label}.`,
} as const

export const MACHINES = {
  title: 'Machines',
  about: 'This relay runs on several machines. Bytes count from the start of each.',
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
  title: 'Held by this relay',
  about: 'The relay renews them by itself. Sites that hold a certificate of their own are not among them.',
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
  title: 'Settled payments',
  about: (network: string): string =>
    `The relay checks and settles payments for sites on ${network}. It holds no money: each payment goes straight to this address.`,
  payTo: 'Recipient',
  copy: 'Copy the address',
  settled: ['Settled', 'since the relay started'],
  refused: ['Refused', 'as invalid'],
  failed: ['Failed', 'full nodes, disk or capacity were missing'],
  open: ['Open', 'without an outcome so far'],
} as const

export const SITE_STATES = {
  banned: 'banned',
  ipBanned: 'IP banned',
  denied: 'denied',
  waiting: 'waiting',
  online: 'online',
  busy: 'not ready',
} as const

export const SITES = {
  title: 'Sites',
  search: 'Search name, host, address',
  show: 'Show',
  filters: {
    all: 'all',
    online: 'online',
    waiting: 'waiting for approval',
    blocked: 'denied or banned',
    limited: 'limited',
    listed: 'listed',
  },
  columns: {
    name: 'Name',
    state: 'State',
    owner: 'Owner',
    client: 'From',
    visitors: 'Open',
    rate: 'Now',
    dayVisitors: 'Visitors 24\u00a0h',
    dayBytes: 'Traffic 24\u00a0h',
    since: 'Since',
  },
  count: (shown: number, all: number): string =>
    shown === all
      ? many(all, 'site', 'sites')
      : `${shown.toLocaleString('en')} of ${many(all, 'site', 'sites')}`,
  none: 'Nobody publishes here at the moment',
  noneAbout: 'Sites appear here as soon as they register.',
  noMatch: 'No site matches.',
  reset: 'Show all',
  select: (name: string): string => `Select ${name}`,
  selectAll: 'Select all',
  selectHint: 'Select sites to approve, deny or ban them together.',
  copyAddress: (name: string): string => `Copy the address of the owner of ${name}`,
  opens: (hostname: string): string => `Open ${hostname} in a new tab`,
  details: (name: string): string => `Details of ${name}`,
  open: 'Details',
  idle: '–',
  rate: (bytes: string): string => `${bytes}/s`,
} as const

export const SITE = {
  unknown: 'The relay knows nothing about this site: it has no lease, no decision and no history.',
  gone: 'no lease',
  ended: 'The site has no lease now. The decisions about it stay in force.',
  visit: 'Open the site',
  banned: (by: string): string => `Banned by ${by}.`,
  factsTitle: 'Facts',
  traffic: 'Traffic of 24 hours',
  actions: 'Decide',
  yes: 'yes',
  no: 'no',
  unlimited: 'unlimited',
  rate: (bytes: string): string => `${bytes}/s`,
  nobody: 'no visitor within 24 hours',
  directions: (sent: string, received: string): string => `${sent} out, ${received} in`,
  connections: (count: number): string => many(count, 'open connection', 'open connections'),
  visits: (connections: number, visitors: number): string =>
    `${many(connections, 'connection', 'connections')} of ≈ ${many(visitors, 'visitor', 'visitors')}`,
  copyAddress: 'Copy the address of the owner',
  groups: { site: 'Site', owner: 'Owner', lease: 'Lease', access: 'Decisions', traffic: 'Traffic' },
  facts: {
    hostname: 'Hostname',
    domains: 'Custom domains',
    description: 'Description',
    by: 'Owner, as the site says',
    tags: 'Tags',
    listed: 'On the list of sites',
    thumbnail: 'Thumbnail (not loaded)',
    address: 'Address',
    client_ip: 'Client IP, as seen',
    reported_ip: 'Client IP, as reported by the client',
    ready: 'Ready sessions',
    first_seen: 'First seen',
    last_seen: 'Last seen',
    expires: 'Expires',
    udp: 'UDP port',
    tcp: 'TCP port',
    approved: 'Approved',
    denied: 'Denied',
    banned: 'Banned',
    ip_banned: 'IP banned',
    limit: 'Limit',
    now: 'Now',
    rate: 'Rate now',
    day: 'In 24 hours',
    visits: 'Visits in 24 hours',
  },
} as const

export const EVENTS = {
  title: 'History',
  none: 'Nothing is known of the last day.',
  kinds: {
    registered: 'Registered',
    approval_requested: 'Asked for approval',
    address_changed: 'Came from another address',
    ended: 'Lease ended',
    approved: 'Approved',
    approval_revoked: 'Approval revoked',
    denied: 'Denied',
    denial_ended: 'Denial lifted',
    banned: 'Banned',
    ban_ended: 'Ban lifted',
    limited: 'Limited',
    limit_removed: 'Limit removed',
  },
  from: (ip: string): string => `from ${ip}`,
  by: (name: string): string => `by ${name}`,
  ends: { expired: 'was not renewed', unregistered: 'closed by the site', shutdown: 'the relay stopped' },
} as const

export const DOMAINS = {
  title: 'Custom domains of sites',
  about: 'Domains that sites with a lease brought along.',
  none: 'No site has brought a domain of its own.',
  states: { pending: 'pending', active: 'active', refused: 'refused' },
} as const

export const ACCESS = {
  title: 'Access',
  parts: { waiting: 'Waiting', bans: 'Bans', invitations: 'Invitations', names: 'Names' },
} as const

export const MANY = {
  title: 'Selected sites',
  count: (count: number): string => `${count.toLocaleString('en')} selected`,
  clear: 'Clear',
} as const

export const QUEUE = {
  title: 'Waiting for approval',
  count: (count: number): string => many(count, 'site', 'sites'),
  hint: 'The newest is last.',
  more: (count: number): string => `${count.toLocaleString('en')} more follow when these are decided about.`,
  keysTitle: 'Keys',
  keys: [
    ['a', 'approve'],
    ['d', 'deny'],
    ['j', 'next'],
    ['k', 'previous'],
    ['x', 'select'],
  ],
  single: 'Single keys',
  nobody: 'Nobody waits for approval',
  none: {
    auto: 'Everybody may register at this relay, and visitors reach a new site at once.',
    manual: 'New sites appear here, and visitors reach them after you approve them.',
    token: 'Sites register with an invitation, and need no approval.',
  },
  settings: 'Change who may register',
} as const

export const BAN = {
  title: (who: string): string => `Ban ${who}?`,
  reason: 'Reason (administrators alone see it)',
  end: 'Ends',
  ends: {
    never: 'never',
    hour: 'in an hour',
    day: 'in a day',
    week: 'in a week',
    month: 'in 30 days',
    chosen: 'at a time of your choice',
  },
  time: (zone: string): string => `Time (${zone})`,
  isPast: 'Choose a time in the future.',
  until: (time: string): string => `until ${time}`,
  ban: 'Ban',
  by: (name: string, ago: string): string => `by ${name}, ${ago}`,
} as const

export const SITE_BANS = {
  title: 'Bans of sites',
  about: 'These identities cannot register, whatever their address. Ban one on its page.',
  none: 'No site is banned. Ban one on its page.',
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

const was = (count: number): string => (count === 1 ? 'was' : 'were')

export const DONE = {
  approved: (who: string, count = 1): string => `${who} ${was(count)} approved`,
  revoked: (who: string, count = 1): string => `${who} ${count === 1 ? 'is' : 'are'} no longer approved`,
  denied: (who: string, count = 1): string => `${who} ${was(count)} denied`,
  undenied: (who: string, count = 1): string => `${who} ${count === 1 ? 'is' : 'are'} no longer denied`,
  sites: (count: number): string => many(count, 'site', 'sites'),
  banned: (who: string, count = 1): string => `${who} ${was(count)} banned`,
  unbanned: (who: string, count = 1): string => `${who} ${count === 1 ? 'is' : 'are'} no longer banned`,
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
  denyMany: (count: number): string =>
    `Deny ${many(count, 'site', 'sites')}? The relay closes their visitors’ connections at once and accepts no new ones.`,
  revoke: (who: string): string => `Revoke the approval of ${who}? Visitors can no longer reach it.`,
  ban: 'The relay closes its sessions and visitors’ connections at once, and it cannot register again.',
  banStored:
    'The relay removes its stored files at once, closes its visitors’ connections, and it cannot register again.',
  banMany: (names: readonly string[], others: number): string =>
    `${names.join(', ')}${others > 0 ? ` and ${others.toLocaleString('en')} more` : ''}: the relay closes their sessions and visitors’ connections at once, and they cannot register again.`,
  banIp: 'The relay closes every site published from this address at once and refuses new ones.',
  banRelay: 'This relay forgets it at once and no longer lists it. Its sites are not affected.',
  banDomain: 'New visitors of it, and of all names below it, come to no site from now on.',
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
  used: (used: number, names: number): string =>
    `${used.toLocaleString('en')} of ${many(names, 'name', 'names')} used`,
  ends: (ago: string): string => `ends ${ago}`,
  ended: (ago: string): string => `ended ${ago}`,
  endless: 'without end',
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
  list: 'See the relays that this one knows',
} as const

export const DOMAIN_BANS = {
  title: 'Bans of custom domains',
  about: 'A banned domain and all names below it lead to no site. Their sites keep their other names.',
  field: 'Domain',
  none: 'No domain is banned.',
} as const

export const DECISIONS = {
  ban: 'Ban',
  absentTitle: 'Other decisions about sites without a lease',
  absentAbout: 'They apply when the site registers again.',
  absentNone: 'None.',
  kinds: { approved: 'approved', denied: 'denied' },
  lift: 'Lift',
} as const

export const SETTINGS = {
  title: 'Policy',
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
  save: 'Save',
  reset: 'Discard',
} as const

export const RESERVED = {
  title: 'Reserved names',
  field: 'Names that no site may register',
  about:
    'Visitors would think that www or admin are your own sites. A site that has such a name keeps it until its lease ends; the relay refuses it to new sites.',
} as const

export const DNS = {
  title: 'Records of this relay',
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
  title: 'Recent changes',
  about:
    'The last hundred changes of all administrators. A restart of the relay clears this list, but not the changes.',
  none: 'Nothing yet.',
  undone: 'taken back',
  by: (name: string): string => `by ${name},`,
} as const

const settingName = (value: string | number | boolean): string => {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return SETTINGS.modes[value as keyof typeof SETTINGS.modes]?.name ?? String(value)
}

export const DIFFERENCE = {
  fields: {
    approval_mode: 'Who may register',
    landing_page_enabled: 'Landing page and list of sites',
    'udp.enabled': 'UDP ports',
    'udp.max_leases': 'Leases with a UDP port, at most',
    'tcp_port.enabled': 'TCP ports',
    'tcp_port.max_leases': 'Leases with a TCP port, at most',
    reserved_names: 'Reserved names',
  },
  value: (value: string | number | boolean): string => settingName(value),
  changed: (name: string, from: string, to: string): string => `${name}: ${from} → ${to}`,
  added: (name: string, names: readonly string[]): string => `${name}: added ${names.join(', ')}`,
  removed: (name: string, names: readonly string[]): string => `${name}: removed ${names.join(', ')}`,
  reason: (text: string): string => `Reason: ${text}`,
  until: (time: string): string => `Until ${time}`,
} as const

export const AUDIT = {
  title: 'Audit log',
  about:
    'All changes, as the machine that answers this page has written them down. The log survives a restart.',
  columns: ['Time', 'Who', 'What'],
  lines: 'Lines of the log',
  none: 'The log is empty.',
  nobody: 'nobody',
  older: 'Older',
  newest: 'Load the newest',
  failed: (why: string): string => `The log could not be loaded: ${why}`,
  kinds: {
    file: 'policy.json was edited',
    invitation: 'Invitation',
    administrator: 'Administrator',
  },
} as const
