// The lines of `svc demo`.

import { isOwnMachine } from '@svc/protocol'
import type { DemoReport } from './report.ts'

export function formatDemo(report: DemoReport): string {
  if (report.event === 'demo') {
    const isHere = isOwnMachine(new URL(report.url).hostname)
    const how = isHere ? 'Open it on this machine.' : 'Open it on any device, or send it to somebody.'
    return [
      'This process is a web server now. TLS ends in it: the relay carries bytes that it cannot read.',
      '',
      `  ${report.url}`,
      '',
      `${how} Ctrl-C takes it off the relay.`,
    ].join('\n')
  }
  const { visit, browser, said } = report
  return said === undefined ? `visitor ${visit} opened it with ${browser}` : `${browser} says: ${said}`
}
