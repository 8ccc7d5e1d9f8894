// The property list of launchd, for macOS: launchd.plist(5), in the XML of Apple's document type.

import { SERVICE_NAME, type Service, STOP_TIMEOUT_S } from './service.ts'
import { escapeXml } from './xml.ts'

/** Seconds until launchd restarts a failed agent. */
const RESTART_S = 10
/** Umask 0077: launchd takes integers in decimal notation. */
const UMASK = 0o077
/** The open files limit: two for each visitor, and room for the targets; macOS defaults to 256. */
const FILES_MAX = 65_536

/** @param log the file for the agent's output */
export function launchdPlist({ command, environment, account }: Service, log: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by svc agent install; svc agent uninstall removes it. -->
<plist version="1.0">
${element(
  {
    Label: SERVICE_NAME,
    ProgramArguments: command,
    EnvironmentVariables: environment,
    ...(account !== undefined && { UserName: account }),
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: RESTART_S,
    ExitTimeOut: STOP_TIMEOUT_S,
    ProcessType: 'Background',
    SoftResourceLimits: { NumberOfFiles: FILES_MAX },
    Umask: UMASK,
    StandardOutPath: log,
    StandardErrorPath: log,
  },
  '',
)}
</plist>
`
}

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value }

function element(value: Value, indent: string): string {
  if (typeof value === 'string') return `${indent}<string>${escapeXml(value)}</string>`
  if (typeof value === 'number') return `${indent}<integer>${value}</integer>`
  if (typeof value === 'boolean') return `${indent}<${value}/>`
  const inner = `${indent}  `
  if (isList(value)) {
    const items = value.map((item) => `${element(item, inner)}\n`)
    return `${indent}<array>\n${items.join('')}${indent}</array>`
  }
  const entries = Object.entries(value)
  const lines = entries.map(
    ([key, item]) => `${inner}<key>${escapeXml(key)}</key>\n${element(item, inner)}\n`,
  )
  return `${indent}<dict>\n${lines.join('')}${indent}</dict>`
}

function isList(value: Value): value is readonly string[] {
  return Array.isArray(value)
}
