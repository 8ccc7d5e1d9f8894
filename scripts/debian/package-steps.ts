// The life of the packages in one Debian system, step by step: each needs those before it.
import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { CA, curl, HOST, MAKE_CA, NAMES, newCertificate, SERVED_SERIAL, SITE } from './certificates.ts'
import type { Machine } from './machine.ts'

export interface Packages {
  /** Paths of the packages, of the release and of the next one. */
  relay: string
  nextRelay: string
  svc: string
}

interface Context {
  machine: Machine
  /** Directory of the system, from outside. */
  directory: string
  packages: Packages
}

type Step = (context: Context) => Promise<void>

const GREETING = 'hello from a package'
const ENV = '/etc/svc/relay.env'
const HEALTH = `https://${HOST}/api/healthz`
const APT = 'DEBIAN_FRONTEND=noninteractive apt-get install --yes'

/** Steps by name, in their order. */
export const PACKAGE_STEPS: Readonly<Record<string, Step>> = {
  installs: async ({ machine, directory, packages }) => {
    for (const file of Object.values(packages))
      await copyFile(file, path.join(directory, 'root', path.basename(file)))
    const said = await machine.sh(`${APT} /root/${base(packages.relay)} /root/${base(packages.svc)}`)
    expectText(said, 'set SVC_URL in /etc/svc/relay.env')
    await machine.sh(`test "$(stat -c '%U %a' /var/lib/svc)" = 'svc 700'`)
    await machine.sh(`test "$(stat -c '%U %a' ${ENV})" = 'root 600'`)
    await machine.sh('systemctl is-enabled svc-relay && ! systemctl is-active svc-relay')
    await machine.sh(
      'svc --version && svc-relay --version && systemd-analyze verify --man=no svc-relay.service',
    )
  },
  'says what is missing': async ({ machine }) => {
    await machine.sh(`${NAMES}; sed -i 's/^#SVC_URL=.*/SVC_URL=https:\\/\\/${HOST}/' ${ENV}`)
    const said = await machine.sh(`${checkAsService()} && exit 1 || test $? = 1`)
    expectText(said, 'needs fullchain.pem and privatekey.pem')
  },
  starts: async ({ machine }) => {
    await machine.sh(`${MAKE_CA}; ${newCertificate(1)}`)
    expectText(await machine.sh(checkAsService()), 'A start would succeed')
    await machine.sh('systemctl start svc-relay')
    expectText(await machine.eventually(curl(HEALTH)), '"status":"ok"')
    await machine.sh('test "$(stat -c %U "/proc/$(systemctl show -P MainPID svc-relay)")" = svc')
    expectText(await machine.sh(`SVC_URL=https://${HOST} svc-relay healthcheck`), 'svc-relay: ok')
  },
  'serves a site': async ({ machine }) => {
    await machine.sh(`
      mkdir -p /srv/site && echo '${GREETING}' > /srv/site/index.html
      systemd-run --unit=site --setenv=HOME=/root svc serve /srv/site --relay https://${HOST} --ca ${CA} --name demo`)
    expectText(await machine.eventually(curl(`https://${SITE}/`)), GREETING)
  },
  'reload takes new certificates': async ({ machine }) => {
    const pid = await machine.sh('systemctl show -P MainPID svc-relay')
    await machine.sh(newCertificate(2))
    await machine.sh('systemctl reload svc-relay')
    await machine.eventually(`test "$(${SERVED_SERIAL})" = serial=02`)
    expectText(await machine.sh('systemctl show -P MainPID svc-relay'), pid)
    expectText(await machine.eventually(curl(`https://${SITE}/`)), GREETING)
  },
  'upgrades, with edited settings': async ({ machine, packages }) => {
    await machine.sh(
      `echo LOG_LEVEL=debug >> ${ENV}; sha256sum ${ENV} /var/lib/svc/identity.json > /root/kept`,
    )
    const before = await machine.sh('svc-relay --version; systemctl show -P MainPID svc-relay')
    // What dpkg does by default when it asks.
    await machine.sh(`${APT} -o Dpkg::Options::=--force-confold /root/${base(packages.nextRelay)}`)
    await machine.sh('sha256sum --check --quiet /root/kept')
    const after = await machine.sh(
      `dpkg-query -W -f '\${Version}\\n' svc-relay; systemctl show -P MainPID svc-relay`,
    )
    if (before.split('\n')[1] === after.split('\n')[1])
      throw new Error('the upgrade did not restart the relay')
    expectText(await machine.eventually(curl(HEALTH)), '"status":"ok"')
    // The site registers again by itself.
    expectText(await machine.eventually(curl(`https://${SITE}/`)), GREETING)
  },
  'is removed, and keeps state and settings': async ({ machine }) => {
    await machine.sh('apt-get remove --yes svc-relay')
    await machine.sh(`! systemctl is-active svc-relay && test ! -e /usr/bin/svc-relay`)
    await machine.sh(`test -s /var/lib/svc/identity.json && test -s ${ENV} && getent passwd svc`)
  },
  'is installed again, with its state': async ({ machine, packages }) => {
    await machine.sh(`${APT} /root/${base(packages.nextRelay)} && sha256sum --check --quiet /root/kept`)
    expectText(await machine.eventually(curl(HEALTH)), '"status":"ok"')
  },
  'is purged': async ({ machine }) => {
    await machine.sh('apt-get purge --yes svc-relay svc')
    await machine.sh(
      'test ! -e /var/lib/svc && test ! -e /etc/svc && ! getent passwd svc && ! getent group svc',
    )
    const left = await machine.sh(
      "find / -xdev -name '*svc-relay*' -not -path '/root/*' -not -path '/proc/*' -not -path '/var/log/*'",
    )
    if (left !== '') throw new Error(`the purge left ${left}`)
  },
}

function base(file: string): string {
  return path.basename(file)
}

/** The line of the operator's guide: `svc-relay check` with the account, rights and settings of the service. */
function checkAsService(): string {
  return `systemd-run --quiet --wait --pipe --collect --uid=svc --gid=svc --property=AmbientCapabilities=CAP_NET_BIND_SERVICE \
    --property=LimitNOFILE=65536 --setenv=IDENTITY_PATH=/var/lib/svc --property=EnvironmentFile=${ENV} svc-relay check`
}

function expectText(text: string, expected: string): void {
  if (!text.includes(expected)) throw new Error(`"${expected}" is not in:\n${text}`)
}
