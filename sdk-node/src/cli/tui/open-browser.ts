// Opens an address in the user's browser.

import { spawn } from 'node:child_process'

const COMMANDS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  // An argument is quoted, so that no character of the address means anything to the shell.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Does nothing where there is no browser, such as on a server: the address is shown, too. */
export function openBrowser(url: string): void {
  const [command, ...words] = COMMANDS[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...words, url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
