// `svc demo`: a page that this process publishes, and what its visitors do, told in the terminal.

import { randomBytes } from 'node:crypto'
import { SvcError } from '@svc/sdk-core'
import { publish } from '../../publish.ts'
import { NO_RELAY } from '../options/command-line.ts'
import type { ParsedCommand } from '../options/parsed-command.ts'
import { readPem } from '../options/pem-file.ts'
import { EXIT, type ExitCode } from '../report/exit-codes.ts'
import { explainError } from '../report/explain-error.ts'
import type { Reporter } from '../report/report.ts'
import type { Surroundings } from '../surroundings.ts'
import { isForPhones, qrCode } from '../tui/qr-code.ts'
import { demoPage } from './demo-page.ts'

/** The bytes of the name's random part: a demo takes no name that this identity uses elsewhere. */
const NAME_BYTES = 3

type Options = Extract<ParsedCommand, { command: 'demo' }>['options']

/** Publishes the page until it is asked to end. */
export async function showDemo(
  options: Options,
  tell: Reporter,
  { asked, print, terminal }: Pick<Surroundings, 'asked' | 'print' | 'terminal'>,
): Promise<ExitCode> {
  const { relay: relays, ca: caPath, proxy, identityPath, json } = options
  // One is enough to see it.
  const [relay] = relays
  if (relay === undefined) throw new SvcError('invalid_option', NO_RELAY)
  const ca = caPath === undefined ? undefined : await readPem('--ca', caPath)
  const name = options.name ?? `demo-${randomBytes(NAME_BYTES).toString('hex')}`
  const signal = asked()
  const site = await publish({ relay, name, ca, proxy, identityPath, fetch: demoPage(tell), signal })
  site.addEventListener('error', ({ error }) => {
    const { code, message } = explainError(error)
    tell({ event: 'error', code, message })
  })
  tell({ event: 'demo', url: site.url })
  if (!json && terminal !== undefined && isForPhones(site.url))
    print.log(`\n${qrCode(site.url).lines.join('\n')}\n`)
  const ended = new Promise<void>((resolve) => {
    const look = (): void => {
      if (site.state === 'closed') resolve()
    }
    site.addEventListener('statechange', look)
    signal.addEventListener('abort', () => resolve(), { once: true })
    look()
  })
  await ended
  await site.close()
  return signal.aborted ? EXIT.ok : EXIT.ended
}
