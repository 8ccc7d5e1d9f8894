// Texts of the landing page.

export const LANDING = {
  title: 'Your tab is the web server',
  lead: (host: string): string =>
    `${host} is a relay. It gives a web page, or a program on your machine, a public HTTPS address for as long as it runs: no account, no install, no open port.`,
  trust:
    'The connection of a visitor ends in the page that answers. The relay in between passes on bytes that it cannot read; it sees names, addresses and sizes. There is one exception: a site may ask its relay to store files. While the relay has them, it reads what passes at that site’s canonical address. What you publish on this page does not ask for that.',

  publishTitle: 'Publish from this tab',
  kindsLabel: 'What to publish',
  kinds: {
    hello: { name: 'A hello page', about: 'Greets its visitors and counts them.' },
    folder: {
      name: 'A folder',
      about: 'Visitors download your files straight from this tab. Nothing is uploaded.',
    },
    webhook: { name: 'A webhook inspector', about: 'Shows what a service sends to its address.' },
  },
  listed: 'Show it in the list of sites',
  publish: 'Publish',
  publishing: 'Publishing …',
  addressIsPublic:
    'On this relay every site needs a certificate of its own, and public logs list the names in certificates: whoever reads them finds the address. Publish again to do it all the same.',
  stop: 'Stop',
  states: {
    connecting: 'connecting',
    waiting: 'waiting',
    online: 'online',
    reconnecting: 'reconnecting',
    closed: 'closed',
  },
  waiting: {
    approval: () => "The relay's operator has to approve this site first.",
    rate_limited: (time: string): string => `The relay asked to wait${time && ` until ${time}`}.`,
    relay_full: (time: string): string =>
      `The relay has no room at the moment${time && `; it is asked again at ${time}`}.`,
    certificate: (time: string): string =>
      `The site waits for its certificate${time && `; the relay is asked again at ${time}`}.`,
  },
  copyUrl: 'Copy the address',
  qr: (url: string): string => `QR code of ${url}`,
  stays: 'Online for as long as this tab is open. Open it on your phone, or send it to a friend.',
  visits: 'Visits',
  noVisits: 'Nobody yet.',
  chooseFiles: 'Choose files',
  chooseFolder: 'Choose a folder',
  fileCount: (count: number): string => (count === 1 ? '1 file is shared' : `${count} files are shared`),
  noFiles: 'No files yet: choose some.',
  moreOf: {
    hello: { href: '/examples/hello/', text: 'The same as an example' },
    folder: { href: '/examples/share-folder/', text: 'The same as an example, with progress of downloads' },
    webhook: { href: '/examples/webhook-inspector/', text: 'The same as an example, with replay and curl' },
  },

  shellTitle: 'Publish from your machine',
  shellAbout: 'What listens on port 3000 of your machine, with the command svc:',
  copyCommand: 'Copy the command',
  installAbout: (origin: string): string =>
    `This line installs svc, in PowerShell: irm ${origin}/api/install.ps1 | iex`,
  copyInstallation: 'Copy the line that installs svc',
  ownAuthority:
    'This relay has a certificate authority of its own: add --ca with the path of its certificate, a PEM file.',
  toAuthority: 'Download it, or trust it in your browser',

  codeTitle: 'Publish from your page',
  codeAbout:
    'One line brings the SDK into a page of any origin, without a build. Each browser that runs it gets an address of its own, and keeps it:',
  copyCode: 'Copy the code',
  pinTitle: 'With integrity: the browser runs this release of the SDK and nothing else',
  pinAbout:
    'The import map names every file of the SDK with its digest, and the browser refuses a file that differs. When the relay has another release, its SDK does not load until you copy this again.',
  pinnedCode: 'The code with integrity',
  copyPinned: 'Copy the code with integrity',
  noPins: 'The relay does not answer, or its SDK is not built. Open this again to try once more.',
  more: 'See the examples',
  sites: 'See the published sites',
} as const
