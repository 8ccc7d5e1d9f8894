// Renders the scripts `install.sh` and `install.ps1` for a relay: the files beside this one, with the relay's own values at
// their top. PowerShell 5.1 reads its script as Latin-1, so that script is ASCII.

import { installation } from '../../core/installation.ts'
import { NODE_MAJOR_MIN, type Offer } from './offer.ts'

/** The relay that the files name. */
const EXAMPLE = 'https://relay.example'
/** Begins the comment above the values, which end with the first empty line. */
const VALUES = '\n# What differs by relay.'

/** POSIX sh that downloads the command `svc` from its relay, checks it and installs it. */
export async function renderInstallSh({ origin, release, sums }: Offer): Promise<string> {
  return render(await installation().installScript('install.sh'), origin, [
    `relay=${quoteSh(origin)}`,
    `release=${quoteSh(release)}`,
    `node_major_min=${NODE_MAJOR_MIN}`,
    `sums=${quoteSh([...sums].map(([name, sum]) => `${name}=${sum}`).join(' '))}`,
  ])
}

/** The same for PowerShell 5.1 or newer. */
export async function renderInstallPs1({ origin, release, sums }: Offer): Promise<string> {
  return render(await installation().installScript('install.ps1'), origin, [
    `$Relay = ${quotePs1(origin)}`,
    `$Release = ${quotePs1(release)}`,
    `$NodeMajorMin = ${NODE_MAJOR_MIN}`,
    '$Sums = @{',
    ...[...sums].map(([name, sum]) => `  ${quotePs1(name)} = ${quotePs1(sum)}`),
    '}',
  ])
}

function render(script: string, origin: string, values: readonly string[]): string {
  const start = script.indexOf('\n', script.indexOf(VALUES) + 1)
  const end = script.indexOf('\n\n', start)
  const usage = script.slice(0, start).replaceAll(EXAMPLE, () => origin)
  return [usage, ...values].join('\n') + script.slice(end)
}

function quoteSh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function quotePs1(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
