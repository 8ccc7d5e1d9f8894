// The plan for each system: the service's file, and the commands that install and remove it.

import { join } from 'node:path'
import { SvcError } from '@svc/sdk-core'
import { launchdPlist } from './launchd-plist.ts'
import { scheduledTask } from './scheduled-task.ts'
import { requireWritable, SERVICE_NAME, type Service } from './service.ts'
import { systemdUnit } from './systemd-unit.ts'

/** The machine and the user on it. */
export interface Machine {
  platform: NodeJS.Platform
  env: NodeJS.ProcessEnv
  home: string
  /** The name of the user who runs this. */
  user: string
  /** The uid of that user; undefined on Windows. */
  uid: number | undefined
}

export interface Command {
  args: readonly [string, ...string[]]
  /** The plan continues when this fails; a string is the warning about it. */
  mayFail?: true | string
}

export interface InstallationPlan {
  /** The path of the file that describes the service. */
  path: string
  text: string
  /** UTF-16 gets a byte order mark. */
  encoding: 'utf8' | 'utf16le'
  /** The system needs the file only during the installation. */
  isTemporary: boolean
  install: readonly Command[]
  /** Run before the file is removed. */
  uninstall: readonly Command[]
  /** Run after the file is removed. */
  forget: readonly Command[]
}

/** @throws SvcError `invalid_option` for an unsupported system, and for a service that it cannot express */
export function planInstallation(service: Service, machine: Machine): InstallationPlan {
  requireWritable(service)
  switch (machine.platform) {
    case 'linux':
      return systemdPlan(service, machine)
    case 'darwin':
      return launchdPlan(service, machine)
    case 'win32':
      return taskPlan(service, machine)
    default:
      throw new SvcError(
        'invalid_option',
        `svc knows no services of ${machine.platform}: let its own manager run svc agent run --foreground`,
      )
  }
}

function systemdPlan(service: Service, { env, home }: Machine): InstallationPlan {
  const isSystem = service.account !== undefined
  const folder = isSystem
    ? '/etc/systemd/system'
    : join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd/user')
  const unit = `${SERVICE_NAME}.service`
  const systemctl = (...args: string[]): Command => ({
    args: isSystem ? ['systemctl', ...args] : ['systemctl', '--user', ...args],
  })
  return {
    path: join(folder, unit),
    text: systemdUnit(service),
    encoding: 'utf8',
    isTemporary: false,
    install: [
      systemctl('daemon-reload'),
      systemctl('enable', unit),
      systemctl('restart', unit),
      // Starts the user's manager, and so the tunnels, before anybody logs in.
      ...(isSystem ? [] : [LINGER]),
    ],
    uninstall: [{ ...systemctl('disable', '--now', unit), mayFail: true }],
    forget: [systemctl('daemon-reload')],
  }
}

const LINGER: Command = {
  args: ['loginctl', 'enable-linger'],
  mayFail:
    'after a reboot the tunnels come back when you log in, and not before: loginctl enable-linger has failed',
}

function launchdPlan(service: Service, { home, uid }: Machine): InstallationPlan {
  const isSystem = service.account !== undefined
  const path = `${isSystem ? '' : home}/Library/${isSystem ? 'LaunchDaemons' : 'LaunchAgents'}/${SERVICE_NAME}.plist`
  const domain = isSystem ? 'system' : `gui/${uid}`
  const bootout: Command = { args: ['launchctl', 'bootout', `${domain}/${SERVICE_NAME}`], mayFail: true }
  return {
    path,
    text: launchdPlist(service, `${isSystem ? '' : home}/Library/Logs/${SERVICE_NAME}.log`),
    encoding: 'utf8',
    isTemporary: false,
    install: [bootout, { args: ['launchctl', 'bootstrap', domain, path] }],
    uninstall: [bootout],
    forget: [],
  }
}

/** The name of the task in the library of the Task Scheduler. */
const TASK = 'svc agent'

function taskPlan(service: Service, { env, home, user }: Machine): InstallationPlan {
  const path = `${env.TEMP || home}\\${SERVICE_NAME}.xml`
  return {
    path,
    text: scheduledTask(service, env.USERDOMAIN ? `${env.USERDOMAIN}\\${user}` : user),
    encoding: 'utf16le',
    isTemporary: true,
    install: [
      { args: ['schtasks', '/End', '/TN', TASK], mayFail: true },
      { args: ['schtasks', '/Create', '/TN', TASK, '/XML', path, '/F'] },
      { args: ['schtasks', '/Run', '/TN', TASK] },
    ],
    uninstall: [
      { args: ['schtasks', '/End', '/TN', TASK], mayFail: true },
      { args: ['schtasks', '/Delete', '/TN', TASK, '/F'] },
    ],
    forget: [],
  }
}
