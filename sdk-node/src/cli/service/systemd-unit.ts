// The systemd unit of the agent: systemd.unit(5), systemd.service(5), systemd.exec(5), and systemd.syntax(7) for quoting.

import { SvcError } from '@svc/sdk-core'
import { EXIT } from '../report/exit-codes.ts'
import { DESCRIPTION, SERVICE_NAME, type Service, STOP_TIMEOUT_S } from './service.ts'

/** Seconds until systemd restarts a failed agent. */
const RESTART_S = 2
/** The exit codes after which a restart is useless: a wrong command line or file, or an invalid identity. */
const LASTING: readonly number[] = [EXIT.usage, EXIT.identity]
/** The open files limit: two for each visitor, and room for the targets. */
const FILES_MAX = 65_536

/** Restrictions that a manager without privileges can also apply: system calls, sockets and rights, but no mounts. */
const RESTRICTIONS = `NoNewPrivileges=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM`

/** Restrictions that need the system manager, which can mount. */
const MOUNTS = `CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
ProtectProc=invisible
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes`

/** Characters that systemd refuses in the path of a program, however quoted. */
const REFUSED = /["'\\]/

/**
 * @returns the unit for the user's manager or, if the service has an account, the system's
 * @throws SvcError `invalid_option` for a program that systemd cannot start
 */
export function systemdUnit({ command, environment, writable, account }: Service): string {
  const isSystem = account !== undefined
  const [program, ...args] = command
  if (REFUSED.test(program))
    throw new SvcError(
      'invalid_option',
      `systemd starts no program with a quotation mark or a backslash: ${program}`,
    )
  return `# Written by svc agent install; svc agent uninstall removes it.
[Unit]
Description=${DESCRIPTION}
${isSystem ? 'Wants=network-online.target\nAfter=network-online.target\n' : ''}
[Service]
${isSystem ? `User=${specifierFree(account)}\nStateDirectory=${SERVICE_NAME}\nStateDirectoryMode=0700\nCacheDirectory=${SERVICE_NAME}\n` : ''}Type=exec
${Object.entries(environment)
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`)
  .join('')}# The colon: no variable is put in for what follows a dollar sign.
ExecStart=${[`:${program}`, ...args].map(quoted).join(' ')}
Restart=on-failure
RestartSec=${RESTART_S}
RestartPreventExitStatus=${LASTING.join(' ')}
TimeoutStopSec=${STOP_TIMEOUT_S}
LimitNOFILE=${FILES_MAX}
UMask=0077

${RESTRICTIONS}
${isSystem ? `${MOUNTS}\nReadWritePaths=${writable.map(quoted).join(' ')}\n` : ''}
[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`
}

/** Quotes one word with C escapes in double quotes, and escapes specifiers. */
function quoted(word: string): string {
  return `"${specifierFree(word).replace(/["\\]/g, '\\$&')}"`
}

function specifierFree(text: string): string {
  return text.replaceAll('%', '%%')
}
