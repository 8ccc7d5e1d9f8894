// Texts of the page about the relay's certificate authority.

import { AUTHORITY_FILE } from '../authority-files.ts'

/** What makes one list of authorities take the CA. */
export interface Steps {
  id: System
  title: string
  steps: readonly (string | { text: string; code: string })[]
  more?: string
}

/** The systems with a list of authorities of their own; Firefox has one on every system. */
export type System = 'windows' | 'macos' | 'linux' | 'android' | 'ios' | 'firefox' | 'programs'

const PEM = 'svc-ca.pem'
const DER = 'svc-ca.crt'
const DOWNLOAD = `Download the DER file (${DER}) and run this where it is:`
const RUN = 'Run this in a terminal of this machine:'

/** @param file the certificate as a word of a shell, for a reader at the machine that has it; undefined: it is downloaded */
function desktops(file: string | undefined): readonly Steps[] {
  return [
    {
      id: 'windows',
      title: 'Windows',
      steps: [
        { text: file === undefined ? DOWNLOAD : RUN, code: `certutil -user -addstore Root ${file ?? DER}` },
        'Or open the DER file, choose Install Certificate, Current User, “Place all certificates in the following store”, and Trusted Root Certification Authorities.',
      ],
      more: 'Edge and Chrome trust it then. Firefox has a list of its own.',
    },
    {
      id: 'macos',
      title: 'macOS',
      steps: [
        {
          text: file === undefined ? DOWNLOAD : RUN,
          code: `security add-trusted-cert -k ~/Library/Keychains/login.keychain-db ${file ?? DER}`,
        },
        'Enter the password that macOS asks for.',
      ],
      more: 'Safari, Chrome and Edge trust it then. Firefox has a list of its own.',
    },
    {
      id: 'linux',
      title: 'Linux',
      steps: [
        {
          text: `${file === undefined ? 'Download the PEM file. For' : 'In a terminal of this machine, for'} Chromium and Chrome (certutil is in libnss3-tools on Debian and Ubuntu, in nss-tools on Fedora, in nss on Arch):`,
          code: `mkdir -p ~/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n svc -i ${file ?? PEM}`,
        },
        'Close all windows of the browser and open it again: it reads the list when it starts.',
      ],
      more: 'Firefox has a list of its own.',
    },
    {
      id: 'programs',
      title: 'Other programs on Linux',
      steps: [
        {
          text: 'On Debian and Ubuntu:',
          code: `sudo cp ${file ?? PEM} /usr/local/share/ca-certificates/svc-ca.crt && sudo update-ca-certificates`,
        },
        { text: 'On Fedora and Arch:', code: `sudo trust anchor ${file ?? PEM}` },
      ],
      more: `For one command alone: curl --cacert ${file ?? PEM}, NODE_EXTRA_CA_CERTS=${file ?? PEM} for Node, --ca ${file ?? PEM} for svc.`,
    },
  ]
}

/** How browsers are called; those on the same engine as Chrome count as Chrome. */
export const BROWSERS = { chrome: 'Chrome', firefox: 'Firefox', safari: 'Safari' } as const

