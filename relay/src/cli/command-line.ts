// The arguments of `svc-relay`: a command, two options, and everything else is a setting in the environment.

import { parseArgs } from 'node:util'
import { CA_FORMATS, type CaFormat, PKCS12_PASSWORD } from '../certificates/ca-export.ts'
import { SETTINGS } from '../config/settings.ts'
import { RELEASE_VERSION } from '../version.ts'

/** What the command is to print instead of running a relay. */
export interface Printed {
  text: string
  isError: boolean
}

/** The development CA's certificate is to be written to standard output. */
export interface PrintCa {
  format: CaFormat
}

/** @returns undefined when a relay is to run */
export function readCommandLine(args: string[]): Printed | PrintCa | undefined {
  try {
    if (args[0] === 'ca') return readAuthorityCommand(args.slice(1))
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

function readAuthorityCommand(args: string[]): PrintCa {
  const { format } = parseArgs({ args, options: { format: { type: 'string', default: 'pem' } } }).values
  const found = CA_FORMATS.find((one) => one === format)
  if (found === undefined) throw new Error(`--format is one of ${CA_FORMATS.join(', ')}`)
  return { format: found }
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
    `       IDENTITY_PATH=/var/lib/svc svc-relay ca [--format ${CA_FORMATS.join(' | ')}] > FILE`,
    '         writes the certificate of the CA of a relay on localhost, for a phone or another machine to trust;',
    `         the password of the p12 file is ${PKCS12_PASSWORD}`,
    '',
    'Settings are variables of the environment [and what holds without them]:',
    '',
    ...settings,
    '',
    'SIGTERM and SIGINT end it once visitors have left, or after 10 s; a second one ends it at once.',
    'SIGHUP reads certificates and policy anew.',
  ].join('\n')
}
