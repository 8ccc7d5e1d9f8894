// Parses the arguments of `svc-relay`: a command and two options. Settings are in the environment.

import { parseArgs } from 'node:util'
import { CA_FORMATS, type CaFormat, PKCS12_PASSWORD } from '../certificates/ca-export.ts'
import { SETTINGS } from '../config/settings.ts'
import { RELEASE_VERSION } from '../version.ts'

/** A text that the command prints instead of running a relay. */
export interface Printout {
  text: string
  isError: boolean
}

/** The command `ca`: print the development CA's certificate. */
export interface PrintCa {
  format: CaFormat
}

/** @returns undefined when the command runs a relay */
export function readCommandLine(args: string[]): Printout | PrintCa | undefined {
  try {
    if (args[0] === 'ca') return readCaCommand(args.slice(1))
    const { help, version } = parseArgs({
      args,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    }).values
    if (help) return { text: helpText(), isError: false }
    return version ? { text: RELEASE_VERSION, isError: false } : undefined
  } catch (error) {
    return {
      text: `${(error as Error).message}\nsvc-relay --help lists commands and settings.`,
      isError: true,
    }
  }
}

function readCaCommand(args: string[]): PrintCa {
  const { format } = parseArgs({ args, options: { format: { type: 'string', default: 'pem' } } }).values
  const found = CA_FORMATS.find((one) => one === format)
  if (found === undefined) throw new Error(`--format must be one of ${CA_FORMATS.join(', ')}`)
  return { format: found }
}

function helpText(): string {
  const width = Math.max(...SETTINGS.map(({ name }) => name.length))
  const settings = SETTINGS.map(
    ({ name, meaning, default: value }) => `  ${name.padEnd(width)}  ${meaning} [${value}]`,
  )
  return [
    'svc-relay runs a relay: it gives sites public hostnames and carries their bytes, which it cannot read.',
    '',
    'Usage: SVC_URL=https://relay.example.com svc-relay [--help | --version]',
    `       IDENTITY_PATH=/var/lib/svc svc-relay ca [--format ${CA_FORMATS.join(' | ')}] > FILE`,
    '         prints the CA certificate of a relay on localhost, which a phone or another machine can trust;',
    `         the password of the p12 file is ${PKCS12_PASSWORD}`,
    '',
    'Settings are environment variables [with their defaults]:',
    '',
    ...settings,
    '',
    'SIGTERM and SIGINT end the relay when its visitors have left, or after 10 s; a second signal ends it at once.',
    'SIGHUP reloads certificates and policy.',
  ].join('\n')
}