export const AUTHORITY = {
  title: 'Trust this relay',
  lead: (host: string): string =>
    `Nobody outside can vouch for ${host}: the name means ${host.endsWith('.local') ? 'something in this network alone' : '“this machine” everywhere'}. So this relay has a certificate authority (CA) of its own, which signs the certificates of its sites. Browsers and programs show them without a warning once they trust that CA.`,
  limits: (host: string): string =>
    `It can vouch for ${host} and the names below it, and for no other name in the world. Its key stays with the relay, and is in none of these files. Trust it only when you know who runs the relay.`,

  filesTitle: 'Download the certificate',
  /** Formats by the system or program that needs them. */
  files: [
    { format: 'pem', name: 'PEM', about: 'Linux, curl, Node and most other programs' },
    { format: 'der', name: 'DER', about: 'Android, Windows, macOS, Firefox' },
    {
      format: 'p12',
      name: 'PKCS #12',
      about: 'Programs that ask for a .p12 or .pfx file; its password is svc',
    },
    { format: 'mobileconfig', name: 'Configuration profile', about: 'iPhone, iPad' },
  ],

  checkTitle: 'Check that it is the right one',
  checkAbout: 'Before you trust it, somebody could have given you another one. Its SHA-256 fingerprint is',
  checkHow: 'and this command, in the directory of the relay (IDENTITY_PATH), has to show the same:',
  checkCommand: 'openssl x509 -in ca.pem -noout -fingerprint -sha256',
  copyCheck: 'Copy the command that shows the fingerprint',
  noFingerprint: 'The certificate could not be loaded. Reload to try again.',

  reachTitle: 'On another device',
  reachAbout: (host: string): string =>
    `On every device ${host} means that device itself. Another one reaches this relay under that name only when you bring the relay’s port there, and then needs the certificate, too.`,
  reachPhone: 'An Android phone on a USB cable:',
  reachComputer: 'Another computer, on which you run:',
  reachMore:
    'The simulator of an iPhone or iPad uses the network of its Mac and reaches a relay there directly.',
  adb: (port: string): string => `adb reverse tcp:${port} tcp:${port}`,
  ssh: (port: string): string => `ssh -N -L ${port}:localhost:${port} USER@MACHINE-OF-THE-RELAY`,
  copyAdb: 'Copy the adb command',
  copySsh: 'Copy the ssh command',

  copy: (title: string): string => `Copy the command for ${title}`,
  /** Stands above the steps for the browser that reads them. */
  here: (browser: string, title: string): string =>
    browser === title ? `In ${browser}` : `In ${browser} on ${title}`,
  others: 'Other systems and browsers',
  systems: (caName: string, file?: string): readonly Steps[] => [
    {
      id: 'android',
      title: 'Android',
      steps: [
        'Download the DER file (svc-ca.crt).',
        'Open Settings, Security & privacy, More, Encryption & credentials, Install a certificate, CA certificate. Some makers have it elsewhere: search the settings for “CA certificate”.',
        'Choose “Install anyway” and the file.',
      ],
      more: 'Chrome trusts it then. Firefox does, once you tap its logo under Settings, About Firefox, five times and turn on “Use third party CA certificates” in the Secret Settings.',
    },
    {
      id: 'ios',
      title: 'iPhone and iPad',
      steps: [
        'Open the configuration profile in Safari and allow the download.',
        'Open Settings, General, VPN & Device Management, and install the profile.',
        `Open Settings, General, About, Certificate Trust Settings, and turn on “${caName}”.`,
      ],
    },
    ...desktops(file),
    {
      id: 'firefox',
      title: 'Firefox',
      steps: [
        `Open the DER file in Firefox (${AUTHORITY_FILE.der}).`,
        'Choose “Trust this CA to identify websites”.',
        'If it only saves the file: Settings, Privacy & Security, View Certificates, Authorities, Import.',
      ],
    },
  ],
  remove: (caName: string): string =>
    `Where you trusted it, it is listed as “${caName}”; remove it there when you no longer use this relay.`,
} as const

/** The page of `npm start`, which a browser shows before it trusts the relay. */
export const START = {
  title: 'Your relay is running',
  checking: 'Looking whether this browser trusts it …',
  trusted: 'This browser trusts it. Going on to',
  untrusted: 'This browser does not trust it yet. As soon as it does, this page goes on by itself.',
  unresolved: (host: string): string =>
    host.endsWith('.local')
      ? `This device does not find ${host}. iPhones, iPads, Macs, Windows and Android from 12 on do, in the network of the relay: turn off a VPN and mobile data, and see that the network lets its devices talk to each other. Linux does where its resolver speaks mDNS for names of three parts.`
      : `This browser does not find ${host}. Safari finds names below localhost only where the system’s DNS knows them; Chrome, Edge and Firefox always do.`,
  gone: 'The relay has ended. Start it again with npm start: this page waits for it.',

  why: 'Why there is a step to take',
  warning: {
    chrome: '“Your connection is not private” (ERR_CERT_AUTHORITY_INVALID)',
    firefox: '“Warning: Potential Security Risk Ahead” (SEC_ERROR_UNKNOWN_ISSUER)',
    safari: '“This Connection Is Not Private”',
  },
  unlessTrusted: (browser: string, host: string, warning: string): string =>
    `Until then ${browser} shows the warning ${warning} in place of each page of ${host}. It is right to: it cannot tell who answers.`,
  /** For readers at another device. */
  compareTitle: 'Check that it is the right one',
  compare:
    'This page and the certificate come by plain HTTP, which others in this network could change. Your device shows the SHA-256 fingerprint of what it got: an iPhone in the profile under More Details, Android under Trusted credentials, User. It has to be the one that npm start printed; otherwise remove it at once.',
  throwAway: 'Or trust nothing',
  throwAwayAbout:
    'This opens a browser that trusts the relay, shows you around, and is gone when you close it.',
  demo: 'npm run demo',
  copyDemo: 'Copy the command of the demo',
} as const
