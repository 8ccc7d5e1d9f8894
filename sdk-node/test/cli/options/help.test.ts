// The help of each command: its width, its groups, and examples that are no errors.

import { describe, expect, it } from 'vitest'
import { parseCommandLine, programOf } from '../../../src/cli/options/command-line.ts'

const COLUMNS = 80
/** An environment that would make lines long. */
const ENV = {
  XDG_CONFIG_HOME: `/${'folder/'.repeat(20)}`,
  IDENTITY_PATH: `/${'folder/'.repeat(20)}identity.json`,
  SVC_URL: 'https://first.relay.example,https://second.relay.example,https://third.relay.example',
}

function run(args: readonly string[]) {
  const lines: string[] = []
  const print = (text: string): void => void lines.push(...text.split('\n'))
  return { parsed: parseCommandLine(args, ENV, { log: print, error: print }), lines }
}

const silent = { log: () => {}, error: () => {} }
const commands = (program = programOf(ENV, silent, () => {}), path: string[] = []): string[][] => [
  path,
  ...program.commands.flatMap((command) => commands(command, [...path, command.name()])),
]

/** The words of a line as a shell reads them. */
function wordsOf(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)
}

describe.each(commands().map((path) => [`svc ${path.join(' ')}`, path] as const))('%s --help', (_, path) => {
  const { lines } = run([...path, '--help'])

  it('fits a terminal of 80 columns', () => {
    expect(lines.filter((line) => line.length > COLUMNS)).toEqual([])
    expect(lines[0]).toMatch(/^Usage: svc/)
  })

  it('says nothing of options that are off by default, and its own option in words', () => {
    expect(lines.join('\n')).not.toMatch(/default: false|default: \[\]|display help/)
  })

  it('has examples that the command takes', () => {
    const examples = lines.filter((line) => line.startsWith('  svc ')).map((line) => line.trim())
    for (const example of examples) {
      // behind more spaces it is said what it does
      const [command = ''] = example.split(/ {2,}/)
      const { parsed, lines } = run(wordsOf(command).slice(1))
      expect('exitCode' in parsed ? [command, parsed.exitCode, lines[0]] : []).toEqual(
        command.endsWith('--help') ? [command, 0, expect.stringMatching(/^Usage/)] : [],
      )
    }
  })
})

const headings = (...args: string[]): string[] =>
  run([...args, '--help']).lines.filter((line) => /^[A-Z].*:$/.test(line))

it('groups commands by what they are for, and the options of a site by what they concern', () => {
  expect(headings()).toEqual([
    'Options:',
    'Publish:',
    'Look:',
    'Settings and help:',
    'Examples:',
    'Exit codes:',
  ])
  const groups = [
    'Target:',
    'Relay and address:',
    'Access:',
    'Webhooks:',
    'Custom domains:',
    'TLS:',
    'Traffic rules:',
    'Payments:',
    'List of sites:',
    'Output:',
  ]
  expect(headings('expose')).toEqual(['Arguments:', ...groups, 'Examples:'])
  expect(headings('serve')).toEqual([...groups, 'Examples:'])
})
