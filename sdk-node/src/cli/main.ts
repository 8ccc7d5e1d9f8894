#!/usr/bin/env node
// The executable `svc`: one command, ended by a signal, with an exit code that says how it went.

import { resolve } from 'node:path'
import { identityFromKey } from '@svc/sdk-browser/platform'
import { loadIdentityFile } from '../identity-file.ts'
import { type Chosen, readCommandLine } from './command-line.ts'
import { EXIT, type ExitCode } from './exit-codes.ts'
import { explain } from './explain.ts'
import { type Tell, teller } from './report.ts'
import { runSite } from './site.ts'

/** Of a process that a second signal ended: what it had to unregister expires by itself. */
const INSISTED = 130

const chosen = readCommandLine(process.argv.slice(2), process.env)
process.exitCode = 'exitCode' in chosen ? chosen.exitCode : await run(chosen)

async function run(chosen: Chosen): Promise<ExitCode> {
  const tell = teller(chosen.options.json)
  try {
    return chosen.command === 'identity'
      ? await showIdentity(chosen, tell)
      : await runSite(chosen, tell, asked())
  } catch (error) {
    const { code, message, exitCode } = explain(error)
    if (exitCode !== EXIT.ok) tell({ event: 'failed', code, message, exit_code: exitCode })
    return exitCode
  }
}

async function showIdentity(
  { options }: Extract<Chosen, { command: 'identity' }>,
  tell: Tell,
): Promise<ExitCode> {
  const { address } = identityFromKey(await loadIdentityFile(options.identityPath))
  tell({ event: 'identity', address, path: resolve(options.identityPath) })
  return EXIT.ok
}

/** The first signal asks, the second insists. */
function asked(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(INSISTED)
      controller.abort()
    })
  return controller.signal
}
