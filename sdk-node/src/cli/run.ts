// `svc` as a process: it runs the command of its arguments until it is done or a signal ends it, and exits with the
// command's code.

import { runCommand } from './run-command.ts'

/** The exit code after a second signal, when `svc` does not unregister the leases, which then expire. */
const INSISTED = 130

/** How long unfinished connections may delay the exit, in milliseconds. */
const EXIT_GRACE_MS = 500

/** Milliseconds from the first signal to the exit: more than the time limits of visitors and relays together. */
const ASKED_GRACE_MS = 15_000

const { argv, env, stdout, stderr } = process
const terminal = stdout.isTTY ? stdout : undefined
process.exitCode = await runCommand(argv.slice(2), {
  env,
  print: {
    log: console.log,
    error: console.error,
    backlog: (printed) => (printed === 'log' ? stdout : stderr).writableLength,
    // Undefined for no terminal, also where the types say otherwise.
    columns: (printed) => (printed === 'log' ? stdout : stderr).columns,
  },
  terminal,
  // Opens standard input only when a command needs it.
  get keyboard() {
    return process.stdin.isTTY ? process.stdin : undefined
  },
  asked,
})
setTimeout(() => process.exit(), EXIT_GRACE_MS).unref()

// Output that nobody reads, because the terminal was closed or `head` has enough, is not a failure.
for (const stream of [stdout, stderr]) stream.on('error', () => {})

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM, and when the terminal or the reader of the output is gone, unless the
 * command continues without them. At the second SIGINT or SIGTERM, or after {@link ASKED_GRACE_MS}, the process exits.
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
    // A closed terminal sends it more than once.
    process.on('SIGHUP', end)
    stdout.on('error', end)
  }
  return controller.signal
}
