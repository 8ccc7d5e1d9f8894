// `svc` as a process: it runs the command of its arguments until that is done or a signal ends it, and exits with a code that
// says how it went.

import { runCommand } from './run-command.ts'

/** The exit code when nothing waits until leases are unregistered, as after a second signal: they expire by themselves. */
const INSISTED = 130

/** Milliseconds for which unfinished connections may hold up the exit. */
const EXIT_GRACE_MS = 500

/** Milliseconds from the first signal to the exit: more than visitors and relays get, one after the other. */
const ASKED_GRACE_MS = 15_000

const { argv, env, stdout, stderr } = process
const terminal = stdout.isTTY ? stdout : undefined
process.exitCode = await runCommand(argv.slice(2), {
  env,
  print: {
    log: console.log,
    error: console.error,
    backlog: (printed) => (printed === 'log' ? stdout : stderr).writableLength,
  },
  terminal,
  // standard input is not opened before a command wants it
  get keyboard() {
    return process.stdin.isTTY ? process.stdin : undefined
  },
  asked,
})
setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()

// What nobody reads any more, because its terminal was closed or `head` has enough, is no failure of the command.
for (const stream of [stdout, stderr]) stream.on('error', () => {})

/**
 * The returned signal aborts at the first SIGINT or SIGTERM, and when the terminal or the reader of the output is gone, unless the
 * command goes on without them. At the second SIGINT or SIGTERM, or some time later, the process exits.
 */
function asked(goesOn = false): AbortSignal {
  const controller = new AbortController()
  const end = (): void => {
    if (controller.signal.aborted) return
    setTimeout(() => process.exit(INSISTED), ASKED_GRACE_MS).unref()
    controller.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INSISTED)
      end()
    })
  if (!goesOn) {
    // a closed terminal sends it more than once
    process.on('SIGHUP', end)
    stdout.on('error', end)
  }
  return controller.signal
}
