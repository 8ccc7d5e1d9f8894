// Texts of the page about the relay's certificate authority.

import { AUTHORITY_FILE } from '../authority-files.ts'

interface Steps {
  id: string
  title: string
  steps: readonly (string | { text: string; code: string })[]
  more?: string
}

const DESKTOPS: readonly Steps[] = [
  {
    id: 'windows',
    title: 'Windows',
    steps: [
      {
        text: 'Download the DER file (svc-ca.crt) and run this where it is:',
        code: 'certutil -user -addstore Root svc-ca.crt',
      },
      'Or open the file, choose Install Certificate, Current User, “Place all certificates in the following store”, and Trusted Root Certification Authorities.',
    ],
    more: 'Edge and Chrome trust it then. Firefox has a list of its own.',
  },
  {
    id: 'macos',
    title: 'macOS',
    steps: [
      {
        text: 'Download the DER file (svc-ca.crt) and run this where it is:',
        code: 'security add-trusted-cert -k ~/Library/Keychains/login.keychain-db svc-ca.crt',
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
        text: 'Download the PEM file. For Chromium and Chrome (certutil is in libnss3-tools on Debian and Ubuntu, in nss-tools on Fedora, in nss on Arch):',
        code: 'mkdir -p ~/.pki/nssdb && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n svc -i svc-ca.pem',
      },
      {
        text: 'For all other programs, on Debian and Ubuntu:',
        code: 'sudo cp svc-ca.pem /usr/local/share/ca-certificates/svc-ca.crt && sudo update-ca-certificates',
      },
      { text: 'On Fedora and Arch:', code: 'sudo trust anchor svc-ca.pem' },
    ],
    more: 'For one command alone: curl --cacert svc-ca.pem, NODE_EXTRA_CA_CERTS=svc-ca.pem for Node, --ca svc-ca.pem for svc.',
  },
]

export const AUTHORITY = {
  title: 'Trust this relay',
  lead: (host: string): string =>
    `Nobody outside can vouch for ${host}: the name means “this machine” everywhere. So this relay has a certificate authority (CA) of its own, which signs the certificates of its sites. Browsers and programs show them without a warning once they trust that CA.`,
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
  systems: (caName: string): readonly Steps[] => [
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
    ...DESKTOPS,
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
