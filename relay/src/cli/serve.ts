// Runs the command `svc-relay`: each command loads only the code that it needs.

import { readCommandLine } from './command-line.ts'

const USAGE_ERROR = 2

const command = readCommandLine(process.argv.slice(2))
if (command.name === 'serve') await (await import('./relay-command.ts')).run()
else if (command.name === 'ca') await (await import('./ca-command.ts')).printCa(command.format)
else if (command.name === 'check') await (await import('./check-command.ts')).check(command)
else if (command.name === 'healthcheck') await (await import('./healthcheck-command.ts')).healthcheck()
else if (command.name === 'manage') await (await import('./manage-command.ts')).manage(command.request)
else if (command.isError) {
  console.error(command.text)
  process.exitCode = USAGE_ERROR
} else console.log(command.text)
