// The arguments of `svc-relay`: there are two, and everything else is a setting in the environment.

import { parseArgs } from 'node:util'
import { SETTINGS } from './settings.ts'
import { RELEASE_VERSION } from './version.ts'

/** What the command is to print instead of running a relay. */
export interface Printed {
  text: string
  isError: boolean
}

export function readCommandLine(args: string[]): Printed | undefined {
  try {
    const { help, version } = parseArgs({
      args,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    }).values
    if (help) return { text: helpText(), isError: false }
    return version ? { text: RELEASE_VERSION, isError: false } : undefined
  } catch (error) {
    return { text: `${(error as Error).message}\nsvc-relay --help lists what there is.`, isError: true }
  }
}

function helpText(): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length))
  const settings = SETTINGS.map(
    ({ name, meaning, default: value }) => `  ${name.padEnd(width)}  ${meaning} [${value}]`,
  )
  return [
    'svc-relay: publishes the HTTPS servers of pages under names of its own, and carries bytes that it cannot read.',
    '',
    'Usage: SVC_URL=https://relay.example.com svc-relay [--help | --version]',
    '',
    'Settings are variables of the environment [and what holds without them]:',
    '',
    ...settings,
    '',
    'SIGTERM and SIGINT end it once visitors have left, or after 10 s; a second one ends it at once.',
    'SIGHUP reads certificates and policy anew.',
  ].join('\n')
}
