// The scheduled task of Windows that starts the agent, in the XML of the Task Scheduler's schema. Node cannot be a Windows
// service: the Service Control Manager ends a program that does not answer it, which Node cannot do.

import { SvcError } from '@svc/sdk-core'
import { DESCRIPTION, type Service } from './service.ts'
import { escapeXml } from './xml.ts'

/** Minutes until the scheduler restarts a failed agent: one is the minimum. */
const RESTART_MIN = 1
/** The number of restarts: the maximum, because no value means unlimited. */
const RESTARTS_MAX = 999
/** The scheduler expands `%NAME%` and `$(…)`, and has no escape for either. */
const REPLACED = /%[^%]+%|\$\(/

/**
 * @param user the account of the user who is logged on, `DOMAIN\name`, for a task at logon
 * @returns a task without a window that runs at logon or, if the service has an account, at boot
 * @throws SvcError `invalid_option` for a path that the scheduler would expand
 */
export function scheduledTask({ command, account }: Service, user: string): string {
  const isSystem = account !== undefined
  const [program, ...args] = command
  for (const word of command)
    if (REPLACED.test(word))
      throw new SvcError('invalid_option', `the Task Scheduler would replace a part of ${word}`)
  const owner = escapeXml(account ?? user)
  // A console program gets a window on the desktop; conhost runs it without one.
  const [exec, rest] = isSystem ? [program, args] : ['conhost.exe', ['--headless', ...command]]
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>${escapeXml(DESCRIPTION)}</Description>
  </RegistrationInfo>
  <Triggers>
    ${
      isSystem
        ? '<BootTrigger />'
        : `<LogonTrigger>
      <UserId>${owner}</UserId>
    </LogonTrigger>`
    }
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${owner}</UserId>
      <LogonType>${isSystem ? 'S4U' : 'InteractiveToken'}</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT${RESTART_MIN}M</Interval>
      <Count>${RESTARTS_MAX}</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${escapeXml(exec)}</Command>
      <Arguments>${escapeXml(rest.map(quoted).join(' '))}</Arguments>
    </Exec>
  </Actions>
</Task>
`
}

/** Quotes one argument for Windows: only backslashes before a quotation mark are doubled. */
function quoted(word: string): string {
  if (/^[\w./:=\\-]+$/.test(word)) return word
  return `"${word.split('"').map(withDoubledEnd).join('\\"')}"`
}

/** @returns the text with its trailing backslashes doubled */
function withDoubledEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === '\\') end -= 1
  return text + text.slice(end)
}
