// The arguments of `npm start`.
import { parseArgs } from 'node:util'

export const USAGE = `Usage: npm start [-- --no-open] [--lan] [--address ADDRESS]

It runs a relay on this machine, with its pages, the examples and one site of its own, and opens a page that shows how this
browser comes to trust the relay's certificate, and leads to the relay once it does. Ctrl-C ends all.

  --no-open   only prints what to open, as without a terminal, without a desktop and in CI
  --lan       opens it to the network that this machine is in, at a name that phones find (mDNS), such as svc-laptop.local;
              prints a code that leads a phone to the certificate
  --address   the address of this machine in that network; otherwise that of its default route
  --help      shows this text

The environment has the relay's settings: SVC_URL (https://relay.localhost:4433), IDENTITY_PATH (.svc) and all others.
npm run demo shows the same in a browser of its own, which trusts the relay already.
`

export interface StartArguments {
  /** Whether it may open the user's browser. */
  opens: boolean
  /** Whether devices of the network may come. */
  lan: boolean
  /** Which of this machine's addresses these use. */
  address: string | undefined
}

/** @returns undefined when they are wrong, or ask for help */
export function readArguments(args: string[] = process.argv.slice(2)): StartArguments | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        'no-open': { type: 'boolean', default: false },
        lan: { type: 'boolean', default: false },
        address: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    })
    const { lan, address } = values
    if (values.help || (address !== undefined && !lan)) return undefined
    return { opens: !values['no-open'] && hasDesktop(), lan, address }
  } catch {
    return undefined
  }
}

/** Whether a person is at this terminal who sees what it opens. */
export function hasDesktop(
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
  isTerminal: boolean = process.stdout.isTTY,
): boolean {
  if (!isTerminal || env.CI) return false
  if (platform === 'darwin' || platform === 'win32') return !env.SSH_CONNECTION
  return Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
}
