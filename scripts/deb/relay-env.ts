// Writes relay.env of the package svc-relay: every setting with its meaning, none of them set.
import { SETTINGS } from '../../relay/src/settings.ts'

/** Columns of a line in the file. */
const LINE_MAX = 100
/** What the systemd unit sets before it reads the file. */
const UNIT_DEFAULTS: Readonly<Record<string, string>> = { IDENTITY_PATH: '/var/lib/svc' }
/** Values of settings without a default, which show their form. A secret has none. */
const EXAMPLES: Readonly<Record<string, string>> = {
  SVC_URL: 'https://relay.example.com',
  SNI_PORT: '8443',
  PUBLIC_IPV4: '203.0.113.7',
  PUBLIC_IPV6: '2001:db8::7',
  PUBLIC_IPS: '203.0.113.7,2001:db8::7',
  TRUSTED_PROXIES: '192.0.2.0/24',
  MIN_PORT: '40000',
  MAX_PORT: '40999',
  ACME_DNS_PROVIDER: 'embedded',
  ACME_DNS_SERVERS: '192.0.2.53',
  ACME_EMAIL: 'operator@example.com',
  ACME_CA: '/etc/svc/acme-ca.pem',
  METRICS_ADDR: '127.0.0.1:9464',
  HTTP_REDIRECT_ADDR: '80',
  SVC_SITE_DIR: '/srv/www',
  SVC_INSTALL_DIR: '/srv/install',
}

const HEAD = [
  'Settings of svc-relay: one NAME=VALUE a line. systemd reads this file (systemd.exec(5), EnvironmentFile=), and root alone may',
  'read it, since the admin token is one of them. A line that begins with # has no effect. After a change run',
  '`systemctl restart svc-relay`. The page svc-relay(8) tells how `svc-relay check` finds out what is missing before that.',
]

/** @returns the text of `/etc/svc/relay.env` */
export function relayEnv(): string {
  const settings = SETTINGS.map(({ name, meaning, default: byDefault, hasDefault }) => {
    const effect = UNIT_DEFAULTS[name] ?? byDefault
    const sentence = `${meaning[0]?.toUpperCase()}${meaning.slice(1)}.`
    const value = EXAMPLES[name] ?? UNIT_DEFAULTS[name] ?? (hasDefault ? byDefault : '')
    return [
      ...comment(sentence),
      ...comment(hasDefault ? `Default: ${effect}` : `When it is not set: ${effect}`),
      `#${name}=${value}`,
    ].join('\n')
  })
  return [comment(HEAD.join(' ')).join('\n'), ...settings].map((part) => `${part}\n`).join('\n')
}

function comment(text: string): string[] {
  const lines = ['#']
  for (const word of text.split(' '))
    if (`${lines.at(-1)} ${word}`.length <= LINE_MAX) lines.push(`${lines.pop()} ${word}`)
    else lines.push(`# ${word}`)
  return lines
}
