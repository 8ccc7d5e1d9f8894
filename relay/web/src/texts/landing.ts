// Texts of the landing page.
import type { SiteState } from '@svc/sdk-browser'
import type { Kind } from '../landing/demos/demo.ts'
import { translatable } from './translate.ts'

/** The reason for which a site waits is said beside it. */
const ABOUT: Readonly<Record<SiteState, string>> = {
  connecting: '',
  waiting: 'Visitors cannot connect yet.',
  online: 'Online for as long as this tab is open.',
  reconnecting: 'Visitors cannot connect.',
  closed: '',
}
/** What one does with the address, while the site is online. */
const USE: Readonly<Record<Kind, string>> = {
  note: 'Open it on your phone, or send it to a friend.',
  folder: 'Open it on your phone, or send it to a friend.',
  webhook: 'Give the address to the service that sends the webhooks.',
  chat: 'Send it to the people you want to talk to.',
  tools: 'Give the address to an assistant, as shown below.',
}
const ONLY_HERE = 'The relay is on localhost: only this machine can open the address.'

/** @param seconds until the next attempt; 0 during one */
const attempt = (seconds: number): string =>
  seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again …'

export const LANDING = {
  title: 'Your tab is the web server',
  lead: 'Write something and press Publish. It gets a public HTTPS address for as long as this tab is open: no account, no install, no open port.',
  relayTitle: 'The relay',
  relaySees: 'It connects visitors to this tab. This is all it sees of a visit:',
  nothingYet: 'No traffic yet.',
  carried: (amount: string): string => `${amount} so far, all of it encrypted.`,
  /** Who comes to each kind of site, and what it gets. */
  visitors: {
    note: { title: 'A visitor', sees: '' },
    folder: { title: 'A visitor', sees: 'Your files, ready to download' },
    webhook: { title: 'A service', sees: 'POST /' },
    chat: { title: 'A visitor', sees: 'A chat with you, and with everyone who has the address' },
    tools: { title: 'An assistant', sees: '“Ask me something with your tool ask.”' },
  },
  preview: 'Press Publish, and this gets an address.',
  openIt: (kind: Kind, isForAll: boolean): string =>
    kind === 'webhook' || kind === 'tools'
      ? 'No request yet.'
      : isForAll
        ? 'Scan the code, or open the address.'
        : 'Open the address in another tab.',
  tabReads: 'The latest request, as this tab reads it:',
  elsewhere: 'Other ways to publish',

  publishTitle: 'This tab',
  kindsLabel: 'What to publish',
  kinds: {
    note: { name: 'Note', about: '' },
    folder: {
      name: 'Folder',
      about: 'Visitors download straight from this tab. Nothing is uploaded.',
    },
    webhook: {
      name: 'Webhooks',
      about: 'See each request that a service sends, and replay it.',
    },
    chat: {
      name: 'Chat',
      about:
        'Everyone who opens the address can talk with you and with each other. Messages pass through this tab alone.',
    },
    tools: {
      name: 'Tools',
      about:
        'A tool server (MCP): an assistant can show you a text in this tab, or ask you something and get your answer.',
    },
  },
  note: 'Text or HTML',
  firstNote: 'Hello from a browser tab',
  name: 'Name',
  nameByChance: 'random',
  noName: 'A name has 1 to 22 letters, digits and hyphens, with no hyphen at its ends.',
  keepName: 'Keep my name',
  keepNameAbout:
    'This browser keeps the key that owns the name: you get the same address next time, and nobody else does.',
  secretByChance: 'Without a name the address cannot be guessed, and each tab has another one.',
  nameCanBeGuessed:
    'Anyone who guesses the name can come in. Leave it empty for an address that nobody can guess.',
  listed: 'Show it in the list of sites',
  options: 'Options',
  password: 'Password for visitors',
  passwordAbout: 'Empty: visitors need none.',
  passwordRefused: 'This cannot be a password: it has the form of a hash, or more than 1,024 characters.',
  ends: 'Closes',
  never: 'when this tab closes',
  after: (hours: number): string =>
    hours === 1 ? 'after 1 hour' : hours === 24 ? 'after 1 day' : `after ${hours} hours`,
  endsAt: (time: string): string => `Closes at ${time}.`,
  over: 'The site has closed: its time is over.',
  hasPassword: 'Visitors need the password.',
  invitation: 'Invitation',
  invitationAbout: 'The relay’s operator gives it out. This browser needs it once.',
  asking: 'Ask me about each visitor',
  chatHost: 'Host',
  knocks: 'Waiting visitors',
  noKnocks:
    'Nobody is waiting. Each visitor sees a four-digit number: ask for it to know who is at the door.',
  knock: (code: string): string => `Visitor ${code} is waiting`,
  unknownAddress: 'unknown address',
  admit: 'Let in',
  admitAlways: 'Always',
  refuse: 'Refuse',
  refuseAlways: 'Never',
  publish: 'Publish',
  arrived: (name: string): string => `${name} was shared to this page. Press Publish, and it has a link.`,
  arrivedForFolder: (name: string): string => `${name} was shared to this page.`,
  arrivedForLater: (name: string): string =>
    `${name} was shared to this page. Stop this site first, then you can publish it.`,
  notArrived: {
    nothing:
      'What was shared did not arrive: it may be larger than 256 MiB, or this app was installed a moment ago. Choose it here.',
    refused:
      'What was shared did not arrive: this app was not ready for it, and the relay, to which it went instead, dropped it unread. Share it again, or choose it here.',
  },
  publishToo: 'Publish it, too',
  aText: 'A text',
  andMore: (name: string, count: number): string => `${name} and ${count} more`,
  screen: 'Keep the screen on',
  screenRefused: 'The device does not keep the screen on now, perhaps to save its battery.',
  publishing: 'Publishing …',
  addressIsPublic:
    'On this relay every site needs its own certificate, and public logs list the names in certificates: anyone who reads them finds the address. Publish again to do it anyway.',
  errors: {
    invitation_required: 'This relay lets nobody publish without an invitation.',
    relay_unreachable: 'The relay does not answer. Press Publish to try again.',
    offline: 'You are offline. Press Publish when you are back.',
    hostname_conflict: 'Somebody else has this name, perhaps another browser of yours. Choose another one.',
    name_reserved: 'This relay reserves that name. Choose another one.',
    name_in_other_tab: 'That name is in use by another tab of yours. Choose another one.',
    lease_replaced: 'Another page with the same key has taken this name. Publish again to take it back.',
    files_gone: 'This browser did not keep the files. Choose them again.',
    visitor_failed:
      'A visitor’s browser left before it saw the page. It may not trust this relay’s certificate.',
    handler_failed: 'A visitor got an error instead of an answer.',
    identity_unavailable:
      'This browser keeps no keys for this page, perhaps since the window is private. Publish without “Keep my name”, under Options.',
    rate_limited: 'Too many attempts. Wait a minute, then press Publish.',
    relay_full: 'The relay is full at the moment. Try again later.',
    metadata_refused: 'The relay does not show the description of this site.',
    name_had_other_owner:
      'Somebody else had this name before: browsers that visited them may still have their cookies and pages.',
    incompatible_relay: 'This page is of another release than the relay. Reload it.',
    unsupported_platform: 'This browser is too old to publish. A current one can.',
  },
  /** For errors that have no sentence. @param code what people can search for */
  failed: (code: string | undefined): string =>
    `That did not work. Press Publish to try again.${code === undefined ? '' : ` (${code})`}`,
  stop: 'Stop',
  nextAttempt: (time: string): string => `at ${time}`,
  copyUrl: 'Copy the address',
  copyShareUrl: 'Copy the link to share',
  share:
    'This link works while the tab is closed, too: it waits in the visitor’s browser, and opens the site when it is back.',
  qr: (url: string): string => `QR code of ${url}`,
  /** Says what the state means for visitors. @param isForAll whether other devices can open the address */
  about: (state: SiteState, kind: Kind, isForAll: boolean): string =>
    state === 'online' ? `${ABOUT.online} ${isForAll ? USE[kind] : ONLY_HERE}` : ABOUT[state],
  offline: (seconds: number): string => `You are offline. ${attempt(seconds)}`,
  relayGone: (seconds: number): string =>
    `Visitors cannot connect: the relay does not answer. ${attempt(seconds)}`,
  keptRequests:
    'This tab keeps the last 100 requests, also when you reload it, until you stop the site or close the tab.',
  forget: 'Forget them now',
  visits: 'Visits',
  noVisits: 'Nobody yet.',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  dropHere: 'Or drop files or a folder here.',
  noFiles: 'Choose a file or a folder first: a folder is not published empty.',
  notRead: 'That could not be read, or has more than 20,000 files. Choose the folder instead.',
  clearFiles: 'Remove all',
  fileCount: (count: number, names: string): string =>
    `${count === 1 ? '1 file' : `${count} files`}: ${names}`,
  moreOf: {
    note: { href: '/examples/hello/', text: 'Example: a page with a handler' },
    folder: { href: '/examples/share-folder/', text: 'Example: a folder that shows each download' },
    webhook: {
      href: '/examples/webhook-inspector/',
      text: 'Example: webhooks with answers of your choice',
    },
    chat: { href: '/examples/chat/', text: 'Example: the chat as a page of its own' },
    tools: { href: '/docs/', text: 'Tool servers in the documentation' },
  },

  waysLabel: 'From where',
  ways: { page: 'A page', svc: 'svc', mcp: 'MCP' },
  toolAbout:
    'A page that is a tool server: assistants call its tools, which run in the tab. The line that it shows adds it to Claude Code.',
  copyTool: 'Copy the code of the tool server',
  shellAbout: 'A port of your machine, with the command svc:',
  copyCommand: 'Copy the command',
  installTitle: 'Install svc',
  installSh: 'On macOS and Linux, in a shell:',
  copyInstallSh: 'Copy the line that installs svc on macOS and Linux',
  installPs1: 'On Windows, in PowerShell:',
  installPs1Trusted: 'On Windows, in PowerShell, when the machine trusts this relay’s authority:',
  copyInstallPs1: 'Copy the line that installs svc on Windows',
  noDownloads:
    'This relay has no downloads of svc. In a checkout of the project, npx svc runs it; npm run binaries makes the downloads.',
  ownAuthority: (file: string): string =>
    `This relay has a certificate authority of its own: ${file} is the path of its certificate.`,
  toAuthority: 'Download it, or trust it in your browser',

  codeAbout:
    'One import brings the SDK into any page, without a build. Each browser that runs it gets an address of its own, and keeps it:',
  copyCode: 'Copy the code',
  pinTitle: 'With integrity: only this release of the SDK runs',
  pinAbout:
    'The import map names every file of the SDK with its digest, and the browser refuses a file that differs. When the relay has another release, its SDK does not load until you copy this again.',
  pinnedCode: 'The code with integrity',
  copyPinned: 'Copy the code with integrity',
  noPins: 'The relay does not answer, or its SDK is not built. Open this again to try once more.',
  more: 'See the examples',
  sites: 'See the published sites',
  runRelay: 'Run a relay of your own',
  runRelayAbout: 'One program, on a machine with a public address and two DNS records:',
  runRelayHow: 'how to install it',
  languages: 'Languages',
} as const

translatable('LANDING', LANDING)
